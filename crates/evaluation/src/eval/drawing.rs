//! A drawing of lines, dots, bars and text, as SVG or PNG.

use std::fmt::Write;

use agenticiqa_imaging::encode_png;
use agenticiqa_metrics::Image;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::Error;

/// A color and its opacity.
pub(super) type Ink = ([u8; 3], f64);

pub(super) const BLACK: Ink = ([0, 0, 0], 1.0);
pub(super) const PALE: Ink = ([224, 224, 224], 1.0);
pub(super) const BLUE: Ink = ([31, 95, 168], 1.0);
pub(super) const FAINT_BLUE: Ink = ([31, 95, 168], 0.45);
pub(super) const RED: Ink = ([192, 57, 43], 1.0);

/// A position from the left and from the top.
pub(super) type Point = (f64, f64);

/// Which part of a text is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
enum Mark {
    Path { points: Vec<Point>, ink: Ink, width: f64 },
    Dot { at: Point, radius: f64, ink: Ink, title: String },
    Bar { at: Point, size: Point, ink: Ink, title: String },
    Text { at: Point, anchor: Anchor, size: f64, upwards: bool, text: String },
}

/// A drawing on a white background.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    width: f64,
    height: f64,
    title: String,
    marks: Vec<Mark>,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut drawing = Self { width, height, title: title.to_owned(), marks: Vec::new() };
        let text = Mark::Text {
            at: (width / 2.0, 24.0),
            anchor: Anchor::Middle,
            size: 15.0,
            upwards: false,
            text: title.to_owned(),
        };
        drawing.marks.push(text);
        drawing
    }

    pub(super) fn path(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.marks.push(Mark::Path { points, ink, width });
    }

    pub(super) fn dot(&mut self, at: Point, radius: f64, ink: Ink, title: String) {
        self.marks.push(Mark::Dot { at, radius, ink, title });
    }

    pub(super) fn bar(&mut self, at: Point, size: Point, ink: Ink, title: String) {
        self.marks.push(Mark::Bar { at, size, ink, title });
    }

    pub(super) fn text(&mut self, at: Point, anchor: Anchor, text: impl Into<String>) {
        self.marks.push(Mark::Text { at, anchor, size: 12.0, upwards: false, text: text.into() });
    }

    pub(super) fn text_upwards(&mut self, at: Point, text: impl Into<String>) {
        self.marks.push(Mark::Text { at, anchor: Anchor::Middle, size: 12.0, upwards: true, text: text.into() });
    }

    /// Returns the drawing as SVG. Marks have tooltips.
    pub fn svg(&self) -> String {
        let (width, height, title) = (self.width, self.height, escape(&self.title));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for mark in &self.marks {
            mark.svg(&mut svg);
        }
        svg + "</svg>\n"
    }

    /// Returns the drawing as a PNG file in print resolution.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        let side = |length: f64| (length * SCALE).ceil() as usize;
        let mut sheet = Sheet { width: side(self.width), height: side(self.height), samples: Vec::new() };
        sheet.samples = vec![255; 3 * sheet.width * sheet.height];
        for mark in &self.marks {
            mark.paint(&mut sheet);
        }
        let image = Image::from_rgb8(sheet.width, sheet.height, sheet.samples);
        let image = image.map_err(|error| Error::Drawing(error.to_string()))?;
        encode_png(&image).map_err(|error| Error::Drawing(error.to_string()))
    }
}

/// Escapes text for HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Mark {
    fn svg(&self, svg: &mut String) {
        let color = |([red, green, blue], opacity): Ink| {
            let opacity = if opacity < 1.0 { format!(" opacity=\"{opacity}\"") } else { String::new() };
            (format!("#{red:02x}{green:02x}{blue:02x}"), opacity)
        };
        let _ = match self {
            Self::Path { points, ink, width } => {
                let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                let (stroke, opacity) = color(*ink);
                writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"{opacity}/>",
                    places.join(" ")
                )
            }
            Self::Dot { at: (x, y), radius, ink, title } => {
                let ((fill, opacity), title) = (color(*ink), escape(title));
                writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\"{opacity}><title>{title}</title></circle>"
                )
            }
            Self::Bar { at: (x, y), size: (width, height), ink, title } => {
                let ((fill, opacity), title) = (color(*ink), escape(title));
                writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"{opacity}><title>{title}</title></rect>"
                )
            }
            Self::Text { at: (x, y), anchor, size, upwards, text } => {
                let anchor = if *anchor == Anchor::Middle { "middle" } else { "end" };
                let turn = if *upwards { " rotate(-90)" } else { "" };
                writeln!(
                    svg,
                    "<text transform=\"translate({x:.1} {y:.1}){turn}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
                    escape(text)
                )
            }
        };
    }

    fn paint(&self, sheet: &mut Sheet) {
        match self {
            Self::Path { points, ink, width } => {
                points.windows(2).for_each(|pair| sheet.segment(pair[0], pair[1], width / 2.0, *ink));
            }
            Self::Dot { at, radius, ink, .. } => sheet.segment(*at, *at, *radius, *ink),
            Self::Bar { at: (x, y), size: (width, height), ink, .. } => {
                sheet.rectangle((*x, *y), (x + width, y + height), *ink)
            }
            Self::Text { at, anchor, upwards, text, .. } => sheet.text(*at, *anchor, *upwards, text),
        }
    }
}

/// The factor from a font size of 12 to 32 pixels, a size at which the font is sharp in print.
const SCALE: f64 = 32.0 / 12.0;
const LETTERS: RasterHeight = RasterHeight::Size32;
/// The distance from the top of a letter to its base line, in pixels.
const BASE_LINE: f64 = 25.0;

