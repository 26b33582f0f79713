//! The tool list: what is known of every tool, by name in any spelling.

use std::collections::BTreeMap;

use super::metadata::{self, BUILTIN};
use super::{Error, Metadata};

/// A tool list: the built-in one or the user's, and what was added to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolList {
    entries: BTreeMap<String, (String, Metadata)>,
}

impl ToolList {
    /// The list that is built in.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(BUILTIN, "tools.json")
    }

    /// Reads a list in the form of `tools.json`; errors name `file`.
    pub fn parse(json: &str, file: &str) -> Result<Self, Error> {
        let mut list = Self { entries: BTreeMap::new() };
        for (name, entry) in metadata::parse(json, file)? {
            if let Some((first, _)) = list.entries.get(&fold(&name)) {
                return Err(Error::SameName { file: file.to_owned(), first: first.clone(), second: name });
            }
            list.add(&name, entry);
        }
        Ok(list)
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, name: &str, entry: Metadata) {
        self.entries.insert(fold(name), (name.to_owned(), entry));
    }

    /// Whether the list has a tool of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(&fold(name))
    }

    /// What the list says of a tool.
    pub fn get(&self, name: &str) -> Option<&Metadata> {
        self.entries.get(&fold(name)).map(|(_, entry)| entry)
    }

    /// The list in the form of `tools.json`.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let by_name: BTreeMap<&str, &Metadata> =
            self.entries.values().map(|(name, entry)| (name.as_str(), entry)).collect();
        serde_json::to_string_pretty(&by_name).map(|json| json + "\n")
    }

    /// Takes a tool out of the list.
    pub(super) fn remove(&mut self, name: &str) -> Option<Metadata> {
        self.entries.remove(&fold(name)).map(|(_, entry)| entry)
    }

    /// All tools by name.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (String, Metadata)> {
        self.entries.into_values()
    }
}

/// A name without what does not tell names apart.
pub(super) fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_in_more_than_case_and_hyphens() {
        let entry = r#"{"type": "NR", "strengths": []}"#;
        let error = ToolList::parse(&format!(r#"{{"My-Tool": {entry}, "mytool": {entry}}}"#), "x.json").unwrap_err();
        assert!(error.to_string().starts_with("x.json: My-Tool and mytool are the same name"), "{error}");
    }

    #[test]
    fn an_added_tool_replaces_one_of_the_same_name() {
        let mut list = ToolList::builtin().unwrap();
        let mut own = list.clone().remove("lpips").unwrap();
        own.description = "mine".to_owned();
        list.add("lpips", own.clone());
        assert_eq!(list.remove("LPIPS"), Some(own));
        assert!(!list.contains("LPIPS") && list.contains("ms_ssim"));
    }
}
