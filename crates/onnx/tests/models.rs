//! Tests the engines with valid, damaged and hostile files.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

mod graphs;

use std::path::Path;

use agenticiqa_onnx::{Data, Element, Error, Model, Runtime, Tensor};
use graphs::{FLOAT, FREE, INT64, Message, integers, model, node, port};

fn load(bytes: Vec<u8>) -> Result<Model, Error> {
    Model::from_bytes(Path::new("test.onnx"), bytes, &Runtime::BuiltIn)
}

fn refusal(bytes: Vec<u8>) -> String {
    load(bytes).unwrap_err().to_string()
}

/// An image in which every value differs.
fn picture(width: usize, height: usize, seed: usize) -> Tensor {
    let value = |index: usize| ((index * 31 + index * index % 17 * seed) % 255) as f32 / 255.0;
    Tensor::float([1, 3, height, width], (0..3 * width * height).map(value).collect()).unwrap()
}

/// Returns the statistics of two images of 40x30, or the error.
fn statistics(model: &Model) -> Result<Vec<Tensor>, Error> {
    let inner = Tensor::integer([4], vec![2, 4, 30, 40]).unwrap();
    let (reference, distorted) = (picture(40, 30, 3), picture(40, 30, 5));
    model.run(&[("reference", &reference), ("distorted", &distorted), ("inner", &inner)], &["statistics"])
}

#[test]
fn a_graph_gives_the_numbers_of_its_definition() {
    let model = load(graphs::mean(2.0)).unwrap();
    let image = Tensor::float([1, 3, 2, 2], (0..12).map(|number| number as f32).collect()).unwrap();
    let scores = model.run(&[("image", &image)], &["score"]).unwrap();
    assert_eq!(scores, [Tensor::float([1, 1], vec![11.0]).unwrap()]);
}

#[test]
fn whole_numbers_go_in_and_out() {
    let nodes = [node("Add", &["number", "number"], "twice", &[])];
    let twice = model(&nodes, &[], &[port("number", INT64, &[FREE])], &[port("twice", INT64, &[FREE])]);
    let model = load(twice).unwrap();
    let number = Tensor::integer([2], vec![-3, 1 << 20]).unwrap();
    let twice = model.run(&[("number", &number)], &["twice"]).unwrap();
    assert_eq!(twice[0].data(), &Data::Integer(vec![-6, 1 << 21]));
    let beyond = Tensor::integer([1], vec![1 << 40]).unwrap();
    let error = model.run(&[("number", &beyond)], &["twice"]).unwrap_err();
    assert_eq!(error.to_string(), "test.onnx: 1099511627776 is beyond 32 bits");
}

#[test]
fn the_signature_is_that_of_the_file() {
    let model = load(graphs::tile()).unwrap();
    let inputs: Vec<String> = model.inputs().iter().map(ToString::to_string).collect();
    assert_eq!(inputs, ["reference: float32 [1, 3, n, n]", "distorted: float32 [1, 3, n, n]", "inner: int64 [4]"]);
    assert_eq!(model.output("statistics").unwrap().element, Element::Float);
}

#[test]
fn what_does_not_fit_the_signature_is_named() {
    let model = load(graphs::tile()).unwrap();
    let (image, inner) = (picture(8, 8, 1), Tensor::integer([4], vec![0, 0, 8, 8]).unwrap());
    let gray = Tensor::float([1, 1, 8, 8], vec![0.0; 64]).unwrap();
    let floats = Tensor::float([4], vec![0.0; 4]).unwrap();
    let run = |inputs: &[(&str, &Tensor)], output: &str| model.run(inputs, &[output]).unwrap_err().to_string();
    assert_eq!(
        run(&[("image", &image)], "statistics"),
        "test.onnx: it has no input \"image\", but reference: float32 [1, 3, n, n]; distorted: float32 [1, 3, n, n]; \
         inner: int64 [4]"
    );
    assert_eq!(
        run(&[("reference", &image), ("distorted", &image)], "statistics"),
        "test.onnx: it also needs the input inner: int64 [4]"
    );
    assert_eq!(
        run(&[("reference", &gray)], "statistics"),
        "test.onnx: its input reference: float32 [1, 3, n, n] is given a tensor of shape [1, 1, 8, 8]"
    );
    assert_eq!(
        run(&[("reference", &image), ("distorted", &image), ("inner", &floats)], "statistics"),
        "test.onnx: its input inner: int64 [4] is given numbers of type float32"
    );
    assert_eq!(
        run(&[("reference", &image), ("distorted", &image), ("inner", &inner)], "score"),
        "test.onnx: it has no output \"score\", but statistics: float32 [1, 2]"
    );
}

