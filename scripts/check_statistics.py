#!/usr/bin/env python3
"""Checks crates/statistics/tests/data/scipy.json against SciPy, or writes it with --write.

Needs numpy and scipy. The Rust tests use the values in that file, so they do not need Python. The data are random with
fixed seeds: smooth, with ties, with many ties, reversed, large and tiny, and scores with opinions for the fits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from scipy import optimize, stats

FIXTURE = Path(__file__).resolve().parent.parent / "crates/statistics/tests/data/scipy.json"


def logistic(x, b1, b2, b3, b4, b5):
    return b1 * (0.5 - 1.0 / (1.0 + np.exp(b2 * (x - b3)))) + b4 * x + b5


def correlation_cases():
    random = np.random.default_rng(20260)
    x = random.normal(size=60)
    noise = random.normal(size=60)
    return {
        "smooth": (x, x + noise),
        "ties": (np.round(x, 1), np.round(x + noise, 1)),
        "heavy ties": (np.round(x), np.round(x - noise)),
        "reversed": (x, -x + 0.1 * noise),
        "unrelated": (x, noise),
        "large and tiny": (1e4 + x, 1e-9 * (x + noise)),
        "three": (np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])),
    }


def fit_cases():
    """Returns scores and opinions with typical shapes, fitted from the start values of Sheikh's scripts."""
    cases = {}
    random = np.random.default_rng(7)
    shapes = {
        "saturating, 0 to 1": (random.beta(6, 2, 200), (3.0, 9.0, 0.7, 1.2, 2.0)),
        "decibels": (random.normal(28, 6, 200), (3.2, 0.25, 27.0, 0.02, 2.4)),
        "lower is better": (random.gamma(2.0, 0.06, 200), (-3.0, 18.0, 0.12, -1.0, 3.4)),
        "nearly straight": (random.uniform(0, 100, 200), (1.0, 0.06, 50.0, 0.025, 1.5)),
    }
    for name, (x, beta) in shapes.items():
        y = logistic(x, *beta) + random.normal(0, 0.35, x.size)
        sign = np.sign(np.corrcoef(x, y)[0, 1])
        start = [sign * (y.max() - y.min()), 1.0 / x.std(), np.median(x), sign * 1e-3, y.mean()]
        fitted, _ = optimize.curve_fit(logistic, x, y, p0=start, maxfev=200000, ftol=1e-12, xtol=1e-12)
        grid = np.linspace(x.min(), x.max(), 41)
        cases[name] = {
            "x": x.tolist(),
            "y": y.tolist(),
            "grid": grid.tolist(),
            "curve": logistic(grid, *fitted).tolist(),
            "residual": float(np.sqrt(np.mean((logistic(x, *fitted) - y) ** 2))),
        }
    return cases


def williams(first, second, between, count):
    determinant = np.linalg.det([[1, first, second], [first, 1, between], [second, between, 1]])
    mean = (first + second) / 2
    below = 2 * (count - 1) / (count - 3) * determinant + mean**2 * (1 - between) ** 3
    t = (first - second) * np.sqrt((count - 1) * (1 + between) / below)
    return float(t), float(2 * stats.t.sf(abs(t), count - 3))


def expected():
    correlations = []
    for name, (x, y) in correlation_cases().items():
        correlations.append(
            {
                "name": name,
                "x": x.tolist(),
                "y": y.tolist(),
                "ranks": stats.rankdata(x).tolist(),
                "pearson": float(stats.pearsonr(x, y).statistic),
                "spearman": float(stats.spearmanr(x, y).statistic),
                "kendall": float(stats.kendalltau(x, y).statistic),
                "rmse": float(np.sqrt(np.mean((x - y) ** 2))),
            }
        )
    wilson = []
    for successes, count, confidence in [(0, 7, 0.95), (3, 7, 0.95), (804, 1000, 0.95), (7, 7, 0.9), (1, 1000, 0.99)]:
        interval = stats.binomtest(successes, count).proportion_ci(confidence, method="wilson")
        wilson.append([successes, count, confidence, float(interval.low), float(interval.high)])
    student = [
        [t, df, float(2 * stats.t.sf(abs(t), df))]
        for t in (0.1, 1.0, -2.5, 6.0, 30.0)
        for df in (1.0, 4.0, 57.0, 2997.0)
    ]
    normal = [[p, float(stats.norm.ppf(p))] for p in (1e-10, 0.001, 0.025, 0.2, 0.5, 0.9, 0.995)]
    tests = [
        [first, second, between, count, *williams(first, second, between, count)]
        for first, second, between, count in [
            (0.9, 0.85, 0.92, 100),
            (0.5, 0.52, 0.3, 3000),
            (-0.2, 0.4, 0.1, 25),
            (0.99, 0.2, 0.25, 12),
        ]
    ]
    return {
        "correlations": correlations,
        "wilson": wilson,
        "student": student,
        "normal": normal,
        "williams": tests,
        "fits": fit_cases(),
    }


def worst(ours, theirs):
    """Returns the largest difference between two trees of numbers, relative for numbers above 1."""
    if isinstance(theirs, dict):
        return max(worst(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, list):
        return max((worst(a, b) for a, b in zip(ours, theirs, strict=True)), default=0.0)
    if isinstance(theirs, str):
        return 0.0 if ours == theirs else float("inf")
    return abs(ours - theirs) / max(1.0, abs(theirs))


def main() -> int:
    values = expected()
    if "--write" in sys.argv:
        FIXTURE.write_text(json.dumps(values, indent=None, separators=(",", ":")) + "\n")
        print(f"wrote {FIXTURE} with NumPy {np.__version__}")
        return 0
    difference = worst(json.loads(FIXTURE.read_text()), values)
    print(f"largest difference between the recorded values and SciPy: {difference:.1e}")
    return 0 if difference < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
