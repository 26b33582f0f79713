//! Color: its strength, its evenness, and how well it follows luma.

use multiversion::multiversion;

use super::rows::{halve, nearest, squared_steps};
use super::{Features, Statistic, log_ratio};
use crate::perception::view::{Tile, turned};
use agenticiqa_metrics::Plane;

/// Number of bins of the chroma histogram, one per level.
const BINS: usize = 160;
/// Pixels below this value are too dark for a meaningful saturation.
const DARK: f32 = 40.0;
/// Saturation from which a color counts as pure.
const PURE: f32 = 0.95;
/// Number of octaves in which detail of color is compared with detail of luma.
const OCTAVES: usize = 4;
/// Regularizes ratios: the variance of rounding.
const STABILITY: f64 = 0.1;

/// Sums over pixels and their differences.
pub struct Color {
    chroma: [f64; BINS],
    sums: [f64; 2],
    /// Sums of the squares of Cb and Cr, their product, their products with luma, luma, and its
    /// square.
    joint: [f64; 7],
    saturation: f64,
    pure: f64,
    bright: f64,
    pixels: f64,
    /// Energy of neighbor differences of luma and of color, by octave.
    detail: [[f64; 2]; OCTAVES],
    /// Sums of products of the differences of R, G and B: squares, then RG, GB, RB.
    products: [f64; 6],
    /// The same, two octaves coarser.
    coarse_products: [f64; 6],
    /// Count and sums of Cb and Cr of the grayest pixels of the tile.
    gray: [f64; 3],
}

impl Default for Color {
    fn default() -> Self {
        Self {
            chroma: [0.0; BINS],
            sums: [0.0; 2],
            joint: [0.0; 7],
            saturation: 0.0,
            pure: 0.0,
            bright: 0.0,
            pixels: 0.0,
            detail: [[0.0; 2]; OCTAVES],
            products: [0.0; 6],
            coarse_products: [0.0; 6],
            gray: [0.0; 3],
        }
    }
}

impl Statistic for Color {
    fn measure(tile: &Tile) -> Self {
        let mut color = Self::default();
        color.add_pixels(tile);
        let [cb, cr] = &tile.chroma;
        let mut planes = [tile.luma.clone(), cb.clone(), cr.clone()];
        for octave in &mut color.detail {
            let [luma, cb, cr] = planes.each_ref().map(difference_energy);
            *octave = [luma, cb + cr];
            planes = planes.map(|plane| halve(&plane));
        }
        color.products = products(&tile.rgb);
        let half = tile.rgb.each_ref().map(|plane| halve(&halve(plane)));
        color.coarse_products = products(&half);
        color
    }

    fn merge(&mut self, other: Self) {
        self.chroma.iter_mut().zip(other.chroma).for_each(|(total, count)| *total += count);
        (0..2).for_each(|i| self.sums[i] += other.sums[i]);
        (0..7).for_each(|i| self.joint[i] += other.joint[i]);
        self.saturation += other.saturation;
        self.pure += other.pure;
        self.bright += other.bright;
        self.pixels += other.pixels;
        for (octave, other) in self.detail.iter_mut().zip(other.detail) {
            (0..2).for_each(|i| octave[i] += other[i]);
        }
        (0..6).for_each(|i| self.products[i] += other.products[i]);
        (0..6).for_each(|i| self.coarse_products[i] += other.coarse_products[i]);
        (0..3).for_each(|i| self.gray[i] += other.gray[i]);
    }

