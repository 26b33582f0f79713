//! Tests the detector on the shipped images and on images without anything.

use std::path::Path;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Image;
use agenticiqa_vision::detector::{self, Detection, THRESHOLD};

fn shipped(name: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    Decoder::default().open(path).unwrap().image
}

/// Returns what counts as found, after checking that everything is sorted and inside of the image.
fn found(image: &Image) -> Vec<Detection> {
    let all = detector::detect(image).unwrap();
    assert!(all.windows(2).all(|pair| pair[0].probability >= pair[1].probability));
    for Detection { region, probability, .. } in &all {
        assert!(region.width > 0 && region.x + region.width <= image.width(), "{region}");
        assert!(region.height > 0 && region.y + region.height <= image.height(), "{region}");
        assert!((0.0..=1.0).contains(probability));
    }
    all.into_iter().filter(|found| found.probability >= THRESHOLD).collect()
}

fn names(found: &[Detection]) -> Vec<&str> {
    found.iter().map(|found| found.name).collect()
}

/// Returns the shared area of a region and a box as a share of the area of both.
fn overlap(found: &Detection, [x, y, width, height]: [usize; 4]) -> f64 {
    let region = found.region;
    let shared = |a: usize, b: usize, c: usize, d: usize| (a + b).min(c + d).saturating_sub(a.max(c));
    let both = shared(region.x, region.width, x, width) * shared(region.y, region.height, y, height);
    both as f64 / (region.width * region.height + width * height - both) as f64
}

#[test]
fn the_osprey_is_a_bird() {
    let found = found(&super::photo("osprey.jpg"));
    assert_eq!(names(&found), ["bird"]);
    assert!(overlap(&found[0], [196, 107, 146, 318]) > 0.7, "{found:?}");
}

#[test]
fn a_portrait_has_a_person_and_a_face() {
    let found = found(&shipped("astronaut.jpg"));
    let of = |name: &str| found.iter().find(|found| found.name == name).unwrap();
    let (face, person) = (of("face"), of("person"));
    assert!(overlap(face, PORTRAIT_FACE) > 0.5, "{face:?}");
    assert!(person.region.width > face.region.width && person.region.height > face.region.height);
}

const PORTRAIT_FACE: [usize; 4] = [130, 40, 110, 130];

#[test]
fn an_image_with_nothing_has_nothing() {
    assert_eq!(names(&found(&shipped("colosseum.jpg"))), [""; 0]);
    let gray = |width: usize, height: usize| Image::from_gray8(width, height, vec![90; width * height]).unwrap();
    for (width, height) in [(1, 1), (300, 200), (7, 900), (3000, 40)] {
        assert_eq!(names(&found(&gray(width, height))), [""; 0], "{width}x{height}");
    }
    let noise = (0..256 * 256).map(|i: usize| (i * 7919 + i / 256 * 104_729 + ((i * i) >> 7)) as u8).collect();
    assert_eq!(names(&found(&Image::from_gray8(256, 256, noise).unwrap())), [""; 0]);
}

#[test]
fn gray_and_sixteen_bits_are_seen_like_color() {
    let osprey = super::photo("osprey.jpg");
    let gray = osprey.gray().data().iter().map(|sample| sample.round() as u8).collect();
    let gray = Image::from_gray8(osprey.width(), osprey.height(), gray).unwrap();
    assert!(names(&detector::detect(&gray).unwrap()).contains(&"bird"));
    let planes: Vec<_> = (0..3).map(|channel| osprey.channel(channel)).collect();
    let samples: Vec<u16> = (0..osprey.height() * osprey.width() * 3)
        .map(|place| {
            let (pixel, channel) = (place / 3, place % 3);
            let sample = planes[channel].data()[pixel];
            sample as u16 * 257
        })
        .collect();
    let sixteen = Image::from_rgb16(osprey.width(), osprey.height(), samples).unwrap();
    assert_eq!(names(&found(&sixteen)), ["bird"]);
}

/// Four copies next to each other, each found in its place.
#[test]
fn a_panorama_is_seen_in_parts() {
    let osprey = super::photo("osprey.jpg");
    let (width, height) = (osprey.width(), osprey.height());
    let planes: Vec<_> = (0..3).map(|channel| osprey.channel(channel)).collect();
    let mut samples = Vec::with_capacity(4 * width * height * 3);
    for y in 0..height {
        for x in 0..4 * width {
            samples.extend(planes.iter().map(|plane| plane.data()[y * width + x % width] as u8));
        }
    }
    let birds = found(&Image::from_rgb8(4 * width, height, samples).unwrap());
    for copy in 0..4 {
        let place = [copy * width + 196, 107, 146, 318];
        assert_eq!(
            birds.iter().filter(|bird| bird.name == "bird" && overlap(bird, place) > 0.6).count(),
            1,
            "{birds:?}"
        );
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| detector::detect(&shipped("astronaut.jpg")).unwrap())
    };
    assert_eq!(with(1), with(3));
}

