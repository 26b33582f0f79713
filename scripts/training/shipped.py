"""Reads the model files that ship, so that training can go on from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from labels import read
from model import COUNT, HIDDEN, OUTPUTS, FusedModel
from network import FIXED_BLOCKS, STABILITY

CHECKSUM = 32
# Length of the mark at the beginning of the file of the network.
MARK = 8


class Numbers:
    """Takes arrays from the beginning of some bytes."""

    def __init__(self, content: bytes):
        self.content = content

    def take(self, kind: str, *shape: int) -> torch.Tensor:
        count = int(np.prod(shape))
        values = np.frombuffer(self.content, kind, count)
        self.content = self.content[values.nbytes :]
        return torch.from_numpy(values.astype(np.float32).reshape(shape))


@torch.no_grad()
def load_shipped(model: FusedModel, models: Path, datasets: Path) -> None:
    """Loads the trained stages and the heads. The fixed stages keep the published weights, which the caches are made
    with; they differ by their rounding."""
    from export import correction

    numbers = Numbers((models / "fused-nr-network.bin").read_bytes()[MARK:-CHECKSUM])
    backbone = model.backbone
    fixed = {id(part) for block in backbone.blocks[:FIXED_BLOCKS] for part in block.children()} | {id(backbone.stem)}
    for part in backbone.convolutions():
        weight, bias = numbers.take("<f2", *part.weight.shape), numbers.take("<f4", *part.shift.shape)
        if id(part) not in fixed:
            part.weight.copy_(weight)
            part.shift.copy_(bias)
            part.mean.zero_()
            part.scale.fill_(1)
            part.variance.fill_(1 - STABILITY)
    assert not numbers.content
    header, content = (models / "fused-nr.bin").read_bytes()[:-CHECKSUM].split(b"\n", 1)
    assert json.loads(header)["features"] == COUNT
    numbers = Numbers(content)
    for target in (model.center, model.spread):
        target.copy_(numbers.take("<f4", COUNT))
    for layer, inputs, outputs in ((model.hidden, COUNT, HIDDEN), (model.heads, COUNT + HIDDEN, OUTPUTS)):
        layer.weight.copy_(numbers.take("<f4", outputs, inputs))
        layer.bias.copy_(numbers.take("<f4", outputs))
    model.heads.bias.sub_(torch.from_numpy(correction(read(datasets))))
    assert not numbers.content