    fn write(&self, features: &mut Features) {
        let pixels = self.pixels.max(1.0);
        let mean = self.chroma.iter().enumerate().map(|(bin, count)| bin as f64 * count).sum::<f64>() / pixels;
        features.push("chroma", mean);
        features.push("chroma_10", self.chroma_quantile(0.1));
        features.push("chroma_50", self.chroma_quantile(0.5));
        features.push("chroma_90", self.chroma_quantile(0.9));
        features.push("chroma_99", self.chroma_quantile(0.99));
        features.push("saturation", self.saturation / self.bright.max(1.0));
        features.push("pure_colors", self.pure / self.bright.max(1.0));
        features.push("cast", (self.sums[0] / pixels).hypot(self.sums[1] / pixels));
        features.push("cast_gray", (self.gray[1] / self.gray[0].max(1.0)).hypot(self.gray[2] / self.gray[0].max(1.0)));
        features.push("cast_share", (self.sums[0] / pixels).hypot(self.sums[1] / pixels) / (mean + 1.0));
        self.write_hues(features);
        const DETAIL: [&str; OCTAVES] = ["color_detail_1", "color_detail_2", "color_detail_3", "color_detail_4"];
        for (name, [luma, color]) in DETAIL.into_iter().zip(self.detail) {
            features.push(name, log_ratio(color / pixels, luma / pixels, STABILITY));
        }
        let color_octaves =
            |i: usize| log_ratio(self.detail[i][1] / pixels, 4.0 * self.detail[i + 1][1] / pixels, STABILITY);
        features.push("color_octaves_1_2", color_octaves(0));
        features.push("color_octaves_2_3", color_octaves(1));
        features.push("color_octaves_3_4", color_octaves(2));
        let fine = correlations(&self.products);
        let coarse = correlations(&self.coarse_products);
        features.push("red_green", fine[0]);
        features.push("green_blue", fine[1]);
        features.push("red_blue", fine[2]);
        features.push("green_alone", fine[2] - 0.5 * (fine[0] + fine[1]));
        features.push("green_alone_coarse", coarse[2] - 0.5 * (coarse[0] + coarse[1]));
        features.push("red_blue_coarse", coarse[2]);
    }
}

impl Color {
    fn add_pixels(&mut self, tile: &Tile) {
        self.add_sums(tile);
        self.add_saturations(&tile.rgb);
        let [cb, cr] = &tile.chroma;
        let pixels = cb.data().iter().zip(cr.data());
        let mut strengths: Vec<(f32, f32, f32)> =
            pixels.map(|(&blue, &red)| (strength(blue, red), blue, red)).collect();
        let mut histogram = [0u32; BINS];
        for (chroma, ..) in &strengths {
            histogram[(nearest(*chroma) as usize).min(BINS - 1)] += 1;
        }
        self.chroma.iter_mut().zip(histogram).for_each(|(total, count)| *total += f64::from(count));
        self.pixels += strengths.len() as f64;
        let quarter = strengths.len() / 4;
        if quarter > 0 {
            strengths.select_nth_unstable_by(quarter, |a, b| a.0.total_cmp(&b.0));
            self.gray[0] += quarter as f64;
            self.gray[1] += strengths[..quarter].iter().map(|gray| f64::from(gray.1)).sum::<f64>();
            self.gray[2] += strengths[..quarter].iter().map(|gray| f64::from(gray.2)).sum::<f64>();
        }
    }

    /// Adds color, luma and their products, pixel by pixel.
    fn add_sums(&mut self, tile: &Tile) {
        let mut sums = [0.0f64; 9];
        let pixels = tile.chroma[0].data().iter().zip(tile.chroma[1].data()).zip(tile.luma.data());
        for ((&blue, &red), &luma) in pixels {
            let terms = [blue * blue, red * red, blue * red, blue * luma, red * luma, luma, luma * luma, blue, red];
            sums = std::array::from_fn(|i| sums[i] + f64::from(terms[i]));
        }
        self.joint.iter_mut().chain(&mut self.sums).zip(sums).for_each(|(total, sum)| *total += sum);
    }

    fn add_saturations(&mut self, rgb: &[Plane; 3]) {
        let mut saturations = vec![0.0; rgb[0].width()];
        for y in 0..rgb[0].height() {
            self.bright += f64::from(saturate(rgb.each_ref().map(|plane| plane.row(y)), &mut saturations));
            self.pure += saturations.iter().filter(|&&saturation| saturation >= PURE).count() as f64;
            self.saturation = saturations.iter().fold(self.saturation, |sum, &saturation| sum + f64::from(saturation));
        }
    }

