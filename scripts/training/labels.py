"""Photos, opinions and attributes, and the split into training and validation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from split import is_validation

# Classes of each attribute. Those in ORDERED have a natural order.
ATTRIBUTES = {
    "lighting": ["very dark", "dark", "medium", "bright", "very bright"],
    "exposure": ["under", "ok", "over", "backlit", "mixed"],
    "sharpness": ["sharp", "slightly soft", "blurry", "very blurry"],
    "blur_kind": ["none", "defocus", "motion", "soft"],
    "bokeh": [False, True],
    "noise": ["none", "slight", "strong"],
    "compression": ["none", "slight", "strong"],
    "contrast": ["low", "normal", "high"],
    "haze": [False, True],
    "colour": ["monochrome", "dull", "normal", "vivid"],
    "cast": ["none", "warm", "cool", "green", "magenta", "other"],
    "sharpened": [False, True],
    "main_problem": [
        "none",
        "blur",
        "motion blur",
        "noise",
        "compression",
        "underexposure",
        "overexposure",
        "backlight",
        "low contrast",
        "colour cast",
        "dull colours",
        "oversaturation",
        "oversharpening",
        "haze",
        "other",
    ],
}
ORDERED = ("lighting", "sharpness", "noise", "compression", "contrast", "colour")
# Targets of noise and compression: "none" and "slight" are hardly told apart.
SOFT = {"none": (0.85, 0.15, 0.0), "slight": (0.25, 0.7, 0.05), "strong": (0.0, 0.1, 0.9)}
SOFT_QUICK = {"none": (0.8, 0.2, 0.0), "slight": (0.35, 0.6, 0.05), "strong": (0.0, 0.15, 0.85)}
# Share of the target that a neighbor in the order gets.
NEIGHBOR = 0.06


@dataclass
class Photo:
    """A photo with an opinion, and its attributes if somebody looked at it."""

    name: str
    path: Path
    opinion: float
    subset: int
    validation: bool
    labels: dict = field(default_factory=dict)

    @property
    def level(self) -> float:
        """The opinion on the scale of 1 to 5."""
        return 1 + 4 * self.opinion


def read(datasets: Path) -> list[Photo]:
    """Reads manifest and labels, in the order of the manifest."""
    labels = {}
    for line in (datasets / "biq2021-labels.jsonl").read_text().splitlines():
        row = json.loads(line)
        labels[row["sample_id"]] = row
    photos = []
    folder = datasets / "biq2021-train"
    for line in (folder / "manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        name = row["sample_id"]
        low, high = row["mos_range"]
        photos.append(
            Photo(
                name,
                folder / row["image_path"],
                (row["mos"] - low) / (high - low),
                row["metadata"]["subset"],
                is_validation(name),
                labels.get(name, {}),
            )
        )
    return photos


def target(attribute: str, value: str | bool, quick: bool = False) -> np.ndarray:
    """Returns the target distribution of a label."""
    classes = ATTRIBUTES[attribute]
    if attribute in ("noise", "compression"):
        return np.array((SOFT_QUICK if quick else SOFT)[value], np.float32)
    row = np.zeros(len(classes), np.float32)
    place = classes.index(value)
    if attribute not in ORDERED:
        row[place] = 1
        return row
    neighbors = [i for i in (place - 1, place + 1) if 0 <= i < len(classes)]
    row[neighbors] = NEIGHBOR
    row[place] = 1 - NEIGHBOR * len(neighbors)
    return row
