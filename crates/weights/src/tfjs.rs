//! Reads graph models of TensorFlow.js: a JSON file with the nodes and a binary file of weights.

use std::collections::HashMap;

use serde_json::Value;

use crate::cursor::Cursor;
use crate::{Error, Result, Tensor, tensor};

const FORMAT: &str = "TensorFlow.js";

/// A graph with its weights.
#[derive(Debug)]
pub(crate) struct Graph {
    nodes: HashMap<String, Node>,
    tensors: HashMap<String, Tensor>,
}

/// One operation.
#[derive(Debug)]
pub(crate) struct Node {
    /// Name of the operation.
    pub operation: String,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    attributes: Value,
}

impl Graph {
    /// Reads both files.
    pub(crate) fn read(json: &[u8], weights: &[u8]) -> Result<Self> {
        let json: Value = serde_json::from_slice(json).map_err(|error| malformed(error.to_string()))?;
        let mut nodes = HashMap::new();
        for node in list(&json["modelTopology"]["node"])? {
            let inputs = node["input"].as_array().map(Vec::as_slice).unwrap_or_default();
            let inputs = inputs.iter().map(|input| text(input).map(str::to_owned)).collect::<Result<_>>()?;
            let operation = text(&node["op"])?.to_owned();
            nodes.insert(text(&node["name"])?.to_owned(), Node { operation, inputs, attributes: node["attr"].clone() });
        }
        let mut tensors = HashMap::new();
        let mut cursor = Cursor::new(weights, FORMAT);
        for entry in list(&json["weightsManifest"])? {
            for entry in list(&entry["weights"])? {
                let name = text(&entry["name"])?;
                let shape = list(&entry["shape"])?.iter().map(|extent| extent.as_u64().map(|extent| extent as usize));
                let shape = shape.collect::<Option<Vec<_>>>().ok_or_else(|| malformed("a shape is no list"))?;
                let count = tensor::volume(&shape).ok_or_else(|| malformed("a shape is too large"))?;
                let stored = entry["quantization"]["dtype"].as_str().unwrap_or(text(&entry["dtype"])?);
                let values: Vec<f32> = match stored {
                    "float16" => take::<2>(&mut cursor, count)?.into_iter().map(half).collect(),
                    "float32" => take::<4>(&mut cursor, count)?.into_iter().map(f32::from_le_bytes).collect(),
                    "int32" => take::<4>(&mut cursor, count)?
                        .into_iter()
                        .map(|bytes| i32::from_le_bytes(bytes) as f32)
                        .collect(),
                    other => return Err(malformed(format!("weights of the type {other}"))),
                };
                if let Some(tensor) = Tensor::new(&shape, values) {
                    tensors.insert(name.to_owned(), tensor);
                }
            }
        }
        if cursor.rest().is_empty() { Ok(Self { nodes, tensors }) } else { Err(malformed("there are more weights")) }
    }

    /// Returns the node of a name.
    pub(crate) fn node(&self, name: &str) -> Result<&Node> {
        self.nodes.get(name).ok_or_else(|| malformed(format!("there is no node {name}")))
    }

    /// Returns the weights of a name.
    pub(crate) fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).ok_or_else(|| Error::MissingArray { format: FORMAT, name: name.to_owned() })
    }

    /// Returns a constant if it is one number.
    pub(crate) fn number(&self, name: &str) -> Option<f32> {
        self.tensors.get(name).filter(|tensor| tensor.values().len() == 1).map(|tensor| tensor.values()[0])
    }

    /// Returns how many nodes read a value.
    pub(crate) fn readers(&self, name: &str) -> usize {
        self.nodes.values().filter(|node| node.inputs.iter().any(|input| input == name)).count()
    }
}

impl Node {
    /// Returns the stride, which must be the same for rows and columns.
    pub(crate) fn stride(&self) -> Result<usize> {
        let number = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
        let strides = list(&self.attributes["strides"]["list"]["i"])?.iter().map(number).collect::<Option<Vec<_>>>();
        match strides.as_deref() {
            Some([1, rows, columns, 1]) if rows == columns => Ok(*rows),
            _ => Err(malformed("strides differ")),
        }
    }

    /// Returns whether the border is padded so that a stride of 1 keeps the size.
    pub(crate) fn pads(&self) -> bool {
        // "SAME" in Base64.
        self.attributes["padding"]["s"] == "U0FNRQ=="
    }

    /// Returns whether a bias and a ReLU follow in the same node.
    pub(crate) fn fused(&self) -> Result<(bool, bool)> {
        // "BiasAdd" and "Relu" in Base64.
        let operations = self.attributes["fused_ops"]["list"]["s"].as_array().map(Vec::as_slice).unwrap_or_default();
        match operations {
            [] => Ok((false, false)),
            [bias] if bias == "Qmlhc0FkZA==" => Ok((true, false)),
            [bias, relu] if bias == "Qmlhc0FkZA==" && relu == "UmVsdQ==" => Ok((true, true)),
            _ => Err(malformed("an unknown fused operation")),
        }
    }
}

pub(crate) fn malformed(problem: impl Into<String>) -> Error {
    Error::Malformed { format: FORMAT, position: 0, problem: problem.into() }
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| malformed("a name is no text"))
}

fn list(value: &Value) -> Result<&[Value]> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| malformed("a list is missing"))
}

fn take<const N: usize>(cursor: &mut Cursor<'_>, count: usize) -> Result<Vec<[u8; N]>> {
    let length = count.checked_mul(N).ok_or_else(|| malformed("a shape is too large"))?;
    Ok(cursor.take(length)?.as_chunks::<N>().0.to_vec())
}

/// Converts a number of 16 bits to one of 32.
fn half(bytes: [u8; 2]) -> f32 {
    let bits = u16::from_le_bytes(bytes);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn halves_are_those_of_the_standard() {
        let cases =
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3155, 0.166_625_98), (0x0001, 5.960_464_5e-8), (0x7bff, 65504.0)];
        for (bits, value) in cases {
            assert_eq!(half(u16::to_le_bytes(bits)), value);
        }
        assert!(half(0x7c01_u16.to_le_bytes()).is_nan());
    }

    #[test]
    fn files_that_do_not_fit_are_refused() {
        let json = |dtype: &str, shape: &str| {
            format!(
                r#"{{"modelTopology": {{"node": []}}, "weightsManifest": [{{"weights": [
                    {{"name": "w", "shape": {shape}, "dtype": "float32", "quantization": {{"dtype": "{dtype}"}}}}]}}]}}"#
            )
        };
        let read = |dtype: &str, shape: &str, weights: &[u8]| Graph::read(json(dtype, shape).as_bytes(), weights);
        let graph = read("float16", "[2]", &[0, 0x3c, 0, 0xc0]).unwrap();
        assert_eq!(graph.tensor("w").unwrap().values(), [1.0, -2.0]);
        assert!(graph.tensor("v").unwrap_err().to_string().contains("there is no array v"));
        assert!(graph.node("n").unwrap_err().to_string().contains("there is no node n"));
        for (dtype, shape, count) in [
            ("float16", "[3]", 4),
            ("float16", "[1]", 4),
            ("string", "[1]", 4),
            ("float16", "[18446744073709551615, 2]", 4),
        ] {
            assert!(read(dtype, shape, &vec![0; count]).is_err(), "{dtype} {shape}");
        }
        assert!(Graph::read(b"{}", b"").is_err());
        assert!(Graph::read(b"<html>", b"").is_err());
    }
}
