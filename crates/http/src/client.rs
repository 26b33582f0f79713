//! HTTP clients with TLS by rustls (ring) and the certificates that the system trusts.

use std::sync::Arc;
use std::time::Duration;

use reqwest::ClientBuilder;
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use url::Url;

/// Connect timeout; a host that does not answer within this time is considered unreachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns a client builder for one server. A server on this machine is never contacted through a
/// proxy.
pub fn client(server: &Url) -> Result<ClientBuilder, String> {
    let builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .no_gzip()
        .user_agent(concat!("agenticiqa/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(server.scheme() == "https").map_err(|error| error.to_string())?);
    Ok(if is_loopback(server) { builder.no_proxy() } else { builder })
}

/// Returns whether the server is on this machine.
pub fn is_loopback(server: &Url) -> bool {
    match server.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
            address.is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Creates the TLS configuration. Plain HTTP loads no certificates, so that a container without
/// certificates can still reach a local server.
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
