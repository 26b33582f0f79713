//! The orthonormal 8x8 DCT.

/// Side of a block.
pub const SIDE: usize = 8;
/// An 8x8 block, row by row.
pub type Block = [f32; SIDE * SIDE];

/// The DCT of 8x8 blocks.
#[derive(Debug, Clone)]
pub struct Dct {
    /// `basis[k][n]`: sample `n` of frequency `k`.
    basis: [[f32; SIDE]; SIDE],
}

impl Default for Dct {
    fn default() -> Self {
        let mut basis = [[0.0; SIDE]; SIDE];
        for (k, row) in basis.iter_mut().enumerate() {
            let scale = if k == 0 { 0.125f64.sqrt() } else { 0.5 };
            for (n, value) in row.iter_mut().enumerate() {
                *value = (scale * (std::f64::consts::PI * k as f64 * (2 * n + 1) as f64 / 16.0).cos()) as f32;
            }
        }
        Self { basis }
    }
}

impl Dct {
    /// Transforms samples to coefficients.
    pub fn forward(&self, block: &Block) -> Block {
        let mut rows = [0.0; SIDE * SIDE];
        for y in 0..SIDE {
            for k in 0..SIDE {
                rows[k * SIDE + y] = (0..SIDE).map(|n| self.basis[k][n] * block[y * SIDE + n]).sum();
            }
        }
        let mut out = [0.0; SIDE * SIDE];
        for x in 0..SIDE {
            for k in 0..SIDE {
                out[k * SIDE + x] = (0..SIDE).map(|n| self.basis[k][n] * rows[x * SIDE + n]).sum();
            }
        }
        out
    }

    /// Transforms coefficients to samples.
    pub fn inverse(&self, block: &Block) -> Block {
        let mut rows = [0.0; SIDE * SIDE];
        for y in 0..SIDE {
            for n in 0..SIDE {
                rows[n * SIDE + y] = (0..SIDE).map(|k| self.basis[k][n] * block[y * SIDE + k]).sum();
            }
        }
        let mut out = [0.0; SIDE * SIDE];
        for x in 0..SIDE {
            for n in 0..SIDE {
                out[n * SIDE + x] = (0..SIDE).map(|k| self.basis[k][n] * rows[x * SIDE + k]).sum();
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_and_its_mean_is_the_first_coefficient() {
        let dct = Dct::default();
        let block: Block = std::array::from_fn(|i| ((i * 37) % 61) as f32);
        let coefficients = dct.forward(&block);
        let mean = block.iter().sum::<f32>() / 64.0;
        assert!((coefficients[0] / 8.0 - mean).abs() < 1e-3);
        let back = dct.inverse(&coefficients);
        assert!(block.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}
