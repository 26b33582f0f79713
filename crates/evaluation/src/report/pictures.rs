//! The images of cases: image, reference and distortion map, small and embedded in the page.

use std::path::Path;

use agenticiqa_imaging::{Decoder, boxed, encode_jpeg, painted, shrink};
use agenticiqa_metrics::{Image, Pair, Region};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::details::Case;
use agenticiqa_batch::path_rules::PathRules;
use agenticiqa_tools::{Part, Registry, Tool};

/// The maximum length of the longer image side on the page, in pixels.
const SIDE: usize = 480;
/// The JPEG quality of images on the page, high enough to show all visible distortions at this
/// size.
const QUALITY: u8 = 88;
/// The tool of the distortion map with a reference.
const WITH_REFERENCE: &str = "SSIM";

/// Renders the images of a report.
#[derive(Debug, Clone, Copy)]
pub struct Studio<'a> {
    /// The tools for distortion maps.
    pub registry: &'a Registry,
    /// The image decoder.
    pub decoder: Decoder,
}

/// An image on the page, or the reason why it is missing.
#[derive(Debug)]
pub(super) struct Picture {
    /// The label.
    pub label: String,
    /// The data URL, width and height, or the error.
    pub content: Result<(String, usize, usize), String>,
}

impl Picture {
    fn new(label: impl Into<String>, image: Result<Image, String>) -> Self {
        let encode = |image: Image| {
            let file = encode_jpeg(&image, QUALITY).map_err(|error| error.to_string())?;
            let address = format!("data:image/jpeg;base64,{}", STANDARD.encode(file));
            Ok((address, image.width(), image.height()))
        };
        Self { label: label.into(), content: image.and_then(encode) }
    }
}

/// Draws the boxes of regions over the small image.
fn regions(image: &Image, regions: &[(String, Region)]) -> Result<Image, String> {
    let small = shrink(image, SIDE).map_err(|error| error.to_string())?;
    let scale = |value: usize, to: usize, from: usize| value * to / from.max(1);
    let scaled = |region: &Region| {
        let (x, y) = (scale(region.x, small.width(), image.width()), scale(region.y, small.height(), image.height()));
        let right = scale(region.x + region.width, small.width(), image.width());
        let bottom = scale(region.y + region.height, small.height(), image.height());
        Region { x, y, width: right.saturating_sub(x), height: bottom.saturating_sub(y) }
    };
    // A record may be about another file than the one that is found now.
    let fits = |region: &Region| region.x + region.width <= image.width() && region.y + region.height <= image.height();
    let inside = regions.iter().filter(|(_, region)| fits(region));
    let named: Vec<(String, Region)> = inside.map(|(name, region)| (name.clone(), scaled(region))).collect();
    boxed(&small, &named).map_err(|error| error.to_string())
}

impl Studio<'_> {
    /// Returns the images of a case. Images that cannot be shown have an error.
    pub(super) fn pictures(&self, case: &Case, paths: &PathRules) -> Vec<Picture> {
        let open = |path: &String| self.open(&paths.find(path));
        let Some(image) = case.image_path.as_ref().map(open) else { return Vec::new() };
        let reference = case.reference_path.as_ref().map(open);
        let small = |image: &Result<Image, String>| {
            let image = image.as_ref().map_err(Clone::clone)?;
            shrink(image, SIDE).map_err(|error| error.to_string())
        };
        let mut pictures = vec![Picture::new("image", small(&image))];
        pictures.extend(reference.as_ref().map(|reference| Picture::new("reference", small(reference))));
        if let Ok(image) = &image {
            let reference = reference.as_ref().and_then(|reference| reference.as_ref().ok());
            let (label, map) = self.map(image, reference);
            pictures.push(Picture::new(label, map));
            if !case.regions.is_empty() {
                pictures.push(Picture::new("regions", regions(image, &case.regions)));
            }
        }
        pictures
    }

    fn open(&self, path: &Path) -> Result<Image, String> {
        self.decoder.open(path).map(|picture| picture.image).map_err(|error| error.to_string())
    }

    /// Returns the distortion map of a tool.
    fn map(&self, image: &Image, reference: Option<&Image>) -> (String, Result<Image, String>) {
        let fits = |reference: &&Image| Pair::new(reference, image).is_ok();
        let part = Part::new(image.clone(), reference.filter(fits).cloned());
        let tool = match self.map_tool(part.reference.is_some()) {
            Ok(tool) => tool,
            Err(reason) => return ("distortion map".to_owned(), Err(reason)),
        };
        let name = tool.name();
        let paint = || {
            let run = part.measure(tool, true);
            let why = || {
                run.error.as_ref().map_or("the tool returned no map".to_owned(), |failure| failure.message().to_owned())
            };
            let map = run.map.as_ref().ok_or_else(why)?;
            let small = shrink(image, SIDE).map_err(|error| error.to_string())?;
            let score = run.raw_score.map(super::words::raw).unwrap_or_default();
            painted(&small, map, &format!("{name} {score}")).map_err(|error| error.to_string())
        };
        (format!("distortion map of {name}"), paint())
    }

    /// Returns the tool of the distortion map. Without a reference, it is the tool that was fitted
    /// to opinions.
    fn map_tool(&self, with_reference: bool) -> Result<&Tool, String> {
        if with_reference {
            return self.registry.get(WITH_REFERENCE).map_err(|error| error.to_string());
        }
        let fits = |tool: &&Tool| tool.has_interval() && tool.has_map() && !tool.needs_reference();
        self.registry.iter().find(fits).ok_or_else(|| "no tool draws a map without a reference".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_drawn_where_they_are_and_not_outside() {
        let image = Image::from_rgb8(960, 480, [10, 120, 200].repeat(960 * 480)).unwrap();
        let place = |x: usize| Region { x, y: 100, width: 400, height: 300 };
        let named = [("bird".to_owned(), place(200)), ("lost".to_owned(), place(700))];
        let drawn = regions(&image, &named).unwrap();
        assert_eq!((drawn.width(), drawn.height()), (480, 240));
        let at = |x: usize, y: usize| [0, 1, 2].map(|channel| drawn.channel(channel).at(x, y) as u8);
        assert_ne!(at(299, 199), [10, 120, 200], "the lower right corner of the bird");
        assert_eq!([at(200, 150), at(400, 100), at(350, 199)], [[10, 120, 200]; 3]);
    }
}
