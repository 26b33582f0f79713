//! MCP over standard input and output, one message per line.

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;

use super::{Access, Service};
use crate::app::App;

/// The size of a message without its image, in bytes.
const AROUND: usize = 1 << 20;

/// Serves until the client closes the connection or [`App::end`] is called.
pub async fn serve(app: Arc<App>, access: Access) -> std::io::Result<()> {
    let (input, output) = stdio();
    // The same limit as for HTTP requests, encoded in base64.
    let longest = app.limits.body.saturating_mul(4) / 3;
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(longest.saturating_add(AROUND));
    let running = match Service::new(Arc::clone(&app), access).serve(transport).await {
        Ok(running) => running,
        // A client that disconnects before the handshake is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(std::io::Error::other(error.to_string())),
    };
    tokio::select! {
        ended = running.waiting() => ended.map(drop).map_err(std::io::Error::other),
        () = app.ending() => Ok(()),
    }
}
