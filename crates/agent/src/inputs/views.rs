//! Views of an image for models: parts at 100%, and brightened copies.
//!
//! Providers shrink large images before their model sees them, which removes noise, slight blur and
//! blocks. Dark images hide their faults. In both cases models also get views: the subject or the part
//! that was asked about, the tile that the quality map finds worst, the sharpest tile, and a
//! brightened copy. A model may ask for one more.

use agenticiqa_imaging::{encode_png, shrink};
use agenticiqa_metrics::{Image, Region};
use agenticiqa_vision::repair::{Edit, Operation};
use agenticiqa_vision::{fused_nr, regions};
use agenticiqa_vlm::{Attachment, KeptSize};
use serde_json::Value;

use super::Inputs;
use crate::state::{GLOBAL, PlannerOutput, RegionBox, Text, View, ViewKind, Views, region_of};

/// The most rounds of a question: one, and another with the view that the model asked for.
pub const MAX_ROUNDS: usize = 2;
/// Views are sent if the model sees less than this share of the width and height.
const SHRUNK: f64 = 0.9;
/// A crop that shares more than this part of its area with an earlier one is left out.
const SAME: f64 = 0.5;
/// An image is dark if the median of its luma is below this value, of 255. Chosen by looking at night
/// photos, not fitted.
const DARK: f32 = 50.0;
/// A brightened copy gets this median, of 255.
const BRIGHT: f32 = 110.0;
/// The least and the most stops of a brightened copy.
const STOPS: [f64; 2] = [1.0, 5.0];
/// Smaller requests are enlarged to this many pixels on each side.
const SMALLEST: usize = 64;
/// The median of an image is taken on a copy of this size.
const THUMBNAIL: usize = 256;
/// A crop that is too large as a file is made smaller by this factor.
const SMALLER: f64 = 0.7;

/// Whether models get views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sending {
    /// For images that the provider shrinks, and for dark images.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// The limits of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Whether models get views.
    pub sending: Sending,
    /// The most crops that are sent without being asked for.
    pub max_crops: usize,
    /// The longest side of a view, in pixels.
    pub max_side: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sending: Sending::Auto, max_crops: 3, max_side: 768 }
    }
}

/// What decides which views are made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Order {
    limits: Limits,
    kept: KeptSize,
    /// The maximum length of the longer side of the whole image, as it is sent.
    max_side: usize,
    max_bytes: usize,
    /// The part that the question is about, and where it is.
    asked: Option<(Text, Region)>,
}

impl Order {
    /// Orders the views for a plan. `regions` are the known places.
    pub fn new(
        (limits, kept): (Limits, KeptSize),
        (max_side, max_bytes): (usize, usize),
        plan: &PlannerOutput,
        regions: &[RegionBox],
    ) -> Self {
        let place = |name: &str| Some((Text::new(name).ok()?, region_of(name, regions)?));
        let asked = plan.query_scope.names().into_iter().filter(|name| *name != GLOBAL).find_map(place);
        Self { limits, kept, max_side, max_bytes, asked }
    }

    /// Returns the scale at which the model sees the whole image.
    fn scale(&self, image: &Image) -> f64 {
        let (width, height) = (image.width(), image.height());
        let ours = self.max_side as f64 / width.max(height) as f64;
        self.kept.scale(width, height).min(ours).min(1.0)
    }

    /// Returns the longest side of a crop that the provider does not shrink.
    fn side(&self) -> usize {
        self.limits.max_side.min(self.kept.square()).max(1)
    }

    /// Returns the limits for the record.
    pub fn limits(&self, image: &Image) -> Views {
        let longer = image.width().max(image.height()) as f64;
        Views {
            max_crops: self.limits.max_crops,
            max_side: self.side(),
            max_rounds: MAX_ROUNDS,
            kept_side: (longer * self.scale(image)).round() as usize,
            sent: Vec::new(),
        }
    }
}

/// A view, and the file that is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub view: View,
    pub attachment: Attachment,
}

/// The views of one question, and how they are introduced.
#[derive(Debug, Clone, Default)]
pub(crate) struct Album {
    pub made: Vec<Made>,
    /// The scale at which the model sees the whole image.
    pub scale: f64,
    size: (usize, usize),
}

impl Album {
    /// Introduces the views in the user message. Without views there is nothing to say.
    pub fn introduction(&self) -> String {
        if self.made.is_empty() {
            return String::new();
        }
        let (width, height) = self.size;
        let seen = match self.scale < SHRUNK {
            true => format!(", and you see it at {:.0}% of that size", 100.0 * self.scale),
            false => String::new(),
        };
        let lines: Vec<String> = self.made.iter().map(|made| line(&made.attachment.label, &made.view)).collect();
        format!("\nThe image has {width}x{height} pixels{seen}. Views of it:\n{}", lines.join("\n"))
    }
}

