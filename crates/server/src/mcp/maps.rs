//! Heat maps for models: small images with a legend.

use std::sync::Arc;

use agenticiqa::imaging;

use super::results::MapResult;
use crate::app::App;
use crate::error::Problem;
use crate::requests::{MapRequest, OneRegion};
use crate::sources::RequestImage;
use crate::work::Mapped;

/// The maximum length of the longer side of a map with its legend.
const LONGEST: usize = 1024;
/// The height of the legend below an image of this size.
const LEGEND: usize = 96;

/// The smallest size to try.
const SMALLEST: usize = 384;
/// The maximum total size of the maps in a result, in bytes. Some clients refuse results of more
/// than a megabyte, in which images are encoded as base64.
pub const MAX_BYTES: usize = 540_000;

/// A requested map.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Tool name.
    pub tool: String,
    /// The name and the image.
    pub image: (String, RequestImage),
    /// The name and the image to compare with.
    pub against: Option<(String, RequestImage)>,
    /// The name and the rectangle of the region.
    pub region: Option<(String, OneRegion)>,
}

/// Draws a map. Returns its description and a PNG file of at most `max_bytes` bytes, if that is
/// possible.
pub async fn draw(app: &Arc<App>, wanted: Wanted, max_bytes: usize) -> Result<(MapResult, Vec<u8>), Problem> {
    check(app, &wanted.tool, wanted.against.is_some())?;
    let Wanted { tool, image, against, region } = wanted;
    let (region_name, region) = region.unzip();
    let (against_name, against) = against.unzip();
    let request = MapRequest { tool, region, ..MapRequest::default() };
    let mapped = app.map(request, image.1, against).await?;
    let result = MapResult {
        tool: mapped.tool.clone(),
        image: image.0,
        against: against_name,
        region: region_name,
        meaning: meaning(&mapped),
    };
    let png = tokio::task::spawn_blocking(move || small(&mapped, max_bytes)).await??;
    Ok((result, png))
}

/// Checks that a tool can draw a map. The error lists the tools that can.
pub fn check(app: &App, name: &str, with_reference: bool) -> Result<(), Problem> {
    let tool = app.registry().get(name)?;
    let fits = |tool: &agenticiqa::tools::Tool| tool.has_map() && (with_reference || !tool.needs_reference());
    if fits(tool) {
        return Ok(());
    }
    let others = app.registry().iter().filter(|tool| fits(tool) && tool.availability().is_available());
    let others: Vec<&str> = others.map(agenticiqa::tools::Tool::name).collect();
    let reason = if tool.has_map() { "needs a `reference`" } else { "has no map" };
    Err(Problem::invalid(format!("map: {} {reason}; metrics with a map: {}", tool.name(), others.join(", "))))
}

fn meaning(mapped: &Mapped) -> String {
    let map = &mapped.map;
    format!(
        "local {}: no color ({}) means no visible damage; from dark purple to red to light yellow ({}), damage increases",
        mapped.tool, map.best, map.worst
    )
}

/// Draws the map over the image and shrinks it until it fits the size limits.
fn small(mapped: &Mapped, max_bytes: usize) -> Result<Vec<u8>, Problem> {
    let mut longest = LONGEST - LEGEND;
    loop {
        let image = imaging::shrink(&mapped.image, longest).map_err(Problem::internal)?;
        let png = imaging::overlay(&image, &mapped.map, &mapped.tool).map_err(Problem::internal)?;
        if png.len() <= max_bytes || longest <= SMALLEST {
            return Ok(png);
        }
        let shown = longest.min(mapped.image.width().max(mapped.image.height()));
        longest = (shown * 3 / 4).max(SMALLEST);
    }
}

#[cfg(test)]
mod tests {
    use agenticiqa::imaging::Decoder;
    use agenticiqa::metrics::{Image, Map, Plane};

    use super::*;

    #[test]
    fn maps_are_never_larger_than_promised() {
        for (width, height) in [(3000, 2000), (900, 3000), (1024, 1024), (4, 3), (1, 2000)] {
            let image = Image::from_gray8(width, height, vec![90; width * height]).unwrap();
            let map = Map { plane: Plane::from_fn(8, 8, |x, _| x as f32), best: 0.0, worst: 7.0 };
            let mapped = Mapped { tool: "SSIM".into(), image, map, raw_score: None };
            let png = Decoder::default().decode(&small(&mapped, MAX_BYTES).unwrap()).unwrap().image;
            assert!(
                png.width() <= LONGEST && png.height() <= LONGEST,
                "{width}x{height}: {}x{}",
                png.width(),
                png.height()
            );
        }
    }

    #[test]
    fn maps_that_are_too_many_bytes_are_drawn_smaller() {
        let mut random = fastrand::Rng::with_seed(3);
        let image = Image::from_gray8(1000, 800, (0..800_000).map(|_| random.u8(..)).collect()).unwrap();
        let map = Map { plane: Plane::from_fn(8, 8, |x, _| x as f32), best: 0.0, worst: 7.0 };
        let mapped = Mapped { tool: "SSIM".into(), image, map, raw_score: None };
        let size = |max_bytes| {
            let png = small(&mapped, max_bytes).unwrap();
            (Decoder::default().decode(&png).unwrap().image.width(), png.len())
        };
        assert_eq!(size(usize::MAX).0, LONGEST - LEGEND);
        let (width, bytes) = size(MAX_BYTES);
        assert!(width < LONGEST - LEGEND && bytes <= MAX_BYTES, "{width}: {bytes}");
        assert_eq!(size(1).0, SMALLEST);
    }
}
