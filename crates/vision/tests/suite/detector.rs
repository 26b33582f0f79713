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
