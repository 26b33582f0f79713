#!/usr/bin/env python3
"""Runs the fixed stages of the network once, so that training costs only the others.

    cache.py --work /work/train --wheel WHEEL

Needs the images of prepare.py. Writes to the work folder, for photos (plain, mirrored) and damaged forms (plain, far):
  NAME-VARIANT.npy        outputs of the last fixed stage, in half precision
  NAME-VARIANT-known.npy  moments of the fixed stages and statistics of the whole images
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from model import keep_memory, to_planes
from network import FIXED, STAGE_PLANES, STRIDE, Backbone, load_published, moments
from prepare import store
from torch import nn
from view import LONGER, network_input, statistics

BATCH = 16


def farther(pixels: torch.Tensor) -> torch.Tensor:
    """Halves images as if they were twice as large, and mirrors them to the old size. Damage that the view hides is then
    left to the measurements, as in large photos."""
    half = nn.functional.avg_pool2d(pixels, 2)
    row = torch.cat([half, half.flip(3)], 3)
    return torch.cat([row, row.flip(2)], 2)


VARIANTS = {"plain": lambda pixels: pixels, "mirrored": lambda pixels: pixels.flip(3), "far": farther}


@torch.no_grad()
def cache(work: Path, name: str, variants: list[str], images: np.ndarray, sizes: np.ndarray, network: Backbone) -> None:
    count, side = len(sizes), LONGER // STRIDE
    shape = (count, side, side, STAGE_PLANES[FIXED - 1])
    seen = {v: np.lib.format.open_memmap(work / f"{name}-{v}.npy", "w+", np.float16, shape) for v in variants}
    known: dict[str, list] = {v: [None] * count for v in variants}
    groups: dict[tuple[int, int], list[int]] = {}
    for row, (height, width) in enumerate(sizes):
        groups.setdefault((int(height), int(width)), []).append(row)
    for (height, width), rows in groups.items():
        for start in range(0, len(rows), BATCH):
            now = rows[start : start + BATCH]
            pixels = to_planes(np.stack([images[row, :height, :width] for row in now]))
            for variant in variants:
                shown = VARIANTS[variant](pixels).contiguous(memory_format=torch.channels_last)
                stages = network.first(network_input(shown))
                last = stages[-1].permute(0, 2, 3, 1).numpy()
                seen[variant][now, : last.shape[1], : last.shape[2]] = last
                numbers = torch.cat([*moments(stages), statistics(shown)], 1).numpy()
                for row, line in zip(now, numbers, strict=True):
                    known[variant][row] = line
    for variant in variants:
        seen[variant].flush()
        np.save(work / f"{name}-{variant}-known.npy", np.stack(known[variant]).astype(np.float32))


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
    cache(work, "photos", ["plain", "mirrored"], store(work / "photos.u8", len(sizes), "r"), sizes, network)
    sizes = np.array([form["size"] for form in json.loads((work / "damaged.json").read_text())])
    cache(work, "forms", ["plain", "far"], store(work / "damaged.u8", len(sizes), "r"), sizes, network)


if __name__ == "__main__":
    main()
