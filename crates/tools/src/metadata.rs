//! `tools.json`: type, strengths, direction and scale of every tool, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::CommandLine;
use super::install::Installation;
use super::onnx::OnnxSection;
use super::{Error, Logistic, WorkerSection};
use agenticiqa_vision::vocabulary::Distortion;

/// The tool list that is built into the program.
pub(super) const BUILTIN: &str = include_str!("../iqa_tools/metadata/tools.json");

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
    /// A model of this project, built in.
    Builtin,
    /// A network in an ONNX file.
    Onnx,
    /// A Python worker.
    Worker,
    /// A program of the user's.
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

/// On which human scores parameters were fitted, and how well they fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The dataset, or the file.
    pub dataset: String,
    /// The part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// How many images.
    pub n: usize,
    /// When.
    pub date: jiff::civil::Date,
    /// The root mean squared error on the scale from 1 to 5.
    pub residual: f64,
    /// The rank correlation of raw scores and opinions, 1 for full agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srcc: Option<f64>,
    /// The linear correlation of fitted scores and opinions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plcc: Option<f64>,
}

impl Calibration {
    /// In a line, for `fitted_on`.
    pub fn describe(&self) -> String {
        let Self { dataset, n, date, residual, .. } = self;
        let split = self.split.as_ref().map(|split| format!(" ({split})")).unwrap_or_default();
        format!("{dataset}{split}, {n} images, {date}, residual {residual:.3}")
    }
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
    /// How they were fitted, if `agenticiqa calibrate` did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The program that gives the score, where the backend is `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandLine>,
    /// Where the files that it needs come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<Installation>,
    /// Its raw score of the built-in pair, for `tools check`; scores of the built-in list are recorded apart from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<f64>,
    /// The metric of pyiqa: what the worker runs, also for a tool of another backend that is not installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerSection>,
    /// How an ONNX file scores an image, of tools of that backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnx: Option<OnnxSection>,
}

/// What is wrong with an entry of a tool list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {reason}")]
pub struct Flaw {
    /// The field, such as `range` or `command.run`.
    pub field: String,
    /// What is wrong with it, such as `must be ...`.
    pub reason: String,
}

impl Flaw {
    pub(super) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

/// The category of the paper that no distortion of an assessment belongs to; its tool list names it.
const SPATIAL: &str = "Spatial distortions";

impl Metadata {
    /// Whether the values of an entry make sense together.
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

/// Reads a tool list, checking every value in it; errors name `file`, tool and field.
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

    /// The paper's table 5 and the fits on TID2013 are data of people; where neither has a tool, its scale is linear.
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
        // Tools of our own give scores from 1 to 5 themselves, and were fitted as a whole.
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
