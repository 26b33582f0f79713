//! Where in an image is what a question is about.
//!
//! [`resolve`] returns a box for each name: places of the frame ("upper left", "the bottom"), the
//! sky and the ground, the subject and the background, the darkest or the sharpest part, and what the
//! [`detector`] knows. A name that is not found stands for the whole image and says so
//! ([`Origin::WholeImage`]). [`list()`] returns what can be found without a name.
//!
//! Nothing here needs a vision-language model. The image is measured on a coarse grid (`layout`)
//! once, and the result is kept with the image. `docs/regions.md` says how often the boxes are right.

mod focus;
mod layout;
mod look;
mod meaning;
mod objects;
mod parts;
mod portrait;
mod position;
mod saliency;
mod sky;

use agenticiqa_metrics::{Image, Region};

use crate::detector::{self, Detection};
use crate::vocabulary::{Invalid, Origin, RegionBox, Text};
pub use focus::Focus;
use layout::{Block, Layout};
pub use look::{Look, look};
use meaning::{Meaning, meaning};
pub use portrait::{MissedFocus, missed_focus};
use position::{CELLS, Position, cell_of};

/// Boxes are enlarged to this many pixels on each side, so that they can be measured.
const SMALLEST: usize = 64;
/// From this probability on there is a subject.
const SUBJECT: f64 = 0.4;
/// The probability that the lower third of an image without a sky is ground: it lay in the ground, floor, grass, road,
/// sand or snow of 80% of the photos that it was chosen on.
const LOWER_IS_GROUND: f64 = 0.8;
/// A sky that nobody asked about is listed from this probability on.
const EVIDENT_SKY: f64 = 0.75;
/// Corners and borders have this share of the width and of the height.
const CORNER: usize = 5;

/// Reasons why names cannot be located.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name is empty.
    #[error(transparent)]
    Name(#[from] Invalid),
    /// The detector cannot be used.
    #[error(transparent)]
    Detector(#[from] detector::Error),
}

/// Locates names in an image. Returns a box for each, in the same order.
pub fn resolve<S: AsRef<str>>(image: &Image, names: &[S]) -> Result<Vec<RegionBox>, Error> {
    let scene = Scene { image };
    names.iter().map(|name| scene.resolve(name.as_ref())).collect()
}

/// Returns what was found in an image, without a question: what the detector knows, subject,
/// background, and sky and ground if there is hardly a doubt about the sky.
pub fn list(image: &Image) -> Result<Vec<RegionBox>, Error> {
    let (width, height) = (image.width(), image.height());
    let listed = objects::listed(image)?.into_iter().map(|(name, found)| {
        let (region, probability) = (enlarged(found.region, width, height), Some(f64::from(found.probability)));
        Ok(RegionBox::found(Text::new(name)?, region, Origin::Detector, probability))
    });
    let listed: Vec<RegionBox> = listed.collect::<Result<_, Error>>()?;
    let mut found = resolve(image, &["subject", "background", "sky", "ground"])?;
    let outdoors = found.iter().any(|one| one.name.as_str() == "sky" && one.probability >= Some(EVIDENT_SKY));
    found.retain(|one| one.is_place() && (outdoors || !["sky", "ground"].contains(&one.name.as_str())));
    Ok(listed.into_iter().chain(found).collect())
}

/// At most this many things are compared.
const MOST_COMPARED: usize = 6;

/// Returns the names of the things of a class that are found, or of all things, the most probable first:
/// "car", "car 2". A person and its face are one thing.
pub fn things(image: &Image, class: Option<&str>) -> Result<Vec<String>, Error> {
    let wanted = |found: &Detection| class.map_or(found.name != "face", |class| found.name == class);
    let listed = objects::listed(image)?.into_iter().filter(|(_, found)| wanted(found));
    Ok(listed.map(|(name, _)| name).take(MOST_COMPARED).collect())
}

/// Returns where the subject is that the detector sees, if any.
pub(crate) fn detected_subject(image: &Image) -> Option<Region> {
    objects::seen_first(image).ok().flatten().map(|found| found.region)
}

/// Returns the name of the ninth of the image that a box is in, such as "upper left".
pub fn place_of(region: &Region, image: &Image) -> &'static str {
    cell_of(region, image.width(), image.height())
}

struct Scene<'a> {
    image: &'a Image,
}

/// A place, why it is known, and how sure that is.
struct Found {
    region: Region,
    origin: Origin,
    probability: f64,
    class: Option<&'static str>,
}

impl Found {
    fn by_position(region: Region, probability: f64) -> Self {
        Self { region, origin: Origin::Position, probability, class: None }
    }

    fn by_detector(found: &Detection) -> Self {
        let probability = f64::from(found.probability);
        Self { region: found.region, origin: Origin::Detector, probability, class: Some(found.name) }
    }
}

