//! The connection to a provider.

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

pub(super) use agenticiqa_http::is_loopback;

/// A client for one provider. Redirects are not followed: the key would go to a place that the user never named.
pub(super) fn client(server: &Url) -> Result<Client, String> {
    let builder = agenticiqa_http::client(server)?.redirect(Policy::none()).tcp_nodelay(true);
    builder.build().map_err(|error| error.to_string())
}
