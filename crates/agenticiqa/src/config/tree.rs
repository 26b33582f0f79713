//! An untyped configuration: a tree in which every value has an origin.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, MessageFormatter, NonFiniteFloatPolicy, Spanned, UserMessageFormatter};

use super::expand::expand;
use super::{Error, Origin};
use agenticiqa_http::without_secrets;

/// The maximum number of fields of a section.
const MOST_FIELDS: usize = 10_000;

/// A value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub origin: Origin,
    pub value: Value,
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Text),
    List(Vec<Node>),
    Map(BTreeMap<String, Entry>),
}

/// A text with expanded variables, and as written. Only the latter is ever shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub expanded: String,
    pub written: String,
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", without_secrets(&self.written))
    }
}

/// A field of a map: the origin of its name, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub name_origin: Origin,
    pub node: Node,
}

impl Node {
    /// Creates an empty map.
    pub fn empty() -> Self {
        Self { origin: Origin::Default, value: Value::Map(BTreeMap::new()) }
    }

    /// Creates a text without expansion.
    pub fn text(text: &str, origin: Origin) -> Self {
        let text = Text { expanded: text.to_owned(), written: text.to_owned() };
        Self { origin, value: Value::Text(text) }
    }

    /// Parses a file; `None` means the built-in defaults.
    pub fn parse(yaml: &str, file: Option<&Path>, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let place = |location: Location| match file {
            Some(path) => Origin::File { path: path.to_owned(), line: location.line(), column: location.column() },
            None => Origin::Default,
        };
        Self::parse_at(yaml, &place, lookup)
    }

    /// Parses YAML; `place` returns the origin of a position.
    pub fn parse_at(
        yaml: &str,
        place: &dyn Fn(Location) -> Origin,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        // No snippets, because a line may contain a key. `off` is a string, not a boolean.
        let options = serde_saphyr::options! {
            with_snippet: false,
            strict_booleans: true,
            non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        };
        let raw: Spanned<Raw> = serde_saphyr::from_str_with_options(yaml, options).map_err(|error| Error::Syntax {
            origin: place(error.location().unwrap_or(Location::UNKNOWN)),
            reason: UserMessageFormatter.format_message(&error).replace(char::is_control, " "),
        })?;
        Self::locate(raw, String::new(), place, lookup)
    }

    fn locate(
        raw: Spanned<Raw>,
        field: String,
        place: &dyn Fn(Location) -> Origin,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let origin = place(raw.referenced);
        let value = match raw.value {
            Raw::Null => Value::Null,
            Raw::Bool(value) => Value::Bool(value),
            Raw::Integer(value) => Value::Integer(value),
            Raw::Float(value) => Value::Float(value),
            Raw::Text(written) => match expand(&written, lookup) {
                Ok(expanded) => Value::Text(Text { expanded, written }),
                Err(reason) => return Err(Error::Invalid { origin, field, reason }),
            },
            Raw::List(items) => {
                let item = |(index, item)| Self::locate(item, format!("{field}[{index}]"), place, lookup);
                Value::List(items.into_iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            Raw::Map(fields) => {
                let entry = |(name, value): (Spanned<String>, Spanned<Raw>)| {
                    let node = Self::locate(value, join(&field, &name.value), place, lookup)?;
                    Ok((name.value, Entry { name_origin: place(name.referenced), node }))
                };
                Value::Map(fields.into_iter().map(entry).collect::<Result<_, Error>>()?)
            }
        };
        Ok(Self { origin, value })
    }

    /// Returns the fields if this is a map.
    pub fn fields(&self) -> Option<&BTreeMap<String, Entry>> {
        match &self.value {
            Value::Map(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the value of a field by its path.
    pub fn get(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| Some(&node.fields()?.get(*name)?.node))
    }

    /// Sets a field by its path.
    pub fn set(&mut self, path: &[&str], node: Self) {
        let Some((name, rest)) = path.split_first() else {
            *self = node;
            return;
        };
        if !matches!(self.value, Value::Map(_)) {
            self.value = Value::Map(BTreeMap::new());
        }
        let origin = node.origin.clone();
        self.section(name, &origin).set(rest, node);
    }

    /// Adds a field to a map.
    pub fn insert(&mut self, name: String, entry: Entry) {
        if let Value::Map(fields) = &mut self.value {
            fields.insert(name, entry);
        }
    }

    /// Returns the section with a name, created if missing; `self` if this is not a map.
    pub fn section(&mut self, name: &str, origin: &Origin) -> &mut Self {
        let Self { value: Value::Map(fields), .. } = self else { return self };
        let node = Self { origin: origin.clone(), ..Self::empty() };
        let empty = || Entry { name_origin: origin.clone(), node };
        &mut fields.entry(name.to_owned()).or_insert_with(empty).node
    }

    /// Merges a later layer: its values replace existing ones, everything else stays.
    pub fn merge(&mut self, later: Self) {
        match (&mut self.value, later.value) {
            // A section whose fields are all commented out.
            (Value::Map(_), Value::Null) => {}
            (Value::Map(fields), Value::Map(later_fields)) => {
                self.origin = later.origin;
                for (name, entry) in later_fields {
                    match fields.get_mut(&name) {
                        Some(earlier) => {
                            earlier.name_origin = entry.name_origin;
                            earlier.node.merge(entry.node);
                        }
                        None => drop(fields.insert(name, entry)),
                    }
                }
            }
            (_, value) => *self = Self { origin: later.origin, value },
        }
    }

    /// Returns the node with a dotted name. Field names may contain dots themselves.
    pub fn find(&self, dotted: &str) -> Option<&Self> {
        let fields = self.fields()?;
        fields.iter().find_map(|(name, entry)| match dotted.strip_prefix(name.as_str())? {
            "" => Some(&entry.node),
            rest => entry.node.find(rest.strip_prefix('.')?),
        })
    }
}

impl fmt::Display for Node {
    /// Formats the node as in a file, on one line, with variables unexpanded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value}"),
            Value::Text(text) => f.write_str(&without_secrets(&text.written)),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Value::Map(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, entry)| format!("{name}: {}", entry.node)).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
        }
    }
}

/// Joins a section and a name: `section.name`.
pub(super) fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

/// The YAML types that the parser produces.
enum Raw {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(i64::try_from(value).map_or(Raw::Float(value as f64), Raw::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut fields: Vec<(Spanned<String>, Spanned<Raw>)> = Vec::new();
        let mut names = HashSet::new();
        while let Some((name, value)) = access.next_entry::<Spanned<String>, _>()? {
            if !names.insert(name.value.clone()) {
                return Err(de::Error::custom(format!("{} stands here twice", name.value)));
            }
            if fields.len() == MOST_FIELDS {
                return Err(de::Error::custom(format!("more than {MOST_FIELDS} fields")));
            }
            fields.push((name, value));
        }
        Ok(Raw::Map(fields))
    }
}
