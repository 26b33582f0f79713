//! Converts downloaded packages to ONNX models: `convert_weights SOURCES TARGET [RECIPE...]`.
//! `SOURCES` and `TARGET` are folders.

use std::path::Path;

use agenticiqa_weights::{RECIPES, convert};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [sources, target, chosen @ ..] = arguments.as_slice() else {
        return Err("usage: convert_weights SOURCES TARGET [RECIPE...]".into());
    };
    std::fs::create_dir_all(target)?;
    for recipe in RECIPES.iter().filter(|recipe| chosen.is_empty() || chosen.iter().any(|name| name == recipe.name)) {
        let files = recipe.sources.iter().map(|name| std::fs::read(Path::new(sources).join(name)));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let named: Vec<(&str, &[u8])> = recipe.sources.iter().copied().zip(files.iter().map(Vec::as_slice)).collect();
        for (name, model) in convert(recipe.name, &named)? {
            std::fs::write(Path::new(target).join(name), model)?;
        }
    }
    Ok(())
}
