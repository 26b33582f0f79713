//! Recipes that turn the sources of a tool into its files.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use agenticiqa_metrics::Ilniqe;
use zip::ZipArchive;
use zip::result::ZipError;

use super::{Files, Installation, Produced, Source};

/// Maximum size of an unpacked file; a larger one is not what it claims to be.
const LARGEST_MEMBER: u64 = 1 << 30;

/// Creates the files of a tool with the recipe of its section.
pub(super) fn convert(section: &Installation, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    match section.recipe.as_str() {
        "copy" => copy(section, sources),
        "ilniqe" => ilniqe(section, sources),
        other => weights(other, sources),
    }
}

/// Converts published weights to ONNX networks.
fn weights(recipe: &str, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    let contents = sources.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let named: Vec<(&str, &[u8])> =
        sources.iter().zip(&contents).map(|((source, _), content)| (source.file_name(), content.as_slice())).collect();
    let files = agenticiqa_weights::convert(recipe, &named).map_err(|error| error.to_string())?;
    Ok(files.into_iter().map(|(name, content)| (name.to_owned(), content)).collect())
}

/// Copies files unchanged, from an archive or from the source itself.
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
        if let Some(content) = unpack(archive, member)? {
            return Ok(content);
        }
    }
    Err(format!("the archive holds no {member}"))
}

/// Extracts a file from a ZIP archive such as a PyPI wheel; `None` if there is no file of that
/// name.
fn unpack(archive: &[u8], member: &str) -> Result<Option<Vec<u8>>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("the archive cannot be read: {error}");
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(|error| damaged(&error))?;
    let file = match archive.by_name(member) {
        Ok(file) => file,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(error) => return Err(damaged(&error)),
    };
    let mut content = Vec::new();
    file.take(LARGEST_MEMBER + 1).read_to_end(&mut content).map_err(|error| damaged(&error))?;
    if content.len() as u64 > LARGEST_MEMBER {
        return Err(format!("{member} unpacks to more than 1 GB"));
    }
    Ok(Some(content))
}

/// Accepts the authors' model of IL-NIQE if the metric can load it.
fn ilniqe(section: &Installation, sources: &[(Source, PathBuf)]) -> Result<Files, String> {
    let [source] = sources else { return Err("one source is expected".to_owned()) };
    let content = read(source)?;
    Ilniqe::from_mat(&content).map_err(|error| format!("{}: {error}", source.1.display()))?;
    Ok(section.files.keys().map(|name| (name.clone(), content.clone())).collect())
}

fn read((_, path): &(Source, PathBuf)) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn archives_are_read_and_damaged_ones_refused() {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("a/lib.so", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&b"library".repeat(50)).unwrap();
        let zip = zip.finish().unwrap().into_inner();
        assert_eq!(unpack(&zip, "a/lib.so").unwrap().unwrap(), b"library".repeat(50));
        assert_eq!(unpack(&zip, "other"), Ok(None));
        assert!(unpack(b"no archive", "a/lib.so").unwrap_err().contains("cannot be read"));
        for cut in 0..zip.len() {
            assert!(unpack(&zip[..cut], "a/lib.so").is_err());
            let mut changed = zip.clone();
            changed[cut] ^= 0xff;
            // Some bytes, such as dates, do not matter. The call must return, never panic.
            let _ = unpack(&changed, "a/lib.so");
        }
    }

    #[test]
    fn a_recipe_that_nobody_wrote_is_named() {
        let section = serde_json::from_str(
            r#"{"license": "MIT", "notice": "", "sources": [{"file": "a"}], "recipe": "magic", "files": {"b": {}}}"#,
        );
        assert!(convert(&section.unwrap(), &[]).unwrap_err().contains("there is no recipe magic"));
    }
}
