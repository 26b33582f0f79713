//! Converts a graph of TensorFlow.js to the layers of `agenticiqa-vision`.
//!
//! Value 0 is the image; value n is the output of layer n. Biases and activations become part of
//! the layer before them. Weights become whole numbers with one scale per output.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::tfjs::{Graph, Node, malformed};
use crate::{Result, Tensor};

/// Bits of each weight in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bits {
    Eight,
    Sixteen,
}

/// The layers of a network.
pub(crate) struct Layers {
    bits: Bits,
    layers: Vec<Layer>,
    outputs: Vec<usize>,
}

struct Layer {
    operation: Value,
    inputs: Vec<usize>,
    activation: &'static str,
    /// Kernels [outputs, inputs, height, width] and biases.
    weights: Option<(Tensor, Vec<f32>)>,
}

const LINEAR: &str = "linear";

impl Layers {
    /// Converts what leads to the given nodes.
    pub(crate) fn of(graph: &Graph, outputs: &[&str], bits: Bits) -> Result<Self> {
        let mut builder = Builder { graph, layers: Vec::new(), values: HashMap::new() };
        let outputs = outputs.iter().map(|name| builder.value(name)).collect::<Result<_>>()?;
        Ok(Self { bits, layers: builder.layers, outputs })
    }

    /// Returns the description for the header of the file.
    pub(crate) fn description(&self) -> Value {
        let layers = self
            .layers
            .iter()
            .map(|layer| json!({"operation": layer.operation, "inputs": layer.inputs, "activation": layer.activation}));
        let bits = if self.bits == Bits::Eight { 8 } else { 16 };
        json!({"bits": bits, "layers": layers.collect::<Vec<_>>(), "outputs": self.outputs})
    }

    /// Returns the numbers of all convolutions: scales, biases, weights.
    pub(crate) fn numbers(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kernel, bias) in self.layers.iter().filter_map(|layer| layer.weights.as_ref()) {
            let rows = kernel.values().chunks_exact(kernel.values().len() / bias.len().max(1));
            let scales: Vec<f32> = rows.clone().map(|row| scale(row, self.bits)).collect();
            bytes.extend(scales.iter().chain(bias).flat_map(|number| number.to_le_bytes()));
            for (row, scale) in rows.zip(scales) {
                let steps = row.iter().map(|weight| (weight / scale).round() as i16);
                match self.bits {
                    Bits::Eight => bytes.extend(steps.map(|step| step as i8 as u8)),
                    Bits::Sixteen => bytes.extend(steps.flat_map(i16::to_le_bytes)),
                }
            }
        }
        bytes
    }
}

/// Returns what one step is worth. It is never 0, so that it can divide.
fn scale(weights: &[f32], bits: Bits) -> f32 {
    let steps = if bits == Bits::Eight { f32::from(i8::MAX) } else { f32::from(i16::MAX) };
    (weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / steps).max(1e-12)
}

struct Builder<'a> {
    graph: &'a Graph,
    layers: Vec<Layer>,
    values: HashMap<String, usize>,
}

impl<'a> Builder<'a> {
    /// Returns the number of the value that a node computes.
    fn value(&mut self, name: &str) -> Result<usize> {
        if let Some(value) = self.values.get(name) {
            return Ok(*value);
        }
        let node = self.graph.node(name)?;
        let value = match node.operation.as_str() {
            "Placeholder" => 0,
            "_FusedConv2D" | "Conv2D" => self.convolution(node, false)?,
            "FusedDepthwiseConv2dNative" | "DepthwiseConv2dNative" => self.convolution(node, true)?,
            "Relu" => self.activate(&node.inputs, "relu", 1)?,
            "Sigmoid" => self.activate(&node.inputs, "sigmoid", 1)?,
            "Add" | "AddV2" => self.layer(json!("add"), &node.inputs)?,
            "Mul" => self.product(node)?,
            "Mean" => self.layer(json!("mean"), &node.inputs[..1])?,
            "ConcatV2" => self.layer(json!("concatenate"), &node.inputs[..node.inputs.len() - 1])?,
            "ResizeBilinear" => self.layer(json!("double"), &node.inputs[..1])?,
            "MaxPool" if node.stride()? == 2 => self.layer(json!("max_halve"), &node.inputs)?,
            "Pad" => self.widen(node)?,
            other => return Err(malformed(format!("the operation {other} of {name} is unknown"))),
        };
        self.values.insert(name.to_owned(), value);
        Ok(value)
    }

    fn layer(&mut self, operation: Value, inputs: &[String]) -> Result<usize> {
        let inputs = inputs.iter().map(|input| self.value(input)).collect::<Result<_>>()?;
        Ok(self.push(Layer { operation, inputs, activation: LINEAR, weights: None }))
    }

