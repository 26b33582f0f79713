//! `/jobs`: background jobs, their progress and their results.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response, Sse, sse};
use futures_util::stream::{self, Stream, StreamExt as _};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::assess::raw;
use super::pictures::{ThumbnailQuery, ViewQuery, caching, is_known, small_png};
use super::{in_time, jobs_export};
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Form;
use crate::http::query::{Checked, Named};
use crate::jobs::{Entry, Index, JobState, JobView, Results, ResultsQuery, Row};
use crate::requests::JobRequest;

/// The minimum time between two progress events.
const PACE: Duration = Duration::from_millis(250);

/// Response of `POST /jobs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Created {
    /// Job ID.
    id: String,
    /// Always `queued`.
    state: JobState,
    /// Number of samples in the input.
    total: u64,
}

/// Response of `GET /jobs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobList {
    /// Jobs, newest first.
    jobs: Vec<JobView>,
}

/// `POST /jobs`
pub async fn create(State(app): State<Arc<App>>, request: Request) -> Result<(StatusCode, Json<Created>), Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let request: JobRequest = form.parse()?;
    let files = std::mem::take(&mut form.files);
    let entry = in_time(&app, app.create_job(request, files)).await?;
    let job = entry.job();
    Ok((StatusCode::ACCEPTED, Json(Created { id: job.id, state: JobState::Queued, total: job.total })))
}

/// `GET /jobs`
pub async fn list(State(app): State<Arc<App>>) -> Json<JobList> {
    Json(JobList { jobs: app.jobs.list().iter().map(|entry| entry.view()).collect() })
}

