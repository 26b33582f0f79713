//! The data that flows through the agent: plan, evidence, conclusion and record. Constructors and
//! deserialization reject values that the specification forbids.

mod alignment;
mod calls;
mod checked;
mod conclusion;
mod disagreement;
mod evidence;
mod mode;
mod node;
mod plan;
mod record;
mod schemas;
mod whole;

pub use agenticiqa_question::{AnswerForm, AnswerOption};
pub use agenticiqa_vision::repair::{Effort, Operation, Refusal, WhatIf, WhatIfs};
pub use agenticiqa_vision::vocabulary::{
    Attribute, Attributes, Axis, Cost, Distortion, GLOBAL, Interval, Invalid, Measured, OneOrMany, Origin, Problem,
    QualityLevel, RawScore, RegionBox, Score, ScoreParts, Seconds, Severity, Text, drawn,
};
pub(crate) use alignment::{align, entry_of, region_of};
pub use calls::{ModelCall, View, ViewKind, Views};
pub use conclusion::{Advice, Contribution, FusedLevels, SummarizerOutput, UsedEvidence};
pub use disagreement::{Claim, Disagreement, SecondOpinion};
pub use evidence::{ByDistortion, DistortionAnalysis, ExecutorOutput, ToolExecutionLog, ToolScore};
pub use mode::Mode;
pub use node::Node;
pub use plan::{DistortionSource, PlanControlFlags, PlannerOutput, QueryScope, QueryType, ReferenceMode};
pub use record::{AssessmentRecord, ByNode, FinalStatus, Metadata};
pub use schemas::schemas;
pub use whole::{
    AgenticIqaState, DEFAULT_QUERY, DEFAULT_REPLAN_ITERATIONS, MAX_REPLAN_HISTORY, MAX_REPLAN_ITERATIONS, Replan,
};
