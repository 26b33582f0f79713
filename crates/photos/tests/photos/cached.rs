//! The cache: a second run reads nothing.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agenticiqa_imaging::{Decoder, encode_png};
use agenticiqa_metrics::Image;
use agenticiqa_photos::{Cache, Failure, Survey, Task};
use agenticiqa_tools::Source;

struct Counting(AtomicUsize);

impl Task for Counting {
    type Output = usize;

    fn key(&self) -> String {
        "width".to_owned()
    }

    fn measure(&self, source: &Source) -> Result<usize, Failure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(source.picture.image.width())
    }
}

#[test]
fn each_content_is_measured_once_and_bad_files_are_reported_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let png = |width: usize| encode_png(&Image::from_gray8(width, 40, vec![9; width * 40]).unwrap()).unwrap();
    for (name, width) in [("a.png", 50), ("copy of a.png", 50), ("b\n.png", 60)] {
        fs::write(at(name), png(width)).unwrap();
    }
    fs::write(at("bad.png"), "not an image").unwrap();
    fs::create_dir(at("folder.png")).unwrap();
    let names = ["a.png", "bad.png", "copy of a.png", "b\n.png", "folder.png", "none.png"];
    let paths: Vec<PathBuf> = names.map(&at).into();
    let (cache, stop, task) = (Cache::new(at("cache")), AtomicBool::new(false), Counting(AtomicUsize::new(0)));
    let survey = Survey { decoder: Decoder::default(), cache: Some(&cache), workers: 1, stop: &stop };
    let run = || {
        let last = std::sync::Mutex::new(None);
        let results =
            survey.run(&paths, &task, &|_, _, width| width, &|progress| *last.lock().unwrap() = Some(progress));
        let progress = last.into_inner().unwrap().unwrap();
        assert_eq!((progress.done, progress.total, progress.failed), (6, 6, 3));
        assert_eq!(
            results.iter().map(|result| result.as_ref().ok().copied()).collect::<Vec<_>>(),
            [Some(50), None, Some(50), Some(60), None, None]
        );
        progress.known
    };
    // The copy has the content of the first file, which is known by then.
    assert_eq!((run(), task.0.load(Ordering::Relaxed)), (1, 2));
    assert_eq!((run(), task.0.load(Ordering::Relaxed)), (3, 2));
    fs::rename(at("a.png"), at("moved.png")).unwrap();
    fs::rename(at("moved.png"), at("a.png")).unwrap();
    assert_eq!((run(), task.0.load(Ordering::Relaxed)), (3, 2));
    fs::write(at("a.png"), png(50)).unwrap();
    assert_eq!((run(), task.0.load(Ordering::Relaxed)), (3, 2), "another time, the same content");
    stop.store(true, Ordering::Relaxed);
    assert!(survey.run(&paths, &task, &|_, _, width| width, &|_| ()).iter().all(Result::is_err));
}
