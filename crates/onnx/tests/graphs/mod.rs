//! Builds small ONNX files byte by byte, for tests and benchmarks.
#![allow(dead_code)]

/// A protocol buffer message under construction.
#[derive(Default, Clone)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub fn number(mut self, field: u64, number: i64) -> Self {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend(bytes.as_ref());
        self
    }

    pub fn message(self, field: u64, message: Message) -> Self {
        self.bytes(field, message.0)
    }
}

/// Type number of 32-bit floating point.
pub const FLOAT: i64 = 1;
/// Type number of 64-bit integers.
pub const INT64: i64 = 7;
/// Any size, as a dimension of a shape.
pub const FREE: i64 = -1;

pub fn floats(name: &str, shape: &[i64], elements: &[f32]) -> Message {
    tensor(name, FLOAT, shape, elements.iter().flat_map(|number| number.to_le_bytes()).collect())
}

pub fn integers(name: &str, elements: &[i64]) -> Message {
    let bytes = elements.iter().flat_map(|number| number.to_le_bytes()).collect();
    tensor(name, INT64, &[elements.len() as i64], bytes)
}

pub fn tensor(name: &str, element: i64, shape: &[i64], raw: Vec<u8>) -> Message {
    let sides = shape.iter().fold(Message::default(), |message, &side| message.number(1, side));
    sides.number(2, element).bytes(8, name).bytes(9, raw)
}

pub fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[(&str, &[i64])]) -> Message {
    let message = inputs.iter().fold(Message::default(), |message, input| message.bytes(1, input));
    let message = message.bytes(2, output).bytes(4, operator);
    attributes.iter().fold(message, |message, (name, numbers)| message.message(5, attribute(name, numbers)))
}

/// A single number becomes a scalar attribute; `axes` and similar attributes are always lists.
fn attribute(name: &str, numbers: &[i64]) -> Message {
    let message = Message::default().bytes(1, name);
    match numbers {
        [number] => message.number(3, *number).number(20, 2),
        numbers => numbers.iter().fold(message, |message, &number| message.number(8, number)).number(20, 7),
    }
}

pub fn port(name: &str, element: i64, shape: &[i64]) -> Message {
    let sides = shape.iter().fold(Message::default(), |message, &side| {
        let side = if side == FREE { Message::default().bytes(2, "n") } else { Message::default().number(1, side) };
        message.message(1, side)
    });
    let kind = Message::default().message(1, Message::default().number(1, element).message(2, sides));
    Message::default().bytes(1, name).message(2, kind)
}

/// Builds a complete file.
pub fn model(nodes: &[Message], weights: &[Message], inputs: &[Message], outputs: &[Message]) -> Vec<u8> {
    let mut graph = Message::default().bytes(2, "graph");
    for (field, messages) in [(1, nodes), (5, weights), (11, inputs), (12, outputs)] {
        graph = messages.iter().fold(graph, |graph, message| graph.message(field, message.clone()));
    }
    Message::default().number(1, 8).message(7, graph).message(8, Message::default().number(2, 17)).0
}

/// Declares a color image of any size.
pub fn picture(name: &str) -> Message {
    port(name, FLOAT, &[1, 3, FREE, FREE])
}

/// `score` [1, 1]: the mean of `image` times `factor`.
pub fn mean(factor: f32) -> Vec<u8> {
    let nodes = [
        node("Mul", &["image", "factor"], "scaled", &[]),
        node("ReduceMean", &["scaled"], "means", &[("axes", &[1, 2, 3]), ("keepdims", &[0])]),
        node("Reshape", &["means", "shape"], "score", &[]),
    ];
    let weights = [floats("factor", &[], &[factor]), integers("shape", &[1, 1])];
    model(&nodes, &weights, &[picture("image")], &[port("score", FLOAT, &[1, 1])])
}

