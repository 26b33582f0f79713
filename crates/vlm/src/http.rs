//! The HTTP client for a provider.

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

pub(super) use agenticiqa_http::is_loopback;

/// Builds the HTTP client. Redirects are not followed, because they could send the key to another
/// server.
pub(super) fn client(server: &Url) -> Result<Client, String> {
    let builder = agenticiqa_http::client(server)?.redirect(Policy::none()).tcp_nodelay(true);
    builder.build().map_err(|error| error.to_string())
}
