//! MCP over standard input and output, one message per line.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use super::check::{self, Verdict};
use super::{Access, Service};
use crate::app::App;

/// The size of a message without its image, in bytes.
const AROUND: usize = 1 << 20;

/// The number of messages that wait to be written.
const WAITING: usize = 64;

/// The time that a client has to read the last answers.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Serves until the client closes the connection or [`App::end`] is called.
pub async fn serve(app: Arc<App>, access: Access) -> std::io::Result<()> {
    serve_on(app, access, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves a client on these streams. Lines that are no requests are answered here, all others by
/// the service; one task writes the lines of both.
async fn serve_on(
    app: Arc<App>,
    access: Access,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    // The same limit as for HTTP requests, encoded in base64.
    let longest = app.limits.body.saturating_mul(4).div_euclid(3).saturating_add(AROUND);
    let (lines, waiting) = mpsc::channel::<Vec<u8>>(WAITING);
    let (to_service, passed) = tokio::io::duplex(1 << 16);
    let (from_service, answers) = tokio::io::duplex(1 << 16);
    let reading = tokio::spawn(read(BufReader::new(input), to_service, lines.clone(), longest));
    let collecting = tokio::spawn(collect(BufReader::new(answers), lines));
    let writing = tokio::spawn(write(waiting, output));
    let transport = AsyncRwTransport::new_server(passed, from_service).with_max_line_length(longest.saturating_add(1));
    let ended = match Service::new(Arc::clone(&app), access).serve(transport).await {
        Ok(running) => tokio::select! {
            ended = running.waiting() => ended.map(drop).map_err(std::io::Error::other),
            () = app.ending() => Ok(()),
        },
        // A client that disconnects before the handshake is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(std::io::Error::other(error.to_string())),
    };
    reading.abort();
    drop(reading.await);
    // The service has closed its end, so these end too, unless the client no longer reads.
    let rest = async {
        drop(collecting.await);
        drop(writing.await);
    };
    drop(tokio::time::timeout(LAST_ANSWERS, rest).await);
    ended
}

/// Reads lines from the client, and passes on those that are messages.
async fn read(
    mut input: impl AsyncBufRead + Unpin,
    mut service: impl AsyncWrite + Unpin,
    answers: mpsc::Sender<Vec<u8>>,
    longest: usize,
) {
    while let Ok(Some(line)) = next_line(&mut input, longest).await {
        let refused = match line {
            None => check::too_long(longest),
            Some(line) => match check::judge(&line) {
                Verdict::Refuse(error) => error,
                Verdict::Ignore => continue,
                Verdict::Pass => {
                    let passed = async {
                        service.write_all(&line).await?;
                        service.write_all(b"\n").await?;
                        service.flush().await
                    };
                    match passed.await {
                        Ok(()) => continue,
                        Err(_) => return,
                    }
                }
            },
        };
        if answers.send(refused.to_string().into_bytes()).await.is_err() {
            return;
        }
    }
}

/// Returns the next line without its end; `Some(None)` if it is too long, in which case it is
/// skipped. The last line needs no line break.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    longest: usize,
) -> std::io::Result<Option<Option<Vec<u8>>>> {
    let (mut line, mut fits, mut any) = (Vec::new(), true, false);
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(any.then(|| fits.then_some(line)));
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        fits &= line.len() + part.len() <= longest;
        if fits {
            line.extend_from_slice(part);
        } else {
            line = Vec::new();
        }
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(fits.then_some(line)));
        }
    }
}

/// Collects the lines of the service.
async fn collect(mut service: impl AsyncBufRead + Unpin, lines: mpsc::Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match service.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

async fn write(mut lines: mpsc::Receiver<Vec<u8>>, mut output: impl AsyncWrite + Unpin) {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_cut_at_their_limit_and_the_last_one_needs_no_end() {
        let mut input = BufReader::with_capacity(3, &b"short\nmuch too long\n\nlast"[..]);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input, 6).await.unwrap() {
            lines.push(line.map(|line| String::from_utf8(line).unwrap()));
        }
        assert_eq!(lines, [Some("short".to_owned()), None, Some(String::new()), Some("last".to_owned())]);
    }
}
