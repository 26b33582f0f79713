//! How the files of a tool are made of its sources.

use std::path::PathBuf;

use agenticiqa_metrics::Ilniqe;

use super::zip::Archive;
use super::{Files, Installation, Produced, Source};

/// Makes the files of a tool by the recipe of its section.
pub(super) fn convert(section: &Installation, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    match section.recipe.as_str() {
        "copy" => copy(section, sources),
        "ilniqe" => ilniqe(section, sources),
        other => Err(format!("this release knows no recipe {other:?}; `agenticiqa --version` tells which it is")),
    }
}

/// Files as they are: out of an archive, or the source itself.
fn copy(section: &Installation, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    let contents = sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let one = |(name, file): (&String, &Produced)| {
        let content = match &file.member {
            Some(member) => member_of(&contents, member)?,
            None => {
                let own = sources.iter().position(|(source, _)| source.file_name() == name);
                let index = own.or((sources.len() == 1).then_some(0));
                let index = index.ok_or_else(|| format!("{name}: no source has that name"))?;
                contents[index].clone()
            }
        };
        Ok((name.clone(), content))
    };
    section.files.iter().map(one).collect()
}

fn member_of(archives: &[Vec<u8>], member: &str) -> Result<Vec<u8>, String> {
    for archive in archives {
        if let Some(content) = Archive::open(archive)?.read(member)? {
            return Ok(content);
        }
    }
    Err(format!("the archive holds no {member}"))
}

/// The authors' model of IL-NIQE, taken if the metric can be set up with it.
fn ilniqe(section: &Installation, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    let [source] = sources else { return Err("one source is expected".to_owned()) };
    let content = read(source)?;
    Ilniqe::from_mat(&content).map_err(|error| format!("{}: {error}", source.1.display()))?;
    Ok(section.files.keys().map(|name| (name.clone(), content.clone())).collect())
}

fn read((_, path): &(Source, PathBuf)) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
