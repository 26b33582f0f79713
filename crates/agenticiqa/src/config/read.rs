//! Deserializes types from a tree of [`Node`]s, with errors that name the field and its location.

use std::borrow::Cow;
use std::collections::btree_map;
use std::fmt;

use garde::Validate;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::backend::BACKEND_TEXT;
use super::error::{did_you_mean, nearest};
use super::tree::{Entry, Node, Value, join};
use super::{Backend, Error, InvalidBackend, Origin};
use agenticiqa_vlm::Provider;

/// Reads and validates a value from a tree.
pub(super) fn read<'de, T>(node: &'de Node) -> Result<T, Error>
where
    T: Deserialize<'de> + Validate,
    T::Context: Default,
{
    let root = Located { node, field: "" };
    let value = T::deserialize(root).map_err(|fault| root.wrong(fault).into_error())?;
    match value.validate() {
        Ok(()) => Ok(value),
        Err(report) => match report.iter().next() {
            Some((path, problem)) => Err(violation(node, &path.to_string(), &problem.to_string())),
            None => Ok(value),
        },
    }
}

/// Creates the error for a violated rule, at the location of the value or, if it is missing, of its
/// section.
pub(super) fn violation(root: &Node, path: &str, problem: &str) -> Error {
    let field = path.split('[').next().unwrap_or(path);
    let (origin, reason) = match root.find(field) {
        Some(node) => (node.origin.clone(), format!("{problem}, not {node}")),
        None => {
            let section = field.rsplit_once('.').and_then(|(section, _)| root.find(section)).unwrap_or(root);
            (section.origin.clone(), problem.to_owned())
        }
    };
    Error::Invalid { origin, field: field.to_owned(), reason }
}

/// A problem. Field and location are added while returning.
#[derive(Debug)]
pub(super) struct Fault {
    reason: String,
    /// Whether the reason is a rule for the value, such as "must be a number". The value is then
    /// added to the message.
    is_rule: bool,
    /// A known word that is similar to the value.
    suggestion: Option<String>,
    place: Option<(String, Origin)>,
}

impl Fault {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_rule: false, suggestion: None, place: None }
    }

    fn rule(rule: impl Into<String>) -> Self {
        Self { is_rule: true, ..Self::new(rule) }
    }

    fn suggest(self, suggestion: Option<impl Into<String>>) -> Self {
        Self { suggestion: suggestion.map(Into::into), ..self }
    }

    /// Adds the location, unless a deeper one is known.
    fn place_at(mut self, origin: &Origin, field: &str) -> Self {
        self.place.get_or_insert_with(|| (field.to_owned(), origin.clone()));
        self
    }

    fn into_error(self) -> Error {
        let (field, origin) = self.place.unwrap_or((String::new(), Origin::Default));
        Error::Invalid { origin, field, reason: format!("{}{}", self.reason, did_you_mean(self.suggestion.as_deref())) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.reason, did_you_mean(self.suggestion.as_deref()))
    }
}

