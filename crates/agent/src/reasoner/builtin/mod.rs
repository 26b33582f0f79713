//! The built-in analyst: the same roles without a model, from measurements.

pub mod selection;
