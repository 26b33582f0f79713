//! Views at 100 % and brightened copies.

use std::sync::{Arc, Mutex};

use agenticiqa::events::{Event, EventLog};
use agenticiqa::reasoner::vlm::VlmReasoner;
use agenticiqa::state::{Mode, Node, ViewKind};
use agenticiqa::views::{Limits, Sending};
use serde_json::json;

use super::support::{CONCLUDED, QUERY, SMALL, agent_in, assess, dark, first, model};
use crate::seeds::support::{plan_json, reasoner, request};

#[tokio::test]
async fn a_large_image_is_sent_with_crops_that_the_text_introduces() {
    let (record, model) = assess(model().keeping(SMALL), request(QUERY)).await;
    let views = record.metadata.views.unwrap();
    assert_eq!((views.max_crops, views.max_side, views.max_rounds, views.kept_side), (3, 120, 2, 120));
    assert!((1..=3).contains(&views.sent.len()), "{views:?}");
    for view in &views.sent {
        assert_eq!((view.kind, view.width, view.height, view.stops), (ViewKind::Crop, 120, 120, None));
        assert!(view.x + view.width <= 240 && view.y + view.height <= 200 && view.bytes > 100, "{view:?}");
    }
    for role in ["detect", "analyze", "score"] {
        let call = first(&model, role);
        let labels: Vec<String> = (1..=views.sent.len()).map(|number| format!("<view {number}>")).collect();
        assert_eq!(call.images[0], "<image>", "the image first");
        assert_eq!(call.images[1..], labels, "{role}");
        assert!(call.prompt.user.contains("The image has 240x200 pixels, and you see it at 50% of that size."));
        for (view, label) in views.sent.iter().zip(&labels) {
            let place = format!("{},{},{},{}", view.x, view.y, view.width, view.height);
            let line = format!("{label}: crop at 100 % of the region {place} ({})", view.shows);
            assert!(call.prompt.user.contains(&line), "{role}: {line}");
        }
    }
    assert_eq!(first(&model, "plan").images, ["<image>"], "a plan needs no views");
    assert!(first(&model, "select").images.is_empty());
    let shown: Vec<&str> = views.sent.iter().map(|view| view.shows.as_str()).collect();
    assert!(shown.iter().any(|shows| shows.contains("quality map finds worst")), "{shown:?}");
}

#[tokio::test]
async fn the_asked_part_is_the_first_crop() {
    let mut scripted = model().keeping(SMALL);
    let plan = plan_json(json!(["door"]), [false, true, false, false]);
    let analysis =
        r#"{"distortion_analysis": {"door": [{"type": "Blurs", "severity": "slight", "explanation": "x"}]}}"#;
    scripted = scripted.replaces("plan", &[&plan.to_string()]).replaces("analyze", &[analysis]);
    let mut request = request("How sharp is the door? Rate it.");
    request.regions = vec!["door=150,20,60,80".parse().unwrap()];
    let (record, model) = assess(scripted, request).await;
    let view = &record.metadata.views.unwrap().sent[0];
    assert_eq!((view.shows.as_str(), view.x, view.y), ("door", 120, 0), "around its center, inside the image");
    assert!(first(&model, "analyze").prompt.user.contains("(door)"));
}

#[tokio::test]
async fn a_dark_image_is_sent_with_a_brightened_copy() {
    let (record, model) = assess(model(), dark(QUERY)).await;
    let views = record.metadata.views.unwrap().sent;
    let [view] = &views[..] else { panic!("{views:?}") };
    assert_eq!((view.kind, view.width, view.height), (ViewKind::Brightened, 200, 160));
    let stops = view.stops.unwrap();
    assert!((2.0..=5.0).contains(&stops), "{stops}");
    let line = format!("<view 1>: the region 0,0,200,160 brightened by {stops:+.1} EV (the whole image)");
    assert!(first(&model, "analyze").prompt.user.contains(&line));
}

#[tokio::test]
async fn small_and_bright_images_have_no_views_and_may_not_ask_for_any() {
    let (record, model) = assess(model(), request(QUERY)).await;
    assert_eq!(record.metadata.views, None);
    for role in ["detect", "analyze", "score"] {
        let call = first(&model, role);
        assert_eq!(call.images, ["<image>"]);
        assert!(
            !call.prompt.user.contains("view") && !call.options.schema.unwrap().schema.to_string().contains("view")
        );
    }
}

