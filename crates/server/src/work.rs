//! The operations behind both HTTP and MCP: assess, score, find regions and map.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agenticiqa::agent::{Agent, Request};
use agenticiqa::events::{Event, EventLog};
use agenticiqa::imaging;
use agenticiqa::metrics::{Error as MetricError, Image, Map, Region};
use agenticiqa::regions;
use agenticiqa::repair::Effort;
use agenticiqa::scoring::{self, Scorer};
use agenticiqa::state::FinalStatus;
use agenticiqa::tools::{Part, Tool};
use axum::http::StatusCode;

use crate::admission::Turn;
use crate::answers::{Answer, AssessmentRow, FoundRegions, Scores, Skipped};
use crate::app::App;
use crate::error::Problem;
use crate::requests::{AssessRequest, MapRequest, Regions, RegionsRequest, ScoreRequest};
use crate::sources::{LoadedImage, RequestImage};
use crate::store::new_id;

/// A prepared question: images loaded, ready to run.
#[derive(Debug)]
pub struct Assessment {
    /// Assessment ID.
    pub id: String,
    /// The agent that answers.
    pub agent: Arc<Agent>,
    /// The image.
    pub image: LoadedImage,
    /// The reference image.
    pub reference: Option<LoadedImage>,
    request: Request,
    turn: Turn,
}