/// `ratings` [1, 5]: the softmax of the first value of each channel of `image` [1, 5, 1, 1], that
/// of an image of 1x1.
pub fn ratings() -> Vec<u8> {
    let kernel: Vec<f32> = (0..15).map(|index| (index / 3) as f32 * 0.5).collect();
    let nodes = [
        node("Conv", &["image", "kernel"], "features", &[("kernel_shape", &[1, 1])]),
        node("GlobalAveragePool", &["features"], "pooled", &[]),
        node("Reshape", &["pooled", "shape"], "logits", &[]),
        node("Softmax", &["logits"], "ratings", &[("axis", &[1])]),
    ];
    let weights = [floats("kernel", &[5, 3, 1, 1], &kernel), integers("shape", &[1, 5])];
    model(&nodes, &weights, &[picture("image")], &[port("ratings", FLOAT, &[1, 5])])
}

const SAME: [(&str, &[i64]); 2] = [("kernel_shape", &[3, 3]), ("pads", &[1, 1, 1, 1])];
const HALF: [(&str, &[i64]); 3] = [("kernel_shape", &[3, 3]), ("pads", &[1, 1, 1, 1]), ("strides", &[2, 2])];

/// Two convolutions of the difference of two images, the second of stride 2. `statistics` [1, 2]:
/// the sum of squares of the positions in `inner`, and their number.
pub fn tile() -> Vec<u8> {
    let weight = |index: usize| ((index * 7919) % 13) as f32 * 0.05 - 0.3;
    let first: Vec<f32> = (0..4 * 27).map(weight).collect();
    let second: Vec<f32> = (0..2 * 36).map(weight).collect();
    let nodes = [
        node("Sub", &["reference", "distorted"], "difference", &[]),
        node("Conv", &["difference", "first"], "convolved", &SAME),
        node("Relu", &["convolved"], "rectified", &[]),
        node("Conv", &["rectified", "second"], "features", &HALF),
        node("Mul", &["features", "features"], "squares", &[]),
        node("Slice", &["inner", "zero", "two"], "origin", &[]),
        node("Slice", &["inner", "two", "four"], "end", &[]),
        node("Add", &["end", "one"], "next", &[]),
        node("Div", &["origin", "two"], "starts", &[]),
        node("Div", &["next", "two"], "ends", &[]),
        node("Slice", &["squares", "starts", "ends", "sides"], "counted", &[]),
        node("ReduceSum", &["counted", "all"], "sum", &[("keepdims", &[0])]),
        node("Size", &["counted"], "size", &[]),
        node("Cast", &["size"], "count", &[("to", &[FLOAT])]),
        node("Reshape", &["sum", "shape"], "left", &[]),
        node("Reshape", &["count", "shape"], "right", &[]),
        node("Concat", &["left", "right"], "statistics", &[("axis", &[1])]),
    ];
    let weights = [
        floats("first", &[4, 3, 3, 3], &first),
        floats("second", &[2, 4, 3, 3], &second),
        integers("zero", &[0]),
        integers("one", &[1]),
        integers("two", &[2]),
        integers("four", &[4]),
        integers("sides", &[2, 3]),
        integers("all", &[0, 1, 2, 3]),
        integers("shape", &[1, 1]),
    ];
    let inputs = [picture("reference"), picture("distorted"), port("inner", INT64, &[4])];
    model(&nodes, &weights, &inputs, &[port("statistics", FLOAT, &[1, 2])])
}

/// `score`: the mean square of all tiles.
pub fn head() -> Vec<u8> {
    let nodes = [
        node("ReduceSum", &["statistics", "tiles"], "totals", &[("keepdims", &[0])]),
        node("Gather", &["totals", "first"], "sum", &[]),
        node("Gather", &["totals", "second"], "count", &[]),
        node("Div", &["sum", "count"], "score", &[]),
    ];
    let weights = [integers("tiles", &[0]), integers("first", &[0]), integers("second", &[1])];
    model(&nodes, &weights, &[port("statistics", FLOAT, &[FREE, 2])], &[port("score", FLOAT, &[1])])
}
