//! Square blocks that cover a line of samples from end to end.

/// Returns the start positions of blocks of `size` samples that cover `0..length`.
///
/// There are as few blocks as possible, evenly spread. Neighbors overlap if `length` is not a
/// multiple of `size`. The result is empty if no block fits.
pub fn starts(length: usize, size: usize) -> Vec<usize> {
    if size == 0 || length < size {
        return Vec::new();
    }
    let count = length.div_ceil(size);
    (0..count).map(|block| block * (length - size) / (count - 1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_sample_and_stay_inside() {
        for length in 16..200 {
            let starts = starts(length, 16);
            assert_eq!(starts.len(), length.div_ceil(16));
            assert_eq!((starts[0], starts[starts.len() - 1] + 16), (0, length));
            assert!(starts.windows(2).all(|pair| pair[0] < pair[1] && pair[1] <= pair[0] + 16));
        }
        assert!(starts(15, 16).is_empty());
    }
}
