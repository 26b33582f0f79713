//! One channel of samples: the input of metrics, and the type of quality maps.

/// A two-dimensional array of samples, stored row by row without padding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plane<T = f32> {
    width: usize,
    height: usize,
    data: Vec<T>,
}

impl<T: Copy + Default> Plane<T> {
    /// Creates a plane of zeros.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, data: vec![T::default(); width * height] }
    }

    /// Changes the size and keeps the allocated memory. The sample values are unspecified
    /// afterwards.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        let length = width * height;
        if self.data.capacity() < length {
            // Fresh memory is already zero, and the threads that fill it touch it first.
            self.data = vec![T::default(); length];
        } else {
            self.data.resize(length, T::default());
        }
    }

    /// Creates a plane from existing samples. Returns `None` unless there are exactly
    /// `width * height` samples.
    pub fn from_vec(width: usize, height: usize, data: Vec<T>) -> Option<Self> {
        (data.len() == width * height).then_some(Self { width, height, data })
    }

    /// Creates a plane whose samples are `sample(x, y)`.
    pub fn from_fn(width: usize, height: usize, mut sample: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(width * height);
        for y in 0..height {
            data.extend((0..width).map(|x| sample(x, y)));
        }
        Self { width, height, data }
    }

    /// Returns a new plane with `f` applied to every sample.
    pub fn map<U: Copy + Default>(&self, f: impl Fn(T) -> U) -> Plane<U> {
        Plane { width: self.width, height: self.height, data: self.data.iter().map(|&v| f(v)).collect() }
    }
}

impl<T> Plane<T> {
    /// Width in samples.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in samples.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All samples, row by row.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// All samples, mutable.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Returns the samples as a vector, row by row.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// Row `y`.
    pub fn row(&self, y: usize) -> &[T] {
        &self.data[y * self.width..(y + 1) * self.width]
    }

    /// Row `y`, mutable.
    pub fn row_mut(&mut self, y: usize) -> &mut [T] {
        &mut self.data[y * self.width..(y + 1) * self.width]
    }
}

impl<T: Copy> Plane<T> {
    /// The sample at column `x`, row `y`.
    pub fn at(&self, x: usize, y: usize) -> T {
        self.data[y * self.width + x]
    }
}
