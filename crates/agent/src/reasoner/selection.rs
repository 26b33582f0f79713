//! Selects a tool for each distortion by its known strengths; full-reference tools if there is a
//! reference.

use std::collections::BTreeMap;

use crate::state::{ByDistortion, Distortion, OneOrMany, Text};
use agenticiqa_tools::{Scale, Tool};

/// The tools for one category, best first.
struct Ranking {
    distortion: Distortion,
    full_reference: &'static [&'static str],
    no_reference: &'static [&'static str],
}

/// Learned tools are ranked by the strengths in the paper (KADID-10k), then native tools by their
/// rank correlation with people within the distortion types of the category (TID2013). Examples:
/// MS-SSIM 0.97 and VSI 0.97 on blurs, MDSI 0.86 to 0.95 on noise, VSI 0.96 on compression, MS-SSIM
/// 0.79 on mean shift, VIF 0.84 on contrast (all others below 0.48), FSIM 0.84 on saturation;
/// without a reference PIQE 0.83 on blurs, BRISQUE 0.85 on noise and compression. No native tool
/// without a reference follows brightness, contrast or color (all below 0.3).
///
/// Where Fused-FR lists a strength, it agrees better than each of its members
/// (docs/models/fused-fr.md) and comes first. Fused-NR follows the level of generated damage better
/// than any native tool without a reference (docs/models/fused-nr.md). The large learned tools, if
/// available, agree better with people.
static RANKINGS: [Ranking; 7] = [
    Ranking {
        distortion: Distortion::Blurs,
        full_reference: &["Fused-FR", "TOPIQ_FR", "MS-SSIM", "NLPD", "VSI", "VIF", "SSIM", "DISTS"],
        no_reference: &["QAlign", "UNIQUE", "Fused-NR", "PIQE", "BRISQUE", "NIQE"],
    },
    Ranking {
        distortion: Distortion::Noise,
        full_reference: &["Fused-FR", "TOPIQ_FR", "MDSI", "VSI", "PSNR", "HaarPSI", "GMSD"],
        no_reference: &["QAlign", "UNIQUE", "Fused-NR", "BRISQUE", "PIQE", "NIQE"],
    },
    Ranking {
        distortion: Distortion::Compression,
        full_reference: &["Fused-FR", "TOPIQ_FR", "VSI", "NLPD", "HaarPSI", "MDSI"],
        no_reference: &["UNIQUE", "Fused-NR", "BRISQUE", "NIQE"],
    },
    Ranking {
        distortion: Distortion::Brightness,
        full_reference: &["TOPIQ_FR", "MS-SSIM", "SSIM", "VSI", "PSNR"],
        no_reference: &["QAlign", "Fused-NR"],
    },
    Ranking {
        distortion: Distortion::Contrast,
        full_reference: &["Fused-FR", "TOPIQ_FR", "VIF"],
        no_reference: &["UNIQUE", "Fused-NR"],
    },
    Ranking {
        distortion: Distortion::Color,
        full_reference: &["Fused-FR", "TOPIQ_FR", "FSIM", "VSI", "MDSI", "GMSD"],
        no_reference: &["QAlign", "LIQE"],
    },
    Ranking { distortion: Distortion::Sharpness, full_reference: &["TOPIQ_FR"], no_reference: &["QAlign", "Fused-NR"] },
];

/// Tools for distortions without a specialized tool: good over all distortions, best first.
const GENERIC: [&str; 16] = [
    "Fused-FR", "TOPIQ_FR", "QAlign", "VSI", "HaarPSI", "MDSI", "FSIM", "MS-SSIM", "NLPD", "GMSD", "SSIM", "PSNR",
    "Fused-NR", "BRISQUE", "NIQE", "PIQE",
];

/// Returns the tool in `tools` that determines the score.
fn overall<'a>(tools: &[&'a Tool], full_reference: bool) -> Option<&'a Tool> {
    tools.iter().copied().find(|tool| tool.has_interval() && tool.needs_reference() == full_reference)
}

/// Returns the tools to run in addition to the chosen ones.
pub fn companions(chosen: &ByDistortion<Text>, tools: &[&Tool], full_reference: bool) -> ByDistortion<OneOrMany<Text>> {
    let companion = |(distortion, selected): (&Distortion, &Text)| {
        let tool = companion(*distortion, &[selected.as_str()], tools, full_reference)?;
        Some((*distortion, OneOrMany::One(Text::new(tool.name()).ok()?)))
    };
    chosen.iter().map(|(object, of)| (object.clone(), of.iter().filter_map(companion).collect())).collect()
}

