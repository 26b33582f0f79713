//! A page to look through the groups of a folder, change decisions, and export them.

use std::io::{self, Write};
use std::path::Path;

use agenticiqa_imaging::{Decoder, encode_jpeg, shrink};
use agenticiqa_metrics::{Image, Region};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;

use super::{STYLE, TOGETHER, escape, unusable};
use crate::cull::{Culled, Photo};

/// Longer side of the overview of a photo, in pixels.
const OVERVIEW: usize = 640;
/// Size of the crop at 100%, in pixels.
const CROP: (usize, usize) = (900, 675);
/// Quality of the JPEG files in the page.
const QUALITY: u8 = 82;

/// Writes the page. Groups of several photos are shown; the others are only part of the export.
pub fn review(out: &mut impl Write, culled: &Culled, folder: &Path, decoder: &Decoder) -> io::Result<()> {
    writeln!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"><title>Which photos to keep</title>\
         <style>{STYLE}{}</style></head><body><header><h1>Which photos to keep</h1><p id=\"counts\"></p>\
         <button id=\"export\">Export decisions.csv</button></header><p><kbd>←</kbd> <kbd>→</kbd> move, <kbd>K</kbd> keep, \
         <kbd>R</kbd> reject, <kbd>U</kbd> unsure, <kbd>S</kbd> make this the keeper, <kbd>Enter</kbd> accept the group. \
         Scroll a crop: the others follow. Then write the ratings: <code>agenticiqa cull {} --decisions decisions.csv --xmp \
         --apply</code></p>",
        include_str!("review.css"),
        escape(&folder.display().to_string()),
    )?;
    let mut alone: Vec<&Photo> = Vec::new();
    for photos in culled.photos.chunk_by(|one, other| one.group.is_some() && one.group == other.group) {
        match (photos, photos.first().and_then(|photo| photo.group)) {
            ([_, _, ..], Some(number)) => group(out, number, photos, decoder)?,
            _ => alone.extend(photos),
        }
    }
    writeln!(out, "<h2>{} photos are alone in their scene</h2><ul hidden>", alone.len())?;
    for photo in alone.iter().filter(|photo| !photo.failed) {
        writeln!(out, "<li {}></li>", data(photo))?;
    }
    writeln!(out, "</ul>")?;
    let failed: Vec<(String, String)> =
        culled.failed.iter().map(|(path, failure)| (path.display().to_string(), failure.to_string())).collect();
    unusable(out, &failed)?;
    writeln!(out, "<script>{}</script></body></html>", include_str!("review.js"))
}

fn group(out: &mut impl Write, number: usize, photos: &[Photo], decoder: &Decoder) -> io::Result<()> {
    writeln!(out, "<section class=\"group\"><h2>Group {number}: {} photos</h2><div class=\"side\">", photos.len())?;
    // All crops show the place of the first subject that is known, the keeper's if it has one.
    let keeper = photos.iter().find(|photo| photo.decision == crate::Decision::Keep).and_then(|photo| photo.subject);
    let place = keeper.or_else(|| photos.iter().find_map(|photo| photo.subject)).unwrap_or([0.0, 0.0, 1.0, 1.0]);
    let center = [place[0] + place[2] / 2.0, place[1] + place[3] / 2.0];
    for some in photos.chunks(TOGETHER) {
        let images: Vec<Option<[String; 2]>> = some.par_iter().map(|photo| images(photo, center, decoder)).collect();
        for (photo, images) in some.iter().zip(images) {
            let name = photo.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let pictures = images.map(|[whole, crop]| {
                format!(
                    "<img alt=\"\" src=\"data:image/jpeg;base64,{whole}\"><div class=\"crop\"><img alt=\"\" \
                     src=\"data:image/jpeg;base64,{crop}\"></div>"
                )
            });
            writeln!(
                out,
                "<figure tabindex=\"0\" class=\"{0}\" {1}>{2}<figcaption><b>{0}</b> <span class=\"score\">{3}</span> {4}<div>{5}\
                 </div></figcaption></figure>",
                photo.decision.name(),
                data(photo),
                pictures.unwrap_or_default(),
                photo.score.map(|score| format!("{score:.2}")).unwrap_or_default(),
                escape(&name),
                escape(&photo.reason),
            )?;
        }
    }
    writeln!(out, "</div></section>")
}

/// What the export needs to know about a photo.
fn data(photo: &Photo) -> String {
    format!(
        "data-path=\"{}\" data-group=\"{}\" data-decision=\"{}\" data-score=\"{}\" data-reason=\"{}\"",
        escape(&photo.image_path),
        photo.group.map(|group| group.to_string()).unwrap_or_default(),
        photo.decision.name(),
        photo.score.map(|score| score.to_string()).unwrap_or_default(),
        escape(&photo.reason)
    )
}

/// Returns an overview of a photo and a crop at 100%.
fn images(photo: &Photo, center: [f64; 2], decoder: &Decoder) -> Option<[String; 2]> {
    let image = decoder.open(&photo.path).ok()?.image;
    let encoded = |image: &Image| Some(STANDARD.encode(encode_jpeg(image, QUALITY).ok()?));
    Some([encoded(&shrink(&image, OVERVIEW).ok()?)?, encoded(&crop(&image, center)?)?])
}

fn crop(image: &Image, center: [f64; 2]) -> Option<Image> {
    let along = |length: usize, wanted: usize, center: f64| {
        let size = wanted.min(length);
        let start = (center * length as f64 - size as f64 / 2.0).max(0.0) as usize;
        (start.min(length - size), size)
    };
    let ((x, width), (y, height)) = (along(image.width(), CROP.0, center[0]), along(image.height(), CROP.1, center[1]));
    image.crop(&Region { x, y, width, height }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crops_stay_within_the_photo() {
        let image = Image::from_gray8(1000, 500, vec![0; 500_000]).unwrap();
        for center in [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]] {
            let crop = crop(&image, center).unwrap();
            assert_eq!((crop.width(), crop.height()), (900, 500));
        }
    }
}
