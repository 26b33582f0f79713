//! The tool list: metadata of every tool, by name in any spelling.

use agenticiqa_metrics::fold_name;
use std::collections::BTreeMap;

use super::metadata::{self, BUILTIN};
use super::{Error, Metadata};

/// A tool list: the built-in one or a user's list, with tools added to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolList {
    entries: BTreeMap<String, (String, Metadata)>,
}

impl ToolList {
    /// Reads the built-in list.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(BUILTIN, "tools.json")
    }

    /// Parses a list in the format of `tools.json`. Errors contain the name `file`.
    pub fn parse(json: &str, file: &str) -> Result<Self, Error> {
        let mut list = Self { entries: BTreeMap::new() };
        for (name, entry) in metadata::parse(json, file)? {
            if let Some((first, _)) = list.entries.get(&fold_name(&name)) {
                return Err(Error::SameName { file: file.to_owned(), first: first.clone(), second: name });
            }
            list.add(&name, entry);
        }
        Ok(list)
    }

    /// Adds a tool. A tool of the same name is replaced.
    pub fn add(&mut self, name: &str, entry: Metadata) {
        self.entries.insert(fold_name(name), (name.to_owned(), entry));
    }

    /// Returns whether the list contains a tool of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(&fold_name(name))
    }

    /// Returns the metadata of a tool.
    pub fn get(&self, name: &str) -> Option<&Metadata> {
        self.entries.get(&fold_name(name)).map(|(_, entry)| entry)
    }

    /// Serializes the list in the format of `tools.json`.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let by_name: BTreeMap<&str, &Metadata> =
            self.entries.values().map(|(name, entry)| (name.as_str(), entry)).collect();
        serde_json::to_string_pretty(&by_name).map(|json| json + "\n")
    }

    /// Removes a tool from the list.
    pub(super) fn remove(&mut self, name: &str) -> Option<Metadata> {
        self.entries.remove(&fold_name(name)).map(|(_, entry)| entry)
    }

    /// Returns all tools by name.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (String, Metadata)> {
        self.entries.into_values()
    }
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
