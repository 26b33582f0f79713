//! Vectors of eight numbers: plain arrays whose loops compile to vector instructions.

/// Numbers per vector.
pub const LANES: usize = 8;

/// Eight single-precision numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(32))]
pub struct Lanes(pub [f32; LANES]);

impl Lanes {
    /// Creates a vector of eight equal numbers.
    #[inline(always)]
    pub fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        out.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = f(*a, b));
        out
    }

    /// Applies `f` to every number.
    #[inline(always)]
    pub fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let mut out = self;
        out.0.iter_mut().for_each(|value| *value = f(*value));
        out
    }
}

impl std::ops::Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl std::ops::Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl std::ops::Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl std::ops::Mul<f32> for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f32) -> Self {
        self.map(|a| a * factor)
    }
}
