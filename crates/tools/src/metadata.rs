//! The entries of `tools.json`: type, strengths, direction and scale of every tool.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::CommandLine;
use super::install::Installation;
use super::onnx::OnnxSection;
use super::{Error, Logistic, WorkerSection};
use agenticiqa_vision::vocabulary::Distortion;

/// The built-in tool list.
pub(super) const BUILTIN: &str = include_str!("../iqa_tools/metadata/tools.json");

/// The maximum size of a list of tools in bytes.
pub const LARGEST_LIST: u64 = 16 << 20;

/// Whether a tool needs a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// The kind of engine that runs a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// A built-in metric of `agenticiqa-metrics`.
    #[default]
    Native,
    /// A built-in model of this project (Fused-FR, Fused-NR).
    Builtin,
    /// A neural network in an ONNX file.
    Onnx,
    /// The Python worker, which runs metrics of pyiqa.
    Worker,
    /// A program of the user.
    Command,
}

impl std::fmt::Display for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Native => "native",
            Self::Builtin => "builtin",
            Self::Onnx => "onnx",
            Self::Worker => "worker",
            Self::Command => "command",
        })
    }
}

/// Provenance of fitted parameters: the opinions they were fitted to, and the quality of the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Name of the dataset or file.
    pub dataset: String,
    /// Part of the dataset that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Number of images.
    pub n: usize,
    /// Date of the fit.
    pub date: jiff::civil::Date,
    /// Root mean squared error on the scale from 1 to 5.
    pub residual: f64,
    /// Rank correlation (SRCC) of raw scores and opinions; 1 is full agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srcc: Option<f64>,
    /// Linear correlation (PLCC) of fitted scores and opinions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plcc: Option<f64>,
}

impl Calibration {
    /// Describes the fit in one line, for `fitted_on`.
    pub fn describe(&self) -> String {
        let Self { dataset, n, date, residual, .. } = self;
        let split = self.split.as_ref().map(|split| format!(" ({split})")).unwrap_or_default();
        format!("{dataset}{split}, {n} images, {date}, residual {residual:.3}")
    }
}

/// The entry of one tool in `tools.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Whether the tool needs a reference.
    #[serde(rename = "type")]
    pub tool_type: ToolType,
    /// The kind of engine. If the list does not name it, it follows from the built-in tools.
    #[serde(default)]
    pub backend: Backend,
    /// Description in one sentence, for people and models that choose a tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Distortion categories for which the tool is most accurate.
    pub strengths: Vec<String>,
    /// Direction of the raw score; absent for plain measurements, where neither end is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_is_better: Option<bool>,
    /// Usual range of the raw score, for the linear scale of tools without fitted parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Parameters of the logistic map from the raw score to the scale from 1 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logistic_params: Option<Logistic>,
    /// The opinions to which the parameters were fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<String>,
    /// Provenance of the parameters, if `agenticiqa calibrate` fitted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The program that computes the score, for the backend `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// Source of the files that the tool needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<Installation>,
    /// Expected raw score of the built-in pair, for `tools check`. The scores of built-in tools
    /// are recorded in a separate file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<f64>,
    /// The pyiqa metric that the worker runs. Tools of another backend use it if their own files
    /// are not installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerSection>,
    /// How the ONNX file scores an image, for the backend `onnx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnx: Option<OnnxSection>,
}

/// An invalid value in an entry of a tool list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct Flaw {
    /// The field, such as `range` or `command.run`.
    pub field: String,
    /// The reason, such as `must be ...`.
    pub reason: String,
}

