//! `tools.json`: type, strengths, direction and scale of every tool, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::onnx::OnnxSection;
use super::{Error, Logistic};

/// The tool list that is built into the program.
pub(super) const BUILTIN: &str = include_str!("../../../../iqa_tools/metadata/tools.json");

/// Whether a tool compares with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolType {
    /// Full reference.
    #[serde(rename = "FR")]
    FullReference,
    /// No reference.
    #[serde(rename = "NR")]
    NoReference,
}

impl std::fmt::Display for ToolType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::FullReference => "FR",
            Self::NoReference => "NR",
        })
    }
}

/// What runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The metrics engine, built in.
    #[default]
    Native,
    /// A network in an ONNX file.
    Onnx,
    /// A Python worker.
    Worker,
}

/// What `tools.json` says of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// With or without reference.
    #[serde(rename = "type")]
    pub tool_type: ToolType,
    /// What runs it; told from what is built in where the list does not say.
    #[serde(default)]
    pub backend: Backend,
    /// What it is, in a sentence, for people and models who choose a tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The distortion categories that it judges best.
    pub strengths: Vec<String>,
    /// The direction of the raw score; absent for a plain measurement, of which neither end is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_is_better: Option<bool>,
    /// The usual range of the raw score, for the linear scale of tools without fitted parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Parameters of the map from raw score to 1..5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logistic_params: Option<Logistic>,
    /// The human scores that the parameters were fitted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
    /// How an ONNX file scores a picture, of tools of that backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnx: Option<OnnxSection>,
}

/// Reads a tool list, checking every number in it.
pub(super) fn parse(json: &str) -> Result<BTreeMap<String, Metadata>, Error> {
    let tools: BTreeMap<String, Metadata> = serde_json::from_str(json)?;
    for (tool, metadata) in &tools {
        let invalid = |reason: &str| Error::InvalidTool { tool: tool.clone(), reason: reason.to_owned() };
        if metadata.range.is_some_and(|(low, high)| !(low < high && (high - low).is_finite())) {
            return Err(invalid("range must be two finite numbers, the lower first"));
        }
        metadata.logistic_params.as_ref().map_or(Ok(()), |logistic| logistic.check().map_err(invalid))?;
        if let Some(onnx) = &metadata.onnx {
            onnx.check(metadata.tool_type).map_err(invalid)?;
        }
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_list_has_the_28_tools_of_the_paper_and_the_native_ones() {
        let tools = parse(BUILTIN).unwrap();
        let paper = "TOPIQ_FR AHIQ FSIM LPIPS DISTS WaDIQaM_FR PieAPP MS-SSIM GMSD SSIM CKDN VIF PSNR VSI QAlign CLIPIQA \
                     UNIQUE HyperIQA TReS MUSIQ WaDIQaM_NR DBCNN ARNIQA NIMA BRISQUE NIQE MANIQA LIQE";
        let native = "CW-SSIM MDSI HaarPSI NLPD MAD ILNIQE PIQE ENTROPY";
        for name in paper.split_whitespace().chain(native.split_whitespace()) {
            assert!(tools.contains_key(name), "{name} is missing");
        }
    }

    #[test]
    fn unknown_fields_and_bad_numbers_are_refused_by_name() {
        let unknown = r#"{"X": {"type": "FR", "strengths": [], "colour": 1}}"#;
        assert!(parse(unknown).unwrap_err().to_string().contains("colour"));
        let backwards = r#"{"X": {"type": "FR", "strengths": [], "range": [2, 1]}}"#;
        assert_eq!(
            parse(backwards).unwrap_err().to_string(),
            "tools.json: X: range must be two finite numbers, the lower first"
        );
    }
}