/// Introduces one view.
pub(crate) fn line(label: &str, view: &View) -> String {
    let View { x, y, width, height, shows, .. } = view;
    match view.stops {
        Some(stops) => format!("{label}: the region {x},{y},{width},{height} brightened by {stops:+.1} EV ({shows})"),
        None => format!("{label}: crop at 100 % of the region {x},{y},{width},{height} ({shows})"),
    }
}

/// The label of the view with this number, from 1.
pub(crate) fn label(number: usize) -> String {
    format!("<view {number}>")
}

/// Makes the views that are sent without being asked for. This takes a while: do not call it on a thread
/// of the async runtime.
pub(crate) fn make(inputs: &Inputs, order: &Order) -> Album {
    let image = &inputs.image().picture.image;
    let scale = order.scale(image);
    let mut album = Album { made: Vec::new(), scale, size: (image.width(), image.height()) };
    if order.limits.sending == Sending::Off {
        return album;
    }
    let mut taken: Vec<Region> = Vec::new();
    if scale < SHRUNK {
        for (shows, region) in candidates(image, order) {
            let crop = square_around(&region, order.side(), image);
            if taken.len() < order.limits.max_crops && !taken.iter().any(|earlier| overlap(earlier, &crop) > SAME) {
                taken.push(crop);
                album.made.extend(cut(image, crop, &shows, order, label(album.made.len() + 1)));
            }
        }
    }
    if let Some(stops) = stops_of(image) {
        let whole = Region { x: 0, y: 0, width: image.width(), height: image.height() };
        album.made.extend(brighten(image, whole, stops, "the whole image", order, label(album.made.len() + 1)));
    }
    album
}

/// Returns what is worth a crop, most useful first. What cannot be found is left out.
fn candidates(image: &Image, order: &Order) -> Vec<(String, Region)> {
    let resolve = |name: &str| {
        let found = regions::resolve(image, &[name]).ok()?.pop()?;
        found.is_place().then(|| found.region())
    };
    let subject = || resolve("subject").map(|region| ("the subject".to_owned(), region));
    let asked = order.asked.as_ref().map(|(name, region)| (name.to_string(), *region)).or_else(subject);
    let worst = worst_tile(image)
        .map(|(region, score)| (format!("the tile that the quality map finds worst, {score:.1} of 5"), region));
    let sharpest = resolve("sharpest part").map(|region| ("the sharpest tile".to_owned(), region));
    [asked, worst, sharpest].into_iter().flatten().collect()
}

/// Returns the tile with the lowest score of the quality map.
fn worst_tile(image: &Image) -> Option<(Region, f32)> {
    let map = fused_nr::map(fused_nr::builtin().ok()?, image).ok()?;
    let (columns, rows) = (map.width(), map.height());
    let (index, score) = map.data().iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1))?;
    let (column, row) = (index % columns, index / columns);
    let part = |size: usize, index: usize, of: usize| (size * index / of, size * (index + 1) / of);
    let (x, right) = part(image.width(), column, columns);
    let (y, lower) = part(image.height(), row, rows);
    Some((Region { x, y, width: right - x, height: lower - y }, *score))
}

/// Returns the square with this side around the center of a region, moved into the image.
fn square_around(region: &Region, side: usize, image: &Image) -> Region {
    let along = |start: usize, length: usize, whole: usize| {
        let wanted = side.min(whole);
        ((start + length / 2).saturating_sub(wanted / 2).min(whole - wanted), wanted)
    };
    let ((x, width), (y, height)) =
        (along(region.x, region.width, image.width()), along(region.y, region.height, image.height()));
    Region { x, y, width, height }
}

/// Returns the part of the smaller region that both share.
fn overlap(one: &Region, other: &Region) -> f64 {
    let along = |a: usize, a_length: usize, b: usize, b_length: usize| {
        (a + a_length).min(b + b_length).saturating_sub(a.max(b)) as f64
    };
    let shared = along(one.x, one.width, other.x, other.width) * along(one.y, one.height, other.y, other.height);
    shared / (one.width * one.height).min(other.width * other.height).max(1) as f64
}

/// Returns by how many stops a dark image is brightened; nothing for other images.
fn stops_of(image: &Image) -> Option<f64> {
    let median = median(image).filter(|median| *median < DARK)?;
    Some(stops_to_bright(median))
}