/// An RGB canvas that other images are pasted on.
struct Canvas {
    width: usize,
    height: usize,
    samples: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        let gray = |at: usize| [110 + (at % width * 40 / width) as u8; 3];
        Self { width, height, samples: (0..width * height).flat_map(gray).collect() }
    }

    /// Pastes an image, scaled down by a whole factor.
    fn paste(&mut self, image: &Image, left: usize, top: usize, factor: usize) {
        let small = image.shrunk(factor);
        let planes: Vec<_> = (0..3).map(|channel| small.channel(channel)).collect();
        for y in 0..small.height().min(self.height - top) {
            for x in 0..small.width().min(self.width - left) {
                let at = 3 * ((top + y) * self.width + left + x);
                planes.iter().enumerate().for_each(|(channel, plane)| {
                    self.samples[at + channel] = plane.at(x, y).round() as u8;
                });
            }
        }
    }

    fn image(self) -> Image {
        Image::from_rgb8(self.width, self.height, self.samples).unwrap()
    }
}

/// The face has 7 of the 256 columns that the network of faces sees of the whole image.
#[test]
fn a_small_person_in_twelve_megapixels_is_looked_at_from_close_up() {
    let mut canvas = Canvas::new(4000, 3000);
    canvas.paste(&shipped("astronaut.jpg"), 2300, 1100, 1);
    let image = canvas.image();
    let all = found(&image);
    let face = all.iter().find(|found| found.name == "face").unwrap();
    let [x, y, width, height] = PORTRAIT_FACE;
    assert!(overlap(face, [2300 + x, 1100 + y, width, height]) > 0.4, "{all:?}");
    let [one, other] = face.eyes.unwrap();
    assert!(one != other && one.0 > face.region.x as f32 && one.1 > face.region.y as f32, "{face:?}");
    let first = detector::glance(&image).unwrap();
    assert!(!first.iter().any(|found| found.name == "face"), "{first:?}");
    assert!(all.iter().filter(|found| found.name == "person").count() == 1, "{all:?}");
}

/// Faces of 30 pixels in an image of 2 megapixels are too small to be found, but nothing is found twice.
#[test]
fn a_crowd_is_found_without_doubles() {
    let portrait = shipped("astronaut.jpg");
    let side = portrait.width() / 4;
    let mut canvas = Canvas::new(16 * side, 13 * side);
    for place in 0..208 {
        canvas.paste(&portrait, place % 16 * side, place / 16 * side, 4);
    }
    let all = found(&canvas.image());
    for (index, one) in all.iter().enumerate() {
        let Detection { region, name, .. } = one;
        let place = [region.x, region.y, region.width, region.height];
        assert!(!all[..index].iter().any(|other| other.name == *name && overlap(other, place) > 0.5), "{one:?}");
    }
}

#[test]
fn drawings_and_single_pixels_are_nothing_sure() {
    let mut dot = vec![30; 400 * 300];
    dot[150 * 400 + 200] = 255;
    assert_eq!(names(&found(&Image::from_gray8(400, 300, dot).unwrap())), [""; 0]);
    // A circle with two eyes and a mouth.
    let ink = |x: f64, y: f64| {
        let ring = |cx: f64, cy: f64, radius: f64| ((x - cx).hypot(y - cy) - radius).abs() < 3.0;
        let dot = |cx: f64, cy: f64| (x - cx).hypot(y - cy) < 8.0;
        ring(200.0, 150.0, 110.0) || dot(160.0, 120.0) || dot(240.0, 120.0) || y > 180.0 && ring(200.0, 160.0, 50.0)
    };
    let drawing = (0..400 * 300).map(|at| if ink(f64::from(at % 400), f64::from(at / 400)) { 20 } else { 250 });
    let drawn = found(&Image::from_gray8(400, 300, drawing.collect()).unwrap());
    assert!(!names(&drawn).contains(&"person"), "{drawn:?}");
}

/// Faces are found wherever they are: a poster on a wall has one too.
#[test]
fn a_face_in_a_poster_is_a_face() {
    let mut canvas = Canvas::new(900, 700);
    canvas.paste(&shipped("astronaut.jpg"), 250, 100, 1);
    let all = found(&canvas.image());
    let face = all.iter().find(|found| found.name == "face").unwrap();
    let [x, y, width, height] = PORTRAIT_FACE;
    assert!(overlap(face, [250 + x, 100 + y, width, height]) > 0.4, "{face:?}");
}
