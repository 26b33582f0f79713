//! A single line of a batch, for systems that distribute lines over processes and machines. A line
//! contains everything that its record needs, and its record is the same as from
//! [`Batch`](super::Batch).

use std::sync::Arc;
use std::time::{Duration, Instant};

use agenticiqa_imaging::files::path_text;
use serde_json::{Map, Value};

use super::failure::{Known, kind};
use super::resume::{self, Ledger};
use super::{Error, Flaw, Input, Item, PathRules, Sample, run};
use agenticiqa_agent::state::AssessmentRecord;
use agenticiqa_agent::{self, Agent};

/// The key for the problem of an invalid line.
const FLAW: &str = "_flaw";

/// A line of an input.
#[derive(Debug, Clone)]
pub struct Line {
    /// The ID of its record, unique within the input.
    pub name: String,
    /// The line number, counted from 1; 0 if the input has no lines.
    pub number: u64,
    /// The fields of the line.
    pub fields: Map<String, Value>,
}

/// Reads the lines of an input like a batch. Invalid lines and duplicate IDs become lines that
/// describe the problem.
pub fn open_lines(
    input: &Input,
    paths: &PathRules,
) -> Result<impl Iterator<Item = Result<Line, Error>> + use<>, Error> {
    let ledger = Ledger::read(input, paths)?;
    let input = input.clone();
    let items = input.items(paths)?;
    Ok(items.filter_map(move |item| match item {
        Ok(item) => resume::judge(&ledger, item).map(|item| Ok(Line::of(item, &input))),
        Err(error) => Some(Err(error)),
    }))
}

impl Line {
    fn of(item: Item, input: &Input) -> Self {
        match item {
            Ok(sample) => Self { name: sample.sample_id.clone(), number: sample.line, fields: sample.fields() },
            Err(flaw) => {
                let name = resume::flaw_name(input, &flaw);
                let known = [(FLAW, Some(flaw.message)), ("query", flaw.query), ("image_path", flaw.image_path)];
                let fields = known.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?.into())));
                Self { name, number: flaw.line, fields: fields.collect() }
            }
        }
    }

    fn item(self) -> (String, Item) {
        let Self { name, number, mut fields } = self;
        let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
        let item = match text(fields.shift_remove(FLAW)) {
            None => Sample::read(number, fields, &PathRules::new(None, None)),
            Some(message) => Err(Flaw {
                query: text(fields.shift_remove("query")),
                image_path: text(fields.shift_remove("image_path")),
                ..Flaw::new(number, message)
            }),
        };
        (name, item)
    }

    /// Assesses the line and returns its record. Images that are passed replace the files that the
    /// line names.
    pub async fn assess(
        self,
        agent: Arc<Agent>,
        (image, reference): (Option<Vec<u8>>, Option<Vec<u8>>),
        tools: Vec<String>,
        limit: Option<Duration>,
    ) -> AssessmentRecord {
        let start = Instant::now();
        let (name, item) = self.item();
        let sample = match item {
            Ok(sample) => sample,
            Err(flaw) => {
                return Known::of_flaw(&flaw, name).record(&agent, kind::INPUT, &flaw.message, Duration::ZERO);
            }
        };
        let known = Known::of(&sample);
        let mut request = sample.request(&tools);
        let named =
            |input: &agenticiqa_agent::Input, bytes: Vec<u8>| agenticiqa_agent::Input::Bytes(input.name(), bytes);
        if let Some(bytes) = image {
            request.image = named(&request.image, bytes);
        }
        if let (Some(bytes), Some(input)) = (reference, &request.reference) {
            request.reference = Some(named(input, bytes));
        }
        let worked = tokio::spawn(run::record(Arc::clone(&agent), known.clone(), request, limit));
        // A panic ends only this sample.
        worked.await.unwrap_or_else(|failure| {
            let message = format!("the program failed on this sample: {failure}");
            known.record(&agent, kind::INTERNAL, &message, start.elapsed())
        })
    }
}

impl Sample {
    /// Returns the fields of a line that reads as this sample, with resolved paths.
    fn fields(self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |field: &str, value: Value| fields.insert(field.to_owned(), value);
        put("sample_id", self.sample_id.into());
        put("query", self.query.into());
        put("image_path", path_text(&self.image_path).into());
        if let Some(path) = self.reference_path {
            put("reference_path", path_text(&path).into());
        }
        if !self.options.is_empty() {
            put("options", self.options.into());
        }
        if !self.regions.is_empty() {
            put("regions", serde_json::to_value(&self.regions).unwrap_or_default());
        }
        fields.extend(self.input);
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::agent;
    use super::*;

    #[test]
    fn lines_travel_and_say_what_the_batch_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        let text = [
            r#"{"sample_id": "a", "query": "Rate it.", "image_path": "a.png", "mos": 3.25, "regions": ["face=1,2,3,4"]}"#,
            "not JSON",
            r#"{"sample_id": "a", "query": "Rate it.", "image_path": "b.png"}"#,
        ];
        std::fs::write(&path, text.join("\n")).unwrap();
        let input = Input::file(&path);
        let paths = PathRules::new(None, Some(&path));
        let lines: Vec<Line> = open_lines(&input, &paths).unwrap().collect::<Result<_, _>>().unwrap();
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["a", "in.jsonl:2", "in.jsonl:3"]);
        let (_, first) = lines[0].clone().item();
        let expected = input.items(&paths).unwrap().next().unwrap().unwrap();
        assert_eq!(first, expected);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let agent = Arc::new(agent());
        let record = runtime.block_on(lines[2].clone().assess(agent, (None, None), Vec::new(), None));
        let details = record.metadata.error_details.unwrap();
        assert!(details[0].starts_with("line 3: sample_id \"a\" is that of line 1 already"), "{details:?}");
        assert_eq!(record.sample_id.as_str(), "in.jsonl:3");
    }
}
