//! Colour quantisation: a palette by median cut (P. Heckbert, SIGGRAPH 1982), no dither.

use super::pixels::Pixels;

/// Colours of the palette.
const COLOURS: [usize; 5] = [64, 48, 32, 16, 8];
/// Pixels that the palette is made from, at most.
const SAMPLE: usize = 1 << 16;

pub fn quantise(pixels: &Pixels, index: usize) -> Pixels {
    let palette = median_cut(pixels, COLOURS[index]);
    pixels.map_pixels(|pixel| nearest(&palette, pixel))
}

fn median_cut(pixels: &Pixels, count: usize) -> Vec<[f32; 3]> {
    let [red, green, blue] = &pixels.planes;
    let size = red.data().len();
    let step = size.div_ceil(SAMPLE).max(1);
    let sample = (0..size).step_by(step).map(|i| [red.data()[i], green.data()[i], blue.data()[i]]);
    let mut boxes: Vec<Vec<[f32; 3]>> = vec![sample.collect()];
    while boxes.len() < count {
        let widest = boxes.iter().enumerate().map(|(i, colours)| (i, widest_channel(colours)));
        let Some((at, (channel, energy))) = widest.max_by(|a, b| a.1.1.total_cmp(&b.1.1)) else { break };
        if energy <= 0.0 {
            break;
        }
        let mut colours = boxes.swap_remove(at);
        colours.sort_unstable_by(|a, b| a[channel].total_cmp(&b[channel]));
        let mean = mean(&colours)[channel];
        let middle = colours.partition_point(|colour| colour[channel] <= mean).clamp(1, colours.len() - 1);
        let upper = colours.split_off(middle);
        boxes.extend([colours, upper]);
    }
    boxes.iter().map(|colours| mean(colours)).collect()
}

fn mean(colours: &[[f32; 3]]) -> [f32; 3] {
    let count = colours.len().max(1) as f64;
    [0, 1, 2].map(|channel| (colours.iter().map(|colour| f64::from(colour[channel])).sum::<f64>() / count) as f32)
}

/// The channel that varies most, and its sum of squared deviations.
fn widest_channel(colours: &[[f32; 3]]) -> (usize, f64) {
    let mean = mean(colours);
    let energy = |channel: usize| -> f64 {
        colours.iter().map(|colour| f64::from(colour[channel] - mean[channel]).powi(2)).sum()
    };
    let energies = [0, 1, 2].map(energy);
    let widest = if energies[1] >= energies[0] && energies[1] >= energies[2] {
        1
    } else {
        usize::from(energies[2] > energies[0]) * 2
    };
    (widest, energies[widest])
}

fn nearest(palette: &[[f32; 3]], pixel: [f32; 3]) -> [f32; 3] {
    let distance = |colour: &[f32; 3]| -> f32 { (0..3).map(|i| (colour[i] - pixel[i]).powi(2)).sum() };
    palette.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(pixel)
}