/// Dropping this cancels the request.
struct Wanted(Arc<AtomicBool>);

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl App {
    /// Validates a question, waits for a free slot and loads the images.
    pub async fn prepare(
        self: &Arc<Self>,
        request: AssessRequest,
        image: RequestImage,
        reference: Option<RequestImage>,
    ) -> Result<Assessment, Problem> {
        request.check(self.limits.query)?;
        let agent = self.agent_of(request.backend.as_deref())?;
        let second = request.second_opinion.as_deref().map(|backend| self.agent_of(Some(backend))).transpose()?;
        let regions = request.regions.as_ref().map_or(Ok(Vec::new()), Regions::boxes)?;
        for tool in &request.tools {
            self.registry().get(tool)?;
        }
        let turn = self.admission.enter().await?;
        let app = Arc::clone(self);
        let open = move || {
            let image = app.open_picture("image", image, true)?;
            let reference = reference.map(|given| app.open_picture("reference", given, true)).transpose()?;
            Ok::<_, Problem>((image, reference))
        };
        let (image, reference) = tokio::task::spawn_blocking(open).await??;
        let request = Request {
            sample_id: request.sample_id.filter(|name| !name.trim().is_empty()),
            query: request.query,
            options: request.options,
            reference: reference.as_ref().map(LoadedImage::input),
            regions,
            tools: request.tools,
            form: request.answer.into(),
            max_replan_iterations: request.max_replan_iterations,
            what_if: Some(Effort::Quick),
            second_opinion: second.map(|agent| Arc::clone(&agent.reasoners.summarizer)),
            ..Request::new(image.input())
        };
        Ok(Assessment { id: new_id(), agent, image, reference, request, turn })
    }

    /// Answers a question and stores the answer.
    ///
    /// `hear` is called for every event. Dropping the future cancels the work: tools that have not
    /// started do not run.
    pub async fn assess(
        self: &Arc<Self>,
        assessment: Assessment,
        hear: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Result<Answer, Problem> {
        let Assessment { id, agent, image, reference, request, turn } = assessment;
        // The event log is held by all running work, so the slot stays taken until that work ends,
        // even after the client has disconnected.
        let events = EventLog::heard_by(move |event| {
            let _turn = &turn;
            hear(event);
        });
        let record = agent.assess(request, events).await.inspect_err(|_| self.telemetry.assessment("refused"))?;
        let status = record.metadata.final_status;
        self.telemetry.assessment(match status {
            FinalStatus::Success => "success",
            FinalStatus::Partial => "partial",
            FinalStatus::Error => "error",
        });
        if status == FinalStatus::Error {
            let details = record.metadata.error_details.unwrap_or_default().join("; ");
            let code = if Self::asks_models(&agent) {
                StatusCode::SERVICE_UNAVAILABLE
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            };
            return Err(Problem::new(code, "NoAnswerError", format!("no usable answer: {details}")));
        }
        let answer = Answer::new(id, image.id, reference.and_then(|reference| reference.id), record);
        let app = Arc::clone(self);
        let keep = move || {
            let (row, whole) = (serde_json::to_vec(&AssessmentRow::from(&answer)), serde_json::to_vec(&answer));
            let (row, whole) = (row.map_err(Problem::internal)?, whole.map_err(Problem::internal)?);
            app.store.keep_assessment(&answer.id, &row, &whole)?;
            Ok(answer)
        };
        tokio::task::spawn_blocking(keep).await?
    }

    /// Scores an image with the tools. Dropping the future cancels the work after the current tool.
    pub async fn score(
        self: &Arc<Self>,
        request: ScoreRequest,
        image: RequestImage,
        reference: Option<RequestImage>,
    ) -> Result<Scores, Problem> {
        let scoring = scoring::Request {
            reference: None,
            selection: request.selection()?,
            regions: request.named_regions()?,
            maps: false,
        };
        let turn = self.admission.enter().await?;
        let (app, wanted) = (Arc::clone(self), Arc::new(AtomicBool::new(true)));
        let _wanted = Wanted(Arc::clone(&wanted));
        let work = move || {
            let _turn = turn;
            let image = app.open_picture("image", image, false)?;
            let reference = reference.map(|given| app.open_picture("reference", given, false)).transpose()?;
            let named = |loaded: &LoadedImage| (loaded.name.clone(), loaded.source.picture.clone());
            let scorer = Scorer::with_pictures(app.registry(), scoring, reference.as_ref().map(named))?;
            pair(&image, reference.as_ref())?;
            let scored =
                scorer.score_picture(&image.name, image.source.picture.clone(), &|| wanted.load(Ordering::SeqCst));
            let skipped = scored.skipped.into_iter().map(|(tool, reason)| Skipped { tool, reason }).collect();
            let reference_id = reference.and_then(|reference| reference.id);
            Ok(Scores { rows: scored.rows, skipped, image_id: image.id, reference_id })
        };
        tokio::task::spawn_blocking(work).await?
    }

    /// Finds what is where in an image.
    pub async fn regions(
        self: &Arc<Self>,
        request: RegionsRequest,
        image: RequestImage,
    ) -> Result<FoundRegions, Problem> {
        request.check()?;
        let turn = self.admission.enter().await?;
        let app = Arc::clone(self);
        let work = move || {
            let _turn = turn;
            let loaded = app.open_picture("image", image, false)?;
            let image = &loaded.source.picture.image;
            let regions = match request.names.as_slice() {
                [] => regions::list(image),
                names => regions::resolve(image, names),
            };
            let regions = regions.map_err(|error| Problem::invalid(error.to_string()))?;
            Ok(FoundRegions { width: image.width(), height: image.height(), regions, image_id: loaded.id })
        };
        tokio::task::spawn_blocking(work).await?
    }

    /// Computes the heat map of a tool.
    pub async fn map(
        self: &Arc<Self>,
        request: MapRequest,
        image: RequestImage,
        reference: Option<RequestImage>,
    ) -> Result<Mapped, Problem> {
        let tool = self.registry().get(&request.tool)?;
        if let Some(reason) = tool.availability().reason() {
            return Err(Problem::invalid(format!("{} cannot run here: {reason}", tool.name())));
        }
        if !tool.has_map() {
            return Err(Problem::invalid(format!(
                "{} has no map: GET /tools lists the tools that have one",
                tool.name()
            )));
        }
        if tool.needs_reference() && reference.is_none() {
            return Err(Problem::invalid(format!("{} needs a reference: send one", tool.name())));
        }
        let tool = tool.clone();
        let turn = self.admission.enter().await?;
        let app = Arc::clone(self);
        let work = move || {
            let _turn = turn;
            let image = app.open_picture("image", image, false)?;
            let reference = reference.map(|given| app.open_picture("reference", given, false)).transpose()?;
            let part = pair(&image, reference.as_ref())?;
            measure_map(&tool, &part, request.region.map(|region| region.region()).as_ref())
        };
        tokio::task::spawn_blocking(work).await?
    }
}

/// A heat map with the tool and the pixels that it belongs to.
#[derive(Debug)]
pub struct Mapped {
    /// Tool name.
    pub tool: String,
    /// The pixels that the map covers.
    pub image: Image,
    /// The values of the map.
    pub map: Map,
    /// The tool's raw score for these pixels.
    pub raw_score: Option<f64>,
}

impl Mapped {
    /// Describes the values in one line.
    pub fn meaning(&self) -> String {
        let Map { best, worst, .. } = &self.map;
        format!("local {} of the image, from {best} (no visible damage) to {worst} (worst)", self.tool)
    }

    /// Draws the map over the image, with a legend below, as a PNG file.
    pub fn overlay(&self) -> Result<Vec<u8>, Problem> {
        imaging::overlay(&self.image, &self.map, &self.tool).map_err(Problem::internal)
    }
}

/// Returns the pixels of the image and its reference. Fails if their sizes differ.
fn pair(image: &LoadedImage, reference: Option<&LoadedImage>) -> Result<Part, Problem> {
    let pixels = |loaded: &LoadedImage| loaded.source.picture.image.clone();
    let part = Part::new(pixels(image), reference.map(pixels));
    part.whole_pair().map_err(|error| Problem::invalid(error.to_string()))?;
    Ok(part)
}

fn measure_map(tool: &Tool, whole: &Part, region: Option<&Region>) -> Result<Mapped, Problem> {
    let refused = |error: MetricError| Problem::invalid(format!("region: {error}"));
    let part = whole.crop(region).map_err(refused)?;
    let run = part.measure(tool, true);
    let raw_score = run.raw_score;
    match (run.map, run.error) {
        (Some(map), _) => Ok(Mapped { tool: tool.name().to_owned(), map, raw_score, image: part.image }),
        (None, Some(failure)) => Err(Problem::invalid(format!("{}: {}", tool.name(), failure.message()))),
        (None, None) => Err(Problem::invalid(format!("{} returned no map for this image", tool.name()))),
    }
}
