//! Addresses of servers.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use url::Url;

/// The address of a server. `Display` and `Debug` hide the user name, the password and the query.
#[derive(Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Returns the full address, including secrets, for requests.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL to which request paths are appended. `version` is the path of the API, used
    /// if the address has no path.
    pub fn api(&self, version: &str) -> Result<Url, &'static str> {
        let mut url = Url::parse(&self.0).map_err(|_| "is not an address")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("has a password in it");
        }
        let path = match url.path() {
            "" | "/" => format!("/{version}/"),
            path if path.ends_with('/') => path.to_owned(),
            path => format!("{path}/"),
        };
        url.set_path(&path);
        Ok(url)
    }
}

/// The text is not an address. It is not repeated in the message because it may be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not an address: write http:// or https:// and the name of a server")]
pub struct NotAnAddress;

impl FromStr for BaseUrl {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        let text = text.trim();
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        // The URL standard would accept these: "http:///v1" as the server "v1", and blanks as %20.
        let named = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
        let odd = text.chars().any(|letter| letter.is_whitespace() || letter.is_control());
        if named && !odd && Url::parse(text).is_ok() { Ok(Self(text.to_owned())) } else { Err(NotAnAddress) }
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = NotAnAddress;

    fn try_from(text: String) -> Result<Self, NotAnAddress> {
        text.parse()
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(&self.0))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", without_secrets(&self.0))
    }
}

/// Hides user name, password and query of an address; other text is returned unchanged.
pub fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |end| rest.split_at(end));
    let host = authority.rsplit_once('@').map_or(authority.to_owned(), |(_, host)| format!("***@{host}"));
    let (path, hidden) = path.split_once('?').map_or((path, ""), |(path, _)| (path, "?***"));
    format!("{scheme}://{host}{path}{hidden}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked_and_their_secrets_hidden() {
        let url: BaseUrl = "https://me:sk-secret@host:8000/v1?key=sk-secret".parse().unwrap();
        assert_eq!(url.to_string(), "https://***@host:8000/v1?***");
        assert!(!format!("{url:?}").contains("secret"));
        assert!(url.as_str().contains("sk-secret"));
        assert_eq!(url.api("v1"), Err("has a password in it"));
        assert_eq!(" http://localhost:8000 ".parse::<BaseUrl>().unwrap().to_string(), "http://localhost:8000");
        for wrong in ["localhost:8000", "ftp://host", "http://", "http:///v1", "http://a b", "https://host:port", ""] {
            assert!(wrong.parse::<BaseUrl>().unwrap_err().to_string().contains("http://"), "{wrong}");
        }
    }

    #[test]
    fn requests_go_below_the_path_of_the_api() {
        for (given, expected) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1/"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1/"),
            (
                "https://dashscope.aliyuncs.com/compatible-mode/v1/",
                "https://dashscope.aliyuncs.com/compatible-mode/v1/",
            ),
        ] {
            assert_eq!(given.parse::<BaseUrl>().unwrap().api("v1").unwrap().as_str(), expected);
        }
    }
}
