//! Reusable buffers for planes: allocating fresh memory takes longer than filling it in most
//! layers.

use std::sync::{Mutex, PoisonError};

use crate::network::Planes;

/// Buffers that no layer uses at the moment. The pool never holds more than the peak usage.
#[derive(Default)]
pub(crate) struct BufferPool {
    free: Mutex<Vec<Vec<f32>>>,
}

impl BufferPool {
    /// Returns a buffer of `samples` samples with arbitrary values.
    pub(crate) fn take(&self, samples: usize) -> Vec<f32> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // The smallest buffer that is large enough, or else the largest.
        let fitting = (0..free.len()).filter(|&i| free[i].capacity() >= samples).min_by_key(|&i| free[i].capacity());
        let chosen = fitting.or_else(|| (0..free.len()).max_by_key(|&i| free[i].capacity()));
        let mut memory = chosen.map(|chosen| free.swap_remove(chosen)).unwrap_or_default();
        drop(free);
        memory.resize(samples, 0.0);
        memory
    }

    /// Returns planes with arbitrary samples.
    pub(crate) fn planes(&self, channels: usize, width: usize, height: usize) -> Planes {
        Planes::of(channels, width, height, self.take(channels * width * height))
    }

    /// The number of buffers that nobody uses.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns a buffer to the pool.
    pub(crate) fn give(&self, memory: Vec<f32>) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back() {
        let room = BufferPool::default();
        let (small, large) = (room.take(10), room.take(1000));
        let place = large.as_ptr();
        room.give(small);
        room.give(large);
        let (large, small) = (room.take(900), room.take(5));
        assert_eq!((large.as_ptr(), large.len(), small.len()), (place, 900, 5));
        assert!(small.capacity() < 900);
    }
}
