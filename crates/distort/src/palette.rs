//! Color quantization: a median-cut palette (P. Heckbert, SIGGRAPH 1982), without dithering.

use agenticiqa_pixels::Pixels;

/// Number of colors in the palette.
const COLORS: [usize; 5] = [64, 48, 32, 16, 8];
/// Maximum number of pixels that the palette is computed from.
const SAMPLE: usize = 1 << 16;

pub fn quantize(pixels: &Pixels, index: usize) -> Pixels {
    let palette = median_cut(pixels, COLORS[index]);
    pixels.map_pixels(|pixel| nearest(&palette, pixel))
}

fn median_cut(pixels: &Pixels, count: usize) -> Vec<[f32; 3]> {
    let [red, green, blue] = &pixels.planes;
    let size = red.data().len();
    let step = size.div_ceil(SAMPLE).max(1);
    let sample = (0..size).step_by(step).map(|i| [red.data()[i], green.data()[i], blue.data()[i]]);
    let mut boxes: Vec<Vec<[f32; 3]>> = vec![sample.collect()];
    while boxes.len() < count {
        let widest = boxes.iter().enumerate().map(|(i, colors)| (i, widest_channel(colors)));
        let Some((at, (channel, energy))) = widest.max_by(|a, b| a.1.1.total_cmp(&b.1.1)) else { break };
        if energy <= 0.0 {
            break;
        }
        let mut colors = boxes.swap_remove(at);
        colors.sort_unstable_by(|a, b| a[channel].total_cmp(&b[channel]));
        let mean = mean(&colors)[channel];
        let middle = colors.partition_point(|color| color[channel] <= mean).clamp(1, colors.len() - 1);
        let upper = colors.split_off(middle);
        boxes.extend([colors, upper]);
    }
    boxes.iter().map(|colors| mean(colors)).collect()
}

fn mean(colors: &[[f32; 3]]) -> [f32; 3] {
    let count = colors.len().max(1) as f64;
    [0, 1, 2].map(|channel| (colors.iter().map(|color| f64::from(color[channel])).sum::<f64>() / count) as f32)
}

/// The channel that varies most, and its sum of squared deviations.
fn widest_channel(colors: &[[f32; 3]]) -> (usize, f64) {
    let mean = mean(colors);
    let energy =
        |channel: usize| -> f64 { colors.iter().map(|color| f64::from(color[channel] - mean[channel]).powi(2)).sum() };
    let energies = [0, 1, 2].map(energy);
    let widest = if energies[1] >= energies[0] && energies[1] >= energies[2] {
        1
    } else {
        usize::from(energies[2] > energies[0]) * 2
    };
    (widest, energies[widest])
}

fn nearest(palette: &[[f32; 3]], pixel: [f32; 3]) -> [f32; 3] {
    let distance = |color: &[f32; 3]| -> f32 { (0..3).map(|i| (color[i] - pixel[i]).powi(2)).sum() };
    palette.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(pixel)
}