fn stops_to_bright(median: f32) -> f64 {
    let light = |sample: f32| match f64::from(sample.max(1.0)) / 255.0 {
        code if code <= 0.04045 => code / 12.92,
        code => ((code + 0.055) / 1.055).powf(2.4),
    };
    let stops = (light(BRIGHT) / light(median)).log2();
    // Half stops, so that the text is short.
    ((2.0 * stops).round() / 2.0).clamp(STOPS[0], STOPS[1])
}

fn median(image: &Image) -> Option<f32> {
    let small = shrink(image, THUMBNAIL).ok()?;
    let mut luma = small.gray().data().to_vec();
    let middle = luma.len() / 2;
    (!luma.is_empty()).then(|| *luma.select_nth_unstable_by(middle, f32::total_cmp).1)
}

/// Cuts a crop at 100%. A file that is too large is avoided by a smaller crop, not by shrinking.
fn cut(image: &Image, region: Region, shows: &str, order: &Order, label: String) -> Option<Made> {
    let mut region = region;
    loop {
        let bytes = encode_png(&image.crop(&region).ok()?).ok()?;
        if bytes.len() <= order.max_bytes || region.width.min(region.height) <= SMALLEST {
            return made(ViewKind::Crop, region, None, shows, bytes, label);
        }
        let side = (region.width.max(region.height) as f64 * SMALLER) as usize;
        region = square_around(&region, side, image);
    }
}

/// Brightens a part of the image. Parts that are too large are shrunk: a brightened copy shows what is
/// there, not its detail.
fn brighten(image: &Image, region: Region, stops: f64, shows: &str, order: &Order, label: String) -> Option<Made> {
    let mut side = order.side();
    let part = image.crop(&region).ok()?;
    loop {
        let edit = Edit { operation: Operation::Exposure, amount: stops };
        let bytes = encode_png(&edit.apply(&shrink(&part, side).ok()?).ok()?).ok()?;
        if bytes.len() <= order.max_bytes || side <= SMALLEST {
            return made(ViewKind::Brightened, region, Some(stops), shows, bytes, label);
        }
        side = (side as f64 * SMALLER) as usize;
    }
}

fn made(
    kind: ViewKind,
    region: Region,
    stops: Option<f64>,
    shows: &str,
    bytes: Vec<u8>,
    label: String,
) -> Option<Made> {
    let Region { x, y, width, height } = region;
    let (shows, requested_by) = (Text::new(shows).ok()?, None);
    let view = View { kind, shows, x, y, width, height, stops, bytes: bytes.len(), requested_by };
    Some(Made { view, attachment: Attachment { label, mime: "image/png", bytes: bytes.into() } })
}

/// A view that a model asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wish {
    kind: ViewKind,
    /// Left, top, right and bottom, in thousandths of width and height.
    sides: [f64; 4],
}

/// Reads the wish of an answer: nothing if it has none, or why it cannot be granted. Of many wishes, the
/// first counts.
pub(crate) fn wish(answer: &Value) -> Option<Result<Wish, String>> {
    let written = match answer.get("view_request")? {
        Value::Array(wishes) => wishes.first()?,
        Value::Null => return None,
        one => one,
    };
    if written.is_null() {
        return None;
    }
    let kind = match written.get("kind").and_then(Value::as_str) {
        Some("crop") => ViewKind::Crop,
        Some("brightened") => ViewKind::Brightened,
        _ => return Some(Err("its kind is neither crop nor brightened".to_owned())),
    };
    let sides: Vec<f64> =
        written.get("box").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect();
    let Ok(sides) = <[f64; 4]>::try_from(sides) else {
        return Some(Err("its box has not four numbers".to_owned()));
    };
    let [left, top, right, bottom] = sides;
    Some(if sides.iter().any(|side| !(0.0..=1000.0).contains(side)) {
        Err("it lies outside the image".to_owned())
    } else if right <= left || bottom <= top {
        Err("its box has no area".to_owned())
    } else {
        Ok(Wish { kind, sides })
    })
}

