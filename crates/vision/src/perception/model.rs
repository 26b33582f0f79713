//! Bytes of the built-in model.
//!
//! `agenticiqa-fit perception` writes the file, which is built into the program. Layout (little
//! endian): one line of JSON with everything except the trees, then the trees in order. All trees
//! of a forest are complete and have the same depth: features (one byte each) and thresholds (f32)
//! of the branches from top to bottom, then the leaves (f32). A value less than or equal to the
//! threshold goes left.

use serde::{Deserialize, Serialize};

use super::features::Features;

/// The fitted model.
static BYTES: &[u8] = include_bytes!("../../models/perception.bin");

/// The reason why a model file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of perception cannot be used: {0}")]
pub struct Unusable(String);

/// Fitted parameters of one category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// Log-odds of presence before any tree.
    pub start: f64,
    /// Trees that estimate the log-odds of presence.
    #[serde(with = "forest_shape")]
    pub presence: Forest,
    /// Log-odds from which the distortion is reported.
    pub threshold: f64,
    /// Level before any tree.
    pub strength_start: f64,
    /// Trees that estimate the level.
    #[serde(with = "forest_shape")]
    pub strength: Forest,
}

/// Fitted parameters for images with a reference, or for images without one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// Names of the features, in order.
    pub features: Vec<String>,
    /// The seven categories, in the order of the specification.
    pub categories: Vec<Category>,
}

/// Usual range of a measurement in clean photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    /// Name of the feature.
    pub name: String,
    /// 5% of clean photos lie below this value.
    pub low: f64,
    /// 5% of clean photos lie above this value.
    pub high: f64,
}

/// The model for images with and without a reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// For images without a reference.
    pub single: Judge,
    /// For images with a reference.
    pub pair: Judge,
    /// Usual ranges in clean photos.
    pub usual: Vec<Usual>,
}

/// Trees of equal depth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    /// Number of branches from the root to a leaf.
    pub depth: usize,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// A complete binary tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// Index of the feature of each branch, from top to bottom.
    pub features: Vec<u8>,
    /// Threshold of each branch.
    pub thresholds: Vec<f32>,
    /// Values of the leaves.
    pub leaves: Vec<f32>,
}

/// In JSON, a forest is its depth and its number of trees.
mod forest_shape {
    use super::Forest;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(forest: &Forest, serializer: S) -> Result<S::Ok, S::Error> {
        (forest.depth, forest.trees.len()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Forest, D::Error> {
        let (depth, count) = <(usize, usize)>::deserialize(deserializer)?;
        if depth > 8 || count > 10_000 {
            return Err(serde::de::Error::custom("a forest that large was never fitted"));
        }
        Ok(Forest { depth, trees: vec![super::Tree::default(); count] })
    }
}

impl Tree {
    /// Returns the value of the leaf for these features.
    pub fn value(&self, depth: usize, features: &[f64]) -> f64 {
        let mut node = 0;
        for _ in 0..depth {
            let right = features[usize::from(self.features[node])] as f32 > self.thresholds[node];
            node = 2 * node + 1 + usize::from(right);
        }
        f64::from(self.leaves[node + 1 - (1 << depth)])
    }
}

impl Forest {
    /// Returns the sum of all trees.
    pub fn value(&self, features: &[f64]) -> f64 {
        self.trees.iter().map(|tree| tree.value(self.depth, features)).sum()
    }
}

/// The prediction for one category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Log-odds of presence minus the threshold; positive if the distortion is reported.
    pub margin: f64,
    /// Strength from 0 to 4, if the distortion is present.
    pub strength: f64,
}

impl Judge {
    /// Predicts each category.
    pub fn judge(&self, features: &Features) -> Vec<Verdict> {
        self.verdicts(features.values())
    }

    /// Like [`judge`](Self::judge), for plain values in the order of the features.
    pub fn verdicts(&self, values: &[f64]) -> Vec<Verdict> {
        let verdict = |category: &Category| Verdict {
            margin: category.start + category.presence.value(values) - category.threshold,
            strength: category.strength_start + category.strength.value(values),
        };
        self.categories.iter().map(verdict).collect()
    }

    fn forests(&mut self) -> impl Iterator<Item = &mut Forest> {
        self.categories.iter_mut().flat_map(|category| [&mut category.presence, &mut category.strength])
    }

    fn check(&self, expected: &[&str]) -> Result<(), Unusable> {
        if self.features != expected {
            return Err(Unusable("it was fitted to other features: run agenticiqa-fit".to_owned()));
        }
        let known = |tree: &Tree| tree.features.iter().all(|&feature| usize::from(feature) < self.features.len());
        let forests = self.categories.iter().flat_map(|category| [&category.presence, &category.strength]);
        match forests.flat_map(|forest| &forest.trees).all(known) {
            true => Ok(()),
            false => Err(Unusable("a tree asks for a feature that there is not".to_owned())),
        }
    }
}

impl Model {
    /// Reads the built-in model.
    pub fn builtin() -> Result<Self, Unusable> {
        Self::read(BYTES)
    }