/// Returns the tool that runs in addition to the selected tool: the tool that determines the score,
/// or, if that is the selected one, the best single tool as evidence.
fn companion<'a>(
    distortion: Distortion,
    selected: &[&str],
    tools: &[&'a Tool],
    full_reference: bool,
) -> Option<&'a Tool> {
    let overall = overall(tools, full_reference)?;
    if !selected.contains(&overall.name()) {
        return Some(overall);
    }
    let single: Vec<&Tool> = tools.iter().copied().filter(|tool| !tool.has_interval()).collect();
    best(distortion, &single, full_reference).filter(|tool| !selected.contains(&tool.name()))
}

/// Returns the best of `tools` for each distortion of each object. All of `tools` can run here.
///
/// With a reference, a full-reference tool is preferred. Plain measurements have no 1 to 5 scale
/// and are never selected. Distortions without a suitable tool are omitted.
pub fn choose(
    distortions: &BTreeMap<Text, Vec<Distortion>>,
    tools: &[&Tool],
    full_reference: bool,
) -> ByDistortion<Text> {
    let mut chosen = ByDistortion::new();
    for (part, distortions) in distortions {
        let of_part = distortions.iter().filter_map(|distortion| {
            let tool = best(*distortion, tools, full_reference)?;
            Some((*distortion, Text::new(tool.name()).ok()?))
        });
        let of_part: BTreeMap<Distortion, Text> = of_part.collect();
        if !of_part.is_empty() {
            chosen.insert(part.clone(), of_part);
        }
    }
    chosen
}

