//! Two-dimensional Fourier transforms of eight lines at a time.
//!
//! Images are split into blocks of eight rows, spectra into blocks of eight columns. Within a
//! block, the eight lines occupy the lanes of [`lanes_fft`](crate::ops::lanes_fft). Between the
//! two axes, the data are stored as 8x8 tiles and transposed while they are in the cache. Spectrum
//! value (u, v) is lane `u % 8` of `[u / 8 * height + v]`; image sample (x, y) is lane `y % 8` of
//! `[y / 8 * width + x]`.

use archmage::prelude::*;
use magetypes::simd::backends::F32x8Backend;
use magetypes::simd::generic::f32x8;
use multiversion::multiversion;
use rayon::prelude::*;

use crate::Plane;
use crate::ops::lanes::{LANES, Lanes};
use crate::ops::lanes_fft::{Plain, Plan, Point, Source, Value, Workspace};

/// Plans for images of one size.
#[derive(Debug)]
pub struct BlockFft {
    width: usize,
    height: usize,
    row: Plan,
    column: Plan,
}

impl BlockFft {
    /// Creates plans for `width` x `height`.
    pub fn new(width: usize, height: usize) -> Self {
        let row = Plan::new(width);
        let column = if width == height { row.clone() } else { Plan::new(height) };
        Self { width, height, row, column }
    }

    /// Number of vectors in an image.
    pub fn picture_length(&self) -> usize {
        self.height.div_ceil(LANES) * self.width
    }

    /// Returns the unnormalized spectrum of `real - mean + i imaginary`.
    pub fn forward(&self, real: &Plane, imaginary: Option<&Plane>, mean: f32) -> Vec<Point> {
        let (width, height) = (self.width, self.height);
        let (column_blocks, row_blocks) = (width.div_ceil(LANES), height.div_ceil(LANES));
        let mut tiles = vec![Point::default(); row_blocks * column_blocks * LANES];
        tiles.par_chunks_mut(column_blocks * LANES).enumerate().for_each_init(
            || (Workspace::default(), vec![Point::default(); width]),
            |(workspace, rows), (block, tiles)| {
                read_rows(real, mean, block, rows, |point| &mut point.re);
                if let Some(imaginary) = imaginary {
                    read_rows(imaginary, 0.0, block, rows, |point| &mut point.im);
                }
                scatter(self.row.forward(&Plain(rows), workspace), LANES, tiles);
            },
        );
        let mut spectrum = vec![Point::default(); column_blocks * height];
        spectrum.par_chunks_mut(height).enumerate().for_each_init(Workspace::default, |workspace, (block, columns)| {
            let source = Tiles { tiles: &tiles[block * LANES..], stride: column_blocks * LANES };
            columns.copy_from_slice(self.column.forward(&source, workspace));
        });
        spectrum
    }

    /// Computes the inverse transforms of `COUNT` spectra at once.
    ///
    /// `source(block, index)` returns block `block` of spectrum `index`, with real and imaginary
    /// parts swapped and the factor 1 / (width * height) applied. `consume(block, images)`
    /// receives block `block` of all images, again with the parts swapped. The results of
    /// `consume` are returned in the order of the blocks. `middle` is memory that is reused from
    /// call to call.
    pub fn inverse<const COUNT: usize, S: Source, B: Send, R: Send>(
        &self,
        middle: &mut Vec<Point>,
        source: impl Fn(usize, usize) -> S + Sync,
        out: impl IndexedParallelIterator<Item = B>,
        consume: impl Fn([&[Point]; COUNT], B) -> R + Sync + Send,
    ) -> Vec<R> {
        // The tiles that a block of rows needs from a block of columns are contiguous: one tile
        // per image.
        let (column_blocks, row_blocks) = (self.width.div_ceil(LANES), self.height.div_ceil(LANES));
        let stride = row_blocks * COUNT * LANES;
        middle.resize(column_blocks * stride, Point::default());
        middle.par_chunks_mut(stride).enumerate().for_each_init(Workspace::default, |workspace, (block, tiles)| {
            for index in 0..COUNT {
                let columns = self.column.forward(&source(block, index), workspace);
                scatter(columns, COUNT * LANES, &mut tiles[index * LANES..]);
            }
        });
        let middle = middle.as_slice();
        out.enumerate()
            .map_init(
                || [(); COUNT].map(|()| Workspace::default()),
                |workspaces, (block, out)| {
                    for (index, workspace) in workspaces.iter_mut().enumerate() {
                        let tiles = &middle[(block * COUNT + index) * LANES..];
                        self.row.forward(&Tiles { tiles, stride }, workspace);
                    }
                    consume(workspaces.each_ref().map(Workspace::spectrum), out)
                },
            )
            .collect()
    }
}