/// The pixels to draw on.
struct Sheet {
    width: usize,
    height: usize,
    samples: Vec<u8>,
}

impl Sheet {
    /// Blends a color over a pixel.
    fn mix(&mut self, x: f64, y: f64, color: [u8; 3], cover: f64) {
        if cover <= 0.0 || x < 0.0 || y < 0.0 || x >= self.width as f64 || y >= self.height as f64 {
            return;
        }
        let start = 3 * (y as usize * self.width + x as usize);
        for (sample, color) in self.samples[start..start + 3].iter_mut().zip(color) {
            *sample = (f64::from(color) * cover + f64::from(*sample) * (1.0 - cover)).round() as u8;
        }
    }

    /// Fills everything within `radius` of a line segment, with smooth edges.
    fn segment(&mut self, from: Point, to: Point, radius: f64, (color, opacity): Ink) {
        let scaled = |(x, y): Point| (x * SCALE, y * SCALE);
        let ((x1, y1), (x2, y2), radius) = (scaled(from), scaled(to), radius * SCALE);
        let (across, up) = (x2 - x1, y2 - y1);
        let length = across * across + up * up;
        let range = |one: f64, other: f64, most: usize| {
            let low = (one.min(other) - radius - 1.0).floor().max(0.0) as usize;
            low..((one.max(other) + radius + 1.0).ceil().max(0.0) as usize).min(most)
        };
        for y in range(y1, y2, self.height) {
            for x in range(x1, x2, self.width) {
                let (dx, dy) = (x as f64 + 0.5 - x1, y as f64 + 0.5 - y1);
                let share = if length > 0.0 { ((dx * across + dy * up) / length).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (dx - share * across).hypot(dy - share * up);
                self.mix(x as f64, y as f64, color, opacity * (radius + 0.5 - distance).clamp(0.0, 1.0));
            }
        }
    }

    fn rectangle(&mut self, (left, top): Point, (right, lower): Point, (color, opacity): Ink) {
        let pixels =
            |from: f64, to: f64| (from * SCALE).round().max(0.0) as usize..(to * SCALE).round().max(0.0) as usize;
        for y in pixels(top, lower) {
            for x in pixels(left, right) {
                self.mix(x as f64, y as f64, color, opacity);
            }
        }
    }

    /// Draws a line of text. Characters missing from the font become question marks.
    fn text(&mut self, (x, y): Point, anchor: Anchor, upwards: bool, text: &str) {
        let step = get_raster_width(FontWeight::Regular, LETTERS) as f64;
        let length = step * text.chars().count() as f64;
        let before = if anchor == Anchor::Middle { length / 2.0 } else { length };
        let raster = |letter| get_raster(letter, FontWeight::Regular, LETTERS);
        for (place, letter) in text.chars().enumerate() {
            let Some(letter) = raster(letter).or_else(|| raster('?')) else { continue };
            for (row, opacities) in letter.rows().enumerate() {
                for (column, opacity) in opacities.iter().enumerate() {
                    let along = place as f64 * step + column as f64 - before;
                    let below = row as f64 - BASE_LINE;
                    let (right, down) = if upwards { (below, -along) } else { (along, below) };
                    self.mix(x * SCALE + right, y * SCALE + down, [0; 3], f64::from(*opacity) / 255.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agenticiqa_imaging::Decoder;

    use super::*;

    #[test]
    fn marks_are_where_they_belong_in_both_forms() {
        let mut drawing = Drawing::new(120.0, 90.0, "a < b");
        drawing.dot((60.0, 60.0), 4.0, BLUE, "s1 & s2".to_owned());
        drawing.bar((10.0, 40.0), (20.0, 10.0), RED, String::new());
        drawing.path(vec![(90.0, 40.0), (90.0, 80.0)], BLACK, 2.0);
        drawing.text((60.0, 85.0), Anchor::Middle, "Ω score");
        drawing.text_upwards((6.0, 60.0), "up");
        let svg = drawing.svg();
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains("s1 &amp; s2") && svg.ends_with("</svg>\n"));
        let picture = Decoder::default().decode(&drawing.png().unwrap()).unwrap().image;
        assert_eq!((picture.width(), picture.height()), (320, 240));
        let pixel = |x: f64, y: f64| {
            [0, 1, 2].map(|channel| picture.channel(channel).at((x * SCALE) as usize, (y * SCALE) as usize) as u8)
        };
        assert_eq!(pixel(60.0, 60.0), BLUE.0);
        assert_eq!(pixel(60.0, 66.0), [255; 3]);
        assert_eq!((pixel(20.0, 45.0), pixel(32.0, 45.0)), (RED.0, [255; 3]));
        assert_eq!((pixel(90.0, 60.0), pixel(93.0, 60.0)), ([0; 3], [255; 3]));
        let dark = |left: f64, top: f64, right: f64, lower: f64| {
            let (rows, columns) =
                ((top * SCALE) as usize..(lower * SCALE) as usize, (left * SCALE) as usize..(right * SCALE) as usize);
            rows.map(|y| columns.clone().filter(|x| picture.channel(0).at(*x, y) < 100.0).count()).sum::<usize>()
        };
        assert!(dark(30.0, 12.0, 90.0, 28.0) > 50, "the title");
        assert!(dark(0.0, 50.0, 8.0, 70.0) > 20, "text that runs upwards");
        assert_eq!(dark(100.0, 40.0, 119.0, 75.0), 0);
    }
}
