//! Draws named boxes over an image.

use agenticiqa_metrics::{Image, Region};

use crate::Result;
use crate::canvas::{Canvas, Text};
use crate::heatmap::{encode, resize, shown_size};

/// Colors of the boxes, told apart without color vision by their lightness: M. Okabe and K. Ito's set.
const COLORS: [[u8; 3]; 7] =
    [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]];
const BLACK: [u8; 3] = [0, 0, 0];

/// Draws boxes with their labels over an image, and returns it as an RGB PNG file of at most 2048
/// pixels on its longer side. The largest box is drawn first. Labels of the same box are joined.
pub fn boxes(image: &Image, named: &[(String, Region)]) -> Result<Vec<u8>> {
    encode(&paint(image, named))
}

/// Like [`boxes`], but returns an image instead of a file.
pub fn boxed(image: &Image, named: &[(String, Region)]) -> Result<Image> {
    let canvas = paint(image, named);
    Ok(Image::from_rgb8(canvas.width(), canvas.height(), canvas.data().to_vec())?)
}

/// Joins the labels of boxes that are equal.
fn joined(named: &[(String, Region)]) -> Vec<(String, Region)> {
    let mut joined: Vec<(String, Region)> = Vec::new();
    for (label, region) in named {
        match joined.iter_mut().find(|(_, known)| known == region) {
            Some((known, _)) => *known = format!("{known}, {label}"),
            None => joined.push((label.clone(), *region)),
        }
    }
    joined
}

fn paint(image: &Image, named: &[(String, Region)]) -> Canvas {
    let named = joined(named);
    let (width, height) = shown_size(image.width(), image.height());
    let mut canvas = Canvas::new(width, height);
    let planes = [0, 1, 2].map(|channel| resize(&image.channel(channel), width, height));
    for (y, row) in canvas.rows_mut().enumerate() {
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            for (sample, plane) in pixel.iter_mut().zip(&planes) {
                *sample = plane.at(x, y).round().clamp(0.0, 255.0) as u8;
            }
        }
    }
    let mut order: Vec<usize> = (0..named.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(named[*index].1.width * named[*index].1.height));
    for index in order {
        let (label, region) = &named[index];
        let place = scaled(region, image, width, height);
        draw(&mut canvas, place, label, COLORS[index % COLORS.len()]);
    }
    canvas
}

/// Returns a box in the pixels of the drawing.
fn scaled(region: &Region, image: &Image, width: usize, height: usize) -> Region {
    let scale = |value: usize, to: usize, from: usize| (value * to + from / 2) / from.max(1);
    let (x, y) = (scale(region.x, width, image.width()), scale(region.y, height, image.height()));
    let right = scale(region.x + region.width, width, image.width());
    let bottom = scale(region.y + region.height, height, image.height());
    Region { x, y, width: right.saturating_sub(x), height: bottom.saturating_sub(y) }
}

/// Draws the outline of a box, and its label inside of the upper left corner.
fn draw(canvas: &mut Canvas, place: Region, label: &str, color: [u8; 3]) {
    let text = Text::for_width(canvas.width());
    let line = (text.height() / 6).max(2);
    outline(canvas, place, line + 1, BLACK);
    outline(canvas, place, line, color);
    let label = text.fit(label, canvas.width().saturating_sub(place.x + 2 * line));
    let length = label.chars().count() * text.width();
    canvas.fill(place.x, place.y, length + 2 * line, text.height() + line, color);
    text.draw(canvas, place.x + line, place.y + line / 2, &label, BLACK);
}

fn outline(canvas: &mut Canvas, Region { x, y, width, height }: Region, line: usize, color: [u8; 3]) {
    let line = line.min(width).min(height);
    canvas.fill(x, y, width, line, color);
    canvas.fill(x, y + height - line, width, line, color);
    canvas.fill(x, y, line, height, color);
    canvas.fill(x + width - line, y, line, height, color);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    #[test]
    fn a_box_is_outlined_and_the_rest_stays_as_it_is() {
        let image = Image::from_rgb8(400, 400, [10, 120, 200].repeat(400 * 400)).unwrap();
        let region = Region { x: 100, y: 200, width: 150, height: 100 };
        let drawn = Decoder::default().decode(&boxes(&image, &[("bird".into(), region)]).unwrap()).unwrap().image;
        assert_eq!((drawn.width(), drawn.height()), (400, 400));
        let at = |x: usize, y: usize| [0, 1, 2].map(|channel| drawn.channel(channel).at(x, y) as u8);
        assert_eq!(at(20, 20), [10, 120, 200]);
        assert_eq!(at(175, 280), [10, 120, 200], "the inside is not covered");
        assert_eq!(at(249, 299), COLORS[0]);
        assert_eq!(at(100, 299), COLORS[0]);
    }

    #[test]
    fn names_of_one_box_share_its_label() {
        let region = |x: usize| Region { x, y: 0, width: 9, height: 9 };
        let named = [("bird", 1), ("sky", 0), ("subject", 1)].map(|(name, x)| (name.to_owned(), region(x)));
        let labels: Vec<String> = joined(&named).into_iter().map(|(label, _)| label).collect();
        assert_eq!(labels, ["bird, subject", "sky"]);
        let image = Image::from_gray8(300, 400, vec![9; 120_000]).unwrap();
        let drawn = boxed(&image, &named).unwrap();
        assert_eq!((drawn.width(), drawn.height(), drawn.channels()), (300, 400, 3));
    }

    #[test]
    fn boxes_of_tiny_sixteen_bit_images_are_drawn() {
        let image = Image::from_gray16(3, 2, vec![65535; 6]).unwrap();
        let all = Region { x: 0, y: 0, width: 3, height: 2 };
        let drawn = Decoder::default().decode(&boxes(&image, &[("天".into(), all)]).unwrap()).unwrap().image;
        assert_eq!(drawn.width(), 384);
        assert_eq!(drawn.channel(0).at(200, 200), 255.0);
    }
}
