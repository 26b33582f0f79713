//! Times a full-reference metric: `time_model MODEL HEAD WIDTH HEIGHT THREADS REPEATS`. Uses the
//! library that `ORT_DYLIB_PATH` names, or the built-in engine. Prints the score of two fixed
//! images and the best time in milliseconds.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use agenticiqa_onnx::{Model, Runtime, Tensor};

fn picture(width: usize, height: usize, noise: f32) -> Result<Tensor, agenticiqa_onnx::Error> {
    let value = |index: usize| {
        let (x, y) = (index % width, index / width % height);
        let wave = (x as f32 * 0.05).sin() * (y as f32 * 0.07).cos() * 0.4 + 0.5;
        wave + noise * ((index * 7919 % 101) as f32 / 101.0 - 0.5)
    };
    Tensor::float([1, 3, height, width], (0..3 * width * height).map(value).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, head, numbers @ ..] = arguments.as_slice() else {
        return Err("usage: time_model MODEL HEAD WIDTH HEIGHT THREADS REPEATS".into());
    };
    let numbers = numbers.iter().map(|number| number.parse()).collect::<Result<Vec<usize>, _>>()?;
    let [width, height, threads, repeats] = numbers.as_slice() else { return Err("four numbers are needed".into()) };
    let (width, height) = (*width, *height);
    let (reference, distorted) = (picture(width, height, 0.0)?, picture(width, height, 0.2)?);
    let inner = Tensor::integer([4], vec![0, 0, height as i64, width as i64])?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build()?;
    let (score, best) = pool.install(|| -> Result<_, agenticiqa_onnx::Error> {
        let runtime = Runtime::find(None);
        let (model, head) = (Model::load(Path::new(model), &runtime)?, Model::load(Path::new(head), &runtime)?);
        let (mut score, mut best) = (Vec::new(), f64::INFINITY);
        for _ in 0..=*repeats {
            let start = Instant::now();
            let inputs = [("reference", &reference), ("distorted", &distorted), ("inner", &inner)];
            let statistics = model.run(&inputs, &["statistics"])?;
            score = head.run(&[("statistics", &statistics[0])], &["score"])?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok((score, best))
    })?;
    println!("{:?} {:.2}", score[0].floats().unwrap_or_default(), best * 1e3);
    Ok(())
}
