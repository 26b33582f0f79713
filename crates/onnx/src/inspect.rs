//! Inspects an ONNX file before an engine loads it: reads its signature and rejects files that an
//! engine cannot be trusted with.
//!
//! Engines allocate what a file requests, follow nested graphs to any depth, and open the files
//! that it names. This module therefore rejects files with tensors of another size than declared,
//! with absurdly large tensors, with graphs nested too deeply, or with weights in other files
//! (which a checksum of the file would not cover).

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::{Broken, Value, fields};
use crate::{Dimension, Element, Port};

/// Maximum nesting depth of graphs.
const MAX_DEPTH: usize = 8;
/// Maximum number of dimensions of a tensor.
const MAX_RANK: usize = 16;
/// Maximum number of elements of a tensor.
const MAX_ELEMENTS: u64 = 1 << 31;
/// Maximum padding, stride or kernel size.
const MAX_EXTENT: u64 = 1 << 16;

/// Inputs and outputs of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Signature {
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

/// The reason why a file is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused(pub String);

impl From<Broken> for Refused {
    fn from(_: Broken) -> Self {
        Self("it is damaged or not an ONNX file".to_owned())
    }
}

fn refused<T>(reason: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(reason.into()))
}

/// Reads the signature of a model and checks what engines do not check.
pub(crate) fn inspect(model: &[u8]) -> Result<Signature, Refused> {
    let mut signature = None;
    let mut operators = false;
    for field in fields(model) {
        match field? {
            (7, graph) => signature = Some(inspect_graph(graph.bytes()?, 0)?),
            (8, _) => operators = true,
            // Functions are named graphs.
            (25, function) => inspect_function(function.bytes()?)?,
            _ => {}
        }
    }
    match signature {
        Some(_) if !operators => refused("it does not say which version of the operators it uses"),
        Some(signature) if signature.outputs.is_empty() => refused("its graph gives nothing"),
        Some(signature) => Ok(signature),
        None => refused("it holds no graph; is it an ONNX file?"),
    }
}

fn inspect_function(function: &[u8]) -> Result<(), Refused> {
    let mut nodes = Vec::new();
    for field in fields(function) {
        if let (7, node) = field? {
            nodes.push(inspect_node(node.bytes()?, 1)?);
        }
    }
    check_extents(&nodes, &BTreeMap::new())
}

fn inspect_graph(graph: &[u8], depth: usize) -> Result<Signature, Refused> {
    if depth > MAX_DEPTH {
        return refused("its graphs nest too deeply");
    }
    let mut signature = Signature::default();
    let mut constants = BTreeMap::new();
    let mut initialized = BTreeSet::new();
    let mut nodes = Vec::new();
    for field in fields(graph) {
        match field? {
            (1, node) => nodes.push(inspect_node(node.bytes()?, depth)?),
            (5, tensor) => {
                let tensor = inspect_tensor(tensor.bytes()?)?;
                initialized.insert(tensor.name.clone());
                constants.extend(tensor.numbers.map(|numbers| (tensor.name, numbers)));
            }
            (11, port) => signature.inputs.push(read_port(port.bytes()?)?),
            (12, port) => signature.outputs.push(read_port(port.bytes()?)?),
            (15, _) => return refused("it holds sparse tensors, which are not supported"),
            _ => {}
        }
    }
    for node in &nodes {
        if let (Some(numbers), [name]) = (&node.constant, node.outputs.as_slice()) {
            constants.insert(name.clone(), numbers.clone());
        }
    }
    check_extents(&nodes, &constants)?;
    // Old files also list their weights as inputs.
    signature.inputs.retain(|port| !initialized.contains(&port.name));
    Ok(signature)
}

/// The parts of a node that are checked later.
#[derive(Debug, Default)]
struct Node {
    operator: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// Integers of a constant node.
    constant: Option<Vec<i64>>,
}

fn inspect_node(node: &[u8], depth: usize) -> Result<Node, Refused> {
    let mut read = Node::default();
    for field in fields(node) {
        match field? {
            (1, name) => read.inputs.push(name.text()?.to_owned()),
            (2, name) => read.outputs.push(name.text()?.to_owned()),
            (4, name) => read.operator = name.text()?.to_owned(),
            (5, attribute) => {
                let numbers = inspect_attribute(attribute.bytes()?, depth)?;
                read.constant = read.constant.or(numbers);
            }
            _ => {}
        }
    }
    if read.operator != "Constant" {
        read.constant = None;
    }
    Ok(read)
}

/// Checks an attribute and returns its integers if it is the value of a constant.
fn inspect_attribute(attribute: &[u8], depth: usize) -> Result<Option<Vec<i64>>, Refused> {
    let mut name = "";
    let mut numbers = Vec::new();
    let mut tensor = None;
    for field in fields(attribute) {
        match field? {
            (1, text) => name = text.text()?,
            (3 | 8, value) => numbers.extend(value.numbers()?),
            (5 | 10, value) => tensor = Some(inspect_tensor(value.bytes()?)?),
            (6 | 11, graph) => drop(inspect_graph(graph.bytes()?, depth + 1)?),
            (22 | 23, _) => return refused("it holds sparse tensors, which are not supported"),
            _ => {}
        }
    }
    match name {
        "pads" | "kernel_shape" | "strides" | "dilations" | "output_padding" | "output_shape" | "group"
        | "blocksize"
            if numbers.iter().any(|number| number.unsigned_abs() > MAX_EXTENT) =>
        {
            refused(format!("a node has the absurd {name} {numbers:?}"))
        }
        // Operators that generate a tensor, such as random numbers, have this attribute.
        "shape" => check_elements("a node's shape", &numbers).map(|()| None),
        "value" => Ok(tensor.and_then(|tensor| tensor.numbers)),
        "value_int" | "value_ints" => Ok(Some(numbers)),
        _ => Ok(None),
    }
}