    /// Reads a model.
    pub fn read(bytes: &[u8]) -> Result<Self, Unusable> {
        let unusable = |reason: &dyn std::fmt::Display| Unusable(reason.to_string());
        let end =
            bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| unusable(&"it has no end of its header"))?;
        let mut model: Self = serde_json::from_slice(&bytes[..end]).map_err(|error| unusable(&error))?;
        let mut rest = &bytes[end + 1..];
        for forest in model.single.forests().chain(model.pair.forests()) {
            let branches = (1usize << forest.depth) - 1;
            for tree in &mut forest.trees {
                tree.features = take(&mut rest, branches)?.to_vec();
                tree.thresholds = floats(take(&mut rest, 4 * branches)?);
                tree.leaves = floats(take(&mut rest, 4 * (branches + 1))?);
            }
        }
        if !rest.is_empty() {
            return Err(Unusable("it is too long".to_owned()));
        }
        Ok(model)
    }

    /// Serializes the model.
    pub fn write(&mut self) -> Result<Vec<u8>, Unusable> {
        let mut bytes = serde_json::to_vec(self).map_err(|error| Unusable(error.to_string()))?;
        bytes.push(b'\n');
        for forest in self.single.forests().chain(self.pair.forests()) {
            for tree in &forest.trees {
                bytes.extend(&tree.features);
                bytes.extend(tree.thresholds.iter().chain(&tree.leaves).flat_map(|value| value.to_le_bytes()));
            }
        }
        Ok(bytes)
    }

    /// Checks that the model was fitted to these features.
    pub fn check(&self, single: &Features) -> Result<(), Unusable> {
        self.single.check(single.names())
    }

    /// Like [`check`](Self::check), for features of image pairs.
    pub fn check_pair(&self, pair: &Features) -> Result<(), Unusable> {
        self.pair.check(pair.names())
    }

    /// Returns the usual range of a measurement in clean photos.
    pub fn usual(&self, name: &str) -> Option<&Usual> {
        self.usual.iter().find(|usual| usual.name == name)
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Unusable> {
    let (head, tail) = rest.split_at_checked(count).ok_or_else(|| Unusable("it is cut short".to_owned()))?;
    *rest = tail;
    Ok(head)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model whose trees return 1 if the first feature exceeds 0.5, and 0 otherwise.
    fn small() -> Model {
        let tree = Tree { features: vec![0], thresholds: vec![0.5], leaves: vec![0.0, 1.0] };
        let forest = Forest { depth: 1, trees: vec![tree] };
        let category =
            Category { start: -0.5, presence: forest.clone(), threshold: 0.25, strength_start: 2.0, strength: forest };
        let judge = Judge { features: vec!["noise".to_owned()], categories: vec![category; 7] };
        Model {
            single: judge.clone(),
            pair: judge,
            usual: vec![Usual { name: "noise".to_owned(), low: 0.1, high: 0.4 }],
        }
    }

    #[test]
    fn a_model_is_read_as_it_was_written() {
        let bytes = small().write().unwrap();
        assert_eq!(Model::read(&bytes).unwrap(), small());
        let mut features = Features::default();
        features.push("noise", 0.7);
        let verdict = small().single.judge(&features)[3];
        assert_eq!(verdict, Verdict { margin: 0.25, strength: 3.0 });
    }

    #[test]
    fn damaged_models_and_other_features_are_refused() {
        let bytes = small().write().unwrap();
        for (bytes, reason) in [
            (&bytes[..bytes.len() - 1], "it is cut short"),
            (&[bytes.as_slice(), b"x"].concat(), "it is too long"),
            (&b"{}"[..], "it has no end of its header"),
        ] {
            let error = Model::read(bytes).unwrap_err().to_string();
            assert_eq!(error, format!("the model of perception cannot be used: {reason}"));
        }
        let mut features = Features::default();
        features.push("color", 0.7);
        assert!(small().check(&features).unwrap_err().to_string().contains("fitted to other features"));
    }

    #[test]
    fn the_model_that_is_built_in_is_small_and_fits_the_features() {
        assert!(BYTES.len() < 300_000);
        let image = agenticiqa_metrics::Image::from_gray8(40, 40, vec![3; 1600]).unwrap();
        let (single, pair) = crate::perception::measure_pair(&image, &image).unwrap();
        let model = Model::builtin().unwrap();
        assert_eq!((model.single.categories.len(), model.pair.categories.len()), (7, 7));
        model.check(&single).and_then(|()| model.check_pair(&pair)).unwrap();
    }
}
