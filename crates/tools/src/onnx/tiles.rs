//! Cuts an image into tiles that count every pixel exactly once.

use super::picture::Window;
use super::section::Tiles;

/// A tile: the pixels that the network sees, and the part of them that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    /// The pixels that the network sees.
    pub window: Window,
    /// Top, left, bottom and right of the part that counts, relative to the window; the last two
    /// are exclusive.
    pub inner: [i64; 4],
}

/// Returns the tiles of an image, row by row.
pub(super) fn cut(width: usize, height: usize, tiles: Tiles) -> Vec<Tile> {
    let columns = spans(width, tiles);
    let tile = |down: Span| {
        columns.iter().map(move |across| Tile {
            window: Window {
                left: across.outer.0,
                top: down.outer.0,
                width: across.outer.1 - across.outer.0,
                height: down.outer.1 - down.outer.0,
            },
            inner: [
                (down.inner.0 - down.outer.0) as i64,
                (across.inner.0 - across.outer.0) as i64,
                (down.inner.1 - down.outer.0) as i64,
                (across.inner.1 - across.outer.0) as i64,
            ],
        })
    };
    spans(height, tiles).into_iter().flat_map(tile).collect()
}

/// A span along one side: the part that counts, and the part that is seen.
#[derive(Debug, Clone, Copy)]
struct Span {
    inner: (usize, usize),
    outer: (usize, usize),
}

/// Divides a side into spans of nearly equal length; a short rest is added to the last span.
fn spans(length: usize, Tiles { size, halo, align }: Tiles) -> Vec<Span> {
    let step = length.div_ceil(length.div_ceil(size)).next_multiple_of(align);
    let mut starts: Vec<usize> = (0..length).step_by(step).collect();
    if starts.last().is_some_and(|&last| last > 0 && length - last < step / 4) {
        starts.pop();
    }
    let ends = starts.iter().skip(1).copied().chain([length]);
    let span = |(start, end): (usize, usize)| Span {
        inner: (start, end),
        outer: (start.saturating_sub(halo), (end + halo).min(length)),
    };
    starts.iter().copied().zip(ends).map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_counts_once_and_tiles_begin_at_multiples_of_the_stride() {
        let tiles = Tiles { size: 64, halo: 32, align: 16 };
        for (width, height) in [(1, 1), (64, 64), (65, 64), (200, 130), (1000, 17), (129, 333)] {
            let mut counted = vec![0u8; width * height];
            for Tile { window, inner: [top, left, bottom, right] } in cut(width, height, tiles) {
                assert!(window.left % 16 == 0 && window.top % 16 == 0);
                assert!(window.left + window.width <= width && window.top + window.height <= height);
                for y in window.top + top as usize..window.top + bottom as usize {
                    for x in window.left + left as usize..window.left + right as usize {
                        counted[y * width + x] += 1;
                    }
                }
            }
            assert!(counted.iter().all(|&times| times == 1), "{width}x{height}");
        }
    }

    #[test]
    fn the_halo_is_seen_wherever_the_picture_has_it() {
        let tiles = Tiles { size: 64, halo: 32, align: 16 };
        for Tile { window, inner: [top, left, bottom, right] } in cut(300, 150, tiles) {
            let Window { left: x, top: y, width, height } = window;
            assert!(left == 32 || x == 0 && left <= 32);
            assert!(top == 32 || y == 0 && top <= 32);
            assert!(width as i64 - right == 32 || x + width == 300 && width as i64 - right <= 32);
            assert!(height as i64 - bottom == 32 || y + height == 150 && height as i64 - bottom <= 32);
        }
    }

    #[test]
    fn a_small_picture_is_one_tile_and_a_short_rest_is_no_tile() {
        let tiles = Tiles { size: 64, halo: 32, align: 16 };
        let window = Window { left: 0, top: 0, width: 64, height: 40 };
        assert_eq!(cut(64, 40, tiles), [Tile { window, inner: [0, 0, 40, 64] }]);
        // Three spans of 48 would leave 1 pixel.
        assert_eq!(cut(145, 10, tiles).len(), 3);
        assert!(cut(100_000, 10, tiles).iter().all(|tile| tile.inner[3] - tile.inner[1] >= 16));
    }
}
