//! Tests models of the writer with the built-in engine.
use agenticiqa_weights::Tensor;
use agenticiqa_weights::onnx::{Attribute, Extent, Graph};
use rten::ModelOptions;
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

/// Builds a model of a convolution and a mean, with every kind of constant and attribute.
fn model() -> Vec<u8> {
    let mut graph = Graph::new("test");
    let image = graph.input("image", &[Extent::Is(1), Extent::Is(1), Extent::Any("height"), Extent::Any("width")]);
    let margin = graph.integer_input("margin", &[Extent::Is(2)]);
    let kernel = graph.tensor(&Tensor::new(&[1, 1, 2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap());
    let attributes = [("kernel_shape", Attribute::Integers(&[2, 2])), ("pads", Attribute::Integers(&[0, 0, 1, 1]))];
    let convolved = graph.node("Conv", &[&image, &kernel], &attributes);
    let leaky = graph.node("LeakyRelu", &[&convolved], &[("alpha", Attribute::Float(0.5))]);
    let (end, axes) = (graph.integers(&[i64::MAX, i64::MAX]), graph.integers(&[2, 3]));
    let inner = graph.node("Slice", &[&leaky, &margin, &end, &axes], &[]);
    let flat = graph.node("Flatten", &[&inner], &[("axis", Attribute::Integer(1))]);
    let one = graph.number(1.0);
    let sum = graph.node("Add", &[&flat, &one], &[]);
    graph.output("numbers", &sum, &[Extent::Is(1), Extent::Any("pixels")]);
    graph.finish()
}

#[test]
fn a_graph_computes_what_it_says() {
    let model = ModelOptions::with_all_ops().load(model()).unwrap();
    let image = NdTensor::from_data([1, 1, 2, 3], vec![1.0_f32, -2.0, 3.0, 0.0, 1.0, -1.0]);
    let margin = NdTensor::from_data([2], vec![0_i32, 1]);
    let inputs = vec![
        (model.node_id("image").unwrap(), image.view().into()),
        (model.node_id("margin").unwrap(), margin.view().into()),
    ];
    let outputs = model.run(inputs, &[model.node_id("numbers").unwrap()], None).unwrap();
    let numbers: rten_tensor::Tensor<f32> = outputs.into_iter().next().unwrap().try_into().unwrap();
    // Columns 1 and 2 of [[-3 + 4, 4 + 3 - 4, 3 - 3], [2, -1, -1]], halved where negative, plus
    // one.
    assert_eq!(numbers.shape(), [1, 4]);
    assert_eq!(numbers.to_vec(), [4.0, 1.0, 0.5, 0.5]);
}

#[test]
fn the_same_graph_is_the_same_bytes() {
    assert_eq!(model(), model());
}