#[tokio::test]
async fn views_can_be_turned_off_and_limited() {
    for (limits, count) in
        [(Limits { sending: Sending::Off, ..Limits::default() }, 0), (Limits { max_crops: 1, ..Limits::default() }, 1)]
    {
        let model = Arc::new(model().keeping(SMALL));
        let mut agent = agent_in(Mode::Grounded, &model);
        agent.reasoners.executor = Arc::new(VlmReasoner { views: limits, ..reasoner(&model, Node::Executor) });
        agent.assess(request(QUERY), EventLog::default()).await.unwrap();
        assert_eq!(first(&model, "analyze").images.len(), 1 + count);
    }
}

/// A wish of a model, with the rest of its answer.
fn wishing(wish: &str) -> String {
    format!(r#"{{"final_answer": "D", "quality_reasoning": "I need to look.", "view_request": {wish}}}"#)
}

#[tokio::test]
async fn a_model_gets_the_view_that_it_asks_for_and_answers_then() {
    let wish = wishing(r#"{"kind": "crop", "box": [500, 0, 1000, 400]}"#);
    let scripted = model().keeping(SMALL).replaces("score", &[&wish, CONCLUDED]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| ears.lock().unwrap().push(event.clone()));
    let model = Arc::new(scripted);
    let record = agent_in(Mode::Grounded, &model).assess(request(QUERY), events).await.unwrap();
    let calls = model.calls("score");
    assert_eq!(calls.len(), 2);
    let (before, after) = (&calls[0], &calls[1]);
    assert!(before.options.schema.as_ref().unwrap().schema["properties"]["view_request"].is_object());
    assert!(after.options.schema.as_ref().unwrap().schema["properties"]["view_request"].is_null(), "one view only");
    assert_eq!(after.images.len(), before.images.len() + 1);
    // The same images and the same text first: what the provider has read can be reused.
    assert_eq!(after.images[..before.images.len()], before.images);
    assert!(after.prompt.user.starts_with(&before.prompt.user) && after.prompt.system == before.prompt.system);
    assert!(after.prompt.user.contains("crop at 100 % of the region 120,0,120,80 (the view that you asked for)"));
    let asked = record.metadata.views.unwrap().sent.into_iter().find(|view| view.requested_by.is_some()).unwrap();
    assert_eq!((asked.requested_by.as_deref(), asked.x, asked.height), (Some("conclusion"), 120, 80));
    assert_eq!(record.summarizer_result.unwrap().final_answer.as_str(), "C", "the answer after the look counts");
    let heard = heard.lock().unwrap();
    assert!(heard.iter().any(|event| matches!(event, Event::View { view } if view.requested_by.is_some())));
}

#[tokio::test]
async fn a_brightened_view_can_be_asked_for_too() {
    let wish = wishing(r#"{"kind": "brightened", "box": [0, 0, 1000, 1000]}"#);
    let (record, model) = assess(model().replaces("score", &[&wish, CONCLUDED]), dark(QUERY)).await;
    let asked = record.metadata.views.unwrap().sent.into_iter().find(|view| view.requested_by.is_some()).unwrap();
    assert_eq!(asked.kind, ViewKind::Brightened);
    assert!(model.calls("score")[1].prompt.user.contains("<view 2>: the region 0,0,200,160 brightened by"));
}

#[tokio::test]
async fn tokens_are_told_call_by_call() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    let events = EventLog::heard_by(move |event| {
        if let Event::ModelCall { call } = event {
            ears.lock().unwrap().push(call.clone());
        }
    });
    let model = Arc::new(model().keeping(SMALL));
    let mut agent = agent_in(Mode::Grounded, &model);
    agent.options.rates = serde_json::from_str(r#"{"openai.*": {"prompt": 2.0, "completion": 10.0}}"#).unwrap();
    let record = agent.assess(request(QUERY), events).await.unwrap();
    let calls = &record.metadata.calls;
    assert_eq!(*heard.lock().unwrap(), *calls);
    let mut tasks: Vec<&str> = calls.iter().map(|call| call.task.as_str()).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, ["conclusion", "distortion_analysis", "distortion_set", "plan", "selected_tools"]);
    for call in calls {
        assert_eq!((call.prompt_tokens, call.completion_tokens, call.cached), (100, 10, false));
        assert!((call.cost_usd.unwrap() - 3e-4).abs() < 1e-12, "{call:?}");
    }
    assert_eq!(calls.iter().find(|call| call.task == "selected_tools").unwrap().images, 0);
    assert!((record.metadata.cost_usd.unwrap() - 5.0 * 3e-4).abs() < 1e-12);
    let tokens = record.metadata.tokens_used;
    assert_eq!((tokens.planner, tokens.executor, tokens.summarizer), (110, 330, 110));
}
