//! HTTP client for downloads.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// A download is considered lost if the server sends nothing for this long.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Creates a client for file downloads. They may take hours and be redirected to another host, so
/// no key is sent.
pub(super) fn client(server: &Url) -> Result<Client, String> {
    let builder = agenticiqa_http::client(server)?.read_timeout(STALL_TIMEOUT).redirect(Policy::limited(5));
    builder.build().map_err(|error| error.to_string())
}