/// Returns the best tool for one distortion.
fn best<'a>(distortion: Distortion, tools: &[&'a Tool], full_reference: bool) -> Option<&'a Tool> {
    let usable = |tool: &&&'a Tool| tool.scale() != Scale::None && (full_reference || !tool.needs_reference());
    let place = |list: &[&str], tool: &Tool| list.iter().position(|name| *name == tool.name()).unwrap_or(list.len());
    let ranking = RANKINGS.iter().find(|ranking| ranking.distortion == distortion);
    let rank = |tool: &&&'a Tool| {
        let listed = match (ranking, tool.needs_reference()) {
            (Some(ranking), true) => ranking.full_reference,
            (Some(ranking), false) => ranking.no_reference,
            (None, _) => &[],
        };
        let without_strength = !tool.metadata().strengths.iter().any(|strength| strength == distortion.name());
        let unfitted = tool.metadata().logistic_params.is_none();
        let by_type = full_reference && !tool.needs_reference();
        // A user who adds a tool with a strength wants it to be used.
        let not_added_for_it = without_strength || !tool.is_added();
        // The strengths of the tool list come first, so that a user's own list has effect.
        (by_type, without_strength, not_added_for_it, place(listed, tool), place(&GENERIC, tool), unfitted)
    };
    tools.iter().filter(usable).min_by_key(rank).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenticiqa_tools::{Registry, ToolList, ToolResources};

    fn set(distortions: &[Distortion]) -> BTreeMap<Text, Vec<Distortion>> {
        BTreeMap::from([(Text::new("Global").unwrap(), distortions.to_vec())])
    }

    fn chosen(tools: &[&Tool], full_reference: bool) -> String {
        let chosen = choose(&set(&Distortion::ALL), tools, full_reference);
        let of_global = chosen.get("Global").cloned().unwrap_or_default();
        Distortion::ALL.map(|distortion| of_global.get(&distortion).map_or("-", Text::as_str)).join(" ")
    }

    fn native(registry: &Registry) -> Vec<&Tool> {
        registry.iter().filter(|tool| tool.availability().is_available()).collect()
    }

    #[test]
    fn each_distortion_gets_the_tool_that_judges_it_best() {
        let registry = Registry::builtin().unwrap();
        let fused = "Fused-FR Fused-FR Fused-FR Fused-FR MS-SSIM Fused-FR Fused-FR";
        assert_eq!(chosen(&native(&registry), true), fused);
        assert_eq!(chosen(&native(&registry), false), ["Fused-NR"; 7].join(" "));
    }

    #[test]
    fn the_tool_that_carries_the_score_and_the_best_single_tool_run_together() {
        let registry = Registry::builtin().unwrap();
        let tools = native(&registry);
        let added = |distortion, selected: &str, full| companion(distortion, &[selected], &tools, full).map(Tool::name);
        assert_eq!(added(Distortion::Blurs, "Fused-FR", true), Some("MS-SSIM"));
        assert_eq!(added(Distortion::Color, "Fused-FR", true), Some("FSIM"));
        assert_eq!(added(Distortion::Brightness, "MS-SSIM", true), Some("Fused-FR"));
        assert_eq!(added(Distortion::Noise, "BRISQUE", true), Some("Fused-FR"));
        assert_eq!(added(Distortion::Blurs, "Fused-NR", false), Some("PIQE"));
        assert_eq!(added(Distortion::Compression, "Fused-NR", false), Some("BRISQUE"));
        assert_eq!(overall(&tools[..0], true).map(Tool::name), None);
        let with_interval: Vec<&str> =
            tools.iter().filter(|tool| tool.has_interval()).map(|tool| tool.name()).collect();
        assert_eq!(with_interval, ["Fused-FR", "Fused-NR"]);
    }

    #[test]
    fn learned_tools_come_first_where_they_can_run() {
        let registry = Registry::builtin().unwrap();
        let all: Vec<&Tool> = registry.iter().collect();
        let learned = |full| chosen(&all, full);
        assert_eq!(learned(true), "Fused-FR Fused-FR Fused-FR Fused-FR TOPIQ_FR TOPIQ_FR Fused-FR");
        assert_eq!(learned(false), "QAlign QAlign UNIQUE QAlign QAlign QAlign UNIQUE");
    }

    #[test]
    fn without_a_tool_for_the_reference_the_picture_alone_is_judged() {
        let registry = Registry::builtin().unwrap();
        let tools: Vec<&Tool> = ["NIQE", "Noise", "Blur"].iter().map(|name| registry.get(name).unwrap()).collect();
        assert_eq!(chosen(&tools, true), ["NIQE"; 7].join(" "));
        assert_eq!(chosen(&tools[1..], false), ["-"; 7].join(" "));
        let reference_only = [registry.get("SSIM").unwrap()];
        assert!(choose(&set(&Distortion::ALL), &reference_only, false).is_empty());
    }

    #[test]
    fn the_order_of_the_tools_does_not_matter_and_a_list_of_the_users_is_followed() {
        let registry = Registry::builtin().unwrap();
        let mut reversed = native(&registry);
        reversed.reverse();
        assert_eq!(chosen(&reversed, true), chosen(&native(&registry), true));
        let own = r#"{"SSIM": {"type": "FR", "strengths": ["Noise"], "lower_is_better": false, "range": [0, 1]},
                      "MDSI": {"type": "FR", "strengths": [], "lower_is_better": true, "range": [0, 1]}}"#;
        let own = Registry::new(own, &ToolResources::default()).unwrap();
        assert_eq!(
            choose(&set(&[Distortion::Noise]), &native(&own), true)["Global"][&Distortion::Noise].as_str(),
            "SSIM"
        );
    }

    #[test]
    fn a_tool_of_the_users_is_taken_for_what_it_is_said_to_be_good_at() {
        let own = r#"{"type": "NR", "strengths": ["Noise"], "lower_is_better": true, "range": [0, 1], "backend": "command",
                      "command": {"run": ["sh", "{image}"]}}"#;
        let mut list = ToolList::builtin().unwrap();
        list.add("MyTool", serde_json::from_str(own).unwrap());
        let registry = Registry::from_list(list, &ToolResources::default()).unwrap();
        let tools: Vec<&Tool> = registry.iter().filter(|tool| tool.info().is_some() || tool.is_added()).collect();
        assert_eq!(chosen(&tools, false), "PIQE BRISQUE BRISQUE MyTool BRISQUE BRISQUE BRISQUE");
        // With a reference, a full-reference tool is better.
        assert_eq!(chosen(&tools, true), "MS-SSIM FSIM VSI MDSI MS-SSIM VSI VIF", "of the metrics alone");
    }

    #[test]
    fn the_ranking_agrees_with_the_strengths_of_the_tool_list() {
        let registry = Registry::builtin().unwrap();
        for ranking in &RANKINGS {
            for name in ranking.full_reference.iter().chain(ranking.no_reference) {
                let tool = registry.get(name).unwrap();
                assert_eq!(tool.name(), *name);
                assert!(
                    tool.metadata().strengths.iter().any(|strength| strength == ranking.distortion.name()),
                    "{name}"
                );
            }
        }
        assert!(GENERIC.iter().all(|name| registry.get(name).is_ok()));
    }
}
