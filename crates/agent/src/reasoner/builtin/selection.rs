//! Tool selection by strengths.

use crate::reasoner::DistortionSet;
use crate::state::{ByDistortion, Distortion, Text};
use crate::tools::Tool;

/// The first tool that is good at each distortion, else the first of all.
pub fn choose(distortions: &DistortionSet, tools: &[&Tool], full_reference: bool) -> ByDistortion<Text> {
    let pick = |distortion: Distortion| {
        let fits = |tool: &&&Tool| tool.needs_reference() == full_reference;
        let strong = |tool: &&&Tool| tool.metadata().strengths.iter().any(|name| name == distortion.name());
        let tool = tools.iter().filter(fits).find(strong).or_else(|| tools.iter().find(fits))?;
        Text::new(tool.name()).ok()
    };
    let of =
        |list: &Vec<Distortion>| list.iter().filter_map(|distortion| Some((*distortion, pick(*distortion)?))).collect();
    distortions.iter().map(|(part, list)| (part.clone(), of(list))).collect()
}