    fn push(&mut self, layer: Layer) -> usize {
        self.layers.push(layer);
        self.layers.len()
    }

    fn convolution(&mut self, node: &'a Node, depthwise: bool) -> Result<usize> {
        let [input, kernel, rest @ ..] = node.inputs.as_slice() else {
            return Err(malformed("a convolution without a kernel"));
        };
        let tensor = self.graph.tensor(kernel)?.clone();
        let tensor = if depthwise { tensor.depthwise() } else { tensor }.kernel(kernel)?;
        let &[outputs, _, side, width] = tensor.shape() else { return Err(malformed("a kernel without sides")) };
        if side != width || side > 1 && !node.pads() {
            return Err(malformed(format!("the kernel {kernel} is not square or not padded")));
        }
        let (biased, relu) = node.fused()?;
        let bias = match rest {
            [bias] if biased => self.graph.tensor(bias)?.values().to_vec(),
            [] if !biased => vec![0.0; outputs],
            _ => return Err(malformed("a convolution with unknown inputs")),
        };
        if bias.len() != outputs {
            return Err(malformed(format!("the kernel {kernel} and its biases differ")));
        }
        let shape = json!({"outputs": outputs, "side": side, "stride": node.stride()?, "depthwise": depthwise});
        let inputs = vec![self.value(input)?];
        let activation = if relu { "relu" } else { LINEAR };
        Ok(self.push(Layer {
            operation: json!({"convolution": shape}),
            inputs,
            activation,
            weights: Some((tensor, bias)),
        }))
    }

    /// Makes an activation part of the layer that computes its input, which only `readers` nodes of
    /// the activation may read.
    fn activate(&mut self, inputs: &[String], activation: &'static str, readers: usize) -> Result<usize> {
        let [input] = inputs else { return Err(malformed("an activation of several values")) };
        let value = self.value(input)?;
        let alone = self.graph.readers(input) == readers;
        match value.checked_sub(1).and_then(|place| self.layers.get_mut(place)) {
            Some(layer) if alone && layer.activation == LINEAR => layer.activation = activation,
            _ => return Err(malformed(format!("{input} is read with and without its activation"))),
        }
        Ok(value)
    }

    /// A product is an activation, a scale of a convolution, or a scale of planes.
    fn product(&mut self, node: &'a Node) -> Result<usize> {
        let [one, two] = node.inputs.as_slice() else { return Err(malformed("a product of one value")) };
        let number = self.graph.number(one).map(|number| (number, two));
        if let Some((number, value)) = number.or_else(|| self.graph.number(two).map(|number| (number, one))) {
            if is_sixth(number)
                && let Some(inner) = self.limited(value)?
            {
                return self.activate(&[inner.to_owned()], "hard_sigmoid", 1);
            }
            return self.multiply(value, number);
        }
        // x / 6 * ReLU6(x + 3)
        for (scaled, gate) in [(one, two), (two, one)] {
            let Some(inner) = self.limited(gate)? else { continue };
            let scaled = self.graph.node(scaled)?;
            let sixth = scaled.inputs.iter().filter_map(|input| self.graph.number(input)).any(is_sixth);
            if scaled.operation == "Mul" && sixth && scaled.inputs.iter().any(|input| input == inner) {
                return self.activate(&[inner.to_owned()], "hard_swish", 2);
            }
        }
        self.layer(json!("scale"), &node.inputs)
    }

    /// Returns x if a node computes ReLU6(x + 3).
    fn limited(&self, name: &str) -> Result<Option<&'a str>> {
        let node = self.graph.node(name)?;
        let ("Relu6", [sum]) = (node.operation.as_str(), node.inputs.as_slice()) else { return Ok(None) };
        let sum = self.graph.node(sum)?;
        match sum.inputs.as_slice() {
            [inner, three] if sum.operation.starts_with("Add") && self.graph.number(three) == Some(3.0) => {
                Ok(Some(inner))
            }
            _ => Ok(None),
        }
    }

    /// Multiplies a convolution by a number.
    fn multiply(&mut self, name: &str, factor: f32) -> Result<usize> {
        let value = self.value(name)?;
        let alone = self.graph.readers(name) == 1;
        match value.checked_sub(1).and_then(|place| self.layers.get_mut(place)) {
            Some(Layer { weights: Some((kernel, bias)), activation: LINEAR, .. }) if alone => {
                let factors = vec![f64::from(factor); bias.len()];
                *kernel = kernel.clone().scale_first(&factors);
                bias.iter_mut().for_each(|bias| *bias *= factor);
                Ok(value)
            }
            _ => Err(malformed(format!("{name} cannot be multiplied by {factor}"))),
        }
    }

    /// Padding appends planes and nothing else.
    fn widen(&mut self, node: &Node) -> Result<usize> {
        let [input, padding] = node.inputs.as_slice() else { return Err(malformed("a padding without sizes")) };
        let value = self.value(input)?;
        let [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, added] = *self.graph.tensor(padding)?.values() else {
            return Err(malformed("a padding of rows or columns"));
        };
        let outputs = self.planes(value)? + added as usize;
        let operation = json!({"widen": {"outputs": outputs}});
        Ok(self.push(Layer { operation, inputs: vec![value], activation: LINEAR, weights: None }))
    }

    /// Returns the number of planes of a value.
    fn planes(&self, value: usize) -> Result<usize> {
        let layer = value.checked_sub(1).and_then(|place| self.layers.get(place));
        let layer = layer.ok_or_else(|| malformed("the image is padded"))?;
        match (&layer.weights, layer.inputs.as_slice()) {
            (Some((_, bias)), _) => Ok(bias.len()),
            (None, [input, ..]) => self.planes(*input),
            (None, []) => Err(malformed("a layer without inputs")),
        }
    }
}

