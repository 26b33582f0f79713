//! Times every metric on a pair of 1920x1080 pixels, with one thread and with two. Run
//! `cargo bench`, or `cargo bench -- SSIM` for the metrics whose name contains `SSIM`.
//!
//! Every run uses new images, so that work shared between metrics is included in the time.

mod scene;

use std::fmt;

use agenticiqa_metrics::{Image, Metric, Pair, Result, all};
use divan::Bencher;
use scene::scene;

const WIDTH: usize = 1920;
const HEIGHT: usize = 1080;
const NOISE: u32 = 24;

struct Case {
    metric: &'static dyn Metric,
    threads: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.metric.info().name, if self.threads == 1 { "1 thread" } else { "2 threads" })
    }
}

fn pair(width: usize, height: usize) -> Result<[Image; 2]> {
    let [reference, distorted] = [0, NOISE].map(|noise| Image::from_rgb8(width, height, scene(width, height, noise)));
    Ok([reference?, distorted?])
}

/// Whether the metric can run; one that needs a missing model file cannot be timed.
fn works(metric: &dyn Metric) -> bool {
    let measured =
        pair(256, 256).and_then(|[reference, distorted]| metric.measure(&Pair::new(&reference, &distorted)?));
    measured.is_ok()
}

fn cases() -> Vec<Case> {
    all().filter(|metric| works(*metric)).flat_map(|metric| [1, 2].map(|threads| Case { metric, threads })).collect()
}

#[divan::bench(args = cases(), sample_count = 12, sample_size = 1)]
fn measure(bencher: Bencher, case: &Case) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(case.threads).build();
    let pixels = [0, NOISE].map(|noise| scene(WIDTH, HEIGHT, noise));
    bencher.with_inputs(|| pixels.clone().map(|pixels| Image::from_rgb8(WIDTH, HEIGHT, pixels))).bench_local_values(
        |images| {
            let [Ok(reference), Ok(distorted)] = &images else { return (None, images) };
            let measure = || case.metric.measure(&Pair::new(reference, distorted)?);
            (pool.as_ref().map(|pool| pool.install(measure)).ok(), images)
        },
    );
}

fn main() {
    divan::main();
}