impl Flaw {
    pub(super) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

/// A category in the tool list of the paper that is not one of the seven distortions.
const SPATIAL: &str = "Spatial distortions";

impl Metadata {
    /// Checks that the values of an entry are valid and consistent.
    pub fn check(&self, name: &str) -> Result<(), Flaw> {
        let flaw = |field: &str, reason: &str| Err(Flaw::new(field, reason));
        if !name.chars().any(char::is_alphanumeric) || name.chars().any(char::is_control) {
            return flaw("name", "must have a letter or a digit");
        }
        let known = |strength: &&String| **strength == SPATIAL || Distortion::names().contains(&strength.as_str());
        if let Some(strange) = self.strengths.iter().find(|strength| !known(strength)) {
            let known = Distortion::names().join(", ");
            return flaw("strengths", &format!("must be among {known}; {strange:?} is not"));
        }
        if self.range.is_some_and(|(low, high)| !(low < high && (high - low).is_finite())) {
            return flaw("range", "must be two finite numbers, the lower first");
        }
        if self.range.is_some() && self.lower_is_better.is_none() {
            return flaw("lower_is_better", "must be true or false where there is a range: which end of it is good?");
        }
        if let Some(reason) = self.logistic_params.and_then(|logistic| logistic.check().err()) {
            return flaw("logistic_params", reason);
        }
        if self.check.is_some_and(|score| !score.is_finite()) {
            return flaw("check", "must be a finite number");
        }
        match (&self.command, self.backend) {
            (None, Backend::Command) => return flaw("command", "must be there where backend is command"),
            (Some(_), Backend::Native | Backend::Builtin | Backend::Onnx | Backend::Worker) => {
                return flaw("backend", "must be command where there is a command");
            }
            (Some(line), Backend::Command) => line.check(self.tool_type)?,
            (None, _) => {}
        }
        if self.backend == Backend::Worker && self.worker.as_ref().is_none_or(|worker| worker.metric.is_empty()) {
            return flaw("worker", r#"must name a metric of pyiqa where backend is worker: {"metric": "..."}"#);
        }
        if let Some(reason) = self.onnx.as_ref().and_then(|onnx| onnx.check(self.tool_type).err()) {
            let (field, reason) = reason.split_once(' ').unwrap_or(("onnx", reason));
            return flaw(field, reason);
        }
        self.install.as_ref().map_or(Ok(()), Installation::check)
    }
}

/// Parses and checks a tool list. Errors name file, tool and field.
pub(super) fn parse(json: &str, file: &str) -> Result<BTreeMap<String, Metadata>, Error> {
    let reader = &mut serde_json::Deserializer::from_str(json);
    let wrong = |reason: String| Error::Metadata { file: file.to_owned(), reason };
    let tools: BTreeMap<String, Metadata> = serde_path_to_error::deserialize(&mut *reader).map_err(|error| {
        let (place, error) = (error.path().to_string(), error.into_inner());
        wrong(if matches!(place.as_str(), "." | "?") { error.to_string() } else { format!("{place}: {error}") })
    })?;
    reader.end().map_err(|error| wrong(error.to_string()))?;
    for (tool, metadata) in &tools {
        let invalid = |flaw| Error::InvalidTool { file: file.to_owned(), tool: tool.clone(), flaw };
        metadata.check(tool).map_err(invalid)?;
    }
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_list_has_the_28_tools_of_the_paper_and_the_native_ones() {
        let tools = parse(BUILTIN, "tools.json").unwrap();
        let paper = "TOPIQ_FR AHIQ FSIM LPIPS DISTS WaDIQaM_FR PieAPP MS-SSIM GMSD SSIM CKDN VIF PSNR VSI QAlign CLIPIQA \
                     UNIQUE HyperIQA TReS MUSIQ WaDIQaM_NR DBCNN ARNIQA NIMA BRISQUE NIQE MANIQA LIQE";
        let native = "CW-SSIM MDSI HaarPSI NLPD MAD ILNIQE PIQE ENTROPY";
        for name in paper.split_whitespace().chain(native.split_whitespace()) {
            assert!(tools.contains_key(name), "{name} is missing");
        }
    }

    fn refused(json: &str) -> String {
        parse(json, "my/tools.json").unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_told_by_file_tool_and_field() {
        let wrong = |rest: &str| refused(&format!(r#"{{"X": {{"type": "FR", "strengths": []{rest}}}}}"#));
        let unknown = wrong(r#", "color": 1"#);
        assert!(unknown.starts_with("my/tools.json: X.color: unknown field `color`"), "{unknown}");
        let kind = wrong(r#", "range": [0, "high"]"#);
        assert!(kind.starts_with("my/tools.json: X.range[1]: invalid type: string"), "{kind}");
        assert_eq!(
            wrong(r#", "range": [2, 1]"#),
            "my/tools.json: X: range must be two finite numbers, the lower first"
        );
        assert!(wrong(r#", "range": [1, 2]"#).contains("X: lower_is_better must be true or false"));
        assert!(wrong(r#", "check": 1e999"#).starts_with("my/tools.json: X.check: number out of range"));
        assert_eq!(
            wrong(r#", "backend": "command""#),
            "my/tools.json: X: command must be there where backend is command"
        );
        assert!(wrong(r#", "command": {"run": ["a", "{image}"]}"#).contains("X: backend must be command"));
        assert!(
            refused(r#"{"X": {"type": "FR", "strengths": ["Blur"]}}"#).contains("X: strengths must be among Blurs, ")
        );
        assert!(refused(r#"{"-_": {"type": "FR", "strengths": []}}"#).contains("name must have a letter"));
        assert!(refused("{").starts_with("my/tools.json: EOF"), "{}", refused("{"));
        assert!(refused("{} {}").starts_with("my/tools.json: trailing characters"));
    }

    /// Fitted parameters come from Table 5 of the paper or from fits on TID2013. All other tools
    /// have a linear scale.
    #[test]
    fn parameters_say_on_which_scores_they_were_fitted_and_linear_scales_are_few() {
        let tools = parse(BUILTIN, "tools.json").unwrap();
        let of = |wanted: &dyn Fn(&Metadata) -> bool| -> Vec<&str> {
            tools.iter().filter(|(_, tool)| wanted(tool)).map(|(name, _)| name.as_str()).collect()
        };
        let fitted_on = |words: &'static str| {
            of(&move |tool: &Metadata| tool.fitted_on.as_ref().is_some_and(|text| text.starts_with(words)))
        };
        assert_eq!(fitted_on("KADID-10k, paper Table 5").len(), 24);
        assert_eq!(
            fitted_on("TID2013, mapped to the scale of the KADID-10k fits"),
            ["Butteraugli", "HaarPSI", "MDSI", "MS-SSIM", "NLPD", "PIQE", "PSNR", "SSIMULACRA2", "VSI"]
        );
        // Built-in models return scores from 1 to 5 and were fitted as a whole.
        let ours = |tool: &Metadata| tool.backend == Backend::Builtin;
        assert_eq!(
            of(&|tool: &Metadata| tool.logistic_params.is_none() && !ours(tool)),
            ["CW-SSIM", "ENTROPY", "ILNIQE", "LPIPS-VGG", "MAD", "PSNR-Y", "PieAPP"]
        );
        assert!(of(&|tool: &Metadata| ours(tool) && tool.range != Some((1.0, 5.0))).is_empty());
        let fitted = |tool: &Metadata| tool.logistic_params.is_some() || ours(tool);
        assert!(of(&|tool: &Metadata| fitted(tool) != tool.fitted_on.is_some()).is_empty());
        assert!(of(&|tool: &Metadata| tool.logistic_params.is_none() && tool.range.is_none()).is_empty());
    }
}
