//! Heat maps: the map of a metric, drawn over the image, with a legend.
//!
//! The image is shown in gray. A flawless location stays gray; the worse a location, the more
//! opaque the color over it. Colors run from dark purple through red to light yellow. Each step is
//! lighter than the previous step, so the order of damage is readable without color vision. The
//! color bar below the image shows the same colors over middle gray.

use agenticiqa_metrics::{Image, Map, Plane};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use rayon::prelude::*;

use crate::canvas::{Canvas, Text, WHITE};
use crate::{Error, Format, Result};

/// Maximum length of the longer side of the image in a heat map.
const LONGEST_SIDE: usize = 2048;

/// Small images are enlarged by a whole factor until their longer side is at least this long.
const SHORTEST_SIDE: usize = 384;

/// Minimum width; the legend would be unreadable below it.
const NARROWEST: usize = 320;

/// Colors from least to most damage: matplotlib's "inferno" (released to the public domain by its
/// authors) at equal distances, without the black end, which would look like a dark part of the
/// image.
const COLORS: [[f32; 3]; 11] = [
    [50.0, 10.0, 94.0],
    [87.0, 16.0, 110.0],
    [120.0, 28.0, 109.0],
    [154.0, 40.0, 101.0],
    [188.0, 55.0, 84.0],
    [216.0, 76.0, 62.0],
    [237.0, 105.0, 37.0],
    [249.0, 142.0, 9.0],
    [251.0, 182.0, 26.0],
    [244.0, 223.0, 83.0],
    [252.0, 255.0, 164.0],
];

/// Opacity of the color at the worst locations.
const OPACITY: f32 = 0.88;

/// Draws the map over the image with a legend below, and returns it as an RGB PNG file.
///
/// `title` names the metric, and its unit if there is one. The image is scaled down to at most
/// 2048 pixels on its longer side. The map can have any size; it covers the image from edge to
/// edge.
pub fn overlay(image: &Image, map: &Map, title: &str) -> Result<Vec<u8>> {
    encode(&paint(image, map, title))
}

/// Like [`overlay`], but returns an image instead of a file.
pub fn painted(image: &Image, map: &Map, title: &str) -> Result<Image> {
    let canvas = paint(image, map, title);
    let picture = Image::from_rgb8(canvas.width(), canvas.height(), canvas.data().to_vec());
    picture.map_err(|error| Error::corrupt(Format::Png, error))
}

fn paint(image: &Image, map: &Map, title: &str) -> Canvas {
    let (width, height) = shown_size(image.width(), image.height());
    let picture = resize(image.gray(), width, height);
    let damage = resize(&map.plane, width, height);
    let text = Text::for_width(width);
    let legend = 6 * text.height();
    let mut canvas = Canvas::new(width.max(NARROWEST), height + legend);
    let left = (canvas.width() - width) / 2;
    canvas.rows_mut().take(height).enumerate().for_each(|(y, row)| {
        let pixels = row[3 * left..3 * (left + width)].chunks_exact_mut(3);
        for ((pixel, &gray), &value) in pixels.zip(picture.row(y)).zip(damage.row(y)) {
            pixel.copy_from_slice(&blend(gray, share_of_damage(value, map)));
        }
    });
    draw_legend(&mut canvas, height, map, title, text);
    canvas
}

/// Draws the map alone in opaque colors at the given size, as an RGB PNG file to lay over an
/// image.
pub fn color_map(map: &Map, width: usize, height: usize) -> Result<Vec<u8>> {
    let damage = resize(&map.plane, width, height);
    let pixels: Vec<u8> = damage.data().iter().flat_map(|&value| color(share_of_damage(value, map))).collect();
    let image = Image::from_rgb8(width, height, pixels)?;
    crate::encode_png(&image)
}

/// Returns the values of the map at the given size as an 8-bit gray PNG file. Black is the lower
/// of its two ends.
pub fn map_values(map: &Map, width: usize, height: usize) -> Result<Vec<u8>> {
    let values = resize(&map.plane, width, height);
    let gray = |&value: &f32| {
        let share = share_of_damage(value, map);
        let upwards = if map.best > map.worst { 1.0 - share } else { share };
        (upwards * 255.0).round() as u8
    };
    crate::encode_png(&Image::from_gray8(width, height, values.data().iter().map(gray).collect())?)
}

/// The displayed size of an image.
pub(crate) fn shown_size(width: usize, height: usize) -> (usize, usize) {
    let longest = width.max(height).max(1);
    if longest < SHORTEST_SIDE {
        let factor = SHORTEST_SIDE.div_ceil(longest);
        return (width * factor, height * factor);
    }
    let shown = longest.min(LONGEST_SIDE);
    let scale = |side: usize| ((side * shown + longest / 2) / longest).max(1);
    (scale(width), scale(height))
}

