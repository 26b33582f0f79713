//! Inputs and outputs of a graph: names, types and shapes.

use crate::Element;

/// Size of a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// A fixed size.
    Fixed(usize),
    /// Any size, with a name that may be empty.
    Free(String),
}

impl std::fmt::Display for Dimension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fixed(size) => write!(f, "{size}"),
            Self::Free(name) if name.is_empty() => f.write_str("?"),
            Self::Free(name) => f.write_str(name),
        }
    }
}

/// An input or output of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Name of the input or output.
    pub name: String,
    /// Type of the elements.
    pub element: Element,
    /// Sizes of the dimensions, if the file declares their number.
    pub shape: Option<Vec<Dimension>>,
}

impl Port {
    /// Returns whether a tensor of this shape is accepted.
    pub fn accepts(&self, shape: &[usize]) -> bool {
        self.shape.as_ref().is_none_or(|own| {
            let fits = |(own, size): (&Dimension, &usize)| match own {
                Dimension::Fixed(own) => own == size,
                Dimension::Free(_) => true,
            };
            own.len() == shape.len() && own.iter().zip(shape).all(fits)
        })
    }
}

impl std::fmt::Display for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.element)?;
        if let Some(shape) = &self.shape {
            let sides: Vec<String> = shape.iter().map(Dimension::to_string).collect();
            write!(f, " [{}]", sides.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_sides_must_match_and_free_ones_need_not() {
        let free = |name: &str| Dimension::Free(name.to_owned());
        let shape = Some(vec![Dimension::Fixed(1), Dimension::Fixed(3), free("height"), free("")]);
        let port = Port { name: "image".to_owned(), element: Element::Float, shape };
        assert!(port.accepts(&[1, 3, 20, 30]));
        assert!(!port.accepts(&[1, 1, 20, 30]) && !port.accepts(&[1, 3, 20]));
        assert_eq!(port.to_string(), "image: float32 [1, 3, height, ?]");
    }
}
