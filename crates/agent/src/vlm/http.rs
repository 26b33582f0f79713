//! The connection: one HTTP client a backend, TLS by rustls with ring and the certificates that the system trusts.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;

/// A host that does not answer the knock within this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client for one server.
///
/// Redirects are not followed: the key would go to a place that the user never named. A server on this machine is never
/// asked through a proxy.
pub(super) fn client(server: &Url) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none())
        .tcp_nodelay(true)
        // An answer is text of a few kilobytes; without compression its size on the wire is its size in memory.
        .no_gzip()
        .user_agent(concat!("agenticiqa/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(server.scheme() == "https").map_err(|error| error.to_string())?);
    if is_loopback(server) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.to_string())
}

/// A server that sends nothing for so long while a file is under way has lost it.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A client for files, which may take hours and may lie elsewhere than where they are asked for: no key goes along.
pub(crate) fn download_client(server: &Url) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(STALL_TIMEOUT)
        .redirect(Policy::limited(5))
        .no_gzip()
        .user_agent(concat!("agenticiqa/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(server.scheme() == "https").map_err(|error| error.to_string())?);
    if is_loopback(server) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.to_string())
}

/// Whether the server is on this machine.
pub(super) fn is_loopback(server: &Url) -> bool {
    match server.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
            address.is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Plain HTTP needs no certificates: a container without any can still talk to a server beside it.
fn tls(encrypted: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = if encrypted {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