/// 0 for the best value of the map, 1 for the worst value and beyond. NaN counts as no damage.
fn share_of_damage(value: f32, map: &Map) -> f32 {
    let share = (value - map.best) / (map.worst - map.best);
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

/// The color of a location of the image with this share of damage.
fn blend(gray: f32, damage: f32) -> [u8; 3] {
    // The square root makes slight damage visible; a flawless location keeps its gray.
    let opacity = OPACITY * damage.sqrt();
    palette(damage).map(|color| (gray * (1.0 - opacity) + color * opacity + 0.5) as u8)
}

/// The opaque color for a share of damage.
fn color(damage: f32) -> [u8; 3] {
    palette(damage).map(|color| (color + 0.5) as u8)
}

fn palette(damage: f32) -> [f32; 3] {
    let position = damage * (COLORS.len() - 1) as f32;
    let index = (position as usize).min(COLORS.len() - 2);
    let fraction = position - index as f32;
    std::array::from_fn(|channel| COLORS[index][channel] * (1.0 - fraction) + COLORS[index + 1][channel] * fraction)
}

/// Title, color bar, ticks and their values, from best on the left to worst on the right.
fn draw_legend(canvas: &mut Canvas, top: usize, map: &Map, title: &str, text: Text) {
    let unit = text.height();
    let margin = unit;
    let (left, right) = (margin, canvas.width() - margin);
    let length = right - left;
    text.draw(canvas, left, top + unit / 2, &text.fit(title, length), WHITE);
    let bar = top + unit * 7 / 4;
    for x in left..right {
        let color = blend(128.0, (x - left) as f32 / (length - 1).max(1) as f32);
        canvas.fill(x, bar, 1, unit * 3 / 2, color);
    }
    // As many ticks as their labels have room for.
    let ticks = if length > 60 * text.width() {
        5
    } else if length > 36 * text.width() {
        3
    } else {
        2
    };
    let step = (map.worst - map.best) / (ticks - 1) as f32;
    for tick in 0..ticks {
        let value = label(map.best + step * tick as f32, step);
        let value = match tick {
            0 => format!("{value} best"),
            _ if tick + 1 == ticks => format!("{value} worst"),
            _ => value,
        };
        let x = left + (length - 1) * tick / (ticks - 1);
        canvas.fill(x - usize::from(tick + 1 == ticks), bar + unit * 3 / 2, 2, unit / 3, WHITE);
        let half = value.len() * text.width() / 2;
        let start = x.saturating_sub(half).clamp(left, (right + 1).saturating_sub(2 * half).max(left));
        text.draw(canvas, start, bar + unit * 2, &value, WHITE);
    }
}

/// The label of a tick, with enough digits to distinguish it from its neighbors.
fn label(value: f32, step: f32) -> String {
    let step = step.abs();
    if step > 0.0 && (step < 1e-4 || value.abs() >= 1e6) {
        return format!("{value:.2e}");
    }
    let digits = if step > 0.0 { (2.0 - step.log10().floor()).clamp(0.0, 6.0) as usize } else { 2 };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Resizes the plane: means over the covered area where it shrinks, bilinear where it grows.
pub(crate) fn resize(plane: &Plane, width: usize, height: usize) -> Plane {
    let shrunk = shrink(plane, width.min(plane.width()), height.min(plane.height()));
    if (shrunk.width(), shrunk.height()) == (width, height) {
        return shrunk;
    }
    let across: Vec<_> = (0..width).map(|x| neighbors(x, width, shrunk.width())).collect();
    let mut grown = Plane::new(width, height);
    grown.data_mut().par_chunks_mut(width.max(1)).enumerate().for_each(|(y, row)| {
        let (above, below, down) = neighbors(y, height, shrunk.height());
        let (above, below) = (shrunk.row(above), shrunk.row(below));
        for (value, &(left, right, fraction)) in row.iter_mut().zip(&across) {
            let upper = above[left] * (1.0 - fraction) + above[right] * fraction;
            let lower = below[left] * (1.0 - fraction) + below[right] * fraction;
            *value = upper * (1.0 - down) + lower * down;
        }
    });
    grown
}

/// The two samples around the center of pixel `index` when `from` samples cover `to` pixels, and
/// the weight of the second.
fn neighbors(index: usize, to: usize, from: usize) -> (usize, usize, f32) {
    let position = ((index as f32 + 0.5) * from as f32 / to as f32 - 0.5).clamp(0.0, (from - 1) as f32);
    let first = position as usize;
    (first, (first + 1).min(from - 1), position - first as f32)
}

/// Shrinks the plane: each output sample is the mean of the input samples that it covers.
fn shrink(plane: &Plane, width: usize, height: usize) -> Plane {
    if (width, height) == (plane.width(), plane.height()) {
        return plane.clone();
    }
    let span = |index: usize, to: usize, from: usize| {
        let start = index * from / to;
        start..((index + 1) * from / to).max(start + 1)
    };
    let mut small = Plane::new(width, height);
    small.data_mut().par_chunks_mut(width.max(1)).enumerate().for_each(|(y, row)| {
        let rows = span(y, height, plane.height());
        for (x, value) in row.iter_mut().enumerate() {
            let columns = span(x, width, plane.width());
            let count = (rows.len() * columns.len()) as f32;
            let sum: f32 = rows.clone().map(|y| plane.row(y)[columns.clone()].iter().sum::<f32>()).sum();
            *value = sum / count;
        }
    });
    small
}

pub(crate) fn encode(canvas: &Canvas) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive);
    let (width, height) = (canvas.width() as u32, canvas.height() as u32);
    let written = encoder.write_image(canvas.data(), width, height, ExtendedColorType::Rgb8);
    written.map_err(|error| Error::corrupt(Format::Png, error))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    fn map(plane: Plane) -> Map {
        Map { plane, best: 1.0, worst: 0.0 }
    }

    #[test]
    fn a_flawless_map_leaves_the_gray_picture_and_damage_shows_in_its_place() {
        let image = Image::from_gray8(512, 400, vec![90; 512 * 400]).unwrap();
        let plane = Plane::from_fn(64, 50, |x, y| if x >= 48 && y < 25 { 0.0 } else { 1.0 });
        let damage = map(plane);
        let png = overlay(&image, &damage, "SSIM").unwrap();
        let picture = Decoder::default().decode(&png).unwrap().image;
        assert_eq!(picture.width(), 512);
        assert!(picture.height() > 400);
        let pixel = |x, y| [0, 1, 2].map(|channel| picture.channel(channel).at(x, y));
        assert_eq!(pixel(100, 100), [90.0; 3]);
        assert_eq!(pixel(450, 300), [90.0; 3]);
        let [red, green, blue] = pixel(470, 60);
        assert!(red > 200.0 && green > 200.0 && blue < red, "the worst place is light yellow");
        assert_eq!(painted(&image, &damage, "SSIM").unwrap().samples(), picture.samples());
    }

    #[test]
    fn the_map_alone_has_the_size_that_is_asked_for() {
        let plane = Plane::from_fn(2, 1, |x, _| x as f32);
        for (best, worst, expected) in [(1.0, 0.0, [0.0, 64.0, 191.0, 255.0]), (0.0, 2.0, [0.0, 32.0, 96.0, 128.0])] {
            let map = Map { plane: plane.clone(), best, worst };
            let values = Decoder::default().decode(&map_values(&map, 4, 3).unwrap()).unwrap().image;
            assert_eq!((values.width(), values.height(), values.channels()), (4, 3, 1));
            assert_eq!(values.gray().row(2), expected);
            let colors = Decoder::default().decode(&color_map(&map, 4, 3).unwrap()).unwrap().image;
            let worst_at = if best > worst { 0 } else { 3 };
            assert_eq!((colors.width(), colors.height()), (4, 3));
            assert!(colors.gray().at(worst_at, 0) > colors.gray().at(3 - worst_at, 0));
        }
    }

    #[test]
    fn worse_places_are_lighter_over_middle_gray() {
        let light = |damage: f32| {
            let [red, green, blue] = blend(0.0, damage).map(f32::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        assert!((0..100).all(|i| light(i as f32 / 100.0) <= light((i + 1) as f32 / 100.0)));
    }

    #[test]
    fn every_shape_of_picture_and_map_is_drawn() {
        for (width, height) in [(1, 1), (3, 700), (5000, 20), (383, 384), (2049, 31)] {
            let image = Image::from_gray8(width, height, vec![7; width * height]).unwrap();
            for (w, h) in [(1, 1), (2, 3), (width, height)] {
                let values = [f32::NAN, f32::INFINITY, -3.0, 0.5];
                let plane = Plane::from_fn(w, h, |x, y| values[(x + y) % 4]);
                for (best, worst) in [(1.0, 0.0), (0.0, 0.35), (0.0, 0.0), (0.0, 1e9)] {
                    let png = overlay(&image, &Map { plane: plane.clone(), best, worst }, "a title \u{3b1}").unwrap();
                    assert!(Decoder::default().decode(&png).unwrap().image.width() <= LONGEST_SIDE);
                }
            }
        }
    }

    #[test]
    fn ticks_have_the_digits_that_tell_them_apart() {
        assert_eq!(label(0.75, -0.25), "0.75");
        assert_eq!(label(0.0875, 0.0875), "0.0875");
        assert_eq!(label(1.0, 0.25), "1");
        assert_eq!(label(37.5, 12.5), "37.5");
        assert_eq!(label(2e-6, 1e-6), "2.00e-6");
    }

    #[test]
    fn shrinking_takes_means_and_growing_is_linear() {
        let plane = Plane::from_fn(4, 2, |x, y| (x + 4 * y) as f32);
        assert_eq!(shrink(&plane, 2, 1).data(), [2.5, 4.5]);
        let ramp = Plane::from_fn(2, 1, |x, _| x as f32);
        assert_eq!(resize(&ramp, 4, 1).data(), [0.0, 0.25, 0.75, 1.0]);
    }
}
