//! The labeled subjects of photos.

use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa_vision::detector::{CLASSES, knows};
use serde::Deserialize;

use crate::error::Error;

/// A labeled photo.
#[derive(Deserialize)]
pub struct Photo {
    pub sample_id: String,
    pub image_path: PathBuf,
    pub subjects: Vec<Subject>,
}

/// A labeled subject.
#[derive(Deserialize)]
pub struct Subject {
    pub name: String,
    /// Left, top, width and height as fractions of the image.
    #[serde(rename = "box")]
    pub place: [f64; 4],
}

/// Names of groups that are no plural.
const GROUPS: [&str; 10] =
    ["people", "men", "women", "children", "crowd", "couple", "family", "cattle", "audience", "spectators"];

impl Subject {
    /// Returns the class that the name means.
    pub fn class(&self) -> Option<&'static str> {
        knows(&self.name)
    }

    /// Returns whether the box holds several things.
    pub fn group(&self) -> bool {
        let plural = self.name.ends_with('s') && !CLASSES.contains(&self.name.as_str()) && !self.name.ends_with("ss");
        plural || GROUPS.contains(&self.name.as_str())
    }
}

impl Photo {
    /// Returns whether a person, or a part of one, is among the subjects.
    pub fn shows_people(&self) -> bool {
        const PARTS: [&str; 10] =
            ["hand", "hands", "arm", "hair", "head", "eye", "eyes", "audience", "spectators", "mouth"];
        let people = |subject: &Subject| {
            matches!(subject.class(), Some("person" | "face")) || PARTS.contains(&subject.name.as_str())
        };
        self.subjects.iter().any(people)
    }
}

/// Reads the labels of all photos.
pub fn read(path: &Path) -> Result<Vec<Photo>, Error> {
    let text = fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}
