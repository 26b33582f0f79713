//! Scenarios of executor-core and of the executor's design.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use agenticiqa::events::{Event, EventLog, Subtask};
use agenticiqa::executor::{Calls, Executor, Grounding};
use agenticiqa::state::Node;
use agenticiqa::state::{AnswerForm, Distortion, ExecutorOutput, FinalStatus, OneOrMany, PlannerOutput, Severity};
use agenticiqa::tools::ToolCache;
use serde_json::json;

use crate::seeds::support::{
    Scene, Scripted, assess, plan, plan_json, reasoner, registry_with, request, with_reference,
};

const DETECTED: &str = r#"{"distortion_set": {"Global": ["Blurs", "Noise"]}}"#;
const ANALYZED: &str = r#"{"distortion_analysis": {"Global": [
    {"type": "Blurs", "severity": "moderate", "explanation": "edges are soft"},
    {"type": "Noise", "severity": "none", "explanation": "no grain"}]}}"#;
const SELECTED: &str = r#"{"selected_tools": {"Global": {"Blurs": "PIQE", "Noise": "BRISQUE"}}}"#;
const SCORED: &str = r#"{"final_answer": "C", "quality_reasoning": "Moderate blur."}"#;

fn model() -> Scripted {
    Scripted::new().says("detect", &[DETECTED]).says("analyze", &[ANALYZED]).says("select", &[SELECTED])
}

/// Runs the executor on a plan.
async fn execute(model: Scripted, scene: &Scene, plan: &PlannerOutput) -> (ExecutorOutput, Arc<Scripted>) {
    let model = Arc::new(model);
    let (reasoner, cache) = (reasoner(&model, Node::Executor), Arc::new(ToolCache::new(100, None)));
    let (grounding, calls) = (Grounding::Off, Calls::Separate);
    let executor = Executor { reasoner: &reasoner, cache: &cache, grounding, calls };
    let found = Mutex::new(ExecutorOutput::default());
    executor.execute(scene.context(), plan, &found).await;
    (found.into_inner().unwrap(), model)
}

fn scene() -> Scene {
    Scene::new("How good is this photo?", AnswerForm::Score)
}

#[tokio::test]
async fn detect_distortions_with_vlm() {
    let (found, model) = execute(model(), &scene(), &plan(json!("Global"), [true, false, false, false])).await;
    assert_eq!(found.distortion_set.unwrap()["Global"], [Distortion::Blurs, Distortion::Noise]);
    let call = &model.calls("detect")[0];
    let lines: Vec<&str> = call.prompt.system.lines().collect();
    assert_eq!(
        lines[0],
        "You are an expert in distortion detection. Based on the user's query, identify all possible distortions need to be"
    );
    assert!(
        call.prompt
            .system
            .contains("1. Focus your analysis on query scope. Describe distortions for each individually.")
    );
    assert!(call.prompt.system.ends_with(
        r#"["Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast"]"#
    ));
    assert!(call.prompt.user.starts_with("User's query: How good is this photo?\nThe image: <image>"));
    assert_eq!(call.images, ["<image>"]);
}

#[tokio::test]
async fn validate_detected_distortions() {
    let plan = plan(json!(["vehicle", "sky"]), [true, false, false, false]);
    let answers = [
        r#"{"distortion_set": {"vehicle": ["Ugliness"]}}"#,
        r#"{"distortion_set": {"The Vehicle": ["motion blur", "Blurs"], "tree": ["Noise"], "": ["Contrast"]}}"#,
    ];
    let (found, model) = execute(Scripted::new().says("detect", &answers), &scene(), &plan).await;
    let set = found.distortion_set.unwrap();
    assert_eq!(set["vehicle"], [Distortion::Blurs], "a synonym, once");
    assert_eq!(
        set["Global"],
        [Distortion::Noise, Distortion::Contrast],
        "unknown and missing names are the whole image"
    );
    assert_eq!(model.calls("detect").len(), 2, "a category that does not exist is asked for again");
    assert!(model.calls("detect")[1].prompt.user.contains("Ugliness"));
}

