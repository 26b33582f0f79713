//! A named part of the image.

use std::str::FromStr;

use agenticiqa_metrics::Region;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Text;

/// A named part of the image, in pixels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}

impl RegionBox {
    /// The rectangle without its name.
    pub fn region(&self) -> Region {
        Region { x: self.x, y: self.y, width: self.width, height: self.height }
    }
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
        Ok(Self { name, x, y, width, height })
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
}
