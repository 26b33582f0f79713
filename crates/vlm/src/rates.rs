//! The cost of calls. The user provides the prices, because they change and contracts differ.

use std::collections::BTreeMap;

use garde::Validate;
use serde::{Deserialize, Deserializer, Serialize};

use super::{BackendName, Usage};
use crate::rules::within;

/// The price of one model, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Validate)]
#[serde(deny_unknown_fields, expecting = "prompt and completion, in US dollars for a million tokens")]
pub struct Rates {
    /// Price of input tokens (prompt and images).
    #[garde(custom(within(0.0, 1e6)))]
    pub prompt: f64,
    /// Price of output tokens.
    #[garde(custom(within(0.0, 1e6)))]
    pub completion: f64,
}

impl Rates {
    /// Returns the price of the tokens in US dollars.
    pub fn cost(&self, usage: Usage) -> f64 {
        (self.prompt * usage.prompt_tokens as f64 + self.completion * usage.completion_tokens as f64) / 1e6
    }
}

/// Prices by backend name. A name that ends in `*` matches all names with that prefix (`ollama.*`);
/// the longest match wins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Validate)]
#[serde(transparent)]
#[garde(transparent)]
pub struct RateCard(
    #[serde(deserialize_with = "named_rates")]
    #[garde(dive)]
    pub BTreeMap<String, Rates>,
);

/// The key of a rate: a backend name, or a prefix followed by `*`.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct RateName(String);

impl TryFrom<String> for RateName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, &'static str> {
        let known = name.parse::<BackendName>().is_ok();
        if known { Ok(Self(name)) } else { Err("the name of a rate is a backend, such as openai.gpt-4o or ollama.*") }
    }
}

fn named_rates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Rates>, D::Error> {
    named(deserializer)
}

/// Deserializes a map with validated backend names as keys.
pub(super) fn named<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    let entries: BTreeMap<RateName, T> = BTreeMap::deserialize(deserializer)?;
    Ok(entries.into_iter().map(|(RateName(name), entry)| (name, entry)).collect())
}

/// Returns the entry of a backend: the exact match, or the longest prefix.
pub(super) fn closest<'a, T>(entries: &'a BTreeMap<String, T>, backend: &str) -> Option<&'a T> {
    if let Some(own) = entries.get(backend) {
        return Some(own);
    }
    let families = entries.iter().filter_map(|(name, entry)| Some((name.strip_suffix('*')?, entry)));
    let fitting = families.filter(|(family, _)| backend.starts_with(family));
    fitting.max_by_key(|(family, _)| family.len()).map(|(_, entry)| entry)
}

impl RateCard {
    /// Returns the price of a backend, if listed.
    pub fn rates(&self, backend: &str) -> Option<Rates> {
        closest(&self.0, backend).copied()
    }

    /// Returns the cost of `usage` in US dollars, if the price is known.
    pub fn cost(&self, backend: &str, usage: Usage) -> Option<f64> {
        self.rates(backend).map(|rates| rates.cost(usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_entry_counts() {
        let card: RateCard = serde_json::from_str(
            r#"{"openai.gpt-4o": {"prompt": 2.5, "completion": 10.0},
                "openai.*": {"prompt": 1.0, "completion": 1.0},
                "openai.gpt-4o*": {"prompt": 0.15, "completion": 0.6}}"#,
        )
        .unwrap();
        let usage = Usage { prompt_tokens: 2_000_000, completion_tokens: 100_000 };
        assert_eq!(card.cost("openai.gpt-4o", usage), Some(6.0));
        assert_eq!(card.rates("openai.gpt-4o-mini").unwrap().prompt, 0.15);
        assert_eq!(card.cost("openai.o3", usage), Some(2.1));
        assert_eq!(card.cost("google.gemini-2.0-flash", usage), None);
    }
}
