//! Two-dimensional Fourier transforms eight lines at a time.
//!
//! Pictures are cut into blocks of eight rows, spectra into blocks of eight columns; within a block the eight lines lie
//! in the lanes of [`lanes_fft`](crate::ops::lanes_fft). Between the two axes blocks of 8x8 are transposed.
//! Spectrum value (u, v) is lane `u % 8` of `[u / 8 * height + v]`, picture sample (x, y) lane `y % 8` of
//! `[y / 8 * width + x]`.

use multiversion::multiversion;
use rayon::prelude::*;

use crate::Plane;
use crate::ops::lanes::{LANES, Lanes, transpose};
use crate::ops::lanes_fft::{Plan, Signals};

/// Plans for pictures of one size.
#[derive(Debug)]
pub struct BlockFft {
    width: usize,
    height: usize,
    row: Plan,
    column: Plan,
}

/// Two buffers for the transform of one block.
#[derive(Debug)]
pub struct Workspace {
    /// The signals.
    pub signals: Signals,
    scratch: Signals,
}

impl Workspace {
    fn new(length: usize) -> Self {
        Self { signals: Signals::new(length), scratch: Signals::new(length) }
    }
}

impl BlockFft {
    /// Plans for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        let row = Plan::new(width);
        let column = if width == height { row.clone() } else { Plan::new(height) };
        Self { width, height, row, column }
    }

    /// Number of vectors in a spectrum.
    pub fn spectrum_length(&self) -> usize {
        self.width.div_ceil(LANES) * self.height
    }

    /// Number of vectors in a picture.
    pub fn picture_length(&self) -> usize {
        self.height.div_ceil(LANES) * self.width
    }

    /// The unnormalised spectrum of `real + i imaginary`.
    pub fn forward(&self, real: &Plane, imaginary: Option<&Plane>) -> Signals {
        let (width, height) = (self.width, self.height);
        let mut rows = Signals::new(self.picture_length());
        let blocks = rows.re.par_chunks_mut(width).zip(rows.im.par_chunks_mut(width)).enumerate();
        blocks.for_each_init(
            || Workspace::new(width),
            |workspace, (block, (re, im))| {
                read_rows(real, block, &mut workspace.signals.re);
                match imaginary {
                    Some(imaginary) => read_rows(imaginary, block, &mut workspace.signals.im),
                    None => workspace.signals.im.fill(Lanes::default()),
                }
                self.row.forward(&mut workspace.signals, &mut workspace.scratch);
                re.copy_from_slice(&workspace.signals.re);
                im.copy_from_slice(&workspace.signals.im);
            },
        );
        let mut spectrum = Signals::new(self.spectrum_length());
        let blocks = spectrum.re.par_chunks_mut(height).zip(spectrum.im.par_chunks_mut(height)).enumerate();
        blocks.for_each_init(
            || Workspace::new(height),
            |workspace, (block, (re, im))| {
                gather(&rows.re, width, block, &mut workspace.signals.re);
                gather(&rows.im, width, block, &mut workspace.signals.im);
                self.column.forward(&mut workspace.signals, &mut workspace.scratch);
                re.copy_from_slice(&workspace.signals.re);
                im.copy_from_slice(&workspace.signals.im);
            },
        );
        spectrum
    }

    /// Inverse transforms of `COUNT` spectra at once: `read(block, index, signals)` writes block `block` of spectrum
    /// number `index`, and `consume(block, pictures, out)` gets block `block` of all pictures with its part of `out`,
    /// which holds `share` vectors for each column of a block. Spectra must hold the factor 1 / (width * height).
    pub fn inverse<const COUNT: usize>(
        &self,
        middle: &mut Vec<Lanes>,
        read: impl Fn(usize, usize, &mut Signals) + Sync,
        out: &mut [Lanes],
        share: usize,
        consume: impl Fn(usize, &[Workspace; COUNT], &mut [Lanes]) + Sync,
    ) {
        let (width, height) = (self.width, self.height);
        middle.resize(self.spectrum_length() * 2 * COUNT, Lanes::default());
        middle.par_chunks_mut(height * 2 * COUNT).enumerate().for_each_init(
            || Workspace::new(height),
            |workspace, (block, columns)| {
                for (index, columns) in columns.chunks_exact_mut(2 * height).enumerate() {
                    read(block, index, &mut workspace.signals);
                    // Exchanged parts turn the forward transform into the inverse; they are exchanged back below.
                    std::mem::swap(&mut workspace.signals.re, &mut workspace.signals.im);
                    self.column.forward(&mut workspace.signals, &mut workspace.scratch);
                    let (re, im) = columns.split_at_mut(height);
                    re.copy_from_slice(&workspace.signals.re);
                    im.copy_from_slice(&workspace.signals.im);
                }
            },
        );
        let middle = middle.as_slice();
        out.par_chunks_mut(width * share).enumerate().for_each_init(
            || [(); COUNT].map(|()| Workspace::new(width)),
            |workspaces, (block, out)| {
                for (index, workspace) in workspaces.iter_mut().enumerate() {
                    let part = |part: usize| &middle[(index * 2 + part) * height..];
                    gather_strided(part(0), height * 2 * COUNT, height, block, &mut workspace.signals.re);
                    gather_strided(part(1), height * 2 * COUNT, height, block, &mut workspace.signals.im);
                    self.row.forward(&mut workspace.signals, &mut workspace.scratch);
                    std::mem::swap(&mut workspace.signals.re, &mut workspace.signals.im);
                }
                consume(block, workspaces, out);
            },
        );
    }
}

