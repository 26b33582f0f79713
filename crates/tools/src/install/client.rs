//! The HTTP client of downloads.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// A server that sends nothing for so long while a file is under way has lost it.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A client for files, which may take hours and may lie elsewhere than where they are asked for: no key goes along.
pub(super) fn client(server: &Url) -> Result<Client, String> {
    let builder = agenticiqa_http::client(server)?.read_timeout(STALL_TIMEOUT).redirect(Policy::limited(5));
    builder.build().map_err(|error| error.to_string())
}
