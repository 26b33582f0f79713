//! Groups of many photos, and clocks that cannot be trusted.

use agenticiqa_photos::similar::Model;
use agenticiqa_photos::{Shot, Signature, Taken, groups};

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn shot(&mut self) -> Shot {
        let view: Vec<u8> = (0..256).map(|_| (self.next() >> 40) as u8).collect();
        let signature = Signature {
            hash: self.next(),
            view: Box::new(view.try_into().unwrap()),
            colors: std::array::from_fn(|_| (self.next() >> 58) as i8),
            seen: (0..192).map(|_| (self.next() >> 56) as i8).collect(),
        };
        let digest = std::array::from_fn(|_| (self.next() >> 33) as u8);
        Shot { signature, taken: None, digest, shape: 1.5 }
    }
}

/// The same scene with a few other bits.
fn again(shot: &Shot, number: u8) -> Shot {
    let mut other = shot.clone();
    other.signature.hash ^= 0b1001 << (number % 50);
    other.digest[0] ^= 1 + number;
    other
}

#[test]
fn near_duplicates_are_found_among_thousands_without_comparing_all_pairs() {
    let model = Model::builtin().unwrap();
    let mut numbers = Numbers(7);
    let mut shots: Vec<Shot> = (0..2500).map(|_| numbers.shot()).collect();
    // Far from the photo that they are like, and without a time.
    for index in 0..50 {
        shots.push(again(&shots[index * 40].clone(), index as u8));
    }
    let found = groups(&shots, model);
    assert_eq!(found.iter().map(Vec::len).sum::<usize>(), shots.len());
    let pairs: Vec<&Vec<usize>> = found.iter().filter(|members| members.len() > 1).collect();
    assert_eq!(pairs.len(), 50);
    assert!(pairs.iter().enumerate().all(|(index, members)| **members == [index * 40, 2500 + index]));
}

#[test]
fn times_help_but_a_clock_that_stood_still_is_not_trusted() {
    let model = Model::builtin().unwrap();
    let mut numbers = Numbers(11);
    let (one, two) = (numbers.shot(), numbers.shot());
    // Between the two limits: the same scene only if the times say so.
    let mut close = one.clone();
    close.digest[0] ^= 1;
    close.signature.view = two.signature.view;
    for bit in 0..64 {
        close.signature.hash ^= 1 << bit;
        let between = model.probability(&one.signature, &close.signature);
        if between < (model.burst + model.alike) / 2.0 {
            break;
        }
    }
    let between = model.probability(&one.signature, &close.signature);
    assert!((model.burst..model.alike).contains(&between), "{between}");
    let at = |shot: &Shot, at: i64| Shot { taken: Some(Taken { at, camera: "one".to_owned() }), ..shot.clone() };
    let grouped = |shots: &[Shot]| groups(shots, model).len() < shots.len();
    assert!(!grouped(&[one.clone(), close.clone()]));
    assert!(grouped(&[at(&one, 1_000_000), at(&close, 1_003_000)]));
    assert!(!grouped(&[at(&one, 1_000_000), at(&close, 9_000_000)]), "the clock jumped");
    let mut still: Vec<Shot> = (0..80).map(|_| at(&numbers.shot(), 1_000_000)).collect();
    still.extend([at(&one, 1_000_000), at(&close, 1_000_000)]);
    assert!(!grouped(&still), "the clock stood still");
}

#[test]
fn copies_of_a_file_are_one_group_whatever_they_show() {
    let model = Model::builtin().unwrap();
    let mut numbers = Numbers(3);
    let one = numbers.shot();
    let copy = Shot { shape: one.shape, ..one.clone() };
    assert_eq!(groups(&[one, numbers.shot(), copy], model), [vec![0, 2], vec![1]]);
    assert_eq!(groups(&[], model), Vec::<Vec<usize>>::new());
}
