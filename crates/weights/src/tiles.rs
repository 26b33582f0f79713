//! Which positions of a map belong to a tile.
//!
//! A large image is cut into tiles that overlap by a halo. The graph is given the pixels of a tile and, as `inner`, the
//! rectangle of them that no other tile counts. Sides of the rectangle are multiples of the largest stride, or the image's
//! own; so every position of every map of the whole image is counted in exactly one tile. Beyond the halo no position sees that
//! there is a tile.

use crate::onnx::{Attribute, Extent, FLOAT, Graph, Value};

/// The counted rectangle, at the sides of maps of any stride.
#[derive(Debug)]
pub(crate) struct Inner {
    starts: Value,
    ends: Value,
    axes: Value,
}

impl Inner {
    /// Adds the input `inner`: top, left, bottom, right in pixels of the tile, the last two exclusive.
    pub(crate) fn input(graph: &mut Graph) -> Self {
        let inner = graph.integer_input("inner", &[Extent::Is(4)]);
        let (zero, two, four) = (graph.integers(&[0]), graph.integers(&[2]), graph.integers(&[4]));
        Self {
            starts: graph.node("Slice", &[&inner, &zero, &two], &[]),
            ends: graph.node("Slice", &[&inner, &two, &four], &[]),
            axes: graph.integers(&[2, 3]),
        }
    }

    /// The counted positions of a map. At the right and bottom side of an image maps may end before the rectangle does.
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

/// The number of positions of maps [images, channels, height, width], as a number [1, 1].
pub(crate) fn count(graph: &mut Graph, maps: &Value, pictures_and_channels: usize) -> Value {
    let size = graph.node("Size", &[maps], &[]);
    let divisor = graph.integers(&[pictures_and_channels as i64]);
    let positions = graph.node("Div", &[&size, &divisor], &[]);
    let number = graph.node("Cast", &[&positions], &[("to", Attribute::Integer(FLOAT))]);
    row(graph, &number)
}

/// A value as one row [1, length].
pub(crate) fn row(graph: &mut Graph, value: &Value) -> Value {
    let shape = graph.integers(&[1, -1]);
    graph.node("Reshape", &[value, &shape], &[])
}

/// The columns of a table, or the items of a dimension, from `start` to `end`.
pub(crate) fn part(graph: &mut Graph, value: &Value, axis: i64, start: usize, end: usize) -> Value {
    let (start, end) = (graph.integers(&[start as i64]), graph.integers(&[end as i64]));
    let axis = graph.integers(&[axis]);
    graph.node("Slice", &[value, &start, &end, &axis], &[])
}

/// The sum over a dimension, which is kept with one item.
pub(crate) fn sum(graph: &mut Graph, value: &Value, axis: i64) -> Value {
    let axis = graph.integers(&[axis]);
    graph.node("ReduceSum", &[value, &axis], &[])
}

/// Values one after the other along a dimension.
pub(crate) fn join(graph: &mut Graph, values: &[&Value], axis: i64) -> Value {
    graph.node("Concat", values, &[("axis", Attribute::Integer(axis))])
}
