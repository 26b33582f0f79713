//! Complex arithmetic on eight signals at once, and the small transforms that compose larger ones.
//!
//! Values live in vector registers of the machine's width. There are no fused operations, so the
//! results are identical on every machine.

use magetypes::simd::backends::F32x8Backend;
use magetypes::simd::generic::f32x8;

use crate::ops::lanes::Lanes;

/// One complex sample of eight signals, in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(align(64))]
pub struct Point {
    /// Real parts.
    pub re: Lanes,
    /// Imaginary parts.
    pub im: Lanes,
}

/// A root of unity that multiplies all eight signals.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// Real part.
    pub cos: f32,
    /// Imaginary part.
    pub sin: f32,
}

/// One complex sample of eight signals, in registers.
#[derive(Clone, Copy)]
pub struct Value<T: F32x8Backend> {
    /// Real parts.
    pub re: f32x8<T>,
    /// Imaginary parts.
    pub im: f32x8<T>,
}

impl<T: F32x8Backend> Value<T> {
    /// Loads the value from `point`.
    #[inline(always)]
    pub fn load(token: T, point: &Point) -> Self {
        Self { re: f32x8::load_t(token, &point.re.0), im: f32x8::load_t(token, &point.im.0) }
    }

    /// Stores the value in `point`.
    #[inline(always)]
    pub fn store(self, point: &mut Point) {
        self.re.store(&mut point.re.0);
        self.im.store(&mut point.im.0);
    }

    /// Adds `other`.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }

    /// Subtracts `other`.
    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }

    /// Multiplies by a real number.
    #[inline(always)]
    pub fn scale(self, factor: f32) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    /// Multiplies by a complex number.
    #[inline(always)]
    pub fn times(self, Root { cos, sin }: Root) -> Self {
        Self { re: self.re * cos - self.im * sin, im: self.re * sin + self.im * cos }
    }

    /// `self - i other`.
    #[inline(always)]
    pub fn add_turned(self, other: Self) -> Self {
        Self { re: self.re + other.im, im: self.im - other.re }
    }

    /// `self + i other`.
    #[inline(always)]
    pub fn sub_turned(self, other: Self) -> Self {
        Self { re: self.re - other.im, im: self.im + other.re }
    }
}

/// The transform of two samples.
#[inline(always)]
pub fn butterfly2<T: F32x8Backend>([a, b]: [Value<T>; 2]) -> [Value<T>; 2] {
    [a.plus(b), a.minus(b)]
}

/// The transform of three samples.
#[inline(always)]
pub fn butterfly3<T: F32x8Backend>([a, b, c]: [Value<T>; 3]) -> [Value<T>; 3] {
    const SIN: f32 = 0.866_025_4;
    let (sum, difference) = (b.plus(c), b.minus(c).scale(SIN));
    let middle = a.minus(sum.scale(0.5));
    [a.plus(sum), middle.add_turned(difference), middle.sub_turned(difference)]
}

/// The transform of four samples.
#[inline(always)]
pub fn butterfly4<T: F32x8Backend>([a, b, c, d]: [Value<T>; 4]) -> [Value<T>; 4] {
    let (even, odd) = (a.plus(c), b.plus(d));
    let (even_difference, odd_difference) = (a.minus(c), b.minus(d));
    [
        even.plus(odd),
        even_difference.add_turned(odd_difference),
        even.minus(odd),
        even_difference.sub_turned(odd_difference),
    ]
}

/// The transform of five samples.
#[inline(always)]
pub fn butterfly5<T: F32x8Backend>([a, b, c, d, e]: [Value<T>; 5]) -> [Value<T>; 5] {
    const COS: [f32; 2] = [0.309_017, -0.809_017];
    const SIN: [f32; 2] = [0.951_056_5, 0.587_785_25];
    let (outer, inner) = (b.plus(e), c.plus(d));
    let (outer_difference, inner_difference) = (b.minus(e), c.minus(d));
    let first = a.plus(outer.scale(COS[0])).plus(inner.scale(COS[1]));
    let second = a.plus(outer.scale(COS[1])).plus(inner.scale(COS[0]));
    let side = outer_difference.scale(SIN[0]).plus(inner_difference.scale(SIN[1]));
    let cross = outer_difference.scale(SIN[1]).minus(inner_difference.scale(SIN[0]));
    [
        a.plus(outer).plus(inner),
        first.add_turned(side),
        second.add_turned(cross),
        second.sub_turned(cross),
        first.sub_turned(side),
    ]
}

/// The transform of six samples. 2 and 3 share no factor, so no twiddles are needed between the
/// two transforms.
#[inline(always)]
pub fn butterfly6<T: F32x8Backend>([a, b, c, d, e, f]: [Value<T>; 6]) -> [Value<T>; 6] {
    let even = butterfly3([a, c, e]);
    let odd = butterfly3([d, f, b]);
    let [y0, y3] = butterfly2([even[0], odd[0]]);
    let [y4, y1] = butterfly2([even[1], odd[1]]);
    let [y2, y5] = butterfly2([even[2], odd[2]]);
    [y0, y1, y2, y3, y4, y5]
}

/// The transform of eight samples.
#[inline(always)]
pub fn butterfly8<T: F32x8Backend>([a, b, c, d, e, f, g, h]: [Value<T>; 8]) -> [Value<T>; 8] {
    const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
    let even = butterfly4([a, c, e, g]);
    let odd = butterfly4([b, d, f, h]);
    let eighth = Value { re: (odd[1].re + odd[1].im) * HALF, im: (odd[1].im - odd[1].re) * HALF };
    let three_eighths = Value { re: (odd[3].im - odd[3].re) * HALF, im: (odd[3].re + odd[3].im) * -HALF };
    let [y0, y4] = butterfly2([even[0], odd[0]]);
    let [y1, y5] = butterfly2([even[1], eighth]);
    let [y3, y7] = butterfly2([even[3], three_eighths]);
    [y0, y1, even[2].add_turned(odd[2]), y3, y4, y5, even[2].sub_turned(odd[2]), y7]
}