impl Scene<'_> {
    fn resolve(&self, name: &str) -> Result<RegionBox, Error> {
        let text = Text::new(name)?;
        let (width, height) = (self.image.width(), self.image.height());
        let found = match meaning(name) {
            Some(meaning) => self.find(meaning)?,
            None => objects::named(self.image, name)?.as_ref().map(Found::by_detector),
        };
        let Some(found) = found else { return Ok(RegionBox::not_found(text, width, height)) };
        let region = enlarged(found.region, width, height);
        let class = found.class.filter(|class| meaning::fold(name) != *class).map(Text::new).transpose()?;
        Ok(RegionBox { class, ..RegionBox::found(text, region, found.origin, Some(found.probability)) })
    }

    fn find(&self, meaning: Meaning) -> Result<Option<Found>, Error> {
        match meaning {
            Meaning::Subject => self.subject(),
            Meaning::Foreground => Ok(Some(self.subject()?.unwrap_or_else(|| self.lower_third()))),
            Meaning::Background => {
                let Some(subject) = self.subject()? else { return Ok(None) };
                let rest = parts::rest(&subject.region, self.image.width(), self.image.height());
                Ok(rest.map(|rest| Found::by_position(rest, subject.probability)))
            }
            other => Ok(self.measured(other)),
        }
    }

    /// Finds what needs no detector.
    fn measured(&self, meaning: Meaning) -> Option<Found> {
        let (width, height) = (self.image.width(), self.image.height());
        match meaning {
            Meaning::Subject | Meaning::Foreground | Meaning::Background => None,
            Meaning::At(position) => Some(Found::by_position(position.within(width, height), 1.0)),
            Meaning::Sky => self.sky().map(|(sky, probability)| Found::by_position(sky, probability)),
            Meaning::Ground => Some(self.ground()),
            Meaning::Extreme(which) => {
                let layout = self.layout();
                let (block, probability) = parts::extreme(&layout, which)?;
                Some(Found::by_position(layout.region(block), probability))
            }
            Meaning::Corners => {
                let corners = [
                    ("upper left", 0, 0),
                    ("upper right", CORNER - 1, 0),
                    ("lower left", 0, CORNER - 1),
                    ("lower right", CORNER - 1, CORNER - 1),
                ];
                let part = |size: usize, index: usize| (size * index / CORNER, size * (index + 1) / CORNER);
                self.softest(&corners.map(|(name, column, row)| {
                    let ((x, right), (y, bottom)) = (part(width, column), part(height, row));
                    (name, Region { x, y, width: right - x, height: bottom - y })
                }))
            }
            Meaning::Borders => {
                let (thick, high) = (width / CORNER, height / CORNER);
                self.softest(&[
                    ("top", Region { x: 0, y: 0, width, height: high }),
                    ("bottom", Region { x: 0, y: height - high, width, height: high }),
                    ("left", Region { x: 0, y: 0, width: thick, height }),
                    ("right", Region { x: width - thick, y: 0, width: thick, height }),
                ])
            }
        }
    }

    fn layout(&self) -> std::sync::Arc<Layout> {
        Layout::of(self.image)
    }

    fn sky(&self) -> Option<(Region, f64)> {
        let layout = self.layout();
        let sky = sky::find(&layout).filter(|sky| sky.probability >= sky::THRESHOLD)?;
        Some((layout.region(sky.block), sky.probability))
    }

    /// Returns the part below the horizon, or the lower third of an image without a sky.
    fn ground(&self) -> Found {
        let layout = self.layout();
        let sky = sky::find(&layout).filter(|sky| sky.probability >= sky::THRESHOLD);
        let below = |sky: sky::Sky| {
            let top = sky.horizon.max(layout.rows / 2);
            let block = Block { left: 0, top, right: layout.columns, bottom: layout.rows };
            (top < layout.rows).then(|| Found::by_position(layout.region(block), sky.probability))
        };
        sky.and_then(below).unwrap_or_else(|| self.lower_third())
    }

    fn lower_third(&self) -> Found {
        Found::by_position(Position::Bottom.within(self.image.width(), self.image.height()), LOWER_IS_GROUND)
    }

    /// Returns the most prominent thing that the detector sees, or else what stands out.
    fn subject(&self) -> Result<Option<Found>, Error> {
        if let Some(found) = objects::subject(self.image)? {
            return Ok(Some(Found::by_detector(&found)));
        }
        let layout = self.layout();
        let salient = saliency::find(&layout).filter(|salient| salient.probability >= SUBJECT);
        Ok(salient.map(|salient| Found::by_position(layout.region(salient.block), salient.probability)))
    }

    /// Returns the softest of some places, with its name.
    fn softest(&self, places: &[(&'static str, Region)]) -> Option<Found> {
        let regions: Vec<Region> = places.iter().map(|(_, region)| *region).collect();
        let (index, probability) = parts::softest(&self.layout(), &regions)?;
        let (name, region) = places.get(index)?;
        Some(Found { class: Some(name), ..Found::by_position(*region, probability) })
    }
}

/// Enlarges a box that is too small to be measured, around its center and within the image.
fn enlarged(region: Region, width: usize, height: usize) -> Region {
    let side = |start: usize, length: usize, whole: usize| {
        let wanted = length.max(SMALLEST).min(whole);
        let start = start.saturating_sub((wanted - length.min(wanted)) / 2).min(whole - wanted);
        (start, wanted)
    };
    let ((x, width), (y, height)) = (side(region.x, region.width, width), side(region.y, region.height, height));
    Region { x, y, width, height }
}

/// The names of the nine cells of a grid of three by three, row by row.
pub const CELL_NAMES: [&str; 9] = {
    let mut names = [""; 9];
    let mut index = 0;
    while index < 9 {
        names[index] = CELLS[index].0;
        index += 1;
    }
    names
};
