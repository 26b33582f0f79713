//! `tools install` and `tools remove`: output, files and exit codes.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use sha2::{Digest, Sha256};

use crate::support::*;

/// Runs the program with a data folder and a configuration that adds the tool Net, whose file is at
/// `url`.
fn with_net(folder: &Path, url: &str, content: &[u8], arguments: &[&str]) -> Output {
    let sha256: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let size = content.len();
    let pipeline = format!(
        "tools:\n  data_dir: {data}\n  add:\n    Net:\n      type: NR\n      backend: command\n      strengths: []\n      command: \
         {{run: [cat, \"{{image}}\"]}}\n      install:\n        license: BSD-2-Clause\n        notice: by Somebody\n        recipe: copy\n        \
         sources: [{{url: \"{url}\", sha256: {sha256}, size: {size}}}]\n        files: {{net.bin: {{sha256: {sha256}, size: \
         {size}}}}}\n",
        data = folder.join("data").display()
    );
    let config = folder.join("pipeline.yaml");
    std::fs::write(&config, pipeline).unwrap();
    let config = config.to_str().unwrap();
    let mut command = program(&[&["--config", config, "tools"], arguments].concat());
    command.env_remove("AGENTICIQA_DATA_DIR").output().unwrap()
}

/// A server that sends the same file to every client.
fn serve(content: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", content.len());
            let _ = connection.write_all(&[head.as_bytes(), content].concat());
        }
    });
    format!("http://{address}/net.bin")
}

#[test]
fn a_tool_is_installed_once_shown_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let content = b"the weights of a network";
    let url = serve(content);
    let run = |arguments: &[&str]| with_net(folder.path(), &url, content, arguments);
    let list = stdout(&run(&["install"]));
    assert!(list.contains("Net") && list.contains("BSD-2-Clause") && list.contains("onnxruntime"), "{list}");
    let output = run(&["install", "net", "Net"]);
    let text = stdout(&output);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{text}");
    for part in ["license  BSD-2-Clause: by Somebody", url.as_str(), "SHA-256", "checksum ok", "net.bin"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let file = folder.path().join("data/tools/net.bin");
    assert_eq!(std::fs::read(&file).unwrap(), content);
    assert!(stdout(&run(&["show", "Net"])).contains(&format!("files       {}", file.display())));
    assert!(stdout(&run(&["install", "Net"])).contains("Net is already installed"));
    assert!(stdout(&run(&["install", "Net", "--force"])).contains("checksum ok"));
    assert!(stdout(&run(&["remove", "Net"])).contains("net.bin"));
    assert!(!file.exists());
    assert!(stdout(&run(&["remove", "Net"])).contains("Net is not installed"));
}

#[test]
fn a_wrong_checksum_fails_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let url = serve(b"what the server has now");
    let output = with_net(folder.path(), &url, b"what the entry is about", &["install", "Net"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).starts_with("error: http://127.0.0.1") && stderr(&output).contains("wrong checksum"));
    assert!(!folder.path().join("data/tools").join("net.bin").exists());
}

#[test]
fn without_network_files_are_taken_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from");
    std::fs::create_dir(&from).unwrap();
    let run = || {
        let from = from.to_str().unwrap();
        with_net(folder.path(), "http://127.0.0.1:9/net.bin", b"weights", &["install", "Net", "--from", from])
    };
    let output = run();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no net.bin (from http://127.0.0.1:9/net.bin)"), "{}", stderr(&output));
    std::fs::write(from.join("net.bin"), b"weights").unwrap();
    let output = run();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(std::fs::read(folder.path().join("data/tools/net.bin")).unwrap(), b"weights");
}

#[test]
fn what_cannot_be_installed_says_why() {
    let reason = |name: &str| {
        let output = agenticiqa(&["tools", "install", name]);
        assert_eq!(code(&output), 2);
        stderr(&output)
    };
    assert!(reason("SSIM").contains("SSIM is built in"));
    assert!(reason("TOPIQ_FR").contains("pip install pyiqa"));
    assert!(reason("LPIP").contains("did you mean LPIPS?"));
}
