//! The agent in two lines.

use std::fmt;
use std::ops::Deref;

use agenticiqa_agent::events::EventLog;
use agenticiqa_agent::state::{AssessmentRecord, QualityLevel};
use agenticiqa_agent::{Input, Request};

use crate::config::{self, Environment, Settings};
use crate::setup;

/// The reason why there is no agent, or no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is invalid.
    #[error(transparent)]
    Configuration(#[from] config::Error),
    /// The tools or a backend cannot be set up.
    #[error(transparent)]
    Setup(#[from] setup::Error),
    /// The request cannot be assessed.
    #[error(transparent)]
    Request(#[from] agenticiqa_agent::Error),
    /// The runtime of a blocking call cannot be started.
    #[error("the runtime cannot be started: {0}")]
    Runtime(#[from] std::io::Error),
}

/// An agent that answers questions about images.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = agenticiqa::Agent::builtin()?;
/// # let photo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/osprey-blurred.jpg");
/// # /*
/// let photo = "photo.jpg";
/// # */
/// let answer = agent.assess_blocking(photo, "Is it sharp?")?;
/// println!("{answer}");
/// assert!(answer.score().is_some_and(|score| (1.0..=5.0).contains(&score)));
/// # Ok(())
/// # }
/// ```
///
/// [`Agent::assess`] does the same without blocking. [`Agent::ask`] takes a [`Request`], which can
/// have options, regions, a reference image and tools. This type dereferences to
/// [`agent::Agent`](crate::agent::Agent), which has the tools and settings.
#[derive(Debug, Clone)]
pub struct Agent(agenticiqa_agent::Agent);

impl Agent {
    /// Creates an agent with the built-in analyst. It needs no configuration, no key and no network.
    pub fn builtin() -> Result<Self, Error> {
        let settings = Settings::builtin()?;
        let environment = Environment::with_variables::<&str, &str>(".", [])?;
        Self::with_settings(&settings, &environment)
    }

    /// Creates an agent from settings. Keys are looked up in the environment.
    pub fn with_settings(settings: &Settings, environment: &Environment) -> Result<Self, Error> {
        Ok(Self(setup::agent(settings, environment, setup::registry(settings)?)?))
    }

    /// Answers a question about an image.
    pub async fn assess(&self, image: impl Into<Input>, question: &str) -> Result<Answer, Error> {
        self.ask(Request { query: question.to_owned(), ..Request::new(image.into()) }).await
    }

    /// Answers a request.
    pub async fn ask(&self, request: Request) -> Result<Answer, Error> {
        Ok(Answer { record: self.0.assess(request, EventLog::default()).await? })
    }

    /// Answers a question about an image and blocks until it has the answer. Do not call it inside
    /// an async runtime.
    pub fn assess_blocking(&self, image: impl Into<Input>, question: &str) -> Result<Answer, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.assess(image, question))
    }
}

impl Deref for Agent {
    type Target = agenticiqa_agent::Agent;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<agenticiqa_agent::Agent> for Agent {
    fn from(agent: agenticiqa_agent::Agent) -> Self {
        Self(agent)
    }
}

/// The answer to a question, and the record of the assessment. `Display` prints the answer and the
/// score.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Plan, evidence and conclusion.
    pub record: AssessmentRecord,
}

impl Answer {
    /// The answer: a sentence, the letter of an option, or the letter of a quality level.
    pub fn answer(&self) -> &str {
        self.record.summarizer_result.as_ref().map_or("", |result| result.final_answer.as_str())
    }

    /// The quality score from 1 (bad) to 5 (excellent).
    pub fn score(&self) -> Option<f64> {
        self.record.summarizer_result.as_ref()?.quality_score.map(|score| score.value())
    }

    /// The quality level of the score.
    pub fn level(&self) -> Option<QualityLevel> {
        self.record.summarizer_result.as_ref()?.quality_level
    }

    /// The reasons, in sentences.
    pub fn reasons(&self) -> &str {
        self.record.summarizer_result.as_ref().map_or("", |result| result.quality_reasoning.as_str())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.answer())?;
        self.score().map_or(Ok(()), |score| write!(f, " ({score:.2} of 5)"))
    }
}
