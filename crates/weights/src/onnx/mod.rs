//! Writes ONNX models with one graph. The same calls produce the same bytes.
//!
//! ```
//! use agenticiqa_weights::onnx::{Extent, Graph};
//!
//! let mut graph = Graph::new("twice");
//! let image = graph.input("image", &[Extent::Is(1), Extent::Is(3), Extent::Any("height"), Extent::Any("width")]);
//! let two = graph.number(2.0);
//! let twice = graph.node("Mul", &[&image, &two], &[]);
//! graph.output("score", &twice, &[Extent::Is(1), Extent::Is(3), Extent::Any("height"), Extent::Any("width")]);
//! let bytes = graph.finish();
//! assert_eq!(bytes[..2], [8, 8]);
//! ```

mod protobuf;

use protobuf::Message;

use crate::Tensor;

/// Operator set of the graphs.
const OPSET: i64 = 17;
/// Version of the file format that belongs to the operator set.
const FORMAT_VERSION: i64 = 8;
/// Type number of 32-bit floating point.
pub(crate) const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// Name of a value in a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value(String);

impl Value {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// Size of an input or output in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// A fixed size.
    Is(i64),
    /// Any size. Dimensions with the same name have the same size.
    Any(&'static str),
}

/// An attribute of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attribute<'a> {
    /// A floating point number.
    Float(f32),
    /// An integer.
    Integer(i64),
    /// A list of integers.
    Integers(&'a [i64]),
}

#[derive(Debug)]
struct Node<'a> {
    operator: &'a str,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// A graph under construction. Every value gets a unique name.
#[derive(Debug)]
pub struct Graph {
    name: String,
    nodes: Message,
    weights: Message,
    inputs: Message,
    outputs: Message,
    values: usize,
}

impl Graph {
    /// Creates an empty graph.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: Message::default(),
            weights: Message::default(),
            inputs: Message::default(),
            outputs: Message::default(),
            values: 0,
        }
    }

    /// Adds an input of 32-bit floating point numbers.
    pub fn input(&mut self, name: &str, shape: &[Extent]) -> Value {
        description(&mut self.inputs, INPUT, name, FLOAT, shape);
        Value(name.to_owned())
    }

    /// Adds an input of 64-bit integers.
    pub fn integer_input(&mut self, name: &str, shape: &[Extent]) -> Value {
        description(&mut self.inputs, INPUT, name, INT64, shape);
        Value(name.to_owned())
    }

    /// Adds a constant tensor.
    pub fn tensor(&mut self, tensor: &Tensor) -> Value {
        let shape: Vec<i64> = tensor.shape().iter().map(|&extent| extent as i64).collect();
        let bytes = tensor.values().iter().flat_map(|number| number.to_le_bytes());
        self.constant(FLOAT, &shape, size_of_val(tensor.values()), bytes)
    }

    /// Adds a constant number.
    pub fn number(&mut self, number: f32) -> Value {
        self.constant(FLOAT, &[], size_of::<f32>(), number.to_le_bytes().into_iter())
    }

    /// Adds a constant list of integers.
    pub fn integers(&mut self, integers: &[i64]) -> Value {
        let bytes = integers.iter().flat_map(|integer| integer.to_le_bytes());
        self.constant(INT64, &[integers.len() as i64], size_of_val(integers), bytes)
    }

    /// Adds a node and returns its output.
    pub fn node(&mut self, operator: &str, inputs: &[&Value], attributes: &[(&str, Attribute<'_>)]) -> Value {
        let value = self.fresh(operator);
        let inputs = inputs.iter().map(|input| input.0.clone()).collect();
        self.write_node(&Node { operator, inputs, outputs: vec![value.0.clone()] }, attributes);
        value
    }

    /// Declares a value as an output of the model.
    pub fn output(&mut self, name: &str, value: &Value, shape: &[Extent]) {
        let node = Node { operator: "Identity", inputs: vec![value.0.clone()], outputs: vec![name.to_owned()] };
        self.write_node(&node, &[]);
        description(&mut self.outputs, OUTPUT, name, FLOAT, shape);
    }

    /// Returns the model as the bytes of an ONNX file.
    pub fn finish(self) -> Vec<u8> {
        let mut model = Message::default();
        model.integer(MODEL_FORMAT, FORMAT_VERSION);
        model.text(MODEL_PRODUCER, "agenticiqa");
        model.message(MODEL_GRAPH, |graph| {
            graph.append(self.nodes);
            graph.text(GRAPH_NAME, &self.name);
            graph.append(self.weights);
            graph.append(self.inputs);
            graph.append(self.outputs);
        });
        // The empty domain means the standard ONNX operators.
        model.message(MODEL_OPSET, |opset| opset.integer(OPSET_VERSION, OPSET));
        model.into_bytes()
    }

    fn fresh(&mut self, prefix: &str) -> Value {
        self.values += 1;
        Value(format!("{prefix}_{}", self.values))
    }

    fn constant(&mut self, kind: i64, shape: &[i64], length: usize, bytes: impl Iterator<Item = u8>) -> Value {
        let value = self.fresh("weights");
        self.weights.message(GRAPH_WEIGHTS, |tensor| {
            shape.iter().for_each(|&extent| tensor.integer(TENSOR_EXTENT, extent));
            tensor.integer(TENSOR_KIND, kind);
            tensor.text(TENSOR_NAME, &value.0);
            tensor.raw(TENSOR_BYTES, length, bytes);
        });
        value
    }

    fn write_node(&mut self, node: &Node<'_>, attributes: &[(&str, Attribute<'_>)]) {
        self.nodes.message(GRAPH_NODE, |message| {
            node.inputs.iter().for_each(|input| message.text(NODE_INPUT, input));
            node.outputs.iter().for_each(|output| message.text(NODE_OUTPUT, output));
            message.text(NODE_OPERATOR, node.operator);
            attributes.iter().for_each(|(name, value)| attribute(message, name, *value));
        });
    }
}

