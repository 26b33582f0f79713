//! Conversion between CIELAB and sRGB pixels of 0 to 1, white point D65.

const TO_XYZ: [[f32; 3]; 3] = [
    [0.412_456_4, 0.357_576_1, 0.180_437_5],
    [0.212_672_9, 0.715_152_2, 0.072_175],
    [0.019_333_9, 0.119_192, 0.950_304_1],
];
const FROM_XYZ: [[f32; 3]; 3] = [
    [3.240_454_2, -1.537_138_5, -0.498_531_4],
    [-0.969_266, 1.876_010_8, 0.041_556],
    [0.055_643_4, -0.204_025_9, 1.057_225_2],
];
const WHITE: [f32; 3] = [0.950_47, 1.0, 1.088_83];
/// Below this cube root, the curve is a straight line.
const LINEAR_LIMIT: f32 = 6.0 / 29.0;

fn multiply(matrix: [[f32; 3]; 3], vector: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2])
}

fn to_light(sample: f32) -> f32 {
    if sample <= 0.04045 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
}

fn from_light(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

/// Returns L* (0 to 100), a*, b* of an sRGB pixel.
pub fn from_rgb(rgb: [f32; 3]) -> [f32; 3] {
    let xyz = multiply(TO_XYZ, rgb.map(to_light));
    let root = |value: f32| {
        let limit = LINEAR_LIMIT * LINEAR_LIMIT * LINEAR_LIMIT;
        if value > limit { value.cbrt() } else { value / (3.0 * LINEAR_LIMIT * LINEAR_LIMIT) + 4.0 / 29.0 }
    };
    let [x, y, z] = [0, 1, 2].map(|i| root(xyz[i] / WHITE[i]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Returns the sRGB pixel of L*, a*, b*. It may lie outside 0 to 1.
pub fn to_rgb([lightness, a, b]: [f32; 3]) -> [f32; 3] {
    let y = (lightness + 16.0) / 116.0;
    let power = |root: f32| {
        if root > LINEAR_LIMIT { root * root * root } else { 3.0 * LINEAR_LIMIT * LINEAR_LIMIT * (root - 4.0 / 29.0) }
    };
    let [x, z] = [y + a / 500.0, y - b / 200.0];
    multiply(FROM_XYZ, [power(x) * WHITE[0], power(y) * WHITE[1], power(z) * WHITE[2]]).map(from_light)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_come_back_and_red_is_where_it_should_be() {
        for rgb in [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.2, 0.5, 0.9], [0.01, 0.02, 0.0]] {
            let back = to_rgb(from_rgb(rgb));
            assert!(rgb.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-4), "{rgb:?} {back:?}");
        }
        let red = from_rgb([1.0, 0.0, 0.0]);
        assert!([53.24, 80.09, 67.20].iter().zip(red).all(|(a, b)| (a - b).abs() < 0.02), "{red:?}");
    }
}
