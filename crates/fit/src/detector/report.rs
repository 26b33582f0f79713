//! How many labeled subjects are found, and how much is found that nobody labeled.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agenticiqa_metrics::Region;
use agenticiqa_vision::detector::{Detection, THRESHOLD};

use super::Photo;
use super::labels::Subject;

/// Overlaps at which a subject counts as found.
const OVERLAPS: [f64; 2] = [0.5, 0.3];
/// Thresholds that the report compares with the built-in one.
const THRESHOLDS: [f32; 8] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Subjects, and how many of them are found at each overlap.
#[derive(Default, Clone, Copy)]
struct Count {
    subjects: usize,
    found: [usize; 2],
}

impl Count {
    fn add(&mut self, overlap: f64) {
        self.subjects += 1;
        for (found, least) in self.found.iter_mut().zip(OVERLAPS) {
            *found += usize::from(overlap >= least);
        }
    }

    fn percent(&self, place: usize) -> f64 {
        100.0 * self.found[place] as f64 / self.subjects.max(1) as f64
    }
}

/// Figures at one threshold.
#[derive(Default)]
struct Figures {
    objects: Count,
    faces: Count,
    groups: Count,
    classes: BTreeMap<&'static str, Count>,
    /// Objects whose class is not among the labels of the photo.
    unlabeled: usize,
    /// Photos without people, and those of them with a face.
    without_people: usize,
    false_faces: usize,
}

/// Returns the report.
pub fn report(photos: &[Photo]) -> String {
    let mut text = format!(
        "{} photos. The threshold is {THRESHOLD}.\n\n| threshold | objects found (IoU 0.5, 0.3) | faces found (IoU 0.5, 0.3) | \
         groups found (IoU 0.5, 0.3) | objects not in the labels per photo | photos without people that have a face |\n\
         | --- | --- | --- | --- | --- | --- |\n",
        photos.len()
    );
    let mut thresholds = THRESHOLDS.to_vec();
    if !thresholds.contains(&THRESHOLD) {
        thresholds.push(THRESHOLD);
    }
    thresholds.sort_by(f32::total_cmp);
    for threshold in thresholds {
        let figures = figures(photos, threshold);
        let count =
            |count: &Count| format!("{:.1} %, {:.1} % of {}", count.percent(0), count.percent(1), count.subjects);
        let _ = writeln!(
            text,
            "| {threshold:.2} | {} | {} | {} | {:.2} | {:.1} % of {} |",
            count(&figures.objects),
            count(&figures.faces),
            count(&figures.groups),
            figures.unlabeled as f64 / photos.len() as f64,
            100.0 * figures.false_faces as f64 / figures.without_people.max(1) as f64,
            figures.without_people,
        );
    }
    let mut classes: Vec<_> = figures(photos, THRESHOLD).classes.into_iter().collect();
    classes.sort_by_key(|(name, count)| (usize::MAX - count.subjects, *name));
    text += "\n| class | subjects | found (IoU 0.5) | found (IoU 0.3) |\n| --- | --- | --- | --- |\n";
    for (name, count) in classes {
        let _ = writeln!(text, "| {name} | {} | {} | {} |", count.subjects, count.found[0], count.found[1]);
    }
    text
}

fn figures(photos: &[Photo], threshold: f32) -> Figures {
    let mut figures = Figures::default();
    for photo in photos {
        let found: Vec<&Detection> = photo.found.iter().filter(|found| found.probability >= threshold).collect();
        for subject in &photo.labels.subjects {
            let Some(class) = subject.class() else { continue };
            let of_class: Vec<[f64; 4]> =
                found.iter().filter(|found| found.name == class).map(|found| photo.place(found)).collect();
            if subject.group() {
                figures.groups.add(of_class.into_iter().reduce(joined).map_or(0.0, |all| overlap(all, subject)));
                continue;
            }
            let best = of_class.into_iter().map(|place| overlap(place, subject)).fold(0.0, f64::max);
            if class == "face" {
                figures.faces.add(best)
            } else {
                figures.objects.add(best)
            }
            figures.classes.entry(class).or_default().add(best);
        }
        let people = photo.labels.shows_people();
        let labeled = |found: &Detection| {
            photo.labels.subjects.iter().any(|subject| subject.class() == Some(found.name))
                || people && found.name == "person"
        };
        figures.unlabeled += found.iter().filter(|found| found.name != "face" && !labeled(found)).count();
        figures.without_people += usize::from(!people);
        figures.false_faces += usize::from(!people && found.iter().any(|found| found.name == "face"));
    }
    figures
}

impl Photo {
    /// Returns the edges of something found as fractions of the image: left, top, right, bottom.
    fn place(&self, found: &Detection) -> [f64; 4] {
        let Region { x, y, width, height } = found.region;
        self.edges([x as f32, y as f32, (x + width) as f32, (y + height) as f32])
    }

    /// Returns edges in pixels as fractions of the image.
    pub(super) fn edges(&self, [left, top, right, bottom]: [f32; 4]) -> [f64; 4] {
        let share = |edge: f32, size: f64| f64::from(edge) / size;
        [share(left, self.width), share(top, self.height), share(right, self.width), share(bottom, self.height)]
    }
}

/// Returns the box around two boxes.
fn joined(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

/// Returns the shared area of a box and a subject as a share of the area of both.
pub(super) fn overlap(a: [f64; 4], subject: &Subject) -> f64 {
    let [left, top, width, height] = subject.place;
    let b = [left, top, left + width, top + height];
    let area = |edges: [f64; 4]| (edges[2] - edges[0]).max(0.0) * (edges[3] - edges[1]).max(0.0);
    let shared = area([a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])]);
    shared / (area(a) + area(b) - shared).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_only_what_is_shared() {
        let subject = Subject { name: "cat".to_owned(), place: [0.5, 0.0, 0.5, 1.0] };
        assert!((overlap([0.0, 0.0, 1.0, 1.0], &subject) - 0.5).abs() < 1e-12);
        assert_eq!(overlap([0.0, 0.0, 0.2, 1.0], &subject), 0.0);
        let both = joined([0.5, 0.0, 0.6, 0.4], [0.9, 0.6, 1.0, 1.0]);
        assert!((overlap(both, &subject) - 1.0).abs() < 1e-12);
    }
}