#[test]
fn sizes_that_do_not_suit_the_graph_are_an_error_of_the_run() {
    let model = load(graphs::tile()).unwrap();
    let inner = Tensor::integer([4], vec![0, 0, 8, 8]).unwrap();
    let inputs = [("reference", &picture(8, 8, 1)), ("distorted", &picture(9, 8, 1)), ("inner", &inner)];
    assert!(matches!(model.run(&inputs, &["statistics"]), Err(Error::Run { .. })));
}

#[test]
fn files_that_are_no_model_are_refused() {
    assert_eq!(refusal(b"<html>not found</html>".to_vec()), "test.onnx: it is damaged or not an ONNX file");
    assert_eq!(refusal(Vec::new()), "test.onnx: it holds no graph; is it an ONNX file?");
    let missing = Model::load(Path::new("/nowhere/x.onnx"), &Runtime::BuiltIn).unwrap_err();
    assert!(matches!(missing, Error::Unreadable { .. }) && missing.to_string().starts_with("/nowhere/x.onnx: "));
    let folder = tempfile::tempdir().unwrap();
    assert!(Model::load(folder.path(), &Runtime::BuiltIn).unwrap_err().to_string().ends_with("it is not a file"));
}

#[test]
fn an_operator_that_does_not_exist_is_named() {
    let nodes = [node("Divination", &["image"], "score", &[])];
    let model = model(&nodes, &[], &[graphs::picture("image")], &[port("score", FLOAT, &[1])]);
    let error = refusal(model);
    assert!(
        error.starts_with("test.onnx: the built-in engine cannot load it: ") && error.contains("Divination"),
        "{error}"
    );
}

fn with_weights(weights: Message, nodes: &[Message]) -> Vec<u8> {
    model(nodes, &[weights], &[graphs::picture("image")], &[port("score", FLOAT, &[FREE])])
}

#[test]
fn hostile_tensors_are_refused_before_an_engine_sees_them() {
    let add = [node("Add", &["image", "weights"], "score", &[])];
    let lying = graphs::tensor("weights", FLOAT, &[1 << 30, 1 << 20], vec![0; 64]);
    assert!(refusal(with_weights(lying, &add)).contains("says [1073741824, 1048576] but holds another number"));
    let overflowing = graphs::tensor("weights", FLOAT, &[i64::MAX, i64::MAX], vec![0; 64]);
    assert!(refusal(with_weights(overflowing, &add)).contains("absurd shape"));
    let negative = graphs::tensor("weights", FLOAT, &[-4], vec![0; 16]);
    assert!(refusal(with_weights(negative, &add)).contains("absurd shape [-4]"));
    let location = Message::default().bytes(1, "location").bytes(2, "/etc/passwd");
    let elsewhere = Message::default().number(1, 4).number(2, FLOAT).bytes(8, "weights").message(13, location);
    assert!(refusal(with_weights(elsewhere.number(14, 1), &add)).contains("weights in another file"));
}

#[test]
fn nodes_that_ask_for_absurd_memory_are_refused() {
    for (operator, inputs) in [("ConstantOfShape", &["weights"][..]), ("Expand", &["image", "weights"])] {
        let nodes = [node(operator, inputs, "score", &[])];
        let error = refusal(with_weights(integers("weights", &[1 << 20, 1 << 20]), &nodes));
        assert_eq!(error, format!("test.onnx: {operator} makes a tensor of absurd size"));
    }
    let pads: &[i64] = &[0, 0, 1 << 40, 0];
    let nodes = [node("MaxPool", &["image"], "score", &[("kernel_shape", &[2, 2]), ("pads", pads)])];
    assert!(refusal(with_weights(integers("weights", &[1]), &nodes)).contains("absurd pads"));
}