/// Half precision stores a sixth as 0.16663.
fn is_sixth(number: f32) -> bool {
    (number - 1.0 / 6.0).abs() < 1e-4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image, a convolution with a kernel of one sample and a bias, and what follows.
    fn graph(more: &str) -> Graph {
        let json = format!(
            r#"{{"modelTopology": {{"node": [
                {{"name": "image", "op": "Placeholder"}},
                {{"name": "a", "op": "_FusedConv2D", "input": ["image", "k", "b"], "attr": {{
                    "strides": {{"list": {{"i": ["1", "1", "1", "1"]}}}},
                    "fused_ops": {{"list": {{"s": ["Qmlhc0FkZA=="]}}}}}}}}{more}]}},
            "weightsManifest": [{{"weights": [
                {{"name": "k", "shape": [1, 1, 3, 2], "dtype": "float32"}},
                {{"name": "b", "shape": [2], "dtype": "float32"}},
                {{"name": "sixth", "shape": [], "dtype": "float32"}},
                {{"name": "three", "shape": [], "dtype": "float32"}}]}}]}}"#
        );
        let numbers = [1.0_f32, 0.0, 2.0, 0.5, -4.0, -1.0, 7.0, 8.0, 1.0 / 6.0, 3.0];
        Graph::read(json.as_bytes(), numbers.map(f32::to_le_bytes).as_flattened()).unwrap()
    }

    #[test]
    fn weights_become_whole_numbers_with_a_scale() {
        let bytes = Layers::of(&graph(""), &["a"], Bits::Eight).unwrap().numbers();
        assert_eq!(bytes.len(), 4 * 4 + 6);
        let floats: Vec<f32> = bytes[..16].as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(floats, [4.0 / 127.0, 1.0 / 127.0, 7.0, 8.0]);
        assert_eq!(bytes[16..].iter().map(|byte| *byte as i8).collect::<Vec<_>>(), [32, 64, -127, 0, 64, -127]);
        let bytes = Layers::of(&graph(""), &["a"], Bits::Sixteen).unwrap().numbers();
        assert_eq!(bytes.len(), 4 * 4 + 12);
        assert_eq!(bytes[18..22], [0x00, 0x40, 0x01, 0x80]);
    }

    #[test]
    fn activations_become_part_of_their_layer() {
        let relu = r#", {"name": "out", "op": "Relu", "input": ["a"]}"#;
        let swish = r#", {"name": "m", "op": "Mul", "input": ["sixth", "a"]}, {"name": "s", "op": "Add", "input": ["a", "three"]},
            {"name": "r", "op": "Relu6", "input": ["s"]}, {"name": "out", "op": "Mul", "input": ["m", "r"]}"#;
        let gate = r#", {"name": "s", "op": "Add", "input": ["a", "three"]}, {"name": "r", "op": "Relu6", "input": ["s"]},
            {"name": "out", "op": "Mul", "input": ["sixth", "r"]}"#;
        for (more, activation) in [(relu, "relu"), (swish, "hard_swish"), (gate, "hard_sigmoid")] {
            let description = Layers::of(&graph(more), &["out"], Bits::Eight).unwrap().description();
            assert_eq!(description["layers"].as_array().unwrap().len(), 1);
            assert_eq!(
                (&description["layers"][0]["activation"], &description["outputs"]),
                (&json!(activation), &json!([1]))
            );
        }
    }

    #[test]
    fn what_cannot_be_converted_is_refused() {
        let shared =
            r#", {"name": "r", "op": "Relu", "input": ["a"]}, {"name": "out", "op": "AddV2", "input": ["a", "r"]}"#;
        let unknown = r#", {"name": "out", "op": "Softmax", "input": ["a"]}"#;
        for (more, problem) in [(shared, "without its activation"), (unknown, "Softmax"), ("", "no node out")] {
            let error = Layers::of(&graph(more), &["out"], Bits::Eight).err().unwrap().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
