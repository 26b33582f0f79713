//! Helpers that run the program and write images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// Returns the path of a file in `examples/`.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs the program.
pub fn agenticiqa(arguments: &[&str]) -> Output {
    program(arguments).output().unwrap()
}

/// The program with arguments, without installed tools and without the environment of the
/// developer.
pub fn program(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("agenticiqa").unwrap();
    for variable in ["AGENTICIQA_ILNIQE_MODEL", "AGENTICIQA_THREADS", "AGENTICIQA_PYPI_MIRROR", "AGENTICIQA_PYTHON"] {
        command.env_remove(variable);
    }
    command.args(arguments).env("AGENTICIQA_DATA_DIR", "/nowhere/agenticiqa");
    command
}

/// Returns the exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Returns stdout as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns stderr as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Parses every line of stdout as JSON.
pub fn rows(output: &Output) -> Vec<serde_json::Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Writes a 24-bit BMP whose pixels are `pixel(x, y)`.
pub fn write_bmp(path: &Path, width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) {
    let stride = (width * 3).next_multiple_of(4);
    let mut bytes = bmp_header(width, height, stride * height);
    for y in (0..height).rev() {
        let start = bytes.len();
        bytes.extend((0..width).flat_map(|x| {
            let [red, green, blue] = pixel(x, y);
            [blue, green, red]
        }));
        bytes.resize(start + stride as usize, 0);
    }
    fs::write(path, bytes).unwrap();
}

/// Returns the 54 header bytes of a BMP.
pub fn bmp_header(width: u32, height: u32, size: u32) -> Vec<u8> {
    let mut bytes = b"BM".to_vec();
    bytes.extend(size.wrapping_add(54).to_le_bytes());
    bytes.extend([0; 4]);
    for word in [54u32, 40, width, height] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([1, 0, 24, 0]);
    for word in [0u32, size, 2835, 2835, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}
