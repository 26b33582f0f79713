//! Selects the positions of a feature map that belong to a tile.
//!
//! A large image is cut into tiles that overlap by a halo. The graph gets the pixels of a tile
//! and, as `inner`, the rectangle that only this tile counts. The sides of the rectangle are
//! multiples of the largest stride, or the border of the image, so every position of every map is
//! counted in exactly one tile. The halo is wide enough that counted positions have the same
//! values as in the whole image.

use crate::onnx::{Attribute, Extent, FLOAT, Graph, Value};

/// The counted rectangle, for maps of any stride.
#[derive(Debug)]
pub(crate) struct Inner {
    starts: Value,
    ends: Value,
    axes: Value,
}

impl Inner {
    /// Adds the input `inner`: top, left, bottom, right in pixels of the tile, the last two
    /// exclusive.
    pub(crate) fn input(graph: &mut Graph) -> Self {
        let inner = graph.integer_input("inner", &[Extent::Is(4)]);
        let (zero, two, four) = (graph.integers(&[0]), graph.integers(&[2]), graph.integers(&[4]));
        Self {
            starts: graph.node("Slice", &[&inner, &zero, &two], &[]),
            ends: graph.node("Slice", &[&inner, &two, &four], &[]),
            axes: graph.integers(&[2, 3]),
        }
    }

    /// Returns the counted positions of a map. Maps may end before the rectangle at the right and
    /// bottom border of an image.
    pub(crate) fn of(&self, graph: &mut Graph, map: &Value, stride: i64) -> Value {
        if stride == 1 {
            return graph.node("Slice", &[map, &self.starts, &self.ends, &self.axes], &[]);
        }
        let (divisor, round_up) = (graph.integers(&[stride]), graph.integers(&[stride - 1]));
        let starts = graph.node("Div", &[&self.starts, &divisor], &[]);
        let ends = graph.node("Add", &[&self.ends, &round_up], &[]);
        let ends = graph.node("Div", &[&ends, &divisor], &[]);
        graph.node("Slice", &[map, &starts, &ends, &self.axes], &[])
    }
}

/// Returns the number of positions of maps [images, channels, height, width], as a number [1, 1].
pub(crate) fn count(graph: &mut Graph, maps: &Value, pictures_and_channels: usize) -> Value {
    let size = graph.node("Size", &[maps], &[]);
    let divisor = graph.integers(&[pictures_and_channels as i64]);
    let positions = graph.node("Div", &[&size, &divisor], &[]);
    let number = graph.node("Cast", &[&positions], &[("to", Attribute::Integer(FLOAT))]);
    row(graph, &number)
}

/// Reshapes a value to one row [1, length].
pub(crate) fn row(graph: &mut Graph, value: &Value) -> Value {
    let shape = graph.integers(&[1, -1]);
    graph.node("Reshape", &[value, &shape], &[])
}

/// Returns the items of a dimension from `start` to `end`.
pub(crate) fn part(graph: &mut Graph, value: &Value, axis: i64, start: usize, end: usize) -> Value {
    let (start, end) = (graph.integers(&[start as i64]), graph.integers(&[end as i64]));
    let axis = graph.integers(&[axis]);
    graph.node("Slice", &[value, &start, &end, &axis], &[])
}

/// Sums over a dimension, which is kept with size 1.
pub(crate) fn sum(graph: &mut Graph, value: &Value, axis: i64) -> Value {
    let axis = graph.integers(&[axis]);
    graph.node("ReduceSum", &[value, &axis], &[])
}

/// Concatenates values along a dimension.
pub(crate) fn join(graph: &mut Graph, values: &[&Value], axis: i64) -> Value {
    graph.node("Concat", values, &[("axis", Attribute::Integer(axis))])
}
