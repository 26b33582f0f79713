//! Tensors: inputs and outputs of a graph.

use crate::Error;

/// Type of the elements of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floating point.
    Float,
    /// 64-bit integers.
    Integer,
    /// Another type, with its number in the ONNX specification. The engines do not support it.
    Other(i64),
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Float => f.pad("float32"),
            Self::Integer => f.pad("int64"),
            Self::Other(number) => write!(f, "ONNX type {number}"),
        }
    }
}

/// Elements of a tensor in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// 32-bit floating point.
    Float(Vec<f32>),
    /// 64-bit integers.
    Integer(Vec<i64>),
}

impl Data {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Float(elements) => elements.len(),
            Self::Integer(elements) => elements.len(),
        }
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A multi-dimensional array of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    data: Data,
}

impl Tensor {
    /// Creates a tensor of 32-bit floating point numbers.
    pub fn float(shape: impl Into<Vec<usize>>, elements: Vec<f32>) -> Result<Self, Error> {
        Self::new(shape.into(), Data::Float(elements))
    }

    /// Creates a tensor of 64-bit integers.
    pub fn integer(shape: impl Into<Vec<usize>>, elements: Vec<i64>) -> Result<Self, Error> {
        Self::new(shape.into(), Data::Integer(elements))
    }

    fn new(shape: Vec<usize>, data: Data) -> Result<Self, Error> {
        let elements = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
        match elements {
            Some(elements) if elements == data.len() => Ok(Self { shape, data }),
            _ => Err(Error::Shape { shape, elements: data.len() }),
        }
    }

    /// Returns the sizes of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> Element {
        match self.data {
            Data::Float(_) => Element::Float,
            Data::Integer(_) => Element::Integer,
        }
    }

    /// Returns the elements as floating point numbers; `None` if they are integers.
    pub fn floats(&self) -> Option<&[f32]> {
        match &self.data {
            Data::Float(elements) => Some(elements),
            Data::Integer(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_elements_must_agree() {
        assert_eq!(Tensor::float([2, 3], vec![0.0; 6]).unwrap().shape(), [2, 3]);
        assert_eq!(Tensor::integer([], vec![7]).unwrap().data(), &Data::Integer(vec![7]));
        let wrong = Tensor::float([2, 3], vec![0.0; 5]).unwrap_err();
        assert_eq!(wrong.to_string(), "5 numbers do not fill a tensor of shape [2, 3]");
        assert!(Tensor::float([usize::MAX, 2], vec![]).is_err());
    }
}
