//! JSON Schemas of all models, generated from the types.

use schemars::{Schema, schema_for};

use super::{
    AgenticIqaState, AssessmentRecord, DistortionAnalysis, ExecutorOutput, PlanControlFlags, PlannerOutput,
    SummarizerOutput, ToolExecutionLog,
};

/// Returns the name and the schema of every model.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("PlanControlFlags", schema_for!(PlanControlFlags)),
        ("PlannerOutput", schema_for!(PlannerOutput)),
        ("DistortionAnalysis", schema_for!(DistortionAnalysis)),
        ("ToolExecutionLog", schema_for!(ToolExecutionLog)),
        ("ExecutorOutput", schema_for!(ExecutorOutput)),
        ("SummarizerOutput", schema_for!(SummarizerOutput)),
        ("AgenticIQAState", schema_for!(AgenticIqaState)),
        ("AssessmentRecord", schema_for!(AssessmentRecord)),
    ]
}