/// Makes the view that a model asked for. This takes a while: do not call it on a thread of the async
/// runtime.
pub(crate) fn grant(inputs: &Inputs, order: &Order, wish: Wish, task: &str, label: String) -> Result<Made, String> {
    let image = &inputs.image().picture.image;
    let pixel = |thousandths: f64, size: usize| (thousandths / 1000.0 * size as f64).round() as usize;
    let along = |from: f64, to: f64, size: usize| {
        let (start, end) = (pixel(from, size).min(size - 1), pixel(to, size));
        let wanted = end.saturating_sub(start).max(SMALLEST).min(size);
        (start.min(size - wanted), wanted)
    };
    let [left, top, right, bottom] = wish.sides;
    let ((x, width), (y, height)) = (along(left, right, image.width()), along(top, bottom, image.height()));
    let mut region = Region { x, y, width, height };
    let mut shows = "the view that you asked for".to_owned();
    let made = match wish.kind {
        ViewKind::Crop => {
            let side = order.side();
            if width.max(height) > side {
                let center = Region { x: x + width / 2, y: y + height / 2, width: 1, height: 1 };
                let (wide, high) = (width.min(side), height.min(side));
                let square = square_around(&center, side, image);
                region = Region {
                    x: (center.x.saturating_sub(wide / 2)).clamp(square.x, square.x + square.width - wide),
                    y: (center.y.saturating_sub(high / 2)).clamp(square.y, square.y + square.height - high),
                    width: wide,
                    height: high,
                };
                shows = format!("the center of what you asked for: a view has at most {side} pixels a side");
            }
            cut(image, region, &shows, order, label)
        }
        ViewKind::Brightened => {
            let part = image.crop(&region).map_err(|error| error.to_string())?;
            let stops = median(&part).map_or(STOPS[0], stops_to_bright);
            brighten(image, region, stops, &shows, order, label)
        }
    };
    let mut made = made.ok_or_else(|| "it cannot be made".to_owned())?;
    made.view.requested_by = Some(task.to_owned());
    Ok(made)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(max_side: usize, kept: KeptSize) -> Order {
        let limits = Limits { max_side, ..Limits::default() };
        Order { limits, kept, max_side: 2048, max_bytes: usize::MAX, asked: None }
    }

    #[test]
    fn wishes_outside_the_image_and_of_other_shapes_are_refused() {
        let read = |request: Value| wish(&json!({"view_request": request}));
        assert_eq!(read(json!(null)), None);
        assert_eq!(wish(&json!({})), None);
        assert_eq!(read(json!([])), None);
        assert!(read(json!({"kind": "crop", "box": [0, 0, 500, 1000]})).unwrap().is_ok());
        let many = vec![json!({"kind": "brightened", "box": [1, 2, 3, 4]}); 100];
        assert_eq!(read(json!(many)).unwrap().unwrap().kind, ViewKind::Brightened);
        for (request, says) in [
            (json!({"kind": "crop", "box": [900, 0, 1400, 1000]}), "outside"),
            (json!({"kind": "crop", "box": [-1, 0, 10, 10]}), "outside"),
            (json!({"kind": "crop", "box": [1e300, 0, 10, 10]}), "outside"),
            (json!({"kind": "crop", "box": [500, 0, 500, 10]}), "no area"),
            (json!({"kind": "crop", "box": [1, 2, 3]}), "four numbers"),
            (json!({"kind": "crop", "box": "all"}), "four numbers"),
            (json!({"kind": "file:///etc/passwd", "box": [0, 0, 9, 9]}), "neither"),
            (json!("the sky"), "neither"),
        ] {
            let refused = read(request).unwrap().unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }

    #[test]
    fn a_crop_stays_inside_and_at_the_size_of_the_provider() {
        let image = Image::from_gray8(400, 300, vec![90; 400 * 300]).unwrap();
        let corner = Region { x: 390, y: 0, width: 10, height: 10 };
        assert_eq!(square_around(&corner, 128, &image), Region { x: 272, y: 0, width: 128, height: 128 });
        assert_eq!(square_around(&corner, 1000, &image), Region { x: 0, y: 0, width: 400, height: 300 });
        let kept = KeptSize { longer: 200, shorter: Some(100), pixels: None };
        assert_eq!(order(768, kept).side(), 100);
        assert!((order(768, kept).scale(&image) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(overlap(&corner, &corner), 1.0);
        assert_eq!(overlap(&corner, &Region { x: 0, ..corner }), 0.0);
    }

    #[test]
    fn a_dark_image_is_brightened_to_the_middle_and_a_bright_one_is_not() {
        let flat = |value: u8| Image::from_gray8(80, 60, vec![value; 80 * 60]).unwrap();
        assert_eq!(stops_of(&flat(120)), None);
        let dark = flat(24);
        let stops = stops_of(&dark).unwrap();
        let edit = Edit { operation: Operation::Exposure, amount: stops };
        let middle = median(&edit.apply(&dark).unwrap()).unwrap();
        assert!((90.0..135.0).contains(&middle), "{stops} {middle}");
        assert_eq!(stops_of(&flat(0)), Some(STOPS[1]));
    }
}
