//! Benchmarks the engines on a network as expensive as LPIPS with AlexNet, on two images of
//! 512x384: `cargo bench -p agenticiqa-onnx`. ONNX Runtime takes part if `ORT_DYLIB_PATH` names
//! its library.

#![allow(clippy::unwrap_used)]

#[path = "../tests/graphs/mod.rs"]
mod graphs;

use std::path::Path;

use agenticiqa_onnx::{Model, Runtime, Tensor};
use divan::Bencher;
use graphs::{FLOAT, FREE, Message, floats, model, node, port};

fn main() {
    divan::main();
}

/// For each convolution: kernel, inputs, outputs, stride, padding, and whether a pool follows.
const CONVOLUTIONS: [(i64, i64, i64, i64, i64, bool); 5] = [
    (11, 3, 64, 4, 2, true),
    (5, 64, 192, 1, 2, true),
    (3, 192, 384, 1, 1, false),
    (3, 384, 256, 1, 1, false),
    (3, 256, 256, 1, 1, false),
];

/// Builds the feature layers of AlexNet with arbitrary weights.
fn alexnet() -> Vec<u8> {
    let (mut nodes, mut weights): (Vec<Message>, Vec<Message>) = (Vec::new(), Vec::new());
    let mut value = "image".to_owned();
    for (index, &(size, inputs, outputs, stride, padding, pooled)) in CONVOLUTIONS.iter().enumerate() {
        let count = outputs * inputs * size * size;
        let kernel: Vec<f32> = (0..count).map(|index| ((index * 31 % 17) as f32 - 8.0) / (8 * inputs) as f32).collect();
        let name = |what: &str| format!("{what}{index}");
        weights.push(floats(&name("kernel"), &[outputs, inputs, size, size], &kernel));
        let (kernel, strides, pads) = ([size; 2], [stride; 2], [padding; 4]);
        let attributes: [(&str, &[i64]); 3] = [("kernel_shape", &kernel), ("strides", &strides), ("pads", &pads)];
        nodes.push(node("Conv", &[&value, &name("kernel")], &name("convolved"), &attributes));
        nodes.push(node("Relu", &[&name("convolved")], &name("features"), &[]));
        value = name("features");
        if pooled {
            nodes.push(node("MaxPool", &[&value], &name("pooled"), &[("kernel_shape", &[3, 3]), ("strides", &[2, 2])]));
            value = name("pooled");
        }
    }
    nodes.push(node("GlobalAveragePool", &[&value], "means", &[]));
    let input = [port("image", FLOAT, &[2, 3, FREE, FREE])];
    model(&nodes, &weights, &input, &[port("means", FLOAT, &[2, 256, 1, 1])])
}

fn bench(bencher: Bencher<'_, '_>, runtime: &Runtime, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let model = pool.install(|| Model::from_bytes(Path::new("alexnet"), alexnet(), runtime)).unwrap();
    let pictures = Tensor::float([2, 3, 384, 512], vec![0.5; 2 * 3 * 384 * 512]).unwrap();
    bencher.bench_local(|| pool.install(|| model.run(&[("image", &pictures)], &["means"]).unwrap()));
}

#[divan::bench(args = [1, 2], max_time = 3)]
fn built_in(bencher: Bencher<'_, '_>, threads: usize) {
    bench(bencher, &Runtime::BuiltIn, threads);
}

#[divan::bench(args = [1, 2], max_time = 3)]
fn onnx_runtime(bencher: Bencher<'_, '_>, threads: usize) {
    match Runtime::find(None) {
        Runtime::BuiltIn => {}
        library => bench(bencher, &library, threads),
    }
}
