//! The synthetic image for timing metrics.

/// Smooth shapes, texture, and noise of amplitude `noise`.
pub fn scene(width: usize, height: usize, noise: u32) -> Vec<u8> {
    let mut state = 7u32;
    let mut pixels = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            for channel in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let jitter = if noise > 0 { (state >> 16) % noise } else { 0 };
                let wave = ((x * (channel + 1)) as f32 * 0.021).sin() + ((y + x / 3) as f32 * 0.13).cos();
                let texture = ((x / 7) ^ (y / 5)) % 23;
                pixels.push((100.0 + 40.0 * wave) as u8 + texture as u8 + jitter as u8);
            }
        }
    }
    pixels
}
