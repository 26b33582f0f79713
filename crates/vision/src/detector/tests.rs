//! The outputs of both networks are those of TensorFlow.js with the published weights.

use std::path::Path;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Region};
use serde::Deserialize;

use super::{Model, faces, objects, view};
use crate::network::Planes;

#[derive(Deserialize)]
struct Reference {
    objects: Vec<Object>,
    faces: Vec<Face>,
}

#[derive(Deserialize)]
struct Object {
    class: usize,
    x: usize,
    y: usize,
    logit: f32,
    edges: [f32; 4],
}

#[derive(Deserialize)]
struct Face {
    grid: usize,
    anchor: usize,
    x: usize,
    y: usize,
    logit: f32,
    numbers: [f32; 4],
}

fn square(name: &str, x: usize, y: usize, side: usize) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let image = Decoder::default().open(path).unwrap().image;
    image.crop(&Region { x, y, width: side, height: side }).unwrap()
}

fn at(planes: &Planes, channel: usize, x: usize, y: usize) -> f32 {
    planes.iter().nth(channel).unwrap()[y * planes.width() + x]
}

/// Where there is an object, weights of 8 bits move a logit by up to 0.1 and an edge by 2 samples.
/// Where there is none, it does not matter.
#[test]
fn outputs_are_those_of_tensorflow() {
    let reference: Reference = serde_json::from_str(include_str!("../../tests/data/detector-tfjs.json")).unwrap();
    let model = Model::builtin().unwrap();
    let osprey = square("examples/osprey.jpg", 128, 0, objects::SIDE);
    let outputs = model.objects.run(view::of(&osprey, objects::SIDE, |sample| sample).unwrap()).unwrap();
    for Object { class, x, y, logit, edges } in reference.objects {
        let ours = at(&outputs[0], class, x, y);
        let farthest = if logit > -1.0 { 0.1 } else { 0.5 };
        assert!((ours - logit).abs() < farthest, "class {class} at {x},{y}: {ours} {logit}");
        for (place, edge) in edges.into_iter().enumerate().filter(|_| logit > -1.0) {
            let ours = at(&outputs[1], place, x, y);
            assert!((ours - edge).abs() < 3.0, "edge {place} at {x},{y}: {ours} {edge}");
        }
    }
    let astronaut = square("tests/data/astronaut.jpg", 64, 16, faces::SIDE);
    let outputs = model.faces.run(view::of(&astronaut, faces::SIDE, |sample| sample / 127.5 - 1.0).unwrap()).unwrap();
    for Face { grid, anchor, x, y, logit, numbers } in reference.faces {
        let ours = at(&outputs[2 * grid], anchor, x, y);
        assert!((ours - logit).abs() < 0.05 + 0.01 * logit.abs(), "anchor {anchor} at {x},{y}: {ours} {logit}");
        for (place, number) in numbers.into_iter().enumerate() {
            let ours = at(&outputs[2 * grid + 1], 16 * anchor + place, x, y);
            assert!((ours - number).abs() < 0.3, "number {place} at {x},{y}: {ours} {number}");
        }
    }
}

/// Memory must not grow with the number of images.
#[test]
fn every_run_uses_the_same_buffers() {
    let model = Model::open(include_bytes!("../../models/detector.bin")).unwrap();
    let run = || {
        let gray = Image::from_gray8(64, 64, vec![90; 64 * 64]).unwrap();
        let view = |side| view::of(&gray, side, |sample| sample).unwrap();
        model.objects.give(model.objects.run(view(64)).unwrap());
        model.faces.give(model.faces.run(view(64)).unwrap());
        (model.objects.waiting(), model.faces.waiting())
    };
    run();
    let after_one = run();
    assert_eq!([run(), run()], [after_one; 2]);
}

#[test]
fn damaged_files_are_refused() {
    let bytes = include_bytes!("../../models/detector.bin");
    assert!(Model::open(bytes).is_ok());
    for place in [3, 5000, bytes.len() - 1] {
        let mut changed = bytes.to_vec();
        changed[place] ^= 8;
        assert!(Model::open(&changed).unwrap_err().to_string().contains("checksum"));
    }
    assert!(Model::open(&bytes[..20]).unwrap_err().to_string().contains("too short"));
}
