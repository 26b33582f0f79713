//! Names are found in real photos, and what is not found says so.

use agenticiqa_distort::{Kind, distort};
use agenticiqa_metrics::{Image, Region};
use agenticiqa_vision::analysis::examine;
use agenticiqa_vision::regions::{CELL_NAMES, list, place_of, resolve};
use agenticiqa_vision::vocabulary::{Distortion, Origin, RegionBox, Severity};

use crate::photo;

fn one(image: &Image, name: &str) -> RegionBox {
    resolve(image, &[name]).unwrap().remove(0)
}

/// The share of the first box that lies in the second.
fn inside(found: &Region, expected: [usize; 4]) -> f64 {
    let [x, y, width, height] = expected;
    let side = |a: usize, a_end: usize, b: usize, b_end: usize| a_end.min(b_end).saturating_sub(a.max(b));
    let across = side(found.x, found.x + found.width, x, x + width);
    let down = side(found.y, found.y + found.height, y, y + height);
    (across * down) as f64 / (found.width * found.height) as f64
}

#[test]
fn the_sky_of_a_landscape_is_found_and_lies_above_the_mountains() {
    let image = photo("regions/landscape.jpg");
    let sky = one(&image, "the sky");
    assert_eq!(sky.origin, Origin::Position);
    assert!(sky.probability.unwrap() > 0.5, "{sky:?}");
    // The peaks begin 60 pixels below the upper border.
    assert!(inside(&sky.region(), [0, 0, 640, 130]) > 0.95, "{sky:?}");
    assert_eq!(one(&image, "天空").region(), sky.region());
    let ground = one(&image, "ground");
    assert!(ground.y > sky.y + sky.height, "{ground:?}");
}

#[test]
fn there_is_no_sky_in_a_portrait_and_in_flowers() {
    for name in ["regions/portrait.jpg", "regions/bokeh.jpg"] {
        let sky = one(&photo(name), "sky");
        assert_eq!((sky.origin, sky.probability), (Origin::WholeImage, None), "{name}: {sky:?}");
    }
}

#[test]
fn the_osprey_is_the_subject_and_the_background_is_next_to_it() {
    let image = photo("osprey.jpg");
    let subject = one(&image, "main subject");
    assert!(subject.is_place(), "{subject:?}");
    let background = one(&image, "background");
    assert!(background.is_place());
    let Region { x, y, width, height } = background.region();
    assert_eq!(inside(&subject.region(), [x, y, width, height]), 0.0, "{subject:?} {background:?}");
}

#[test]
fn a_background_that_is_blurred_on_purpose_is_no_fault() {
    let examination = examine(&photo("regions/bokeh.jpg"), None).unwrap();
    let blur = examination.finding(Distortion::Blurs);
    assert_eq!(blur.severity, Severity::None, "{blur:?}");
}

#[test]
fn birds_and_faces_are_found_by_the_detector() {
    let osprey = photo("osprey.jpg");
    let bird = one(&osprey, "the bird");
    assert_eq!((bird.origin, bird.class.as_ref().map(|class| class.as_str())), (Origin::Detector, None), "{bird:?}");
    let named = one(&osprey, "osprey");
    assert_eq!((named.region(), named.class.unwrap().as_str()), (bird.region(), "bird"));
    assert_eq!(one(&osprey, "subject").origin, Origin::Detector);
    assert!(!one(&osprey, "face").is_place() && !one(&osprey, "cars").is_place());
    let portrait = photo("regions/portrait.jpg");
    let (face, woman) = (one(&portrait, "her face"), one(&portrait, "woman"));
    assert!(inside(&face.region(), [150, 10, 160, 180]) > 0.8, "{face:?}");
    assert_eq!(woman.class.as_ref().map(|class| class.as_str()), Some("person"), "{woman:?}");
    assert!(woman.width > face.width);
    let names: Vec<String> = list(&portrait).unwrap().iter().map(|found| found.name.to_string()).collect();
    assert!(names.contains(&"face".to_owned()) && names.contains(&"subject".to_owned()), "{names:?}");
}

#[test]
fn nothing_is_found_in_a_picture_of_nothing() {
    let flat = Image::from_gray8(300, 200, vec![128; 60_000]).unwrap();
    for name in ["subject", "background", "sky", "the chandelier"] {
        let found = one(&flat, name);
        assert!(!found.is_place(), "{found:?}");
        assert_eq!(found.region(), Region { x: 0, y: 0, width: 300, height: 200 });
    }
    assert_eq!(list(&flat).unwrap(), []);
    let noise = distort(&flat, Kind::WhiteNoise, 5, 1).unwrap();
    assert!(!one(&noise, "sky").is_place());
}

#[test]
fn unknown_names_stand_for_the_whole_image() {
    let image = photo("osprey.jpg");
    let lost = one(&image, "the chandelier");
    assert_eq!((lost.name.as_str(), lost.origin), ("the chandelier", Origin::WholeImage));
    assert_eq!((lost.x, lost.y, lost.width, lost.height), (0, 0, image.width(), image.height()));
    assert!(resolve(&image, &["sky", " "]).is_err());
}

#[test]
fn the_nine_cells_are_found_in_every_shape() {
    for (width, height) in [(640, 480), (5000, 100), (100, 5000), (70, 70), (40, 33)] {
        let image = Image::from_gray8(width, height, vec![100; width * height]).unwrap();
        let cells = resolve(&image, &CELL_NAMES).unwrap();
        for (cell, name) in cells.iter().zip(CELL_NAMES) {
            assert_eq!((cell.name.as_str(), cell.origin, cell.probability), (name, Origin::Position, Some(1.0)));
            assert!(image.crop(&cell.region()).is_ok(), "{cell:?}");
            assert!(cell.width >= 64.min(width) && cell.height >= 64.min(height), "{cell:?} can be measured");
        }
        if width.min(height) >= 192 {
            assert!(cells.iter().all(|cell| place_of(&cell.region(), &image) == cell.name.as_str()));
        }
    }
}

#[test]
fn the_darkest_part_is_darker_than_the_brightest() {
    let image = photo("regions/portrait.jpg");
    let mean = |name: &str| {
        let part = image.crop(&one(&image, name).region()).unwrap();
        let gray = part.gray();
        gray.data().iter().map(|sample| f64::from(*sample)).sum::<f64>() / gray.data().len() as f64
    };
    assert!(mean("the darkest part") + 100.0 < mean("the brightest part"));
}
