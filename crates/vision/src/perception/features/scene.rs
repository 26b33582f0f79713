//! Natural scene statistics: the features of BRISQUE (A. Mittal, A. K. Moorthy, A. C. Bovik, 2012)
//! at two scales.

use super::{Features, Statistic};
use crate::perception::view::Tile;
use agenticiqa_metrics::ops::convolve::Border;
use agenticiqa_metrics::ops::mscn::{self, Halved, Rows};
use agenticiqa_metrics::ops::nss::{self, Asymmetric, Moments, Neighborhood};

/// Names of the features at each scale.
const NAMES: [[&str; 18]; 2] = [
    [
        "scene_shape",
        "scene_variance",
        "scene_h_shape",
        "scene_h_mean",
        "scene_h_left",
        "scene_h_right",
        "scene_v_shape",
        "scene_v_mean",
        "scene_v_left",
        "scene_v_right",
        "scene_d_shape",
        "scene_d_mean",
        "scene_d_left",
        "scene_d_right",
        "scene_a_shape",
        "scene_a_mean",
        "scene_a_left",
        "scene_a_right",
    ],
    [
        "half_shape",
        "half_variance",
        "half_h_shape",
        "half_h_mean",
        "half_h_left",
        "half_h_right",
        "half_v_shape",
        "half_v_mean",
        "half_v_left",
        "half_v_right",
        "half_d_shape",
        "half_d_mean",
        "half_d_left",
        "half_d_right",
        "half_a_shape",
        "half_a_mean",
        "half_a_left",
        "half_a_right",
    ],
];

/// Moments of normalized luma and of products of neighbors, at both scales.
#[derive(Default)]
pub struct Scene {
    moments: [[Moments; 5]; 2],
}

impl Statistic for Scene {
    fn measure(tile: &Tile) -> Self {
        Self { moments: [moments(&tile.luma), moments(&Halved(&tile.luma))] }
    }

    fn merge(&mut self, other: Self) {
        for (scale, other) in self.moments.iter_mut().zip(other.moments) {
            scale.iter_mut().zip(other).for_each(|(total, part)| total.add(&part));
        }
    }

    fn write(&self, features: &mut Features) {
        for (moments, names) in self.moments.iter().zip(NAMES) {
            let mut values = [0.0; 18];
            values[0] = nss::fit_symmetric(&moments[0]).alpha;
            values[1] = moments[0].mean_square();
            for (values, moments) in values[2..].chunks_exact_mut(4).zip(&moments[1..]) {
                let fit = Asymmetric::fit(moments, 0.0);
                let mean = (fit.right - fit.left) * fit.shape.mean * fit.shape.scale;
                values.copy_from_slice(&[fit.shape.alpha, mean, fit.left * fit.left, fit.right * fit.right]);
            }
            names.into_iter().zip(values).for_each(|(name, value)| features.push(name, value));
        }
    }
}

fn moments(rows: &impl Rows) -> [Moments; 5] {
    let height = rows.height();
    let mut last = Vec::new();
    mscn::for_each_row(rows, Border::Replicate, height - 1..height, |_, row, _| last.extend_from_slice(row));
    let mut neighborhood = Neighborhood::new(&last);
    mscn::for_each_row(rows, Border::Replicate, 0..height, |_, row, _| neighborhood.add_row(row));
    neighborhood.finish()
}
