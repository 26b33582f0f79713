//! Malicious and broken clients: each is refused and the server keeps running.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::support::{Form, noise, plain, start};

/// Sends raw bytes and returns the response headers, or what arrives before the connection closes.
async fn raw(address: std::net::SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may respond before it has read everything.
    drop(stream.write_all(bytes).await);
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    let read = async {
        while let Ok(size @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..size]);
            if answer.windows(4).any(|end| end == b"\r\n\r\n") {
                break;
            }
        }
    };
    drop(tokio::time::timeout(Duration::from_secs(30), read).await);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn large_bodies_are_refused_before_they_are_read_and_while_they_are() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| server.max_body_bytes = 100_000).await;
    let stated = "POST /pictures HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 99999999\r\n\r\n";
    assert!(raw(server.address, stated.as_bytes()).await.starts_with("HTTP/1.1 413"));
    // Without Content-Length, the received bytes count.
    let mut chunked = b"POST /pictures HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let part =
        format!("--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a\"\r\n\r\n{}", "a".repeat(150_000));
    chunked.extend(format!("{:x}\r\n{part}\r\n0\r\n\r\n", part.len()).bytes());
    assert!(raw(server.address, &chunked).await.starts_with("HTTP/1.1 413"));
    let text = "{\"query\": \"".to_owned() + &"a".repeat(150_000);
    let json = server.post("/assess").header("content-type", "application/json").body(text);
    if let Ok(answer) = json.send().await {
        assert_eq!(answer.status(), 413);
    }
    assert_eq!(server.show("/health").await.status, 200);
    server.end().await;
}

/// Reads one response with its body from a connection that stays open.
async fn response(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = async {
        loop {
            let text = String::from_utf8_lossy(&answer).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                if length.is_none_or(|length| body.len() >= length.parse().unwrap()) {
                    break;
                }
            }
            let mut buffer = [0; 4096];
            match stream.read(&mut buffer).await {
                Ok(size @ 1..) => answer.extend_from_slice(&buffer[..size]),
                _ => break,
            }
        }
    };
    drop(tokio::time::timeout(Duration::from_secs(30), read).await);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_connection_survives_a_refused_request_whose_body_comes_late() {
    let (_data, server) = plain().await;
    for (line, extra, status) in [
        ("POST /score", "Origin: http://evil.example\r\n", "403"),
        ("POST /nowhere", "", "404"),
        ("DELETE /score", "", "405"),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let head = format!("{line} HTTP/1.1\r\nHost: localhost\r\n{extra}Content-Length: 10\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        stream.write_all(b"0123456789").await.unwrap();
        let refused = response(&mut stream).await;
        assert!(refused.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {refused}");
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let next = response(&mut stream).await;
        assert!(next.starts_with("HTTP/1.1 200"), "{line}: {next}");
    }
}

#[tokio::test]
async fn a_form_that_is_cut_off_is_no_request() {
    let (_data, server) = plain().await;
    let form = Form::default().file("image", "a.png", &noise(64, 8));
    let request = server.post("/pictures").header("content-type", Form::kind()).body(form.0);
    assert_eq!(request.send().await.unwrap().status(), 422);
    let nothing = server.post("/pictures").header("content-type", "multipart/form-data").body("x");
    assert_eq!(nothing.send().await.unwrap().status(), 422);
    // The connection closes in the middle of the body.
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = "POST /assess HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"query\"";
    stream.write_all(head.as_bytes()).await.unwrap();
    drop(stream);
    assert_eq!(server.show("/health").await.status, 200);
}

/// A small PNG file that decodes to a huge image.
fn bomb(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        let mut chunk = (data.len() as u32).to_be_bytes().to_vec();
        chunk.extend(kind);
        chunk.extend(data);
        chunk.extend(crc.sum().to_be_bytes());
        chunk
    };
    let mut header = width.to_be_bytes().to_vec();
    header.extend(height.to_be_bytes());
    header.extend([1, 0, 0, 0, 0]);
    let row = vec![0_u8; width as usize / 8 + 1];
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..height.min(20_000) {
        std::io::Write::write_all(&mut zlib, &row).unwrap();
    }
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.extend(chunk(b"IHDR", &header));
    png.extend(chunk(b"IDAT", &zlib.finish().unwrap()));
    png.extend(chunk(b"IEND", b""));
    png
}

#[tokio::test]
async fn a_small_file_of_many_pixels_is_refused_before_it_is_decoded() {
    let (_data, server) = plain().await;
    let bomb = bomb(20_000, 20_000);
    assert!(bomb.len() < 1_000_000);
    let answer = server.form("/pictures", Form::default().file("image", "bomb.png", &bomb)).await;
    assert!(answer.problem(413).contains("20000x20000"));
}

#[tokio::test]
async fn heads_without_end_and_heads_that_are_too_large() {
    let (_data, server) = plain().await;
    let long = format!("GET /health?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "q".repeat(1 << 20));
    let answer = raw(server.address, long.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 4") || answer.is_empty(), "{answer}");
    let many = (0..100_000).fold("GET /health HTTP/1.1\r\nHost: localhost\r\n".to_owned(), |head, _| head + "A: b\r\n");
    let answer = raw(server.address, many.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431") || answer.is_empty(), "{answer}");
    let odd = raw(server.address, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").await;
    assert!(odd.is_empty() || odd.starts_with("HTTP/1.1 400"), "{odd}");
    assert_eq!(server.show("/health").await.status, 200);
}

#[tokio::test]
async fn who_sends_too_slowly_is_cut_off() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| server.read_timeout_seconds = 0.3).await;
    let head =
        "POST /assess HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    assert!(raw(server.address, head.as_bytes()).await.starts_with("HTTP/1.1 408"));
    // Unfinished headers: the server closes the connection.
    let silent = raw(server.address, b"GET /health HTTP/1.1\r\nHost:").await;
    assert!(silent.is_empty() || silent.starts_with("HTTP/1.1 4"), "{silent}");
    server.end().await;
}

#[tokio::test]
async fn many_idle_connections_do_not_keep_anybody_out() {
    let (_data, server) = plain().await;
    let mut idle = Vec::new();
    for _ in 0..1500 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    assert_eq!(server.show("/health").await.status, 200);
    drop(idle);
}

#[tokio::test]
async fn connections_beyond_the_limit_are_refused_and_places_become_free_again() {
    let data = tempfile::tempdir().unwrap();
    let server = start(data.path(), &[("NO", "KEY")], |server| server.connections = 3).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(TcpStream::connect(server.address).await.unwrap());
    }
    let connections = || server.app.telemetry.connections.load(std::sync::atomic::Ordering::SeqCst);
    server.until("three connections", async || connections() == 3).await;
    let refused = raw(server.address, b"").await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    drop(held);
    server.until("room", async || connections() == 0).await;
    assert_eq!(server.show("/health").await.status, 200);
    server.end().await;
}