/// Eight rows of a plane, zeros below the last, as vectors along x.
#[multiversion(targets("x86_64+avx2"))]
fn read_rows(plane: &Plane, block: usize, out: &mut [Lanes]) {
    let top = block * LANES;
    let zeros = vec![0.0; plane.width()];
    let rows: [&[f32]; LANES] =
        std::array::from_fn(|lane| if top + lane < plane.height() { plane.row(top + lane) } else { zeros.as_slice() });
    for (x, out) in out.iter_mut().enumerate() {
        *out = Lanes(rows.map(|row| row[x]));
    }
}

/// Block number `block` of the transposed blocks of `source`, whose lines are `length` vectors long.
fn gather(source: &[Lanes], length: usize, block: usize, out: &mut [Lanes]) {
    gather_strided(source, length, length, block, out);
}

/// As [`gather`] with lines that begin `stride` vectors apart.
#[multiversion(targets("x86_64+avx2"))]
fn gather_strided(source: &[Lanes], stride: usize, length: usize, block: usize, out: &mut [Lanes]) {
    let left = block * LANES;
    for (line, out) in out.chunks_mut(LANES).enumerate() {
        let start = line * stride + left;
        let lines = &source[start..start + LANES.min(length - left)];
        let square = match lines.as_array::<LANES>() {
            Some(square) => *square,
            None => {
                let mut square = [Lanes::default(); LANES];
                square.iter_mut().zip(lines).for_each(|(out, line)| *out = *line);
                square
            }
        };
        let square = transpose(square);
        match out.as_mut_array::<LANES>() {
            Some(out) => *out = square,
            None => out.iter_mut().zip(square).for_each(|(out, line)| *out = line),
        }
    }
}

/// A picture in blocks of eight rows as a plane.
pub fn to_plane(picture: &[Lanes], width: usize, height: usize) -> Plane {
    let mut plane = Plane::new(width, height);
    plane.data_mut().par_chunks_mut(width * LANES).zip(picture.par_chunks(width)).for_each(|(rows, block)| {
        for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
            row.iter_mut().zip(block).for_each(|(out, lanes)| *out = lanes.0[lane]);
        }
    });
    plane
}
