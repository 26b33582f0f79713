//! What goes through the agent: plan, evidence, conclusion. Values that the specification forbids cannot be made.

mod conclusion;
mod evidence;
mod interval;
mod invalid;
mod plan;
mod record;
mod schemas;
mod value;
mod vocabulary;
mod whole;

pub use conclusion::{AnswerForm, FusedLevels, QualityLevel, SummarizerOutput, UsedEvidence};
pub use evidence::{ByDistortion, DistortionAnalysis, ExecutorOutput, ToolExecutionLog, ToolScore};
pub use interval::Interval;
pub use invalid::Invalid;
pub use plan::{DistortionSource, PlanControlFlags, PlannerOutput, QueryScope, QueryType, ReferenceMode};
pub use record::{AssessmentRecord, ByNode, FinalStatus, Metadata};
pub use schemas::schemas;
pub use value::{OneOrMany, RawScore, Score, Seconds, Text};
pub use vocabulary::{Distortion, GLOBAL, Severity};
pub use whole::{AgenticIqaState, AnswerOption, MAX_REPLAN_HISTORY, RegionBox, Replan};
