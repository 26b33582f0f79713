//! Compares results with SciPy; `scripts/check_statistics.py` generates the expected values.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers outside `#[test]` functions are test code too

use agenticiqa_statistics::{
    Pairs, Shape, fit, normal_quantile, ranks, root_mean_square, student_two_sided, williams, wilson,
};
use serde_json::Value;

fn fixture() -> Value {
    serde_json::from_str(include_str!("data/scipy.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn same(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs().max(1.0), "{what}: {ours} instead of {theirs}");
}

#[test]
fn correlations_ranks_and_errors() {
    for case in fixture()["correlations"].as_array().unwrap() {
        let (x, y, name) = (numbers(&case["x"]), numbers(&case["y"]), case["name"].as_str().unwrap());
        let of = |key: &str| case[key].as_f64().unwrap();
        assert_eq!(ranks(&x), numbers(&case["ranks"]), "{name}");
        same(root_mean_square(&x, &y), of("rmse"), name);
        let pairs = Pairs::new(x, y).unwrap();
        same(pairs.pearson().unwrap(), of("pearson"), name);
        same(pairs.spearman().unwrap(), of("spearman"), name);
        same(pairs.kendall().unwrap(), of("kendall"), name);
    }
}

#[test]
fn intervals_of_shares() {
    for case in fixture()["wilson"].as_array().unwrap() {
        let case = numbers(case);
        let interval = wilson(case[0] as u64, case[1] as u64, case[2]);
        same(interval.low, case[3], "low");
        same(interval.high, case[4], "high");
    }
}

#[test]
fn distributions_and_tests() {
    for case in fixture()["student"].as_array().unwrap() {
        let case = numbers(case);
        same(student_two_sided(case[0], case[1]), case[2], "student");
    }
    for case in fixture()["normal"].as_array().unwrap() {
        let case = numbers(case);
        same(normal_quantile(case[0]), case[1], "normal");
    }
    for case in fixture()["williams"].as_array().unwrap() {
        let case = numbers(case);
        let test = williams(case[0], case[1], case[2], case[3] as usize).unwrap();
        same(test.t, case[4], "t");
        same(test.p_value, case[5], "p");
    }
}

#[test]
fn fitted_curves() {
    for (name, case) in fixture()["fits"].as_object().unwrap() {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let rises = Pairs::new(x.clone(), y.clone()).unwrap().pearson().unwrap() > 0.0;
        for shape in [Shape::Free, if rises { Shape::Rising } else { Shape::Falling }] {
            let found = fit(&x, &y, shape).unwrap();
            if found.constrained {
                panic!("{name}: the best curve turns, so SciPy's is another");
            }
            for (at, wanted) in numbers(&case["grid"]).into_iter().zip(numbers(&case["curve"])) {
                let value = found.curve.at(at);
                assert!((value - wanted).abs() < 1e-3, "{name} at {at}: {value} instead of {wanted}");
            }
            assert!((found.residual - case["residual"].as_f64().unwrap()).abs() < 1e-6, "{name}: {found:?}");
        }
    }
}