// Field and type numbers of the ONNX schema.
const MODEL_FORMAT: u64 = 1;
const MODEL_PRODUCER: u64 = 2;
const MODEL_GRAPH: u64 = 7;
const MODEL_OPSET: u64 = 8;
const OPSET_VERSION: u64 = 2;
const GRAPH_NODE: u64 = 1;
const GRAPH_NAME: u64 = 2;
const GRAPH_WEIGHTS: u64 = 5;
const INPUT: u64 = 11;
const OUTPUT: u64 = 12;
const NODE_INPUT: u64 = 1;
const NODE_OUTPUT: u64 = 2;
const NODE_OPERATOR: u64 = 4;
const NODE_ATTRIBUTE: u64 = 5;
const TENSOR_EXTENT: u64 = 1;
const TENSOR_KIND: u64 = 2;
const TENSOR_NAME: u64 = 8;
const TENSOR_BYTES: u64 = 9;
const ATTRIBUTE_NAME: u64 = 1;
const ATTRIBUTE_KIND: u64 = 20;

fn attribute(node: &mut Message, name: &str, value: Attribute<'_>) {
    node.message(NODE_ATTRIBUTE, |attribute| {
        attribute.text(ATTRIBUTE_NAME, name);
        let kind = match value {
            Attribute::Float(number) => {
                attribute.float(2, number);
                1
            }
            Attribute::Integer(integer) => {
                attribute.integer(3, integer);
                2
            }
            Attribute::Integers(integers) => {
                integers.iter().for_each(|&integer| attribute.integer(8, integer));
                7
            }
        };
        attribute.integer(ATTRIBUTE_KIND, kind);
    });
}

/// Writes name, element type and shape of an input or output.
fn description(graph: &mut Message, field: u64, name: &str, kind: i64, shape: &[Extent]) {
    graph.message(field, |info| {
        info.text(1, name);
        info.message(2, |kinds| {
            kinds.message(1, |tensor| {
                tensor.integer(1, kind);
                tensor.message(2, |extents| {
                    for extent in shape {
                        extents.message(1, |dimension| match extent {
                            Extent::Is(extent) => dimension.integer(1, *extent),
                            Extent::Any(name) => dimension.text(2, name),
                        });
                    }
                });
            });
        });
    });
}