/// Eight lines in 8x8 tiles, each tile `stride` points after the previous tile.
struct Tiles<'a> {
    tiles: &'a [Point],
    stride: usize,
}

impl Source for Tiles<'_> {
    #[inline(always)]
    fn value<T: F32x8Backend>(&self, token: T, index: usize) -> Value<T> {
        Value::load(token, &self.tiles[index / LANES * self.stride + index % LANES])
    }
}

/// Transposes eight lines into 8x8 tiles, padded with zeros, each tile `stride` points after the
/// previous tile.
fn scatter(lines: &[Point], stride: usize, tiles: &mut [Point]) {
    incant!(transpose_tiles(lines, stride, tiles), [v3, neon, wasm128, scalar]);
}

#[magetypes(v3, neon, wasm128, scalar)]
fn transpose_tiles(token: Token, lines: &[Point], stride: usize, tiles: &mut [Point]) {
    let (whole, rest) = lines.as_chunks::<LANES>();
    for (lines, tile) in whole.iter().zip(tiles.chunks_mut(stride)) {
        transpose_tile(token, lines, tile);
    }
    if !rest.is_empty() {
        let mut last = [Point::default(); LANES];
        last[..rest.len()].copy_from_slice(rest);
        transpose_tile(token, &last, &mut tiles[whole.len() * stride..]);
    }
}

#[inline(always)]
fn transpose_tile<T: F32x8Backend>(token: T, lines: &[Point; LANES], tile: &mut [Point]) {
    let part = |part: fn(&Point) -> &Lanes| lines.each_ref().map(|line| f32x8::load_t(token, &part(line).0));
    let re = f32x8::transpose_8x8_copy(part(|line| &line.re));
    let im = f32x8::transpose_8x8_copy(part(|line| &line.im));
    for (out, (re, im)) in tile.iter_mut().zip(re.into_iter().zip(im)) {
        Value { re, im }.store(out);
    }
}

/// Reads eight rows of a plane minus its mean as vectors along x. Rows below the last are zero.
#[multiversion(targets("x86_64+avx2"))]
fn read_rows(plane: &Plane, mean: f32, block: usize, out: &mut [Point], part: impl Fn(&mut Point) -> &mut Lanes) {
    let top = block * LANES;
    let beyond = vec![mean; plane.width()];
    let rows: [&[f32]; LANES] =
        std::array::from_fn(|lane| if top + lane < plane.height() { plane.row(top + lane) } else { beyond.as_slice() });
    for (x, out) in out.iter_mut().enumerate() {
        *part(out) = Lanes(rows.map(|row| row[x] - mean));
    }
}

/// Converts an image in blocks of eight rows to a plane.
pub fn to_plane(picture: &[Lanes], width: usize, height: usize) -> Plane {
    let mut plane = Plane::new(width, height);
    plane.data_mut().par_chunks_mut(width * LANES).zip(picture.par_chunks(width)).for_each(|(rows, block)| {
        for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
            row.iter_mut().zip(block).for_each(|(out, lanes)| *out = lanes.0[lane]);
        }
    });
    plane
}
