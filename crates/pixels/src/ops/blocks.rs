//! Square blocks that cover a line of samples from end to end, and the local maps that come of them.

/// Where blocks of `size` samples start so that they cover `0..length`: as few as possible, evenly spread, so that
/// neighbors overlap where `length` is no multiple of `size`. Empty if not one fits.
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
