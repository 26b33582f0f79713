//! The scores of the worker. It creates each metric only once.

use agenticiqa::metrics::{Image, Pair, Samples};
use agenticiqa::tools::{WorkerSection, WorkerSettings};

use crate::worker::support::{Stage, number, picture};

fn mean_of(samples: &[u8]) -> f64 {
    samples.iter().map(|sample| f64::from(*sample) / 255.0).sum::<f64>() / samples.len() as f64
}

fn samples(image: &Image) -> Vec<u8> {
    match image.samples() {
        Samples::Eight(samples) => samples.clone(),
        Samples::Sixteen(_) => unreachable!(),
    }
}

#[test]
fn thirteen_metrics_are_served_by_one_process() {
    let stage = Stage::new();
    let (image, reference) = (picture(24, 16, 9), picture(24, 16, 200));
    let planes = samples(&image);
    let (red, green, blue) = (&planes[..384], &planes[384..768], &planes[768..]);
    let extreme = |pick: fn(u8, u8) -> u8| f64::from(planes.iter().copied().reduce(pick).unwrap()) / 255.0;
    let single = [
        ("mean", mean_of(&planes)),
        ("red", mean_of(red)),
        ("green", mean_of(green)),
        ("blue", mean_of(blue)),
        ("minimum", extreme(u8::min)),
        ("maximum", extreme(u8::max)),
        ("first", 9.0 / 255.0),
        ("last", f64::from(*blue.last().unwrap()) / 255.0),
        ("area", 384.0),
        ("constant", 0.5),
    ];
    for (metric, expected) in single {
        let score = stage.score(metric, &image).unwrap();
        assert!((score - expected).abs() < 1e-6, "{metric}: {score} is not {expected}");
    }
    let error = 191.0 / 255.0;
    let compared =
        [("largest_error", error), ("mean_error", error / 1152.0), ("squared_error", error * error / 1152.0)];
    for (metric, expected) in compared {
        let pair = Pair::new(&reference, &image).unwrap();
        let score = number(stage.worker.measure(&WorkerSection::new(metric), &[pair]).pop().unwrap()).unwrap();
        assert!((score - expected).abs() < 1e-6, "{metric}: {score} is not {expected}");
    }
    let created = stage.created();
    assert_eq!(created.len(), 13);
    assert!(created.iter().all(|(_, process)| Some(*process) == stage.worker.process_id()), "{created:?}");
}

#[test]
fn a_hundred_pictures_of_all_sizes_take_one_metric_and_one_process() {
    let stage = Stage::new();
    let images: Vec<Image> = (0..100).map(|index| picture(8 + index % 7, 8 + index % 5, index as u8)).collect();
    let pairs: Vec<Pair<'_>> = images.iter().map(Pair::single).collect();
    // Half in batches, half one by one.
    let mut scores = stage.worker.measure(&WorkerSection::new("first"), &pairs[..50]);
    scores.extend(pairs[50..].iter().flat_map(|pair| stage.worker.measure(&WorkerSection::new("first"), &[*pair])));
    for (index, score) in scores.into_iter().enumerate() {
        assert!((number(score).unwrap() - index as f64 / 255.0).abs() < 1e-7, "image {index}");
    }
    assert_eq!(stage.created().len(), 1);
}

#[test]
fn gray_and_sixteen_bit_pictures_are_what_they_are() {
    let stage = Stage::new();
    let gray = Image::from_gray8(3, 2, vec![0, 51, 102, 153, 204, 255]).unwrap();
    for metric in ["red", "green", "blue"] {
        assert!((stage.score(metric, &gray).unwrap() - 0.5).abs() < 1e-6, "{metric}: gray is all three");
    }
    let deep = Image::from_rgb16(2, 1, vec![65535, 1, 40000, 0, 0, 60000]).unwrap();
    assert_eq!(stage.score("maximum", &deep).unwrap(), 1.0);
    assert!((stage.score("blue", &deep).unwrap() - 50000.0 / 65535.0).abs() < 1e-6, "above 32767 too");
    assert!((stage.score("green", &deep).unwrap() - 0.5 / 65535.0).abs() < 1e-9);
}

#[test]
fn options_make_a_metric_of_their_own() {
    let stage = Stage::new();
    let (image, options) = (picture(8, 8, 0), serde_json::json!({"factor": 3.0}).as_object().unwrap().clone());
    let scaled = WorkerSection { options, ..WorkerSection::new("scaled") };
    let (plain, tripled) = (stage.score("scaled", &image).unwrap(), || {
        number(stage.worker.measure(&scaled, &[Pair::single(&image)]).pop().unwrap()).unwrap()
    });
    assert!((tripled() - 3.0 * plain).abs() < 1e-9);
    assert_eq!(tripled(), tripled());
    assert_eq!(stage.created().len(), 2);
}

#[test]
fn buffers_leave_nothing_behind() {
    let folder = std::path::Path::new("/dev/shm");
    let ours = || -> Vec<_> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("agenticiqa-")).collect()
    };
    let stage = Stage::new();
    stage.score("area", &picture(31, 17, 1)).unwrap();
    let worker = stage.worker.process_id().unwrap();
    let maps = std::fs::read_to_string(format!("/proc/{worker}/maps")).unwrap();
    let mapped: Vec<&str> = maps.lines().filter(|line| line.contains("agenticiqa-")).collect();
    assert!(!mapped.is_empty() && mapped.iter().all(|line| line.ends_with("(deleted)")), "{mapped:?}");
    for name in ours() {
        assert!(!maps.contains(&format!("{name}\n")), "{name} still has a name");
    }
}

#[test]
fn the_defaults_are_those_of_the_documentation() {
    let settings = WorkerSettings::new("python3");
    assert_eq!((settings.device.as_str(), settings.timeout.as_secs()), ("cpu", 120));
}
