//! Memory for planes, used again: fresh memory takes longer to come by than most layers take to fill it.

use std::sync::{Mutex, PoisonError};

use crate::network::Planes;

/// Memory that no layer uses at the moment; never more than was in use at one time.
#[derive(Default)]
pub(crate) struct BufferPool {
    free: Mutex<Vec<Vec<f32>>>,
}

impl BufferPool {
    /// So many samples, of whatever value.
    pub(crate) fn take(&self, samples: usize) -> Vec<f32> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        // The smallest that is large enough, else the largest.
        let fitting = (0..free.len()).filter(|&i| free[i].capacity() >= samples).min_by_key(|&i| free[i].capacity());
        let chosen = fitting.or_else(|| (0..free.len()).max_by_key(|&i| free[i].capacity()));
        let mut memory = chosen.map(|chosen| free.swap_remove(chosen)).unwrap_or_default();
        drop(free);
        memory.resize(samples, 0.0);
        memory
    }

    /// Planes of whatever samples.
    pub(crate) fn planes(&self, channels: usize, width: usize, height: usize) -> Planes {
        Planes::of(channels, width, height, self.take(channels * width * height))
    }

    /// Gives memory back.
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
