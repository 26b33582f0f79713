//! The `install` section of an entry in `tools.json`.

#![cfg_attr(not(feature = "install"), allow(dead_code))]

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Flaw;
use agenticiqa_http::BaseUrl;

/// URL prefix of files on PyPI.
const PYPI_FILES: &str = "https://files.pythonhosted.org/";

/// Source and license terms of the files of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installation {
    /// SPDX license expression.
    #[serde(alias = "licence")]
    pub license: String,
    /// Copyright and other notes for users.
    pub notice: String,
    /// The published files.
    pub sources: Vec<Source>,
    /// Recipe that creates the tool's files: `copy`, or the name of a conversion.
    pub recipe: String,
    /// The files that the tool needs, by name.
    pub files: BTreeMap<String, Produced>,
}

/// A published file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// URL of the file; `None` if the user has to get it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Name of the file; if absent, the last part of the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Checksum>,
    /// Size of the file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl Source {
    /// Returns the name of the file.
    pub fn file_name(&self) -> &str {
        let of_url = || self.url.as_deref().and_then(|url| url.rsplit('/').next());
        self.file.as_deref().or_else(of_url).unwrap_or_default()
    }

    /// Returns checksum and size, if both are known.
    pub(super) fn expected(&self) -> Option<(Checksum, u64)> {
        Some((self.sha256.clone()?, self.size?))
    }
}

/// A file that a tool needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Produced {
    /// SHA-256 of the file; `None` if the recipe itself can verify it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Checksum>,
    /// Size of the file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Path in the archive, for the recipe `copy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl Installation {
    /// Returns the total size of the downloads in bytes.
    pub fn download_size(&self) -> u64 {
        self.sources.iter().filter_map(|source| source.size).sum()
    }

    /// Returns whether all sources can be downloaded.
    pub fn is_downloadable(&self) -> bool {
        self.sources.iter().all(|source| source.url.is_some())
    }

    pub(crate) fn check(&self) -> Result<(), Flaw> {
        let flaw = |field: String, reason: &str| Err(Flaw::new(format!("install.{field}"), reason));
        if self.license.trim().is_empty() {
            return flaw("license".to_owned(), "must name the license of the files");
        }
        if self.sources.is_empty() {
            return flaw("sources".to_owned(), "must name at least one source");
        }
        for (index, source) in self.sources.iter().enumerate() {
            let field = |name: &str| format!("sources[{index}].{name}");
            if let Some(url) = &source.url {
                if url.parse::<BaseUrl>().is_err() {
                    return flaw(field("url"), "must be an address with http:// or https://");
                }
                if source.expected().is_none() {
                    return flaw(field("sha256"), "must be there, and size too: a download is checked against them");
                }
            }
            if !is_plain_name(source.file_name()) {
                return flaw(field("file"), "must be the name of a file, without folders");
            }
        }
        if self.files.is_empty() {
            return flaw("files".to_owned(), "must name at least one file");
        }
        match self.files.keys().find(|name| !is_plain_name(name)) {
            Some(name) => flaw("files".to_owned(), &format!("must be names without folders; {name:?} is none")),
            None => Ok(()),
        }
    }
}

/// Returns whether a name is safe: it cannot leave its folder on any system, and it is not one of
/// our own names.
fn is_plain_name(name: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '#');
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && !name.ends_with(".part") && !name.contains(odd)
}

/// Returns the URL of a source, through the mirror if it is a PyPI file and a mirror is set.
pub(super) fn address(url: &str, mirror: Option<&BaseUrl>) -> String {
    match (mirror, url.strip_prefix(PYPI_FILES)) {
        (Some(mirror), Some(rest)) => format!("{}/{rest}", mirror.as_str().trim_end_matches('/')),
        _ => url.to_owned(),
    }
}

/// A SHA-256 in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Checksum(String);

impl Checksum {
    /// Computes the checksum of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(&Sha256::digest(bytes))
    }

    pub(super) fn from_digest(digest: &[u8]) -> Self {
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Checksum {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.to_lowercase();
        let hexadecimal = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hexadecimal { Ok(Self(text)) } else { Err("must be a SHA-256: 64 hexadecimal digits") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(sources: &str, files: &str) -> Result<(), String> {
        let json =
            format!(r#"{{"license": "MIT", "notice": "", "sources": {sources}, "recipe": "copy", "files": {files}}}"#);
        let section: Installation = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        section.check().map_err(|flaw| flaw.to_string())
    }

    #[test]
    fn the_field_of_earlier_versions_is_still_read() {
        let json =
            r#"{"licence": "MIT", "notice": "", "sources": [{"file": "a"}], "recipe": "copy", "files": {"a": {}}}"#;
        assert_eq!(serde_json::from_str::<Installation>(json).unwrap().license, "MIT");
    }

    #[test]
    fn sections_are_checked() {
        let good = format!(r#"[{{"url": "https://x.org/a.whl", "sha256": "{}", "size": 5}}]"#, "ab".repeat(32));
        assert_eq!(section(&good, r#"{"a": {}}"#), Ok(()));
        assert_eq!(section(r#"[{"file": "a.mat"}]"#, r#"{"a": {}}"#), Ok(()));
        let reason = |sources: &str, files: &str| section(sources, files).unwrap_err();
        assert!(reason("[]", "{}").starts_with("install.sources must name"));
        assert!(reason("[{}]", r#"{"a": {}}"#).starts_with("install.sources[0].file must be the name"));
        assert!(reason(r#"[{"url": "https://x.org/a"}]"#, r#"{"a": {}}"#).starts_with("install.sources[0].sha256"));
        assert!(reason(r#"[{"url": "file:///etc/passwd"}]"#, r#"{"a": {}}"#).starts_with("install.sources[0].url"));
        for name in ["../a", "a/b", "", ".hidden", "c:a", "x.part"] {
            let files = format!(r#"{{"{name}": {{}}}}"#);
            assert!(reason(&good, &files).starts_with("install.files must be names without folders"), "{name}");
        }
        assert!(reason(&good.replace("ab", "zz"), r#"{"a": {}}"#).contains("64 hexadecimal digits"));
    }

    #[test]
    fn a_mirror_stands_in_for_pypi_and_for_nothing_else() {
        let mirror: BaseUrl = "http://mirror.example/pypi/".parse().unwrap();
        let pypi = "https://files.pythonhosted.org/packages/ab/x.whl";
        assert_eq!(address(pypi, Some(&mirror)), "http://mirror.example/pypi/packages/ab/x.whl");
        assert_eq!(address(pypi, None), pypi);
        assert_eq!(address("https://x.org/a", Some(&mirror)), "https://x.org/a");
    }
}
