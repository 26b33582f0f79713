//! The fitted model: for each category a forest that says whether the distortion is there, and one that says how strong it is.
//!
//! Made by `agenticiqa-fit`, read from the bytes that are built into the program. Layout, little endian: a line of JSON with
//! everything but the trees, then the trees as they are listed. A tree is complete, of a fixed depth: features (one byte) and
//! thresholds (f32) of its branches from top to bottom, then its leaves (f32). A value below or at the threshold goes left.

use serde::{Deserialize, Serialize};

use super::features::Features;

/// The fitted model.
static BYTES: &[u8] = include_bytes!("../../models/perception.bin");

/// Why the bytes of a model cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the model of perception cannot be used: {0}")]
pub struct Unusable(String);

/// What is fitted for one category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// Whether it is there: log-odds before any tree.
    pub start: f64,
    /// Its trees.
    #[serde(with = "forest_shape")]
    pub presence: Forest,
    /// Log-odds from which it is reported.
    pub threshold: f64,
    /// How strong it is: level before any tree.
    pub strength_start: f64,
    /// Its trees.
    #[serde(with = "forest_shape")]
    pub strength: Forest,
}

/// What is fitted for images with, or without, a reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// Names of the features, in order.
    pub features: Vec<String>,
    /// The seven categories, in the order of the specification.
    pub categories: Vec<Category>,
}

/// Range of a measurement in clean photos.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    /// The feature.
    pub name: String,
    /// One clean photo in twenty lies below.
    pub low: f64,
    /// One clean photo in twenty lies above.
    pub high: f64,
}

/// The whole model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// For images alone.
    pub single: Judge,
    /// For images with a reference.
    pub pair: Judge,
    /// What is usual in clean photos.
    pub usual: Vec<Usual>,
}

/// Trees of one depth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    /// Branches from the root to a leaf.
    pub depth: usize,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// One complete tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tree {
    /// Feature of each branch, from top to bottom.
    pub features: Vec<u8>,
    /// Its threshold.
    pub thresholds: Vec<f32>,
    /// The values.
    pub leaves: Vec<f32>,
}

/// In the JSON of the model a forest is its depth and its number of trees.
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
    /// The value of the leaf that these features lead to.
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
    /// The sum of all trees.
    pub fn value(&self, features: &[f64]) -> f64 {
        self.trees.iter().map(|tree| tree.value(self.depth, features)).sum()
    }
}

/// What the model says of one category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Log-odds that it is there, above the threshold if positive.
    pub margin: f64,
    /// How strong it is if it is there, 0 to 4.
    pub strength: f64,
}

impl Judge {
    /// The verdict on each category.
    pub fn judge(&self, features: &Features) -> Vec<Verdict> {
        self.verdicts(features.values())
    }

    /// As [`judge`](Self::judge), of the numbers alone.
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
    /// The model that is built in.
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

    /// The bytes of the model.
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

    /// Whether it was fitted to these features.
    pub fn check(&self, single: &Features) -> Result<(), Unusable> {
        self.single.check(single.names())
    }

    /// As [`check`](Self::check), for features of pairs.
    pub fn check_pair(&self, pair: &Features) -> Result<(), Unusable> {
        self.pair.check(pair.names())
    }

    /// What is usual of a measurement in clean photos.
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

    /// A model whose only trees say 1 above 0.5 of the first feature, and 0 below.
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
