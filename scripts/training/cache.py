#!/usr/bin/env python3
"""Runs the fixed stages of the network once, so that training costs only the others.

    cache.py --work /work/train --wheel WHEEL

Needs the images of prepare.py. Writes to the work folder, for all photos (plain and mirrored):
  photos-VARIANT.npy        outputs of the last fixed stage, in half precision
  photos-VARIANT-known.npy  moments of the fixed stages and statistics of the whole images

Of the damaged forms (plain and far) only some are trained on: `Forms` runs the stages when a form is first needed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from model import FIXED_PLANES, Images, keep_memory, to_planes
from network import FIXED, STAGE_PLANES, STRIDE, Backbone, load_published, moments
from prepare import store
from torch import nn
from view import LONGER, STATISTICS, network_input, statistics

BATCH = 16
SIDE = LONGER // STRIDE
# Numbers that are known of a whole image: moments of the fixed stages, and statistics.
KNOWN = 2 * FIXED_PLANES + len(STATISTICS)


def farther(pixels: torch.Tensor) -> torch.Tensor:
    """Halves images as if they were twice as large, and mirrors them to the old size. Damage that the view hides is then
    left to the measurements, as in large photos."""
    half = nn.functional.avg_pool2d(pixels, 2)
    row = torch.cat([half, half.flip(3)], 3)
    return torch.cat([row, row.flip(2)], 2)


VARIANTS = {"plain": lambda pixels: pixels, "mirrored": lambda pixels: pixels.flip(3), "far": farther}


@torch.no_grad()
def fixed(network: Backbone, pixels: torch.Tensor, variant: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the outputs of the last fixed stage, and what is known of whole images of one size."""
    shown = VARIANTS[variant](pixels).contiguous(memory_format=torch.channels_last)
    stages = network.first(network_input(shown))
    numbers = torch.cat([*moments(stages), statistics(shown)], 1).numpy()
    return stages[-1].permute(0, 2, 3, 1).numpy(), numbers


def batches(sizes: np.ndarray, rows: list[int]) -> Iterator[list[int]]:
    """Yields rows of images of one size."""
    groups: dict[tuple[int, int], list[int]] = {}
    for row in rows:
        groups.setdefault((int(sizes[row][0]), int(sizes[row][1])), []).append(row)
    for same in groups.values():
        for start in range(0, len(same), BATCH):
            yield same[start : start + BATCH]


def pixels_of(images: np.ndarray, sizes: np.ndarray, rows: list[int]) -> torch.Tensor:
    height, width = sizes[rows[0]]
    return to_planes(np.stack([images[row, :height, :width] for row in rows]))


def cache(work: Path, variants: list[str], images: np.ndarray, sizes: np.ndarray, network: Backbone) -> None:
    shape = (len(sizes), SIDE, SIDE, STAGE_PLANES[FIXED - 1])
    seen = {v: np.lib.format.open_memmap(work / f"photos-{v}.npy", "w+", np.float16, shape) for v in variants}
    known = {v: np.zeros((len(sizes), KNOWN), np.float32) for v in variants}
    for rows in batches(sizes, range(len(sizes))):
        pixels = pixels_of(images, sizes, rows)
        for variant in variants:
            last, numbers = fixed(network, pixels, variant)
            seen[variant][rows, : last.shape[1], : last.shape[2]] = last
            known[variant][rows] = numbers
    for variant in variants:
        seen[variant].flush()
        np.save(work / f"photos-{variant}-known.npy", known[variant])


class Forms(Images):
    """Damaged forms, which the fixed stages see when they are first needed."""

    def __init__(self, work: Path, variants: list[str], sizes: np.ndarray, measured: torch.Tensor, network: Backbone):
        count = len(sizes)
        seen = {v: np.zeros((count, SIDE, SIDE, STAGE_PLANES[FIXED - 1]), np.float16) for v in variants}
        known = {v: torch.cat([torch.zeros(count, KNOWN), measured], 1) for v in variants}
        super().__init__(seen, known, -(-sizes // STRIDE))
        self.images, self.pixels, self.network = store(work / "damaged.u8", count, "r"), sizes, network
        self.done = {v: np.zeros(count, bool) for v in variants}

    def need(self, rows: list[int], variant: str) -> None:
        missing = [row for row in dict.fromkeys(rows) if not self.done[variant][row]]
        for now in batches(self.pixels, missing):
            last, numbers = fixed(self.network, pixels_of(self.images, self.pixels, now), variant)
            self.seen[variant][now, : last.shape[1], : last.shape[2]] = last
            self.known[variant][now, :KNOWN] = torch.from_numpy(numbers)
            self.done[variant][now] = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--wheel", type=Path, required=True)
    arguments = parser.parse_args()
    keep_memory()
    work = arguments.work
    network = Backbone()
    load_published(network, arguments.wheel)
    network.to(memory_format=torch.channels_last).eval()
    sizes = np.array(json.loads((work / "photos.json").read_text()))
    cache(work, ["plain", "mirrored"], store(work / "photos.u8", len(sizes), "r"), sizes, network)


if __name__ == "__main__":
    main()
