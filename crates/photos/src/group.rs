//! Groups of photos of the same scene.
//!
//! Comparing all pairs of a million photos would take days. Photos are compared if their hashes are near,
//! or if they are neighbors in time or in the folder, where the frames of a burst are.

use std::collections::HashMap;

use crate::capture::Taken;
use crate::signature::Signature;
use crate::similar::Model;

/// Each photo is compared with this many before and after it, by name and by time.
const NEIGHBORS: usize = 24;
/// Photos taken within this many milliseconds of each other may be a burst.
const BURST: i64 = 10_000;
/// If more photos than this have the same time to the second, the clock stood still.
const SAME_SECOND: usize = 60;
/// Up to this many photos, all pairs are compared.
const ALL_PAIRS: usize = 2000;
/// Hashes are cut into this many bands; those that differ in fewer bits agree in one.
const BANDS: u32 = 8;
/// Groups are joined only if this many photos of each, on average, show one scene.
const WITNESSES: usize = 6;

/// A photo to be grouped.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// The signature of the photo.
    pub signature: Signature,
    /// When it was taken.
    pub taken: Option<Taken>,
    /// Its content; equal ones are the same file.
    pub digest: [u8; 32],
    /// Width divided by height, which a scene may change only by turning the camera.
    pub shape: f64,
}

/// Returns the groups as indexes: each photo is in exactly one, alone if nothing is like it. Groups are in
/// the order of their first photo.
pub fn groups(shots: &[Shot], model: &Model) -> Vec<Vec<usize>> {
    let clock = Clock::of(shots);
    let mut links: Vec<(f64, usize, usize)> = candidates(shots, &clock)
        .into_iter()
        .filter_map(|(one, other)| {
            let same = shots[one].digest == shots[other].digest;
            let least = model.burst.min(model.alike);
            if !same && !model.may_reach(&shots[one].signature, &shots[other].signature, least) {
                return None;
            }
            let margin = margin(shots, model, &clock, one, other);
            (margin > 0.0).then_some((margin, one, other))
        })
        .collect();
    // The surest first, so that a chain of doubtful links does not join what is apart.
    links.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut group: Vec<usize> = (0..shots.len()).collect();
    let mut members: Vec<Vec<usize>> = (0..shots.len()).map(|index| vec![index]).collect();
    for (_, one, other) in links {
        let (first, second) = (group[one].min(group[other]), group[one].max(group[other]));
        if first != second && belong(&members[first], &members[second], shots, model, &clock) {
            let moved = std::mem::take(&mut members[second]);
            moved.iter().for_each(|index| group[*index] = first);
            members[first].extend(moved);
        }
    }
    members.retain(|members| !members.is_empty());
    members.iter_mut().for_each(|members| members.sort_unstable());
    members.sort_by_key(|members| members[0]);
    members
}

/// Whether the photos of two groups show one scene on average.
fn belong(one: &[usize], other: &[usize], shots: &[Shot], model: &Model, clock: &Clock) -> bool {
    let few = |members: &[usize]| -> Vec<usize> {
        let step = members.len().div_ceil(WITNESSES);
        members.iter().copied().step_by(step.max(1)).collect()
    };
    let (one, other) = (few(one), few(other));
    let margins = one.iter().flat_map(|a| other.iter().map(|b| margin(shots, model, clock, *a, *b)));
    margins.sum::<f64>() > 0.0
}

/// Returns by how much the probability that two photos show the same scene exceeds what is needed.
fn margin(shots: &[Shot], model: &Model, clock: &Clock, one: usize, other: usize) -> f64 {
    if shots[one].digest == shots[other].digest {
        return 1.0;
    }
    let shapes = (shots[one].shape / shots[other].shape).ln().abs();
    if shapes > 0.5 {
        return -1.0;
    }
    let needed = if clock.within_burst(shots, one, other) { model.burst } else { model.alike };
    model.probability(&shots[one].signature, &shots[other].signature) - needed
}

/// What is known about the clocks of the cameras.
struct Clock {
    /// Photos by second; a second with too many photos is not trusted.
    crowded: HashMap<i64, usize>,
}

impl Clock {
    fn of(shots: &[Shot]) -> Self {
        let mut crowded: HashMap<i64, usize> = HashMap::new();
        for taken in shots.iter().filter_map(|shot| shot.taken.as_ref()) {
            *crowded.entry(taken.at.div_euclid(1000)).or_default() += 1;
        }
        crowded.retain(|_, count| *count > SAME_SECOND);
        Self { crowded }
    }

    fn trusted<'a>(&self, shot: &'a Shot) -> Option<&'a Taken> {
        shot.taken.as_ref().filter(|taken| !self.crowded.contains_key(&taken.at.div_euclid(1000)))
    }

    fn within_burst(&self, shots: &[Shot], one: usize, other: usize) -> bool {
        let pair = self.trusted(&shots[one]).zip(self.trusted(&shots[other]));
        pair.is_some_and(|(one, other)| one.camera == other.camera && one.at.abs_diff(other.at) <= BURST.unsigned_abs())
    }
}

/// Returns pairs of photos that may show the same scene, each once, the smaller index first.
fn candidates(shots: &[Shot], clock: &Clock) -> Vec<(usize, usize)> {
    let count = shots.len();
    if count <= ALL_PAIRS {
        return (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect();
    }
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut add = |one: usize, other: usize| pairs.push((one.min(other), one.max(other)));
    let neighbors = |order: &[usize], add: &mut dyn FnMut(usize, usize)| {
        for (position, one) in order.iter().enumerate() {
            order[position + 1..].iter().take(NEIGHBORS).for_each(|other| add(*one, *other));
        }
    };
    neighbors(&(0..count).collect::<Vec<_>>(), &mut add);
    let mut in_time: Vec<(i64, usize)> =
        shots.iter().enumerate().filter_map(|(index, shot)| Some((clock.trusted(shot)?.at, index))).collect();
    in_time.sort_unstable();
    neighbors(&in_time.into_iter().map(|(_, index)| index).collect::<Vec<_>>(), &mut add);
    for band in 0..BANDS {
        let bits = |index: usize| (shots[index].signature.hash >> (8 * band)) as u8;
        let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); 256];
        (0..count).for_each(|index| buckets[usize::from(bits(index))].push(index));
        for bucket in buckets {
            for (position, one) in bucket.iter().enumerate() {
                let hash = shots[*one].signature.hash;
                let near = |other: &&usize| (shots[**other].signature.hash ^ hash).count_ones() < BANDS;
                bucket[position + 1..].iter().filter(near).for_each(|other| add(*one, *other));
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
