#!/usr/bin/env python3
"""Calibrates score and interval, and writes the model files that Rust reads.

    ship.py --datasets /work/shared/datasets --work /work/train --models ../../crates/vision/models

Reads WORK/fused-nr2.npz (export.py) and WORK/features.npz (evaluate.py). Writes fused-nr-network.bin, fused-nr.bin, and the
outputs on the shipped images that a test compares with.
The opinion head is averaged with a ridge regression of all training photos. The score is the mean of opinion and quality,
whose scale is fitted to photos that are trained on. The half width of the interval is a quantile of the errors on
the validation fifth, because errors on photos that are trained on are too small: the mean of the quantiles of the three
sources, because a new source is as likely to be like one as like another. Coverage is reported on halves of the
validation fifth that the widths were not taken from.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from labels import ATTRIBUTES, Photo, read

HELD = 0.9
# A quantile needs this many photos.
LEAST = 15
# Share of the quality head in the score.
QUALITY = 0.25
# Penalty of the ridge regression, and weight of a damaged form in it.
PENALTY, DAMAGED = 10000.0, 0.3
# Groups whose errors are larger than usual: name of the head in Rust, classes.
GROUPS = [
    ("lighting", [0, 1]),
    ("exposure", [0, 2, 3, 4]),
    ("sharpness", [2, 3]),
    ("noise", [2]),
    ("compression", [2]),
]
RUST_NAMES = {"colour": "color"}
# Problems that each head shows.
SHOWN = {
    "sharpness": ["blur", "motion blur"],
    "noise": ["noise"],
    "compression": ["compression"],
    "exposure": ["underexposure", "overexposure", "backlight"],
    "lighting": ["underexposure", "overexposure", "backlight"],
    "contrast": ["low contrast"],
    "haze": ["haze"],
    "cast": ["colour cast"],
    "colour": ["dull colours", "oversaturation"],
    "sharpened": ["oversharpening"],
}
# Classes that hurt nobody.
HARMLESS = {"sharp", "none", "ok", "medium", "normal", False}


def quantile(errors: np.ndarray) -> float:
    """The conformal quantile."""
    ordered = np.sort(errors)
    return float(ordered[min(int(np.ceil((len(ordered) + 1) * HELD)), len(ordered)) - 1])


class Inputs:
    """What the heads read: standardized features and the hidden layer."""

    def __init__(self, model: dict[str, np.ndarray]):
        self.center, self.spread, self.farthest = model["center"], model["spread"], float(model["farthest"])
        self.weight, self.bias = model["hidden_weight"], model["hidden_bias"]

    def of(self, features: np.ndarray) -> np.ndarray:
        z = np.clip((features - self.center) / self.spread, -self.farthest, self.farthest)
        return np.hstack([z, np.maximum(z @ self.weight.T + self.bias, 0)])


def refitted(photos: np.ndarray, levels: np.ndarray, damaged: np.ndarray, damaged_levels: np.ndarray):
    """Fits the opinion once more by ridge regression. Training compares photos within a batch; this compares all."""
    rows, wanted = np.vstack([photos, damaged]), np.concatenate([levels, damaged_levels])
    counts = np.concatenate([np.ones(len(photos)), np.full(len(damaged), DAMAGED)])
    middle, mean = np.average(rows, 0, counts), np.average(wanted, 0, counts)
    spread = np.sqrt(np.average((rows - middle) ** 2, 0, counts)) + 1e-6
    rows, wanted = (rows - middle) / spread, wanted - mean
    square = (rows * counts[:, None]).T @ rows + PENALTY * np.eye(rows.shape[1])
    weight = np.linalg.solve(square, rows.T @ (counts * wanted)) / spread
    return weight, mean - middle @ weight


class Intervals:
    """Half widths of the interval: one for all images, and one for each group."""

    def __init__(self, errors: np.ndarray, sources: np.ndarray, classes: dict[str, np.ndarray]):
        def half(inside: np.ndarray) -> float:
            of = [errors[inside & (sources == source)] for source in np.unique(sources)]
            return float(np.mean([quantile(part) for part in of if len(part) >= LEAST]))

        outside = np.ones(len(errors), bool)
        self.groups = []
        for head, wanted in GROUPS:
            inside = np.isin(classes[head], wanted)
            if inside.sum() >= 2 * LEAST:
                self.groups.append((head, wanted, half(inside)))
                outside &= ~inside
        self.half = half(outside)

    def of(self, classes: dict[str, np.ndarray]) -> np.ndarray:
        """The largest of the groups that an image belongs to, or that of no group."""
        halves = np.zeros(len(next(iter(classes.values()))))
        for head, wanted, width in self.groups:
            inside = np.isin(classes[head], wanted)
            halves[inside] = np.maximum(halves[inside], width)
        return np.where(halves > 0, halves, self.half)


def costs(photos: list[Photo]) -> dict[str, list[float]]:
    """What each class costs where it is the main problem: the loss of quality, in quarters of the possible loss."""
    photos = [photo for photo in photos if photo.labels and not photo.validation]
    clean = np.mean([photo.labels["quality"] for photo in photos if photo.labels["main_problem"] == "none"])

    def cost(head: str, value: str | bool) -> float:
        if value in HARMLESS:
            return 0.0
        spoiled = [p for p in photos if p.labels[head] == value and p.labels["main_problem"] in SHOWN[head]]
        # Few photos say little: they are joined by one that costs a quarter.
        quality = [photo.labels["quality"] for photo in spoiled] + [clean - (clean - 1) / 4]
        return round(float(4 * (clean - np.mean(quality)) / (clean - 1)), 3)

    return {RUST_NAMES.get(head, head): [cost(head, value) for value in ATTRIBUTES[head]] for head in SHOWN}


def seal(header: dict, numbers: bytes) -> bytes:
    content = json.dumps(header).encode() + b"\n" + numbers
    return content + hashlib.sha256(content).digest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    arguments = parser.parse_args()
    model, photos = np.load(arguments.work / "fused-nr2.npz"), np.load(arguments.work / "features.npz")
    heads = json.loads(str(model["heads"]))
    starts = dict(zip(heads, np.cumsum([0, *heads.values()])[:-1], strict=True))
    level, validation, subset = photos["level"], photos["validation"], photos["subset"]
    inputs = Inputs(model)
    seen = inputs.of(photos["features"])
    weights, biases = model["heads_weight"].copy(), model["heads_bias"] + model["correction"]
    damaged = inputs.of(photos["form_features"])
    weight, bias = refitted(seen[~validation], level[~validation], damaged, photos["form_level"])
    weights[0], biases[0] = (weights[0] + weight) / 2, (biases[0] + bias) / 2
    outputs = seen @ weights.T + biases
    classes = {
        name: outputs[:, starts[name] : starts[name] + count].argmax(1)
        for name, count in heads.items()
        if name not in ("opinion", "quality")
    }
    # Quality transfers better to other photos than the opinions alone.
    fitted = ~validation & (subset != 2)
    slope, offset = np.polyfit(outputs[fitted, 1], level[fitted], 1)
    blend = {"opinion": 1 - QUALITY, "quality": float(QUALITY * slope), "bias": float(QUALITY * offset)}
    score = np.clip(outputs[:, :2] @ [blend["opinion"], blend["quality"]] + blend["bias"], 1, 5)
    errors = np.abs(score - level)
    part = np.array([int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 for name in photos["names"]])
    held, width = [], []
    for half in (0, 1):
        known, unknown = validation & (part == half), validation & (part != half)
        of = Intervals(errors[known], subset[known], {name: values[known] for name, values in classes.items()})
        halves = of.of({name: values[unknown] for name, values in classes.items()})
        held.append((errors[unknown] <= halves).mean())
        width.append(halves.mean())
        for number in (1, 2, 3):
            now = subset[unknown] == number
            print(f"part {half}, subset {number}: {(errors[unknown] <= halves)[now].mean():.3f} of {now.sum()}")
    print(f"blend {blend}, interval holds {np.mean(held):.3f}, half width {np.mean(width):.3f}")
    final = {name: values[validation] for name, values in classes.items()}
    whole = Intervals(errors[validation], subset[validation], final)
    common = np.quantile((seen[~validation, : len(inputs.center)] ** 2).mean(1), 0.95)
    header = {
        "version": 2,
        "features": len(inputs.center),
        "hidden": len(model["hidden_bias"]),
        "outputs": sum(heads.values()),
        "farthest": inputs.farthest,
        "blend": blend,
        "half": whole.half,
        "groups": [
            {"head": RUST_NAMES.get(head, head), "classes": wanted, "half": width}
            for head, wanted, width in whole.groups
        ],
        "common": float(common),
        "costs": costs(read(arguments.datasets)),
    }
    numbers = [
        inputs.center,
        inputs.spread,
        model["hidden_weight"],
        model["hidden_bias"],
        weights,
        biases,
    ]
    content = b"".join(part.astype("<f4").tobytes() for part in numbers)
    (arguments.models / "fused-nr.bin").write_bytes(seal(header, content))
    torch = {
        "images": [str(name) for name in model["image_names"]],
        "outputs": (inputs.of(model["image_features"]) @ weights.T + biases).round(4).tolist(),
    }
    (arguments.models.parent / "tests/data/fused-nr-torch.json").write_text(json.dumps(torch) + "\n")
    network = (arguments.work / "fused-nr2.bin").read_bytes()
    (arguments.models / "fused-nr-network.bin").write_bytes(network)
    print(json.dumps(header))


if __name__ == "__main__":
    main()
