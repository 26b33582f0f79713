//! A named part of the image.

use std::str::FromStr;

use agenticiqa_metrics::Region;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// Where a region comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The request contains it.
    #[default]
    Given,
    /// The detector of objects found it.
    Detector,
    /// Its place, its color or its sharpness says what it is: "upper left", "sky", "background".
    Position,
    /// A vision-language model located it.
    Model,
    /// It was not found: the box is the whole image.
    #[serde(rename = "whole image")]
    WholeImage,
}

impl Origin {
    /// Returns the name of the origin.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Detector => "detector",
            Self::Position => "position",
            Self::Model => "model",
            Self::WholeImage => "whole image",
        }
    }
}

/// A named part of the image, in pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionBox {
    /// Name of the region in the question and in the evidence.
    pub name: Text,
    /// Left edge in pixels.
    pub x: usize,
    /// Upper edge in pixels.
    pub y: usize,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Where the region comes from.
    #[serde(default)]
    pub origin: Origin,
    /// The probability that the region is what its name says; absent for given regions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub probability: Option<f64>,
    /// The class of the detector, if it differs from the name: "car" for "the vehicle".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Text>,
}

impl RegionBox {
    /// A region that the request contains.
    pub fn given(name: Text, region: Region) -> Self {
        Self::found(name, region, Origin::Given, None)
    }

    /// A region that was located. The probability is rounded to three decimals.
    pub fn found(name: Text, region: Region, origin: Origin, probability: Option<f64>) -> Self {
        let Region { x, y, width, height } = region;
        let probability = probability.map(|one| (1000.0 * one.clamp(0.0, 1.0)).round() / 1000.0);
        Self { name, x, y, width, height, origin, probability, class: None }
    }

    /// A name that was not found in an image of this size.
    pub fn not_found(name: Text, width: usize, height: usize) -> Self {
        Self::found(name, Region { x: 0, y: 0, width, height }, Origin::WholeImage, None)
    }

    /// Whether the region is a place in the image. If not, the whole image is measured instead.
    pub fn is_place(&self) -> bool {
        self.origin != Origin::WholeImage
    }

    /// The rectangle without its name.
    pub fn region(&self) -> Region {
        Region { x: self.x, y: self.y, width: self.width, height: self.height }
    }
}

/// Returns the regions to draw with an answer: those that are places. Of many places of the frame, such as
/// the nine cells of "Where is the blur?", only those that the answer names.
pub fn drawn<'a>(regions: &'a [RegionBox], answer: &str) -> Vec<&'a RegionBox> {
    /// More places of the frame than this hide the image.
    const MOST: usize = 4;
    let answer = answer.to_lowercase();
    let many = regions.iter().filter(|region| region.origin == Origin::Position).count() > MOST;
    let said = |region: &RegionBox| {
        !many || region.origin != Origin::Position || says(&answer, &region.name.as_str().to_lowercase())
    };
    regions.iter().filter(|region| region.is_place() && said(region)).collect()
}

/// What the nine cells are called in Chinese.
const IN_CHINESE: [(&str, &str); 9] = [
    ("upper left", "左上角"),
    ("upper center", "正上方"),
    ("upper right", "右上角"),
    ("center left", "左侧中部"),
    ("center", "中央"),
    ("center right", "右侧中部"),
    ("lower left", "左下角"),
    ("lower center", "正下方"),
    ("lower right", "右下角"),
];

/// Whether a text contains a name that is not a part of a longer one: "upper center" does not name "center".
fn says(text: &str, name: &str) -> bool {
    const SIDES: [&str; 4] = ["upper ", "lower ", "center ", "middle "];
    const ENDS: [&str; 2] = [" left", " right"];
    let in_chinese = || IN_CHINESE.iter().any(|(english, chinese)| *english == name && text.contains(chinese));
    in_chinese()
        || text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            !SIDES.iter().any(|side| before.ends_with(side)) && !ENDS.iter().any(|end| after.starts_with(end))
        })
}

impl FromStr for RegionBox {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || format!("{text:?} is not NAME=x,y,w,h, for example face=120,40,200,200");
        let (name, numbers) = text.split_once('=').ok_or_else(malformed)?;
        let numbers: Vec<usize> = numbers
            .split(',')
            .map(|number| number.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| malformed())?;
        let [x, y, width, height] = numbers[..] else { return Err(malformed()) };
        if width == 0 || height == 0 {
            return Err(format!("region {name:?} has no pixels: width and height must be at least 1"));
        }
        let name = Text::new(name).map_err(|_| malformed())?;
        Ok(Self::given(name, Region { x, y, width, height }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_parsed_and_bad_ones_explained() {
        let face: RegionBox = "face=1, 2,3,4".parse().unwrap();
        assert_eq!(face.region(), Region { x: 1, y: 2, width: 3, height: 4 });
        for bad in ["face", "face=1,2,3", "face=1,2,3,x", "=1,2,3,4", "face=-1,2,3,4"] {
            assert!(bad.parse::<RegionBox>().unwrap_err().contains("NAME=x,y,w,h"), "{bad}");
        }
        assert!("face=1,2,0,4".parse::<RegionBox>().unwrap_err().contains("no pixels"));
    }

    #[test]
    fn of_many_places_those_that_the_answer_names_are_drawn() {
        let place = |name: &str, origin| {
            RegionBox::found(Text::new(name).unwrap(), Region { x: 0, y: 0, width: 9, height: 9 }, origin, None)
        };
        let names = |regions: &[RegionBox], answer: &str| -> Vec<String> {
            drawn(regions, answer).iter().map(|region| region.name.to_string()).collect()
        };
        let cells = ["upper left", "upper center", "center left", "center", "lower right"];
        let mut regions: Vec<RegionBox> = cells.iter().map(|name| place(name, Origin::Position)).collect();
        assert_eq!(names(&regions, "The upper center is strongly blurred."), ["upper center"]);
        assert_eq!(names(&regions, "The center left is dark, the center too."), ["center left", "center"]);
        assert_eq!(names(&regions, "左上角严重模糊。"), ["upper left"]);
        regions.push(place("bird", Origin::Detector));
        regions.push(place("chandelier", Origin::WholeImage));
        assert_eq!(names(&regions, "No."), ["bird"]);
        assert_eq!(names(&regions[4..], "No."), ["lower right", "bird"]);
    }

    #[test]
    fn the_origin_is_written_and_regions_of_earlier_versions_are_given() {
        let old = r#"{"name":"face","x":1,"y":2,"width":3,"height":4}"#;
        let given: RegionBox = serde_json::from_str(old).unwrap();
        assert_eq!((given.origin, given.probability, given.is_place()), (Origin::Given, None, true));
        let lost = RegionBox::not_found(Text::new("chandelier").unwrap(), 30, 20);
        assert!(!lost.is_place());
        let written = serde_json::to_string(&lost).unwrap();
        let expected = r#"{"name":"chandelier","x":0,"y":0,"width":30,"height":20,"origin":"whole image"}"#;
        assert_eq!(written, expected);
        let bird = RegionBox::found(Text::new("bird").unwrap(), given.region(), Origin::Detector, Some(0.56789));
        let read: RegionBox = serde_json::from_str(&serde_json::to_string(&bird).unwrap()).unwrap();
        assert_eq!((read.probability, &read), (Some(0.568), &bird));
        for origin in [Origin::Given, Origin::Detector, Origin::Position, Origin::Model, Origin::WholeImage] {
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.name());
        }
    }
}