#[test]
fn graphs_in_graphs_end_somewhere() {
    let mut graph = Message::default();
    for _ in 0..100_000 {
        let attribute = Message::default().bytes(1, "body").message(6, std::mem::take(&mut graph));
        graph = Message::default().message(1, Message::default().bytes(4, "If").message(5, attribute));
        if graph.0.len() > 1 << 16 {
            break;
        }
    }
    let model = Message::default().message(7, graph).message(8, Message::default().number(2, 17));
    assert_eq!(refusal(model.0), "test.onnx: its graphs nest too deeply");
}

/// A damaged file is rejected or works; it never crashes the program.
fn survives(bytes: Vec<u8>, runtime: &Runtime) -> bool {
    let outcome = Model::from_bytes(Path::new("damaged.onnx"), bytes, runtime).and_then(|model| statistics(&model));
    outcome.inspect_err(|error| assert!(error.to_string().starts_with("damaged.onnx: "), "{error}")).is_ok()
}

fn damage(runtime: &Runtime) {
    let whole = graphs::tile();
    assert!(survives(whole.clone(), runtime));
    for end in (0..whole.len()).step_by(97) {
        assert!(!survives(whole[..end].to_vec(), runtime), "cut at {end}");
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..400 {
        let mut flipped = whole.clone();
        for _ in 0..=random.usize(..3) {
            let (byte, bit) = (random.usize(..whole.len()), random.u32(..8));
            flipped[byte] ^= 1 << bit;
        }
        survives(flipped, runtime);
    }
    for _ in 0..200 {
        let noise = (0..random.usize(..2000)).map(|_| random.u8(..)).collect();
        assert!(!survives(noise, runtime));
    }
}

#[test]
fn damaged_files_never_end_the_program() {
    damage(&Runtime::BuiltIn);
}

#[test]
fn many_threads_share_a_model() {
    let model = load(graphs::tile()).unwrap();
    let alone = statistics(&model).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| statistics(&model).unwrap())).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}

#[test]
fn a_worker_that_waits_for_a_model_takes_up_no_other_work() {
    use rayon::prelude::*;
    let model = std::sync::Mutex::new(load(graphs::tile()).unwrap());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // A pool worker that picked up the next item while waiting inside the lock would deadlock.
    let sums: Vec<_> =
        pool.install(|| (0..32).into_par_iter().map(|_| statistics(&model.lock().unwrap()).unwrap()).collect());
    assert!(sums.iter().all(|sum| *sum == sums[0]));
}

#[test]
fn a_library_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libonnxruntime.so");
    std::fs::write(&path, "text").unwrap();
    let runtime = Runtime::find(Some(&path));
    assert_eq!(runtime, Runtime::Library(path.clone()));
    let error = Model::from_bytes(Path::new("test.onnx"), graphs::tile(), &runtime).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: not usable as the library", path.display())), "{error}");
}

/// Runs with the library that `ORT_DYLIB_PATH` names; `scripts/check-onnxruntime` downloads one
/// and sets the variable.
#[test]
fn onnx_runtime_gives_the_same_numbers_and_survives_the_same_files() {
    let runtime = Runtime::find(None);
    if runtime == Runtime::BuiltIn {
        return;
    }
    let numbers = |runtime: &Runtime| {
        let model = Model::from_bytes(Path::new("test.onnx"), graphs::tile(), runtime).unwrap();
        statistics(&model).unwrap()[0].floats().unwrap().to_vec()
    };
    let (theirs, ours) = (numbers(&runtime), numbers(&Runtime::BuiltIn));
    assert_eq!(theirs[1], ours[1]);
    assert!((theirs[0] - ours[0]).abs() <= 1e-5 * ours[0], "{theirs:?} {ours:?}");
    let fits = Model::from_bytes(Path::new("test.onnx"), graphs::head(), &runtime).unwrap();
    let stacked = Tensor::float([2, 2], vec![6.0, 2.0, 4.0, 3.0]).unwrap();
    assert_eq!(fits.run(&[("statistics", &stacked)], &["score"]).unwrap()[0].floats(), Some(&[2.0][..]));
    damage(&runtime);
}
