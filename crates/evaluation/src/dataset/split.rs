//! Assigns train, validation and test splits. All images of a scene are in the same split, on every
//! machine.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::Entry;

/// The shares of scenes for training and validation; the rest is for testing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// For training.
    pub train: f64,
    /// For validation.
    pub validation: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Self { train: 0.8, validation: 0.0 }
    }
}

impl Shares {
    /// Creates shares, or returns nothing if one is negative or their sum exceeds 1.
    pub fn new(train: f64, validation: f64) -> Option<Self> {
        (train >= 0.0 && validation >= 0.0 && train + validation <= 1.0).then_some(Self { train, validation })
    }
}

/// Assigns a split to every sample without an official one. Scenes are sorted by the SHA-256 of
/// dataset and scene, and the first shares of that order are used. The shares are exact and the
/// same on every machine.
pub(super) fn assign(dataset: &str, entries: &mut [Entry], shares: &Shares) {
    let open = |entry: &&Entry| entry.sample.split.is_none();
    let scenes: BTreeSet<&str> = entries.iter().filter(open).map(|entry| entry.content.as_str()).collect();
    let key = |scene: &&str| -> [u8; 32] { Sha256::digest(format!("{dataset}\n{scene}")).into() };
    let mut scenes: Vec<String> = {
        let mut ordered: Vec<&str> = scenes.into_iter().collect();
        ordered.sort_by_cached_key(key);
        ordered.into_iter().map(str::to_owned).collect()
    };
    let count = |share: f64| (share * scenes.len() as f64).round() as usize;
    let train_end = count(shares.train);
    let validation_end = count(shares.train + shares.validation);
    let test: BTreeSet<String> = scenes.split_off(validation_end.min(scenes.len())).into_iter().collect();
    let validation: BTreeSet<String> = scenes.split_off(train_end.min(scenes.len())).into_iter().collect();
    for entry in entries.iter_mut().filter(|entry| entry.sample.split.is_none()) {
        let split = match &entry.content {
            scene if test.contains(scene) => "test",
            scene if validation.contains(scene) => "validation",
            _ => "train",
        };
        entry.sample.split = Some(split.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::dataset::Sample;

    fn entries(scenes: usize) -> Vec<Entry> {
        let entry = |number: usize| Entry {
            image: String::new(),
            reference: None,
            content: format!("scene {}", number % scenes),
            sample: Sample::default(),
        };
        (0..scenes * 4).map(entry).collect()
    }

    #[test]
    fn scenes_stay_whole_and_shares_are_exact() {
        let mut all = entries(25);
        assign("X", &mut all, &Shares::new(0.6, 0.2).unwrap());
        let mut by_scene: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for entry in &all {
            by_scene.entry(&entry.content).or_default().insert(entry.sample.split.as_deref().unwrap());
        }
        assert!(by_scene.values().all(|splits| splits.len() == 1));
        let count = |name: &str| by_scene.values().filter(|splits| splits.contains(name)).count();
        assert_eq!((count("train"), count("validation"), count("test")), (15, 5, 5));
    }

    #[test]
    fn splits_of_the_dataset_are_kept_and_the_order_of_samples_does_not_matter() {
        let mut all = entries(10);
        all[0].sample.split = Some("official".into());
        assign("X", &mut all, &Shares::default());
        assert_eq!(all[0].sample.split.as_deref(), Some("official"));
        let mut reversed = entries(10);
        reversed.reverse();
        assign("X", &mut reversed, &Shares::default());
        let of = |entries: &[Entry], scene: &str| {
            let found = entries.iter().rev().find(|entry| entry.content == scene);
            found.and_then(|entry| entry.sample.split.clone())
        };
        assert_eq!(of(&all, "scene 7"), of(&reversed, "scene 7"));
        assert_eq!(Shares::new(0.9, 0.2), None);
    }
}