impl From<InvalidBackend> for Fault {
    fn from(InvalidBackend { rule, suggestion }: InvalidBackend) -> Self {
        Self::rule(rule).suggest(suggestion)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    // Values are not repeated here: `Located` shows them unexpanded, which hides the content of
    // variables.
    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::rule(format!("must be {expected}"))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::rule(format!("must be {expected}"))
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(format!("must be {expected}, not {length}"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::rule(one_of(expected)).suggest(nearest(variant, expected.iter().copied()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("needs the field {field}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(unknown_field(field, expected))
    }
}

/// Returns the message for an unknown field.
pub(super) fn unknown_field(field: &str, expected: &[&str]) -> String {
    if matches!(field, "api_key" | "apikey" | "key" | "token" | "secret" | "password") {
        return format!(
            "keys do not belong in files: set {} in the environment or in .env, or name another variable with \
             api_key_env below providers",
            Provider::list_required_keys()
        );
    }
    match nearest(field, expected.iter().copied()) {
        None => format!("there is no such field; known here: {}", expected.join(", ")),
        suggestion => format!("there is no such field{}", did_you_mean(suggestion)),
    }
}

fn one_of(words: &[&str]) -> String {
    format!("must be one of {}", words.join(", "))
}

/// A node that is being read, with the name of its field.
#[derive(Clone, Copy)]
struct Located<'de, 'name> {
    node: &'de Node,
    field: &'name str,
}

impl Located<'_, '_> {
    /// Returns the fault at this location, with the unexpanded value. A deeper location is kept.
    fn wrong(&self, fault: Fault) -> Fault {
        if fault.place.is_some() {
            return fault;
        }
        let scalar = !matches!(self.node.value, Value::Map(_) | Value::List(_));
        let fault = if scalar && fault.is_rule {
            // A suggestion would repeat the value, which may come from a secret variable.
            let suggestion = fault.suggestion.filter(|_| !self.is_expanded());
            let suggestion = suggestion.map_or_else(String::new, |word| format!(": did you mean {word}?"));
            Fault::new(format!("{}, not {}{suggestion}", fault.reason, self.node))
        } else {
            fault
        };
        fault.place_at(&self.node.origin, self.field)
    }

    fn is_expanded(&self) -> bool {
        matches!(&self.node.value, Value::Text(text) if text.expanded != text.written)
    }

    /// Returns the number here. Numeric text also counts, because expanded variables are text.
    fn number(&self) -> Option<f64> {
        match &self.node.value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Text(text) => text.expanded.trim().parse().ok(),
            _ => None,
        }
        .filter(|value: &f64| value.is_finite())
    }

    /// Returns the text here. Names and paths may look like numbers.
    fn text(&self) -> Option<Cow<'_, str>> {
        match &self.node.value {
            Value::Text(text) => Some(Cow::Borrowed(&text.expanded)),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) => Some(Cow::Owned(self.node.to_string())),
            _ => None,
        }
    }

    fn visit_whole<'v, V: Visitor<'v>>(&self, visitor: V) -> Result<V::Value, Fault> {
        let whole = self.number().filter(|value| value.fract() == 0.0 && (0.0..9e15).contains(value));
        let Some(whole) = whole else {
            return Err(Fault::rule("must be a whole number, 0 or more"));
        };
        visitor.visit_u64(whole as u64).map_err(|_: Fault| Fault::rule("must be a smaller number"))
    }
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.visit_whole(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Located<'de, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(&text.expanded),
            Value::List(items) => {
                let mut items = Items { items: items.iter().enumerate(), field: self.field };
                let value = visitor.visit_seq(&mut items)?;
                if items.items.len() == 0 { Ok(value) } else { Err(Fault::new("contains too many values")) }
            }
            Value::Map(fields) => visitor.visit_map(Fields { fields: fields.iter(), section: self.field, entry: None }),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.number() {
            Some(number) => visitor.visit_f64(number),
            None => Err(Fault::rule("must be a number")),
        }
    }

    whole_numbers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.text() {
            Some(text) => visitor.visit_str(&text),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_none(),
            // `${NAME:-}` with an unset variable.
            Value::Text(text) if text.expanded.is_empty() => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_enum(StrDeserializer::<Fault>::new(&text.expanded)),
            _ => Err(Fault::rule(one_of(words))),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        // serde would reduce the error to a text.
        if let Some(text) = self.text().filter(|_| name == BACKEND_TEXT) {
            text.parse::<Backend>()?;
        }
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u128 f32 char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// The items of a list.
struct Items<'de, 'name> {
    items: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
    field: &'name str,
}

impl<'de> SeqAccess<'de> for &mut Items<'de, '_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let field = format!("{}[{index}]", self.field);
        let located = Located { node, field: &field };
        seed.deserialize(located).map(Some).map_err(|fault| located.wrong(fault))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The fields of a map.
struct Fields<'de, 'name> {
    fields: btree_map::Iter<'de, String, Entry>,
    section: &'name str,
    entry: Option<(&'de String, &'de Entry)>,
}

impl<'de> MapAccess<'de> for Fields<'de, '_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        self.entry = self.fields.next();
        let Some((name, entry)) = self.entry else { return Ok(None) };
        let key: StrDeserializer<'_, Fault> = name.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| fault.place_at(&entry.name_origin, &join(self.section, name)))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some((name, Entry { node, .. })) = self.entry.take() else { return Err(Fault::new("no value")) };
        let field = join(self.section, name);
        let located = Located { node, field: &field };
        seed.deserialize(located).map_err(|fault| located.wrong(fault))
    }
}
