//! `serve` as a process: starts, prints its address, stops on a signal, and resumes its jobs after
//! a kill.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{agenticiqa, code, example, stderr, stdout};

struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start(data: &Path, root: &Path) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("agenticiqa"));
        command.env("AGENTICIQA_DATA_DIR", "/nowhere/agenticiqa").env_remove("AGENTICIQA_TOKEN").current_dir(data);
        command.args(["serve", "--port", "0", "--data"]).arg(data.join("data")).arg("--allow-root").arg(root);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.split_whitespace().next().unwrap().to_owned();
        // Drains stderr, so that the pipe does not fill up.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { child, address }
    }

    fn call(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json"
        );
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    }

    fn job(&self, id: &str) -> Value {
        self.call("GET", &format!("/jobs/{id}"), "").1
    }

    fn wait(&self, id: &str, is: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1200 {
            let job = self.job(id);
            if is(&job) {
                return job;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("waited in vain: {}", self.job(id));
    }
}

fn photos(folder: &Path, count: usize) {
    let photo = fs::read(example("osprey.jpg")).unwrap();
    for number in 0..count {
        // A JPEG comment makes every file different.
        let mut file = photo[..2].to_vec();
        file.extend([0xff, 0xfe, 0, 6]);
        file.extend((number as u32).to_be_bytes());
        file.extend(&photo[2..]);
        fs::write(folder.join(format!("{number:02}.jpg")), file).unwrap();
    }
}

#[test]
fn a_server_that_was_killed_goes_on_with_its_job_when_it_starts_again() {
    let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    photos(root.path(), 30);
    let mut server = Server::start(data.path(), root.path());
    assert_eq!(server.call("GET", "/health", "").0, 200);
    let (status, job) = server.call("POST", "/jobs", r#"{"folder": ".", "concurrency": 1}"#);
    assert_eq!((status, &job["total"]), (202, &Value::from(30)));
    let id = job["id"].as_str().unwrap();
    let before = server.wait(id, |job| job["done"].as_u64() >= Some(3));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert!(before["done"].as_u64() < Some(30), "{before}");
    let server = Server::start(data.path(), root.path());
    let after = server.wait(id, |job| job["state"] == "done");
    assert_eq!((&after["ok"], &after["errors"]), (&Value::from(30), &Value::from(0)));
    let (_, results) = server.call("GET", &format!("/jobs/{id}/results?limit=100"), "");
    let mut names: Vec<&str> =
        results["rows"].as_array().unwrap().iter().map(|row| row["sample_id"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 30);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_code_0() {
    let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut server = Server::start(data.path(), root.path());
    let signal = Command::new("kill").arg("-TERM").arg(server.child.id().to_string()).status().unwrap();
    assert!(signal.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_keeps_it_from_starting_is_said() {
    let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(data.path(), root.path());
    let port = server.address.rsplit(':').next().unwrap();
    let other = data.path().join("other");
    let other = other.to_str().unwrap();
    let taken = agenticiqa(&["serve", "--port", port, "--data", other]);
    assert_eq!(code(&taken), 1);
    assert!(stderr(&taken).contains("choose another port with --port"), "{}", stderr(&taken));
    let used = agenticiqa(&["serve", "--port", "0", "--data", data.path().join("data").to_str().unwrap()]);
    assert_eq!(code(&used), 1);
    assert!(stderr(&used).contains("another server uses this data folder"), "{}", stderr(&used));
    let missing = agenticiqa(&["serve", "--port", "0", "--data", other, "--allow-root", "/nowhere/at/all"]);
    assert_eq!(code(&missing), 2);
    let message = stderr(&missing);
    assert!(message.contains("error: /nowhere/at/all cannot be an allowed folder"), "{message}");
    assert!(message.contains("help: name existing folders with --allow-root"), "{message}");
    let help = agenticiqa(&["serve", "--help"]);
    assert!(stdout(&help).contains("AGENTICIQA_TOKEN"));
}