#[tokio::test]
async fn handle_detection_errors() {
    let scene = scene();
    let (found, model) = execute(
        Scripted::new().says("detect", &["It looks fine to me."]),
        &scene,
        &plan(json!("Global"), [true, false, false, false]),
    )
    .await;
    assert_eq!(found.distortion_set, None);
    let calls = model.calls("detect");
    assert_eq!(calls.len(), 3);
    assert!(!calls[0].prompt.user.contains("Return ONLY valid JSON"));
    assert!(calls[2].prompt.user.contains("Return ONLY valid JSON"));
    assert!(scene.events.problems()[0].starts_with("distortion detection failed"));
}

#[tokio::test]
async fn analyze_distortion_severity() {
    let (found, model) = execute(model(), &scene(), &plan(json!("Global"), [true, true, false, false])).await;
    let analysis = &found.distortion_analysis.unwrap()["Global"];
    assert_eq!((analysis[0].distortion, analysis[0].severity), (Distortion::Blurs, Severity::Moderate));
    let system = &model.calls("analyze")[0].prompt.system;
    assert!(system.starts_with("You are a distortion analysis expert. Your task is to assess the severity and visual impact of various distortion\ntypes for different regions of an image or the entire image.\nThe distortion information: "));
    assert!(system.contains(r#""severity": "<none/slight/moderate/severe/extreme>""#));
    assert!(system.ends_with(
        "3. Keep explanations short and focused on visual quality. Focus solely on analyzing visual distortion effects."
    ));
}

#[tokio::test]
async fn validate_severity_levels() {
    let item = |kind: &str, severity: &str, text: &str| {
        format!(
            r#"{{"distortion_analysis": {{"Global": [{{"type": "{kind}", "severity": "{severity}", "explanation": "{text}"}}]}}}}"#
        )
    };
    let bad = [item("Blurs", "terrible", "x"), item("Blurs", "none", " "), item("Contrast", "none", "x")];
    for answer in &bad {
        let answers = [answer.as_str(), ANALYZED];
        let model = Scripted::new().says("detect", &[DETECTED]).says("analyze", &answers);
        let (found, model) = execute(model, &scene(), &plan(json!("Global"), [true, true, false, false])).await;
        assert_eq!(model.calls("analyze").len(), 2, "{answer} must be refused");
        assert!(found.distortion_analysis.is_some());
    }
    let words = item("Blurs", "Heavy", "x");
    let model = Scripted::new().says("detect", &[DETECTED]).says("analyze", &[&words]);
    let (found, _) = execute(model, &scene(), &plan(json!("Global"), [true, true, false, false])).await;
    assert_eq!(found.distortion_analysis.unwrap()["Global"][0].severity, Severity::Severe, "the paper's word");
}

#[tokio::test]
async fn handle_analysis_errors() {
    let scene = scene();
    let model = Scripted::new().says("detect", &[DETECTED]).says("analyze", &["{\"distortion_analysis\": "]);
    let (found, model) = execute(model, &scene, &plan(json!("Global"), [true, true, false, false])).await;
    assert_eq!((found.distortion_analysis, model.calls("analyze").len()), (None, 3));
    assert!(found.distortion_set.is_some(), "what was found stays");
    assert!(scene.events.problems()[0].starts_with("distortion analysis failed"));
}

#[tokio::test]
async fn select_tools_with_vlm() {
    let (found, model) = execute(model(), &scene(), &plan(json!("Global"), [true, false, true, false])).await;
    let selected = &found.selected_tools.unwrap()["Global"];
    assert_eq!(selected[&Distortion::Blurs], OneOrMany::One(crate::seeds::support::text("PIQE")));
    let system = &model.calls("select")[0].prompt.system;
    assert!(system.starts_with("You are a tool executor. Your task is to assign the most appropriate IQA tool to each visual distortion type,\nbased on the descriptions of the tools."));
    assert!(system.ends_with(
        "For each distortion, choose the tool whose description suggests it performs best for that type of distortion."
    ));
    assert!(found.tool_logs.is_empty(), "selected, not run");
}

#[tokio::test]
async fn prioritize_fr_tools_when_reference_available() {
    let answers = [SELECTED, r#"{"selected_tools": {"Global": {"Blurs": "ms_ssim", "Noise": "mdsi"}}}"#];
    let model = Scripted::new().says("detect", &[DETECTED]).says("select", &answers);
    let mut plan = plan(json!("Global"), [true, false, true, true]);
    plan.reference_mode = agenticiqa::state::ReferenceMode::FullReference;
    let scene = scene().with_reference();
    let (found, model) = execute(model, &scene, &plan).await;
    assert_eq!(model.calls("select").len(), 2, "no-reference tools are refused where full-reference ones are good");
    assert!(model.calls("select")[1].prompt.user.contains("full-reference"));
    let tools: Vec<&str> = found.tool_logs.iter().map(|log| log.tool_name.as_str()).collect();
    assert_eq!(tools, ["MS-SSIM", "MDSI"], "what the model selects, and nothing else");
    assert!(found.tool_logs.iter().all(|log| log.error.is_none() && !log.fallback));
    let scores = &found.quality_scores.unwrap()["Global"];
    assert!(matches!(&scores[&Distortion::Blurs], OneOrMany::One((tool, _)) if tool.as_str() == "MS-SSIM"));
}

#[tokio::test]
async fn own_tools_are_offered_and_are_selected_like_any_other() {
    let answer = r#"{"selected_tools": {"Global": {"Blurs": "fused_fr", "Noise": "fused-fr"}}}"#;
    let model = Scripted::new().says("detect", &[DETECTED]).says("select", &[answer]);
    let mut plan = plan(json!("Global"), [true, false, true, true]);
    plan.reference_mode = agenticiqa::state::ReferenceMode::FullReference;
    let (found, model) = execute(model, &scene().with_reference(), &plan).await;
    assert!(model.calls("select")[0].prompt.system.contains("Fused-FR"), "it is in the list of tools");
    let tools: Vec<&str> = found.tool_logs.iter().map(|log| log.tool_name.as_str()).collect();
    assert_eq!(tools, ["Fused-FR", "Fused-FR"]);
    assert!(found.tool_logs.iter().all(|log| log.interval.is_some()));
    let selected = found.selected_tools.unwrap();
    assert!(matches!(&selected["Global"][&Distortion::Blurs], OneOrMany::One(tool) if tool.as_str() == "Fused-FR"));
}

/// Returns a model that selects these tools for blur and noise, with the rest of an assessment.
fn selecting(blurs: &str, noise: &str) -> Arc<Scripted> {
    let plan = plan_json(json!("Global"), [true; 4]).to_string();
    let selected = json!({"selected_tools": {"Global": {"Blurs": blurs, "Noise": noise}}}).to_string();
    Arc::new(model().replaces("select", &[&selected]).says("plan", &[&plan]).says("score", &[SCORED]))
}

#[tokio::test]
async fn the_score_follows_the_selected_tools() {
    let mut scores = Vec::new();
    for (blurs, noise) in [("BRISQUE", "BRISQUE"), ("NIQE", "NIQE"), ("PIQE", "PIQE"), ("PIQE", "NIQE")] {
        let model = selecting(blurs, noise);
        let record = assess(&model, request("Rate the quality.")).await;
        let evidence = record.executor_evidence.unwrap();
        let tools: Vec<&str> = evidence.tool_logs.iter().map(|log| log.tool_name.as_str()).collect();
        assert_eq!(tools, [blurs, noise], "nothing else runs");
        let result = record.summarizer_result.unwrap();
        let measured: Vec<f64> =
            evidence.distinct_runs().iter().map(|log| log.normalized_score.unwrap().value()).collect();
        let mean = measured.iter().sum::<f64>() / measured.len() as f64;
        assert!((result.fusion.unwrap().tools - mean).abs() < 1e-12, "the mean of the selected tools");
        scores.push(result.quality_score.unwrap().value());
        let user = &model.calls("score")[0].prompt.user;
        assert!(user.contains(blurs) && user.contains(noise) && !user.contains("Fused-NR"), "{user}");
    }
    for (index, score) in scores.iter().enumerate() {
        assert!(!scores[..index].contains(score), "another choice, another score: {scores:?}");
    }
}

#[tokio::test]
async fn an_own_tool_that_is_selected_counts_like_the_others() {
    let model = selecting("Fused-NR", "BRISQUE");
    let record = assess(&model, request("Rate the quality.")).await;
    let evidence = record.executor_evidence.unwrap();
    let selected = &evidence.selected_tools.as_ref().unwrap()["Global"];
    assert_eq!(selected[&Distortion::Blurs], OneOrMany::One(crate::seeds::support::text("Fused-NR")));
    let measured: Vec<f64> = evidence.distinct_runs().iter().map(|log| log.normalized_score.unwrap().value()).collect();
    let tools = record.summarizer_result.unwrap().fusion.unwrap().tools;
    assert!(measured.len() == 2 && (tools - (measured[0] + measured[1]) / 2.0).abs() < 1e-12, "{measured:?} {tools}");
    let described = &model.calls("select")[0].prompt.system;
    assert!(described.contains("\"Fused-NR\":{\"type\":\"NR\",\"description\":"), "{described}");
}

#[tokio::test]
async fn the_generic_tools_are_used_when_they_can_run() {
    let registry = registry_with(&[("QAlign", "NR", "3.5"), ("TOPIQ_FR", "FR", "2.5")]);
    for (reference, tool, score) in [(false, "QAlign", 3.5), (true, "TOPIQ_FR", 2.5)] {
        let mut scene = if reference { scene().with_reference() } else { scene() };
        scene.registry = Arc::clone(&registry);
        let model = Scripted::new().says("detect", &[DETECTED]).says("select", &["I do not know"]);
        let mut plan = plan(json!("Global"), [true, false, true, true]);
        if reference {
            plan.reference_mode = agenticiqa::state::ReferenceMode::FullReference;
        }
        let (found, _) = execute(model, &scene, &plan).await;
        let ran: Vec<&str> = found.tool_logs.iter().map(|log| log.tool_name.as_str()).collect();
        assert_eq!(ran, [tool, tool]);
        assert!(found.distinct_runs()[0].normalized_score.is_some_and(|found| (found.value() - score).abs() < 1e-9));
        assert!(!scene.events.problems().iter().any(|problem| problem.contains("cannot run here")));
    }
}

#[tokio::test]
async fn a_score_that_is_no_finite_number_is_a_failure_and_the_tool_is_replaced() {
    for printed in ["nan", "inf", "-inf"] {
        let mut scene = scene();
        scene.registry = registry_with(&[("Broken", "NR", printed)]);
        let mut plan = plan(json!("Global"), [true, false, false, true]);
        plan.required_tool = Some(OneOrMany::One(crate::seeds::support::text("Broken")));
        let model = Scripted::new().says("detect", &[r#"{"distortion_set": {"Global": ["Blurs"]}}"#]);
        let (found, _) = execute(model, &scene, &plan).await;
        let [broken, replacement] = found.tool_logs.as_slice() else { panic!("{:?}", found.tool_logs) };
        assert!(broken.raw_score.is_none() && broken.error.as_ref().unwrap().contains(printed), "{broken:?}");
        assert!(replacement.fallback && replacement.normalized_score.is_some());
        assert!(scene.events.problems()[0].starts_with("Broken failed"));
    }
}

#[tokio::test]
async fn skip_tool_selection_when_required_tool_specified() {
    let mut plan = plan(json!("Global"), [true, false, true, true]);
    plan.required_tool = Some(OneOrMany::One(crate::seeds::support::text("niqe")));
    let (found, asked) = execute(model(), &scene(), &plan).await;
    assert!(asked.calls("select").is_empty());
    assert_eq!(found.tool_logs.len(), 2, "for all distortions");
    assert!(found.tool_logs.iter().all(|log| log.tool_name.as_str() == "NIQE"));
    assert_eq!(found.distinct_scores().len(), 1, "one measurement counts once");
    plan.required_tool = Some(OneOrMany::Many(["NIQE", "PIQE"].map(crate::seeds::support::text).to_vec()));
    let (found, _) = execute(model(), &scene(), &plan).await;
    assert_eq!(found.distinct_scores().iter().map(|(tool, _)| *tool).collect::<Vec<_>>(), ["NIQE", "PIQE"]);
    assert_eq!(found.quality_scores.unwrap()["Global"][&Distortion::Blurs].as_slice().len(), 2);
}

#[tokio::test]
async fn handle_selection_errors() {
    for (reference, generic, instead) in [(false, "QAlign", "Fused-NR"), (true, "TOPIQ_FR", "Fused-FR")] {
        let scene = if reference { scene().with_reference() } else { scene() };
        let model = Scripted::new().says("detect", &[DETECTED]).says("select", &["BRISQUE, I think"]);
        let mut plan = plan(json!("Global"), [true, false, true, true]);
        if reference {
            plan.reference_mode = agenticiqa::state::ReferenceMode::FullReference;
        }
        let (found, model) = execute(model, &scene, &plan).await;
        assert_eq!(model.calls("select").len(), 3);
        let tool = || OneOrMany::One(crate::seeds::support::text(instead));
        let best = [(Distortion::Blurs, tool()), (Distortion::Noise, tool())];
        assert_eq!(found.selected_tools.unwrap()["Global"], best.into(), "the best tool for each distortion");
        let ran: Vec<&str> = found.tool_logs.iter().map(|log| log.tool_name.as_str()).collect();
        assert_eq!(ran, [instead, instead]);
        assert!(found.tool_logs.iter().all(|log| log.error.is_none() && !log.fallback));
        let told = format!("{generic} cannot run here: the best available tool was used for each distortion");
        assert!(scene.events.problems().contains(&told), "{:?}", scene.events.problems());
    }
}

#[tokio::test]
async fn execute_tools_and_normalize_scores() {
    let scene = scene();
    let (found, _) = execute(model(), &scene, &plan(json!("Global"), [true, false, true, true])).await;
    for (log, tool) in found.tool_logs.iter().zip(["PIQE", "BRISQUE"]) {
        assert_eq!(log.tool_name.as_str(), tool);
        let scale = scene.registry.get(tool).unwrap().scale();
        let part = scene.inputs.part(None).unwrap();
        let raw = part.measure(scene.registry.get(tool).unwrap(), false).raw_score.unwrap();
        assert_eq!(log.raw_score.unwrap().0, raw);
        assert_eq!(log.normalized_score.unwrap().value(), scale.normalize(raw).unwrap());
    }
    let scores = &found.quality_scores.unwrap()["Global"];
    assert_eq!(scores[&Distortion::Noise].as_slice()[0].0.as_str(), "BRISQUE");
}

#[tokio::test]
async fn handle_tool_failures() {
    let mut plan = plan(json!("Global"), [true, false, false, true]);
    plan.required_tool = Some(OneOrMany::Many(["LPIPS", "SSIM", "PIQE"].map(crate::seeds::support::text).to_vec()));
    let scene = scene();
    let model = Scripted::new().says("detect", &[r#"{"distortion_set": {"Global": ["Blurs"]}}"#]);
    let (found, _) = execute(model, &scene, &plan).await;
    let told: Vec<(&str, bool, bool)> =
        found.tool_logs.iter().map(|log| (log.tool_name.as_str(), log.fallback, log.error.is_some())).collect();
    let expected = [
        ("LPIPS", false, true),
        ("BRISQUE", true, false),
        ("SSIM", false, true),
        ("BRISQUE", true, false),
        ("PIQE", false, false),
    ];
    assert_eq!(told, expected, "each failed tool is logged and replaced, and the others run");
    assert!(found.tool_logs[2].error.as_ref().unwrap().contains("needs a reference"));
    assert_eq!(scene.events.problems().len(), 2);
}

#[tokio::test]
async fn cache_tool_outputs() {
    let (scene, model) = (scene(), Arc::new(model()));
    let (reasoner, cache) = (reasoner(&model, Node::Executor), Arc::new(ToolCache::new(100, None)));
    let (grounding, calls) = (Grounding::Off, Calls::Separate);
    let executor = Executor { reasoner: &reasoner, cache: &cache, grounding, calls };
    let mut runs = Vec::new();
    for _ in 0..2 {
        let found = Mutex::new(ExecutorOutput::default());
        executor.execute(scene.context(), &plan(json!("Global"), [true, false, true, true]), &found).await;
        runs.push(found.into_inner().unwrap().tool_logs);
    }
    let tools: BTreeSet<&str> = runs[0].iter().map(|log| log.tool_name.as_str()).collect();
    let computed = runs[0].iter().filter(|log| !log.cached).count();
    assert!(computed == tools.len() && runs[1].iter().all(|log| log.cached), "{runs:?}");
    assert_eq!(runs[0][0].raw_score, runs[1][0].raw_score);
    assert_eq!((cache.statistics().misses, cache.statistics().memory_hits), (computed as u64, computed as u64));
}

#[tokio::test]
async fn conditional_subtask_execution() {
    for bits in 0..16_u8 {
        let flags = [bits & 1 > 0, bits & 2 > 0, bits & 4 > 0, bits & 8 > 0];
        let (found, model) = execute(model(), &scene(), &plan(json!("Global"), flags)).await;
        assert_eq!(model.calls("detect").len(), usize::from(flags[0]), "{flags:?}");
        assert_eq!(!model.calls("analyze").is_empty(), flags[1], "{flags:?}");
        assert_eq!(!model.calls("select").is_empty(), flags[2], "{flags:?}");
        assert_eq!(found.distortion_set.is_some(), flags[0]);
        assert_eq!(found.selected_tools.is_some(), flags[2]);
        assert_eq!(found.quality_scores.is_some(), flags[3], "{flags:?}");
    }
}

#[tokio::test]
async fn handle_subtask_failures_gracefully() {
    let nonsense = &["no"][..];
    let plan = plan_json(json!("Global"), [true; 4]).to_string();
    let model = Scripted::new().says("plan", &[&plan]).says("detect", nonsense).says("analyze", nonsense);
    let model = Arc::new(model.says("select", nonsense).says("score", &[SCORED]));
    let mut request = request("Rate the quality.");
    request.max_replan_iterations = Some(0);
    let record = assess(&model, request).await;
    let evidence = record.executor_evidence.unwrap();
    assert_eq!((evidence.distortion_set, evidence.distortion_analysis), (None, None));
    assert!(evidence.quality_scores.is_some(), "generic tools still ran");
    assert_eq!(record.metadata.final_status, FinalStatus::Partial);
    let told = record.metadata.error_details.unwrap().join("\n");
    for failed in ["distortion detection failed", "distortion analysis failed", "tool selection failed"] {
        assert!(told.contains(failed), "{told}");
    }
    assert!(record.summarizer_result.unwrap().quality_score.is_some());
}

#[tokio::test]
async fn pass_distortion_set_to_analysis() {
    let (_, model) = execute(model(), &scene(), &plan(json!("Global"), [true, true, false, false])).await;
    let system = &model.calls("analyze")[0].prompt.system;
    assert!(system.contains(r#"The distortion information: {"Global":["Blurs","Noise"]}"#), "{system}");
}

#[tokio::test]
async fn pass_distortion_set_and_tool_metadata_to_selection() {
    let mut explicit = plan(json!("Global"), [false, false, true, false]);
    explicit.distortions = Some([(crate::seeds::support::text("Global"), vec![Distortion::Noise])].into());
    let model = Scripted::new().says("select", &[r#"{"selected_tools": {"Global": {"Noise": "NIQE"}}}"#]);
    let (_, model) = execute(model, &scene(), &explicit).await;
    let system = &model.calls("select")[0].prompt.system;
    assert!(system.contains(r#"{"Global":["Noise"]}"#), "from the plan where nothing was detected");
    assert!(system.contains(r#""BRISQUE":{"type":"NR","description":"Natural scene statistics"#), "{system}");
    assert!(!system.contains("\"SSIM\"") && !system.contains("QAlign"), "only tools that can run on this");
}

#[tokio::test]
async fn pass_selected_tools_to_execution() {
    let plan = plan(json!(["car", "sky"]), [true, false, true, true]);
    let model = Scripted::new()
        .says("detect", &[r#"{"distortion_set": {"car": ["Blurs"], "sky": ["Noise"]}}"#])
        .says("select", &[r#"{"selected_tools": {"car": {"Blurs": "NIQE"}, "sky": {"Noise": "PIQE"}}}"#]);
    let mut scene = scene();
    scene.state.regions =
        serde_json::from_value(json!([{"name": "Car", "x": 2, "y": 1, "width": 220, "height": 196}])).unwrap();
    let (found, _) = execute(model, &scene, &plan).await;
    let told: Vec<_> =
        found.tool_logs.iter().map(|log| (log.object_name.as_str(), log.tool_name.as_str(), log.region)).collect();
    assert_eq!(told[1], ("sky", "PIQE", None), "no box: the whole image is measured and logged");
    assert_eq!((told[0].0, told[0].2), ("car", Some([2, 1, 220, 196])), "measured on its region");
}

/// Independent subtasks run concurrently: with a slow model, analysis does not wait for selection.
/// Time is simulated.
#[tokio::test(start_paused = true)]
async fn independent_subtasks_run_concurrently() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&told);
    let mut scene = scene();
    scene.events = EventLog::heard_by(move |event| {
        if let Event::SubtaskEnded { subtask, .. } = event {
            ears.lock().unwrap().push((*subtask, tokio::time::Instant::now()));
        }
    });
    let model = Arc::new(model().slow(std::time::Duration::from_millis(200)));
    let (reasoner, cache) = (reasoner(&model, Node::Executor), Arc::new(ToolCache::new(100, None)));
    let (grounding, calls) = (Grounding::Off, Calls::Separate);
    let executor = Executor { reasoner: &reasoner, cache: &cache, grounding, calls };
    let found = Mutex::new(ExecutorOutput::default());
    let start = tokio::time::Instant::now();
    executor.execute(scene.context(), &plan(json!("Global"), [true, true, true, false]), &found).await;
    let told = told.lock().unwrap();
    let after = |wanted: Subtask| told.iter().find(|(subtask, _)| *subtask == wanted).unwrap().1 - start;
    assert_eq!(after(Subtask::DistortionDetection).as_millis(), 200);
    assert_eq!(after(Subtask::DistortionAnalysis).as_millis(), 400);
    assert_eq!(after(Subtask::ToolSelection).as_millis(), 400);
}

#[tokio::test]
async fn objects_are_located_by_the_model_when_their_place_is_not_known() {
    let plan = plan_json(json!(["car", "sky"]), [false, true, true, true]).to_string();
    let clean = json!([{"type": "Blurs", "severity": "none", "explanation": "x"}]);
    let analyzed = json!({"distortion_analysis": {"car": clean, "sky": clean}}).to_string();
    let selected = json!({"selected_tools": {"car": all_tools("MDSI"), "sky": all_tools("MDSI")}}).to_string();
    let model = Scripted::new()
        .says("plan", &[&plan])
        .says("ground", &[r#"{"boxes": {"car": [100, 200, 900, 1000], "sky": null}}"#])
        .says("analyze", &[&analyzed])
        .says("select", &[&selected])
        .says("answer", &[r#"{"final_answer": "Yes.", "quality_reasoning": "MDSI says so."}"#]);
    let model = Arc::new(model);
    let record = assess(&model, with_reference(request("Is the car sharper than the sky?"))).await;
    let origins: Vec<&str> = record.regions.iter().map(|region| region.origin.name()).collect();
    assert_eq!(origins, ["model", "whole image"]);
    let region = &record.regions[0];
    assert_eq!((region.x, region.y, region.width, region.height), (24, 40, 192, 160));
    let logs = record.executor_evidence.unwrap().tool_logs;
    assert!(logs.iter().any(|log| log.object_name.as_str() == "car" && log.region == Some([24, 40, 192, 160])));
    assert!(logs.iter().filter(|log| log.object_name.as_str() == "sky").all(|log| log.region.is_none()));
    assert!(record.metadata.notes.iter().any(|note| note.contains("\"sky\" is not known")));
}

fn all_tools(tool: &str) -> serde_json::Value {
    Distortion::ALL
        .iter()
        .map(|distortion| (distortion.name().to_owned(), json!(tool)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