    /// Writes the distribution of colors. Skies and shadows are usually blue, skin and light
    /// sources usually are not.
    fn write_hues(&self, features: &mut Features) {
        let pixels = self.pixels.max(1.0);
        let [blue, red] = self.sums.map(|sum| sum / pixels);
        let [blues, reds, both, blue_luma, red_luma, luma, lumas] = self.joint.map(|sum| sum / pixels);
        let deviation = |square: f64, mean: f64| (square - mean * mean).max(0.0).sqrt();
        let [blue_spread, red_spread, luma_spread] =
            [deviation(blues, blue), deviation(reds, red), deviation(lumas, luma)];
        features.push("blue_mean", blue);
        features.push("red_mean", red);
        features.push("blue_spread", blue_spread);
        features.push("red_spread", red_spread);
        let correlation = |product: f64, means: f64, spreads: f64| (product - means) / (spreads + 1.0);
        features.push("blue_with_red", correlation(both, blue * red, blue_spread * red_spread));
        features.push("blue_with_luma", correlation(blue_luma, blue * luma, blue_spread * luma_spread));
        features.push("red_with_luma", correlation(red_luma, red * luma, red_spread * luma_spread));
    }

    fn chroma_quantile(&self, share: f64) -> f64 {
        let mut seen = 0.0;
        for (bin, count) in self.chroma.iter().enumerate() {
            seen += count;
            if seen >= share * self.pixels {
                return bin as f64;
            }
        }
        (BINS - 1) as f64
    }
}

/// Returns the strength of a color.
fn strength(blue: f32, red: f32) -> f32 {
    let (blue, red) = (f64::from(blue), f64::from(red));
    (blue * blue + red * red).sqrt() as f32
}

/// Computes the saturations of a row, 0 for dark pixels, and returns the number of other pixels.
#[multiversion(targets("x86_64+avx2"))]
fn saturate([red, green, blue]: [&[f32]; 3], saturations: &mut [f32]) -> u32 {
    let mut bright = 0;
    for (((saturation, red), green), blue) in saturations.iter_mut().zip(red).zip(green).zip(blue) {
        let (high, low) = (red.max(*green).max(*blue), red.min(*green).min(*blue));
        bright += u32::from(high >= DARK);
        *saturation = if high >= DARK { (high - low) / high } else { 0.0 };
    }
    bright
}

/// Returns the energy of the differences between neighbors, along rows and then between rows.
fn difference_energy(plane: &Plane) -> f64 {
    let turned = turned(plane);
    let (along, across) = (squared_steps(&turned, 1, 0), squared_steps(&turned, 0, 1));
    let across = across.into_iter().chain([0.0]);
    along.into_iter().zip(across).fold(0.0, |total, (along, across)| total + f64::from(along) + f64::from(across))
}

/// Returns the sums of products of horizontal differences: RR, GG, BB, RG, GB, RB.
fn products([red, green, blue]: &[Plane; 3]) -> [f64; 6] {
    let mut totals = [0.0; 6];
    for y in 0..red.height() {
        let rows = [red.row(y), green.row(y), blue.row(y)];
        let mut sums = [0.0f32; 6];
        for x in 1..red.width() {
            let [r, g, b] = rows.map(|row| row[x] - row[x - 1]);
            for (sum, product) in sums.iter_mut().zip([r * r, g * g, b * b, r * g, g * b, r * b]) {
                *sum += product;
            }
        }
        (0..6).for_each(|i| totals[i] += f64::from(sums[i]));
    }
    totals
}

fn correlations(products: &[f64; 6]) -> [f64; 3] {
    let [rr, gg, bb, rg, gb, rb] = *products;
    [(rg, rr, gg), (gb, gg, bb), (rb, rr, bb)].map(|(cross, a, b)| (cross + 1.0) / ((a + 1.0) * (b + 1.0)).sqrt())
}
