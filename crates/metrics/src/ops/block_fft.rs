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
                let (start, count) = (block * LANES, LANES.min(width - block * LANES));
                gather(&rows.re, width, start, count, &mut workspace.signals.re);
                gather(&rows.im, width, start, count, &mut workspace.signals.im);
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
        // All that one block of rows needs of one block of columns lies together: for each picture its real and its
        // imaginary parts, eight vectors each.
        let (parts, row_blocks) = (2 * COUNT, height.div_ceil(LANES));
        let stride = row_blocks * parts * LANES;
        middle.resize(width.div_ceil(LANES) * stride, Lanes::default());
        middle.par_chunks_mut(stride).enumerate().for_each_init(
            || Workspace::new(height),
            |workspace, (block, columns)| {
                for index in 0..COUNT {
                    read(block, index, &mut workspace.signals);
                    // Exchanged parts turn the forward transform into the inverse; they are exchanged back below.
                    std::mem::swap(&mut workspace.signals.re, &mut workspace.signals.im);
                    self.column.forward(&mut workspace.signals, &mut workspace.scratch);
                    scatter(&workspace.signals.re, parts, 2 * index, columns);
                    scatter(&workspace.signals.im, parts, 2 * index + 1, columns);
                }
            },
        );
        let middle = middle.as_slice();
        out.par_chunks_mut(width * share).enumerate().for_each_init(
            || [(); COUNT].map(|()| Workspace::new(width)),
            |workspaces, (block, out)| {
                let start = block * parts * LANES;
                for (index, workspace) in workspaces.iter_mut().enumerate() {
                    let part = |part: usize| start + (2 * index + part) * LANES;
                    gather(middle, stride, part(0), LANES, &mut workspace.signals.re);
                    gather(middle, stride, part(1), LANES, &mut workspace.signals.im);
                    self.row.forward(&mut workspace.signals, &mut workspace.scratch);
                    std::mem::swap(&mut workspace.signals.re, &mut workspace.signals.im);
                }
                consume(block, workspaces, out);
            },
        );
    }
}

/// Writes `column` as runs of eight vectors, one in every `parts`, beginning with number `part`.
#[multiversion(targets("x86_64+avx2"))]
fn scatter(column: &[Lanes], parts: usize, part: usize, out: &mut [Lanes]) {
    for (run, out) in column.chunks(LANES).zip(out.chunks_exact_mut(parts * LANES)) {
        for (line, out) in run.iter().zip(&mut out[part * LANES..]) {
            *out = *line;
        }
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

/// Transposes blocks of 8x8: the first has the (at most eight) lines of `source` from `start`, each further one begins
/// `stride` vectors later.
fn gather(source: &[Lanes], stride: usize, start: usize, count: usize, out: &mut [Lanes]) {
    let whole = if count == LANES { out.len() / LANES } else { 0 };
    let (squares, rest) = out.split_at_mut(whole * LANES);
    gather_squares(&source[start..], stride, squares);
    for (block, out) in rest.chunks_mut(LANES).enumerate() {
        let lines = &source[(whole + block) * stride + start..][..count];
        for (column, out) in out.iter_mut().enumerate() {
            *out = Lanes::default();
            out.0.iter_mut().zip(lines).for_each(|(out, line)| *out = line.0[column]);
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn gather_squares(source: &[Lanes], stride: usize, out: &mut [Lanes]) {
    for (lines, out) in source.chunks(stride).zip(out.as_chunks_mut::<LANES>().0) {
        if let Some(square) = lines.first_chunk::<LANES>() {
            *out = transpose(*square);
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
