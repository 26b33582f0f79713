//! One channel of numbers: what metrics compute on, and what a map is.

/// A two-dimensional array of samples, stored row by row without padding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plane<T = f32> {
    width: usize,
    height: usize,
    data: Vec<T>,
}

impl<T: Copy + Default> Plane<T> {
    /// A plane of zeros.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, data: vec![T::default(); width * height] }
    }

    /// Takes another size; the memory is kept, what the samples are is not said.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        let length = width * height;
        if self.data.capacity() < length {
            // Fresh memory is zero already, and touched first by the threads that fill it.
            self.data = vec![T::default(); length];
        } else {
            self.data.resize(length, T::default());
        }
    }

    /// A plane over existing samples; `None` unless there are exactly `width * height` of them.
    pub fn from_vec(width: usize, height: usize, data: Vec<T>) -> Option<Self> {
        (data.len() == width * height).then_some(Self { width, height, data })
    }

    /// A plane whose samples are `sample(x, y)`.
    pub fn from_fn(width: usize, height: usize, mut sample: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(width * height);
        for y in 0..height {
            data.extend((0..width).map(|x| sample(x, y)));
        }
        Self { width, height, data }
    }

    /// A new plane with `f` applied to every sample.
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

    /// All samples, to be written.
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The samples themselves.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// Row `y`.
    pub fn row(&self, y: usize) -> &[T] {
        &self.data[y * self.width..(y + 1) * self.width]
    }

    /// Row `y`, to be written.
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
