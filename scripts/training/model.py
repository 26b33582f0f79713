"""The network with its heads, and helpers to run it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from labels import ATTRIBUTES
from network import FIXED, STAGE_PLANES, STRIDE, Backbone, moments
from torch import nn
from view import STATISTICS

# Numbers that perception measures (`agenticiqa-fit measure`).
MEASURED = 148
COUNT = 2 * sum(STAGE_PLANES) + len(STATISTICS) + MEASURED
# Planes of the stages that keep the published weights.
FIXED_PLANES = sum(STAGE_PLANES[:FIXED])
HIDDEN = 128
# Standardized features are clamped to this many spreads.
FARTHEST = 6.0
# Name and number of outputs of each head, in the order of the rows of the weights.
HEADS = {"opinion": 1, "quality": 1, **{name: len(classes) for name, classes in ATTRIBUTES.items()}}
OUTPUTS = sum(HEADS.values())


class FusedModel(nn.Module):
    """EfficientNet-Lite0 with heads.

    Features, in the order of crates/vision/src/fused_nr/features.rs: the means and then the logarithms of the spreads of
    the planes of all stages, the statistics of view.py, and the measurements of perception. They are standardized and
    clamped: z. The heads are linear in z and in h = relu(hidden(z)).
    """

    def __init__(self, dropout: float = 0.2):
        super().__init__()
        self.backbone = Backbone()
        self.register_buffer("center", torch.zeros(COUNT))
        self.register_buffer("spread", torch.ones(COUNT))
        self.hidden = nn.Linear(COUNT, HIDDEN)
        self.heads = nn.Linear(COUNT + HIDDEN, OUTPUTS)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.hidden.weight, std=0.02)
        nn.init.zeros_(self.hidden.bias)
        nn.init.zeros_(self.heads.weight)
        nn.init.zeros_(self.heads.bias)
        with torch.no_grad():
            self.heads.bias[:2] = 3.5

    def features(self, seen: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        """Returns the features of images, given the output of the last fixed stage, and what is known of the whole
        image: moments of the fixed stages, statistics, measurements."""
        means, spreads = moments(self.backbone.rest(seen))
        fixed_means, fixed_spreads, others = known.tensor_split([FIXED_PLANES, 2 * FIXED_PLANES], 1)
        return torch.cat([fixed_means, means, fixed_spreads, spreads, others], 1)

    def answer(self, features: torch.Tensor) -> torch.Tensor:
        """Returns all head outputs in one row: scores from 1 to 5, and logits."""
        z = ((features - self.center) / self.spread).clamp(-FARTHEST, FARTHEST)
        z = self.dropout(z)
        h = self.dropout(torch.relu(self.hidden(z)))
        return self.heads(torch.cat([z, h], 1))

    def forward(self, seen: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
        return self.answer(self.features(seen, known))


def split(outputs: torch.Tensor) -> dict[str, torch.Tensor]:
    """Names the columns of the outputs."""
    parts = dict(zip(HEADS, outputs.split(list(HEADS.values()), 1), strict=True))
    return {name: part[:, 0] if name in ("opinion", "quality") else part for name, part in parts.items()}


def to_planes(samples: np.ndarray) -> torch.Tensor:
    """Turns samples (count, height, width, planes) into a float tensor of planes, stored by pixels."""
    return torch.from_numpy(np.ascontiguousarray(samples)).permute(0, 3, 1, 2).float()


@dataclass
class Images:
    """Images as the fixed stages see them (cache.py): by variant the outputs of the last fixed stage, and what is known
    of the whole images; their heights and widths in samples of that stage."""

    seen: dict[str, np.ndarray]
    known: dict[str, torch.Tensor]
    sizes: np.ndarray

    @classmethod
    def open(cls, work: Path, name: str, variants: list[str], sizes: np.ndarray, measured: torch.Tensor) -> Images:
        known = {}
        for variant in variants:
            parts = np.load(work / f"{name}-{variant}-known.npy")
            known[variant] = torch.cat([torch.from_numpy(parts), measured], 1)
        seen = {variant: np.load(work / f"{name}-{variant}.npy", mmap_mode="r") for variant in variants}
        return cls(seen, known, -(-sizes // STRIDE))

    def need(self, rows: list[int], variant: str) -> None:
        """Makes sure that a variant of some images is there."""


@torch.no_grad()
def whole(model: FusedModel, images: Images, rows, batch: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """Returns features and outputs of whole images; images of one size run together."""
    was = model.training
    model.eval()
    features = np.zeros((len(rows), COUNT), np.float32)
    outputs = np.zeros((len(rows), OUTPUTS), np.float32)
    images.need(list(rows), "plain")
    groups: dict[tuple[int, int], list[int]] = {}
    for place, row in enumerate(rows):
        height, width = images.sizes[row]
        groups.setdefault((int(height), int(width)), []).append(place)
    for (height, width), places in groups.items():
        for start in range(0, len(places), batch):
            now = places[start : start + batch]
            seen = np.stack([images.seen["plain"][rows[p], :height, :width] for p in now])
            found = model.features(to_planes(seen), images.known["plain"][[rows[p] for p in now]])
            features[now] = found.numpy()
            outputs[now] = model.answer(found).numpy()
    model.train(was)
    return features, outputs


def keep_memory() -> None:
    """Restarts the program with an allocator that returns no memory to the system, which doubles the speed.

    Threads that wait do not spin, because other programs may need the processor.
    """
    wanted = (
        "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=8589934592:glibc.malloc.trim_threshold=17179869184"
        ":glibc.malloc.mmap_max=0:glibc.malloc.arena_max=1"
    )
    if os.environ.get("GLIBC_TUNABLES") != wanted:
        os.environ |= {"GLIBC_TUNABLES": wanted, "OMP_WAIT_POLICY": "PASSIVE"}
        os.execv(sys.executable, [sys.executable, *sys.argv])


def load(path: Path, average: bool = True) -> FusedModel:
    """Loads the (averaged) weights of a checkpoint."""
    state = torch.load(path, weights_only=False, map_location="cpu")
    model = FusedModel()
    model.load_state_dict(state["average" if average else "model"])
    return model.to(memory_format=torch.channels_last).eval()
