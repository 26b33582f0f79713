//! Explanations: the kind of a distortion, and a sentence with the measurements behind it.

use super::features::Features;
use super::model::Model;
use super::{Finding, Measured};
use crate::vocabulary::{Distortion, Severity};

/// All measurements of an image, and the model with their usual ranges.
pub struct Evidence<'a> {
    /// Measurements of the image alone.
    pub single: &'a Features,
    /// Measurements against the reference.
    pub pair: Option<&'a Features>,
    /// The fitted model, for the usual range of each measurement.
    pub model: &'a Model,
    /// Quality setting of the file, if it is a JPEG.
    pub jpeg_quality: Option<f64>,
}

impl Evidence<'_> {
    /// Builds the finding of a category.
    pub fn finding(&self, category: Distortion, severity: Severity, level: f64) -> Finding {
        let present = severity > Severity::None;
        let (kind, sentence, measurements) = match category {
            Distortion::Blurs => self.blur(),
            Distortion::Color => self.color(),
            Distortion::Compression => self.compression(),
            Distortion::Noise => self.noise(),
            Distortion::Brightness => self.brightness(),
            Distortion::Sharpness => self.sharpness(),
            Distortion::Contrast => self.contrast(),
        };
        let explanation = sentence;
        Finding { category, severity, level, kind: kind.filter(|_| present), explanation, measurements }
    }

    fn blur(&self) -> Words {
        let width = self.single.get("edge_width");
        let motion = self.above("path_most") || self.pair.is_some_and(|pair| pair.get("path_most") > 0.5);
        let kind = if motion { "motion blur" } else { "soft focus" };
        let mut measured =
            vec![new("edge width", width, "px"), new("steepness of edges", self.single.get("edge_slope"), "")];
        let mut sentence = format!("edges are {width:.1} px wide ({})", self.usual("edge_width", 1, "px"));
        if let Some(pair) = self.pair {
            let left = 100.0 * pair.get("gain_1").max(0.0);
            measured.push(new("finest detail left of the reference", left, "%"));
            sentence = format!("{left:.0} % of the reference's finest detail is left, edges are {width:.1} px wide");
        }
        (Some(kind), sentence, measured)
    }

    fn noise(&self) -> Words {
        let sigma = self.single.get("noise");
        let impulses = self.single.get("strong_impulses");
        let speckled = self.above("strong_impulses") && impulses > 0.3;
        let colored = self.single.get("noise_red").max(self.single.get("noise_blue")) > 1.2 * sigma;
        let kind = match (speckled, colored) {
            (true, _) => "impulse noise",
            (_, true) => "color noise",
            _ => "grain",
        };
        let mut measured = vec![new("noise", sigma, "gray levels"), new("isolated pixels", impulses, "per thousand")];
        let mut sentence = format!("noise of {sigma:.1} gray levels ({})", self.usual("noise", 1, "gray levels"));
        if speckled {
            sentence += &format!(", {impulses:.1} of a thousand pixels stand out of their neighbors");
        }
        if let Some(pair) = self.pair {
            let added = (pair.get("added_1").exp() - 1.0).max(0.0).sqrt();
            measured.push(new("noise added to the reference", added, "gray levels"));
            sentence =
                format!("{added:.1} gray levels of fine detail that the reference does not have, noise of {sigma:.1}");
        }
        (Some(kind), sentence, measured)
    }

    fn compression(&self) -> Words {
        let steps = self.single.get("grid_steps").exp();
        let blocks = self.above("grid_steps") || self.above("grid_peaks");
        let kind = if blocks {
            "JPEG blocks"
        } else if self.above("level_gaps") {
            "bands"
        } else if self.above("equal_neighbors") {
            "large pixels or flat areas"
        } else {
            "smeared detail and ringing"
        };
        let zeros = 100.0 * self.single.get("zeros_1");
        let mut measured = vec![
            new("steps on the 8x8 grid against others", steps, "ratio"),
            new("finest coefficients near zero", zeros, "%"),
        ];
        let usual = self.model.usual("grid_steps").map_or(1.0, |usual| usual.high.exp());
        let mut sentence = format!(
            "steps on the 8x8 grid are {steps:.2} times those next to it (clean photos stay below {usual:.2}), {zeros:.0} % of the finest coefficients are near zero"
        );
        if let Some(quality) = self.jpeg_quality {
            measured.push(new("JPEG quality of the file", quality, ""));
            sentence += &format!(", the file is a JPEG of quality {quality:.0}");
        }
        if let Some(pair) = self.pair {
            let grid = pair.get("difference_grid").exp();
            measured.push(new("grid in the difference to the reference", grid, "ratio"));
            sentence += &format!(", in the difference to the reference {grid:.2} times");
        }
        (Some(kind), sentence, measured)
    }

    fn brightness(&self) -> Words {
        let mean = self.single.get("brightness");
        let (darkest, brightest) = (self.single.get("black_point"), self.single.get("white_point"));
        let clipped = [self.single.get("clipped_dark"), self.single.get("clipped_bright")].map(|share| 100.0 * share);
        let mut measured = vec![
            new("mean brightness", mean, "gray levels"),
            new("darkest tone", darkest, "gray levels"),
            new("brightest tone", brightest, "gray levels"),
            new("black samples", clipped[0], "%"),
            new("white samples", clipped[1], "%"),
        ];
        let range = self.between("brightness");
        // A usual mean says little; the darkest and brightest tones then show the direction of the
        // change.
        let mut dark = match mean {
            mean if mean < range.0 => true,
            mean if mean > range.1 => false,
            _ => darkest < 255.0 - brightest,
        };
        let mut sentence = format!(
            "mean brightness {mean:.0} of 255 (clean photos {:.0} to {:.0}), tones from {darkest:.0} to {brightest:.0}, {:.0} % of the samples black and {:.0} % white",
            range.0, range.1, clipped[0], clipped[1]
        );
        if let Some(pair) = self.pair {
            let shift = pair.get("luma_shift");
            dark = shift < 0.0;
            measured.push(new("shift against the reference", shift, "gray levels"));
            let way = if dark { "darker" } else { "brighter" };
            sentence = format!("{:.0} gray levels {way} than the reference (mean {mean:.0} of 255)", shift.abs());
        }
        (Some(if dark { "too dark" } else { "too bright" }), sentence, measured)
    }

    fn contrast(&self) -> Words {
        let deviation = self.single.get("contrast");
        let range = self.single.get("contrast_range");
        let usual = self.between("contrast");
        let mut measured = vec![new("contrast", deviation, "gray levels"), new("range of tones", range, "gray levels")];
        let mut low = deviation < 0.5 * (usual.0 + usual.1);
        let mut sentence = format!(
            "contrast of {deviation:.0} gray levels (clean photos {:.0} to {:.0}), nine in ten tones within {range:.0}",
            usual.0, usual.1
        );
        if let Some(pair) = self.pair {
            let ratio = pair.get("luma_spread").exp();
            low = ratio < 1.0;
            measured.push(new("contrast against the reference", ratio, "ratio"));
            sentence = format!("{ratio:.2} times the contrast of the reference ({deviation:.0} gray levels)");
        }
        (Some(if low { "low contrast" } else { "harsh contrast" }), sentence, measured)
    }

    fn sharpness(&self) -> Words {
        let overshoot = 100.0 * self.single.get("overshoot");
        let usual = self.model.usual("overshoot").map_or(0.0, |usual| 100.0 * usual.high);
        let mut measured = vec![new("overshoot next to edges", overshoot, "%")];
        let mut sentence =
            format!("edges overshoot by {overshoot:.0} % of their height (clean photos stay below {usual:.0} %)");
        if let Some(pair) = self.pair {
            let gain = pair.get("gain_1");
            measured.push(new("finest detail against the reference", gain, "ratio"));
            sentence += &format!(", the finest detail is {gain:.2} times the reference's");
        }
        (Some("halos"), sentence, measured)
    }

    fn color(&self) -> Words {
        let saturation = 100.0 * self.single.get("saturation");
        let cast = self.single.get("cast_gray");
        let mut measured =
            vec![new("saturation", saturation, "%"), new("color of the grayest quarter", cast, "levels")];
        let range = self.between("saturation");
        if let Some(pair) = self.pair {
            let (strength, shift) = (pair.get("color_strength").exp(), pair.get("color_shift"));
            let rest = pair.get("color_rest");
            measured.push(new("strength of color against the reference", strength, "ratio"));
            measured.push(new("shift of color against the reference", shift, "levels"));
            measured.push(new("color that the reference does not explain", rest, "levels"));
            let kind = match () {
                () if strength < 0.75 => "pale colors",
                () if strength > 1.4 => "oversaturated",
                () if pair.get("green_rest") > 0.5 => "color fringes",
                () if pair.get("colors_absolute") < -1.5 => "few colors",
                () if shift > 6.0 => "color cast",
                () => "color change",
            };
            let sentence = format!(
                "colors are {strength:.2} times as strong as in the reference, shifted by {shift:.1} levels, with {rest:.1} levels that it does not explain"
            );
            return (Some(kind), sentence, measured);
        }
        let kind = match () {
            () if self.below("colors") => "few colors",
            () if self.above("saturation") || self.above("chroma_90") => "oversaturated",
            () if self.above("green_alone") => "color fringes",
            () if self.above("cast_gray") => "color cast",
            () if self.below("saturation") || self.below("chroma_90") => "pale colors",
            () => "odd colors",
        };
        let sentence = format!(
            "saturation of {saturation:.0} % (clean photos {:.0} to {:.0} %), the grayest quarter is {cast:.1} levels off gray",
            100.0 * range.0,
            100.0 * range.1
        );
        (Some(kind), sentence, measured)
    }

    fn above(&self, name: &str) -> bool {
        self.model.usual(name).is_some_and(|usual| self.single.get(name) > usual.high)
    }

    fn below(&self, name: &str) -> bool {
        self.model.usual(name).is_some_and(|usual| self.single.get(name) < usual.low)
    }

    fn between(&self, name: &str) -> (f64, f64) {
        self.model.usual(name).map_or((0.0, 0.0), |usual| (usual.low, usual.high))
    }

    fn usual(&self, name: &str, digits: usize, unit: &str) -> String {
        let high = self.between(name).1;
        format!("clean photos stay below {high:.digits$} {unit}").trim_end().to_owned()
    }
}

/// Kind, sentence and measurements.
type Words = (Option<&'static str>, String, Vec<Measured>);

fn new(name: &str, value: f64, unit: &str) -> Measured {
    Measured { name: name.to_owned(), value, unit: unit.to_owned() }
}
