//! The address of Ollama.

/// Converts `OLLAMA_HOST` to a URL. Scheme and port are optional. A server that listens on all
/// interfaces is called on this machine.
pub fn ollama_url(host: &str) -> String {
    let host = host.trim();
    if host.contains("://") {
        return host.to_owned();
    }
    let host = host.trim_end_matches('/');
    let host = if host.contains(':') { host.to_owned() } else { format!("{host}:11434") };
    format!("http://{}", host.replacen("0.0.0.0", "127.0.0.1", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_hosts_become_addresses() {
        for (host, url) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("gpu-box", "http://gpu-box:11434"),
            ("https://ollama.example/v1", "https://ollama.example/v1"),
        ] {
            assert_eq!(ollama_url(host), url);
        }
    }
}
