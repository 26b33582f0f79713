//! Reads what is left of a small request body before an early error response.
//!
//! A connection whose request body was not read is closed after the response. A client that keeps
//! connections may send its next request into the closing connection and lose it.

use std::time::Duration;

use axum::body::Body;
use futures_util::StreamExt as _;

/// Larger bodies are not read; their connection closes.
const MOST_BYTES: usize = 64 << 10;
const LONGEST: Duration = Duration::from_secs(1);

/// Reads and discards a body, up to a limit of size and time.
pub async fn drain(body: Body) {
    let read = async {
        let mut chunks = body.into_data_stream();
        let mut bytes = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            bytes += chunk.len();
            if bytes > MOST_BYTES {
                break;
            }
        }
    };
    // The response goes out in any case.
    let _ = tokio::time::timeout(LONGEST, read).await;
}
