//! A question of the set, with its image and what counts as a right answer.

use agenticiqa::agent::{Input, Request};
use agenticiqa::state::RegionBox;
use serde::Deserialize;

use super::images::Images;
use super::truth::Right;

const QUESTIONS: &str = include_str!("../../data/questions/questions.jsonl");

/// One line of `questions.jsonl`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Ends in `.en` or `.zh`. The same question in both languages has the same ID before it.
    pub id: String,
    /// What kind of answer is expected: `yes/no`, `which`, `where` ...
    pub form: String,
    /// The attribute that it is about: `sharpness`, `noise` ...
    pub axis: String,
    /// The name of an image in `images.json`.
    pub image: String,
    /// The name of the image to compare with.
    pub reference: Option<String>,
    /// Parts of the image, as `NAME=x,y,w,h`.
    #[serde(default)]
    pub regions: Vec<String>,
    /// The options of a choice.
    #[serde(default)]
    pub options: Vec<String>,
    /// What is asked.
    pub question: String,
    /// What counts as right.
    pub right: Right,
}

impl Question {
    /// Reads the set.
    pub fn all() -> Vec<Self> {
        let lines = QUESTIONS.lines().enumerate().filter(|(_, line)| !line.is_empty());
        lines
            .map(|(at, line)| serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", at + 1)))
            .collect()
    }

    /// `en` or `zh`.
    pub fn language(&self) -> &str {
        self.id.rsplit_once('.').map_or("", |(_, language)| language)
    }

    /// The ID without the language.
    pub fn meaning(&self) -> &str {
        self.id.rsplit_once('.').map_or(&self.id, |(meaning, _)| meaning)
    }

    /// The names of its images.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.image.as_str()).chain(self.reference.as_deref())
    }

    /// The request to the agent.
    pub fn request(&self, images: &Images) -> Request {
        let input = |name: &str| Input::Source(format!("{name}.png"), images.get(name));
        let regions: Result<Vec<RegionBox>, String> = self.regions.iter().map(|region| region.parse()).collect();
        Request {
            query: self.question.clone(),
            options: self.options.clone(),
            reference: self.reference.as_deref().map(input),
            regions: regions.unwrap_or_else(|error| panic!("{}: {error}", self.id)),
            ..Request::new(input(&self.image))
        }
    }
}
