//! What is written, and what is left alone.

use std::fs;

use agenticiqa_photos::journal::{Error, Journal};
use agenticiqa_photos::{Actions, Decision, plan};

use crate::{photo, snapshot};

fn xmp() -> Actions {
    Actions { xmp: true, ..Actions::default() }
}

#[test]
fn a_second_run_has_nothing_to_do_and_undo_happens_once() {
    let folder = tempfile::tempdir().unwrap();
    let (state, photos) = (folder.path().join("state"), folder.path().join("photos"));
    fs::create_dir(&photos).unwrap();
    fs::write(photos.join("a.jpg"), "a").unwrap();
    let decided = [photo(&photos.join("a.jpg"), Decision::Keep, 3.6)];
    let before = snapshot(&photos);
    let journal = Journal::open(&state, &photos).unwrap();
    assert!(matches!(Journal::open(&state, &photos), Err(Error::Busy(_))));
    journal.apply(&plan(&photos, &decided, &xmp()).steps, &|_| ()).unwrap();
    assert!(fs::read_to_string(photos.join("a.xmp")).unwrap().contains("xmp:Rating=\"4\""));
    assert_eq!(plan(&photos, &decided, &xmp()).steps, []);
    journal.undo(&|_| ()).unwrap();
    assert_eq!(snapshot(&photos), before);
    assert!(matches!(journal.undo(&|_| ()), Err(Error::NothingToUndo(_))));
}

#[test]
fn what_changed_in_the_meantime_stays_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (state, photos, rejects) =
        (folder.path().join("state"), folder.path().join("photos"), folder.path().join("rejects"));
    fs::create_dir_all(&photos).unwrap();
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
        fs::write(photos.join(name), name).unwrap();
    }
    let decided = ["a.jpg", "b.jpg", "c.jpg"].map(|name| photo(&photos.join(name), Decision::Reject, 2.0));
    let actions = Actions { xmp: true, move_rejects: Some(rejects.clone()), ..Actions::default() };
    let planned = plan(&photos, &decided, &actions);
    // After the plan was made, one target appears and one photo changes.
    fs::create_dir(&rejects).unwrap();
    fs::write(rejects.join("a.jpg"), "of another").unwrap();
    fs::write(photos.join("b.jpg"), "edited, longer").unwrap();
    let journal = Journal::open(&state, &photos).unwrap();
    let outcome = journal.apply(&planned.steps, &|_| ()).unwrap();
    let problems: Vec<String> = outcome.problems.iter().map(ToString::to_string).collect();
    assert!(problems.iter().any(|p| p.contains("a.jpg: there is another file of this name")), "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("b.jpg: the file changed in the meantime")), "{problems:?}");
    assert_eq!(fs::read_to_string(rejects.join("a.jpg")).unwrap(), "of another");
    assert_eq!(fs::read_to_string(photos.join("b.jpg")).unwrap(), "edited, longer");
    assert_eq!(fs::read_to_string(rejects.join("c.jpg")).unwrap(), "c.jpg");
    // A sidecar that was edited afterwards survives the undo.
    fs::write(rejects.join("c.xmp"), "edited by hand").unwrap();
    let undone = journal.undo(&|_| ()).unwrap();
    assert_eq!(fs::read_to_string(photos.join("c.jpg")).unwrap(), "c.jpg");
    assert_eq!(fs::read_to_string(rejects.join("a.jpg")).unwrap(), "of another");
    let kept = [photos.join("c.xmp"), rejects.join("c.xmp")];
    assert!(kept.iter().any(|path| fs::read_to_string(path).is_ok_and(|text| text == "edited by hand")), "{undone:?}");
}

#[test]
fn sidecars_of_others_ratings_of_people_and_links_are_respected() {
    let folder = tempfile::tempdir().unwrap();
    let photos = folder.path();
    let rated = "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><r:Description r:about='' \
                 xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmp:Rating='5'/></r:RDF>";
    for (name, content) in
        [("rated.xmp", rated), ("text.xmp", "not xml"), ("pp.xmp", "<settings/>"), ("lone.jpg.xmp", rated)]
    {
        fs::write(photos.join(name), content).unwrap();
    }
    for name in ["rated.jpg", "text.jpg", "pp.jpg", "two.jpg", "two.png", "raw.jpg", "raw.nef", "lone.jpg"] {
        fs::write(photos.join(name), name).unwrap();
    }
    let decided: Vec<_> = ["rated.jpg", "text.jpg", "pp.jpg", "two.jpg", "two.png", "raw.jpg", "raw.nef", "lone.jpg"]
        .map(|name| photo(&photos.join(name), Decision::Reject, 2.0))
        .into();
    let planned = plan(photos, &decided, &xmp());
    let problems: Vec<String> = planned.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("text.xmp: the sidecar is not XML") && problems[1].contains("pp.xmp"), "{problems:?}");
    let kept: Vec<_> = planned.kept.iter().map(|(path, rating)| (path.file_name().unwrap(), rating.as_str())).collect();
    assert_eq!(kept, [("rated.xmp".as_ref(), "5"), ("lone.jpg.xmp".as_ref(), "5")]);
    let journal = Journal::open(&photos.join("state"), photos).unwrap();
    journal.apply(&planned.steps, &|_| ()).unwrap();
    assert_eq!(fs::read_to_string(photos.join("rated.xmp")).unwrap(), rated);
    let there = |name: &str| photos.join(name).exists();
    assert!(there("two.jpg.xmp") && there("two.png.xmp") && !there("two.xmp"));
    assert!(there("raw.xmp") && !there("raw.nef.xmp") && !there("lone.xmp"));
}

#[cfg(unix)]
#[test]
fn links_are_not_moved_and_a_sidecar_that_is_a_link_is_not_written() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (photos, outside) = (folder.path().join("photos"), folder.path().join("outside"));
    fs::create_dir_all(&photos).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("a.jpg"), "a").unwrap();
    fs::write(outside.join("a.xmp"), "others").unwrap();
    symlink(outside.join("a.jpg"), photos.join("a.jpg")).unwrap();
    symlink(outside.join("a.xmp"), photos.join("a.xmp")).unwrap();
    let decided = [photo(&photos.join("a.jpg"), Decision::Reject, 2.0)];
    let actions = Actions { xmp: true, move_rejects: Some(folder.path().join("rejects")), ..Actions::default() };
    let planned = plan(&photos, &decided, &actions);
    let problems: Vec<String> = planned.problems.iter().map(ToString::to_string).collect();
    assert!(
        problems[0].contains("the sidecar is not a file") && problems[1].contains("links are not moved"),
        "{problems:?}"
    );
    assert_eq!(planned.steps, []);
}
