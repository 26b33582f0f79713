//! `POST /assess`, `/assess-path` and `/assess/stream`: a question about an image, answered in one
//! response or as a stream of events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agenticiqa::events::Event;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::sse;
use axum::response::{IntoResponse, Response, Sse};
use futures_util::stream::{self, Stream, StreamExt as _};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

use super::{in_time, pictures};
use crate::answers::{Answer, Started};
use crate::app::App;
use crate::error::{ErrorBody, Problem};
use crate::http::form::Form;
use crate::requests::AssessRequest;
use crate::work::Assessment;

/// The interval of keep-alive messages in a stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

async fn ready(app: &Arc<App>, form: &mut Form) -> Result<Assessment, Problem> {
    let mut request: AssessRequest = form.parse()?;
    request.check(app.limits.query)?;
    let image = (request.image_path.take(), request.image_id.take());
    let reference = (request.reference_path.take(), request.reference_id.take());
    let (image, reference) = pictures(form, image, reference)?;
    app.prepare(request, image, reference).await
}

/// `POST /assess`
pub async fn assess(State(app): State<Arc<App>>, request: Request) -> Result<Json<Answer>, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let work = async {
        let assessment = ready(&app, &mut form).await?;
        app.assess(assessment, |_| {}).await
    };
    in_time(&app, work).await.map(Json)
}

/// `POST /assess-path`: an alias of `POST /assess`.
pub async fn assess_path(state: State<Arc<App>>, request: Request) -> Result<Json<Answer>, Problem> {
    assess(state, request).await
}

/// Aborts the work when the stream is dropped, which means that the client has disconnected.
struct Working(JoinHandle<()>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// One server-sent event.
struct Message {
    name: String,
    data: String,
}

impl Message {
    fn new(name: &str, data: &impl Serialize) -> Self {
        // These types always serialize.
        Self { name: name.to_owned(), data: serde_json::to_string(data).unwrap_or_default() }
    }

    fn of_event(event: &Event) -> Self {
        #[derive(serde::Deserialize)]
        struct Named<'a> {
            event: &'a str,
        }
        let data = serde_json::to_string(event).unwrap_or_default();
        let name = serde_json::from_str(&data).map_or("event", |Named { event }| event).to_owned();
        Self { name, data }
    }

    fn of_problem(problem: &Problem) -> Self {
        let body = ErrorBody { status: Some(problem.status().as_u16()), ..problem.body() };
        Self::new("error", &body)
    }
}

/// `POST /assess/stream`
///
/// Errors in the request set the status. Later errors are sent as the last event.
pub async fn assess_stream(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let mut form = Form::read(request, &app.limits).await?;
    let assessment = in_time(&app, ready(&app, &mut form)).await?;
    let (tell, messages) = unbounded_channel();
    let started = Started {
        id: assessment.id.clone(),
        image_id: assessment.image.id.clone(),
        reference_id: assessment.reference.as_ref().and_then(|reference| reference.id.clone()),
        backends: assessment.agent.backends(),
    };
    // Sending fails only after the client has disconnected; the task is aborted then.
    drop(tell.send(Message::new("started", &started)));
    let task = tokio::spawn(async move {
        let hear = tell.clone();
        let work = app.assess(assessment, move |event| drop(hear.send(Message::of_event(event))));
        drop(tell.send(match in_time(&app, work).await {
            Ok(answer) => Message::new("answer", &answer),
            Err(problem) => Message::of_problem(&problem),
        }));
    });
    let alive = sse::KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Sse::new(events(messages, Working(task))).keep_alive(alive).into_response())
}

fn events(
    messages: UnboundedReceiver<Message>,
    working: Working,
) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    stream::unfold((messages, working), |(mut messages, working)| async move {
        let Message { name, data } = messages.recv().await?;
        Some((Ok(sse::Event::default().event(name).data(data)), (messages, working)))
    })
    .fuse()
}

/// Returns stored JSON without parsing it.
pub fn raw(json: Vec<u8>) -> Result<Json<Box<RawValue>>, Problem> {
    let text = String::from_utf8(json).map_err(Problem::internal)?;
    RawValue::from_string(text).map(Json).map_err(Problem::internal)
}
