//! Images that are no ordinary photos: nothing is reported with confidence that is not there.

use agenticiqa_metrics::Image;
use agenticiqa_vision::analysis::examine;
use agenticiqa_vision::vocabulary::{Axis, Severity};

type Pixel = [u8; 3];

fn paint(width: usize, height: usize, color: impl Fn(f64, f64) -> [f64; 3]) -> Image {
    let samples = (0..width * height).flat_map(|i| {
        let (x, y) = ((i % width) as f64 / width as f64, (i / width) as f64 / height as f64);
        color(x, y).map(|value| value.round().clamp(0.0, 255.0) as u8)
    });
    Image::from_rgb8(width, height, samples.collect()).unwrap()
}

/// A number from 0 to 1 that depends on a place.
fn random(x: f64, y: f64) -> f64 {
    let bits = ((x * 8191.0) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ ((y * 8191.0) as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (bits >> 40) as f64 / (1_u64 << 24) as f64
}

fn gray(value: f64) -> [f64; 3] {
    [value; 3]
}

fn flat(color: Pixel) -> Image {
    paint(240, 180, |_, _| color.map(f64::from))
}

/// Windows with frames, title bars and lines of text.
fn screenshot(dark: bool) -> Image {
    let (back, paper, ink) = if dark { (24.0, 40.0, 220.0) } else { (200.0, 250.0, 30.0) };
    paint(640, 400, move |x, y| {
        let window = (0.08..0.92).contains(&x) && (0.1..0.9).contains(&y);
        let title = window && y < 0.16;
        let (line, column) = ((y * 400.0 / 9.0) as usize, (x * 640.0 / 5.0) as usize);
        let text = window && !title && line % 2 == 0 && (column * 7 + line * 13) % 11 < 6 && x < 0.8 && x > 0.12;
        if title {
            [60.0, 110.0, 190.0]
        } else if text {
            gray(ink)
        } else if window {
            gray(paper)
        } else {
            gray(back)
        }
    })
}

fn document() -> Image {
    paint(420, 594, |x, y| {
        let (line, column) = ((y * 594.0 / 7.0) as usize, (x * 420.0 / 3.0) as usize);
        let text =
            (0.1..0.9).contains(&x) && (0.08..0.92).contains(&y) && line % 2 == 0 && (column * 5 + line * 11) % 7 < 4;
        gray(if text { 20.0 } else { 255.0 })
    })
}

/// Outlines of circles on white.
fn drawing() -> Image {
    paint(400, 300, |x, y| {
        let near = |cx: f64, cy: f64, r: f64| (((x - cx).powi(2) + (y - cy).powi(2)).sqrt() - r).abs() < 0.005;
        gray(if near(0.3, 0.4, 0.2) || near(0.6, 0.5, 0.3) || near(0.5, 0.5, 0.1) { 0.0 } else { 255.0 })
    })
}

fn chart() -> Image {
    let bars = [0.3, 0.6, 0.45, 0.8, 0.2];
    paint(500, 320, move |x, y| {
        let bar = ((x - 0.1) / 0.16).floor();
        let inside =
            (0.0..5.0).contains(&bar) && (x - 0.1) / 0.16 - bar < 0.7 && 0.9 - y < bars[bar as usize] && y < 0.9;
        if inside { [70.0, 130.0, 180.0] } else { gray(255.0) }
    })
}

fn night_sky() -> Image {
    paint(480, 320, |x, y| {
        let star = random(x, y) > 0.9985;
        if star { gray(180.0 + 70.0 * random(y, x)) } else { [6.0 + 6.0 * y, 8.0 + 8.0 * y, 18.0 + 14.0 * y] }
    })
}

fn snow() -> Image {
    paint(480, 320, |x, y| {
        let hill = 0.45 + 0.1 * (x * 5.0).sin();
        let grain = 4.0 * (random(x, y) - 0.5);
        if y < hill {
            [170.0 + 50.0 * y, 195.0 + 40.0 * y, 235.0]
        } else {
            gray(238.0 + grain + 10.0 * (x * 40.0).sin() * (y - hill))
        }
    })
}

fn gradient() -> Image {
    paint(400, 300, |x, y| [255.0 * x, 255.0 * y, 128.0])
}

fn checkerboard() -> Image {
    paint(256, 256, |x, y| {
        gray(if ((x * 32.0) as usize + (y * 32.0) as usize).is_multiple_of(2) { 0.0 } else { 255.0 })
    })
}

fn fisheye() -> Image {
    paint(400, 400, |x, y| {
        let (dx, dy) = (x - 0.5, y - 0.5);
        let r = (dx * dx + dy * dy).sqrt() * 2.0;
        if r > 0.98 {
            return gray(0.0);
        }
        let bend = (r * 1.4).tan() / r.max(0.01);
        let (u, v) = (dx * bend, dy * bend);
        let brick = ((u * 12.0).floor() + (v * 24.0).floor()) as i64;
        let tone = if brick % 2 == 0 { 150.0 } else { 110.0 } + 30.0 * random(u.abs(), v.abs());
        [tone, 0.8 * tone, 0.6 * tone]
    })
}

fn pixel_art() -> Image {
    paint(256, 256, |x, y| {
        let (cx, cy) = ((x * 16.0).floor(), (y * 16.0).floor());
        [255.0 * random(cx / 16.0, cy / 16.0), 255.0 * random(cy / 16.0, cx / 16.0), 120.0]
    })
}

fn images() -> Vec<(&'static str, Image)> {
    vec![
        ("black", flat([0, 0, 0])),
        ("white", flat([255, 255, 255])),
        ("gray", flat([128, 128, 128])),
        ("red", flat([200, 20, 20])),
        ("screenshot", screenshot(false)),
        ("dark screenshot", screenshot(true)),
        ("document", document()),
        ("drawing", drawing()),
        ("chart", chart()),
        ("night sky", night_sky()),
        ("snow", snow()),
        ("gradient", gradient()),
        ("checkerboard", checkerboard()),
        ("fisheye", fisheye()),
        ("pixel art", pixel_art()),
        ("small", paint(40, 36, |x, y| gray(255.0 * x * y))),
        ("strip", paint(2000, 40, |x, y| gray(255.0 * random(x, y)))),
        ("tall strip", paint(40, 1600, |x, y| [255.0 * y, 90.0, 255.0 * x])),
        ("stripes", paint(300, 200, |x, _| gray(if ((x * 60.0) as usize).is_multiple_of(2) { 40.0 } else { 210.0 }))),
        ("two colors", paint(300, 200, |x, _| if x < 0.5 { [220.0, 40.0, 40.0] } else { [40.0, 40.0, 220.0] })),
        ("vignette", paint(400, 300, |x, y| gray(255.0 * (1.0 - ((x - 0.5).powi(2) + (y - 0.5).powi(2)) * 2.0)))),
        ("static", paint(256, 256, |x, y| gray(255.0 * random(x, y)))),
    ]
}

#[test]
fn nothing_is_reported_that_is_not_there() {
    let images = images();
    assert!(images.len() >= 20);
    for (name, image) in images {
        let examination = examine(&image, None).unwrap();
        let found = examination.detected();
        assert!(found.iter().all(|finding| finding.severity <= Severity::Slight), "{name}: {found:?}");
        assert_eq!(examination.attributes.len(), Axis::ALL.len(), "{name}");
        for attribute in examination.attributes.values() {
            let applies = attribute.level.as_str() != "not applicable";
            assert_eq!(applies, attribute.reason.is_none(), "{name}: {attribute:?}");
            assert!((-1.0..=1.0).contains(&attribute.value) && (0.0..=1.0).contains(&attribute.probability));
            assert!(attribute.measurements.iter().all(|measured| measured.value.is_finite()), "{name}: {attribute:?}");
        }
    }
}

#[test]
fn light_and_color_are_described_in_any_image() {
    let level = |image: &Image, axis: Axis| examine(image, None).unwrap().attributes[&axis].level.to_string();
    assert_eq!(level(&flat([0, 0, 0]), Axis::Lighting), "very dark");
    assert_eq!(level(&flat([255, 255, 255]), Axis::Lighting), "very bright");
    assert_eq!(level(&night_sky(), Axis::Lighting), "very dark");
    assert_eq!(level(&flat([200, 20, 20]), Axis::Colorfulness), "vivid");
    assert_eq!(level(&document(), Axis::Colorfulness), "monochrome");
    assert_eq!(level(&flat([128, 128, 128]), Axis::Sharpness), "not applicable");
}

#[test]
fn what_is_too_small_is_refused_with_the_reason() {
    for (width, height) in [(1, 1), (8, 8), (16, 400)] {
        let error = examine(&paint(width, height, |x, y| gray(255.0 * x * y)), None).unwrap_err().to_string();
        assert!(error.contains("too small") && error.contains("32x32"), "{error}");
    }
}
