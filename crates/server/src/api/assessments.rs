//! `GET /assessments` and `GET /assessments/{id}`: stored assessments.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::assess::raw;
use crate::answers::AssessmentRow;
use crate::app::App;
use crate::error::Problem;
use crate::http::query::{Checked, Named};

/// Query parameters of `GET /assessments`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    /// Maximum number of assessments to return, up to 500 (default: 50).
    #[serde(default = "fifty")]
    #[schemars(range(max = 500))]
    pub limit: u16,
    /// Return only assessments older than this ID.
    pub before: Option<String>,
}

fn fifty() -> u16 {
    50
}

/// Response of `GET /assessments`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssessmentList {
    /// Assessments, newest first.
    #[schemars(with = "Vec<AssessmentRow>")]
    assessments: Vec<Box<RawValue>>,
}

/// `GET /assessments`
pub async fn list(
    State(app): State<Arc<App>>,
    Checked(Query(query)): Checked<ListQuery>,
) -> Result<Json<AssessmentList>, Problem> {
    let work = move || app.store.assessment_rows(query.before.as_deref(), usize::from(query.limit.min(500)));
    let rows = tokio::task::spawn_blocking(work).await??;
    let assessments = rows.into_iter().map(|row| raw(row).map(|Json(row)| row)).collect::<Result<_, _>>()?;
    Ok(Json(AssessmentList { assessments }))
}

/// `GET /assessments/{id}`
pub async fn show(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Json<Box<RawValue>>, Problem> {
    let missing = Problem::not_found(format!("assessment {id:?} not found: only the newest assessments are stored"));
    let found = tokio::task::spawn_blocking(move || app.store.assessment(&id)).await??;
    raw(found.ok_or(missing)?)
}