/// `GET /jobs/{id}`
pub async fn show(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Json<JobView>, Problem> {
    Ok(Json(app.jobs.get(&id)?.view()))
}

/// `POST /jobs/{id}/stop`: stops a job at once.
pub async fn stop(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Json<JobView>, Problem> {
    let entry = app.jobs.get(&id)?;
    app.stop_job(&entry).await;
    Ok(Json(entry.view()))
}

/// `POST /jobs/{id}/resume`: resumes a job and retries failed samples.
pub async fn resume(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Json<JobView>, Problem> {
    let entry = app.jobs.get(&id)?;
    if !entry.state().is_active() {
        app.start_job(&entry);
    }
    Ok(Json(entry.view()))
}

/// `DELETE /jobs/{id}`
pub async fn remove(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<StatusCode, Problem> {
    let entry = app.jobs.get(&id)?;
    app.remove_job(&entry).await;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /jobs/{id}/events`: progress as server-sent events.
pub async fn events(State(app): State<Arc<App>>, Named(id): Named<String>) -> Result<Response, Problem> {
    let entry = app.jobs.get(&id)?;
    let alive = sse::KeepAlive::new().interval(Duration::from_secs(15));
    Ok(Sse::new(progress(app, entry)).keep_alive(alive).into_response())
}

fn progress(app: Arc<App>, entry: Arc<Entry>) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    let changes = entry.watch();
    stream::unfold((app, entry, changes, 0_u64), |(app, entry, mut changes, told)| async move {
        if told == u64::MAX {
            return None;
        }
        if told > 0 {
            // Combines changes that follow each other quickly.
            tokio::time::sleep(PACE).await;
            tokio::select! {
                _ = changes.changed() => {}
                () = app.ending() => {}
            }
        }
        changes.mark_unchanged();
        let view = entry.view();
        let over = !view.state.is_active() || app.is_ending() || entry.is_removed();
        let (name, told) = if over { ("end", u64::MAX) } else { ("progress", told + 1) };
        let data = serde_json::to_string(&view).unwrap_or_default();
        Some((Ok(sse::Event::default().event(name).data(data)), (app, entry, changes, told)))
    })
    .fuse()
}

/// Runs `then` on the rows of a job, on a blocking thread.
pub(super) async fn with_index<T: Send + 'static>(
    entry: &Arc<Entry>,
    then: impl FnOnce(&Index) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let entry = Arc::clone(entry);
    let work = move || {
        let mut index = entry.index.lock().unwrap_or_else(PoisonError::into_inner);
        index.refresh(&entry.records())?;
        then(&index)
    };
    tokio::task::spawn_blocking(work).await?
}

/// `GET /jobs/{id}/results`
pub async fn results(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Checked(Query(query)): Checked<ResultsQuery>,
) -> Result<Json<Results>, Problem> {
    let entry = app.jobs.get(&id)?;
    with_index(&entry, move |index| Ok(query.page(&id, &index.rows))).await.map(Json)
}

/// Runs `then` on the row of a sample.
async fn with_row<T: Send + 'static>(
    entry: &Arc<Entry>,
    sample_id: String,
    then: impl FnOnce(&Index, &Row) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let find = move |index: &Index| match index.find(&sample_id) {
        Some(row) => then(index, row),
        None => Err(Problem::not_found(format!("no record of sample {sample_id:?} yet"))),
    };
    with_index(entry, find).await
}

/// `GET /jobs/{id}/results/{sample_id}`
pub async fn sample(
    State(app): State<Arc<App>>,
    Named((id, sample_id)): Named<(String, String)>,
) -> Result<Json<Box<RawValue>>, Problem> {
    let entry = app.jobs.get(&id)?;
    raw(with_row(&entry, sample_id, |index, row| Ok(index.record(row)?)).await?)
}

/// `GET /jobs/{id}/export`
pub async fn export(
    State(app): State<Arc<App>>,
    Named(id): Named<String>,
    Checked(Query(query)): Checked<ResultsQuery>,
) -> Result<Response, Problem> {
    let entry = app.jobs.get(&id)?;
    let format = query.format.unwrap_or_default();
    let select = move |index: &Index| {
        let rows: Vec<Row> = query.select(&index.rows).into_iter().cloned().collect();
        Ok((rows, index.file.clone()))
    };
    let (rows, file) = with_index(&entry, select).await?;
    let (kind, extension) = jobs_export::kind(format);
    let disposition = format!("attachment; filename=\"job-{id}.{extension}\"");
    let body = Body::from_stream(jobs_export::lines(file, rows, format));
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)], body).into_response())
}

/// `GET /jobs/{id}/thumbnails/{sample_id}`
pub async fn thumbnail(
    State(app): State<Arc<App>>,
    Named((id, sample_id)): Named<(String, String)>,
    Checked(Query(query)): Checked<ThumbnailQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (entry, longest) = (app.jobs.get(&id)?, query.longest()?);
    let digest = Sha256::digest(format!("{id} {sample_id} {longest}"));
    let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    if is_known(&headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, caching(&tag)).into_response());
    }
    let kept = entry.folder.join("thumbnails").join(format!("{tag}.png"));
    let png = in_time(&app, shown(&app, &entry, sample_id, longest, Some(kept))).await?;
    Ok(([(header::CONTENT_TYPE, "image/png")], caching(&tag), png).into_response())
}

/// `GET /jobs/{id}/pictures/{sample_id}/view`
pub async fn view(
    State(app): State<Arc<App>>,
    Named((id, sample_id)): Named<(String, String)>,
    Checked(Query(query)): Checked<ViewQuery>,
) -> Result<Response, Problem> {
    let (entry, longest) = (app.jobs.get(&id)?, query.longest()?);
    let png = in_time(&app, shown(&app, &entry, sample_id, longest, None)).await?;
    Ok(([(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, "private, max-age=3600")], png).into_response())
}

/// Renders the image of a sample as PNG. Thumbnails are cached at `kept`.
async fn shown(
    app: &Arc<App>,
    entry: &Arc<Entry>,
    sample_id: String,
    longest: usize,
    kept: Option<PathBuf>,
) -> Result<Vec<u8>, Problem> {
    let row = with_row(entry, sample_id, |_, row| Ok(row.clone())).await?;
    let turn = app.views.enter().await?;
    let (app, own) = (Arc::clone(app), entry.folder.clone());
    let work = move || {
        let _turn = turn;
        if let Some(png) = kept.as_ref().and_then(|kept| std::fs::read(kept).ok()) {
            return Ok(png);
        }
        let path = allowed(&app, &own, Path::new(&row.image_path))?;
        let bytes = app.read_file("picture", &path)?;
        let source = app.sources.decode(&app.decoder(), &bytes)?;
        let png = small_png(&source.picture.image, longest)?;
        if let Some(kept) = kept {
            // A failed write is harmless: the thumbnail is rendered again.
            drop(agenticiqa::write_atomically(&kept, &png));
        }
        Ok(png)
    };
    tokio::task::spawn_blocking(work).await?
}

/// Resolves the path of an image and checks that it is in the job's folder or in an allowed folder.
fn allowed(app: &App, own: &Path, path: &Path) -> Result<PathBuf, Problem> {
    let real = path.canonicalize().map_err(|_| Problem::not_found("the image file no longer exists"))?;
    if real.starts_with(own.canonicalize()?) || app.roots.holds(&real) {
        return Ok(real);
    }
    Err(Problem::forbidden("the image is outside of the allowed folders"))
}