/// Rejects nodes that a constant instructs to create an absurdly large tensor.
fn check_extents(nodes: &[Node], constants: &BTreeMap<String, Vec<i64>>) -> Result<(), Refused> {
    for node in nodes {
        let constant = |input: usize| node.inputs.get(input).and_then(|name| constants.get(name));
        let sizes = match node.operator.as_str() {
            "ConstantOfShape" => constant(0),
            "Expand" | "Tile" => constant(1),
            "Resize" => constant(3),
            _ => None,
        };
        if let Some(sizes) = sizes {
            check_elements(&node.operator, sizes)?;
        }
        let pads = if node.operator == "Pad" { constant(1) } else { None };
        if pads.is_some_and(|pads| pads.iter().any(|pad| pad.unsigned_abs() > MAX_EXTENT)) {
            return refused("a node pads by an absurd number of elements");
        }
    }
    Ok(())
}

fn check_elements(what: &str, shape: &[i64]) -> Result<(), Refused> {
    let elements = shape.iter().fold(1u64, |product, side| product.saturating_mul(side.unsigned_abs().max(1)));
    if elements > MAX_ELEMENTS || shape.len() > MAX_RANK {
        return refused(format!("{what} makes a tensor of absurd size"));
    }
    Ok(())
}

/// The parts of a tensor that are checked later.
#[derive(Debug)]
struct Weights {
    name: String,
    /// The elements, if they are integers and few.
    numbers: Option<Vec<i64>>,
}

/// Returns the bytes per element of a type number; `None` if the type is not supported.
fn width(element: i64) -> Option<usize> {
    match element {
        2 | 3 | 9 => Some(1),
        4 | 5 | 10 | 16 => Some(2),
        1 | 6 | 12 => Some(4),
        7 | 11 | 13 => Some(8),
        _ => None,
    }
}

const INT64: i64 = 7;

fn inspect_tensor(tensor: &[u8]) -> Result<Weights, Refused> {
    let (mut name, mut shape, mut element) = ("", Vec::new(), 0);
    let (mut raw, mut numbers) = (None, Vec::new());
    for field in fields(tensor) {
        match field? {
            (1, sides) => shape.extend(sides.numbers()?),
            (2, Value::Number(number)) => element = number as i64,
            (7, integers) => numbers.extend(integers.numbers()?),
            (8, text) => name = text.text()?,
            (9, bytes) => raw = Some(bytes.bytes()?),
            (13, _) | (14, Value::Number(1..)) => {
                return refused("it keeps its weights in another file; save it with the weights inside");
            }
            _ => {}
        }
    }
    let elements = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(usize::try_from(side).ok()?));
    let (Some(elements), true) = (elements, shape.len() <= MAX_RANK) else {
        return refused(format!("its tensor {name:?} has the absurd shape {shape:?}"));
    };
    let whole = match (raw, width(element)) {
        (_, None) => return refused(format!("its tensor {name:?} is of ONNX type {element}, which is not supported")),
        (Some(raw), Some(width)) => elements.checked_mul(width) == Some(raw.len()),
        // Elements that are written individually take at least one byte each.
        (None, Some(_)) => elements <= tensor.len(),
    };
    if !whole {
        return refused(format!("its tensor {name:?} says {shape:?} but holds another number of elements"));
    }
    let numbers = (element == INT64 && elements <= MAX_RANK).then(|| match raw {
        Some(raw) => raw.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
        None => numbers,
    });
    Ok(Weights { name: name.to_owned(), numbers })
}

fn read_port(port: &[u8]) -> Result<Port, Refused> {
    let (mut name, mut element, mut shape) = (String::new(), Element::Other(0), None);
    for field in fields(port) {
        match field? {
            (1, text) => text.text()?.clone_into(&mut name),
            (2, kind) => (element, shape) = read_type(kind.bytes()?)?,
            _ => {}
        }
    }
    if name.is_empty() {
        return refused("its graph has an input or output without a name");
    }
    Ok(Port { name, element, shape })
}

fn read_type(kind: &[u8]) -> Result<(Element, Option<Vec<Dimension>>), Refused> {
    let (mut element, mut shape) = (Element::Other(0), None);
    for field in fields(kind) {
        let (1, tensor) = field? else { continue };
        for field in fields(tensor.bytes()?) {
            match field? {
                (1, Value::Number(1)) => element = Element::Float,
                (1, Value::Number(7)) => element = Element::Integer,
                (1, Value::Number(other)) => element = Element::Other(other as i64),
                (2, sides) => shape = Some(read_shape(sides.bytes()?)?),
                _ => {}
            }
        }
    }
    Ok((element, shape))
}

fn read_shape(shape: &[u8]) -> Result<Vec<Dimension>, Refused> {
    let mut sides = Vec::new();
    for field in fields(shape) {
        let (1, side) = field? else { continue };
        let mut dimension = Dimension::Free(String::new());
        for field in fields(side.bytes()?) {
            match field? {
                (1, Value::Number(size)) => {
                    // Exporters write a negative size for an unknown one.
                    dimension =
                        usize::try_from(size as i64).map_or_else(|_| Dimension::Free(String::new()), Dimension::Fixed);
                }
                (2, name) => dimension = Dimension::Free(name.text()?.to_owned()),
                _ => {}
            }
        }
        sides.push(dimension);
    }
    Ok(sides)
}
