#!/usr/bin/env python3
"""Writes the trained weights for the Rust code, and outputs to compare with.

    export.py --datasets /work/shared/datasets --work /work/train [--name checkpoint] [--images examples]

WORK/fused-nr2.bin  the network, in the format of crates/vision/src/network/weights.rs (normalization folded in, weights
                    in half precision)
WORK/fused-nr2.npz  convNN_weight, convNN_bias: the folded convolutions in single precision, in execution order
                    center, spread, farthest: z = clamp((features - center) / spread, -farthest, farthest)
                    hidden_weight, hidden_bias: h = relu(hidden_weight z + hidden_bias)
                    heads_weight, heads_bias: outputs = heads_weight [z, h] + heads_bias
                    correction: added to the outputs, takes the class weights of training out of the logits
                    heads, classes, statistics: JSON, names and sizes of outputs, classes and statistics
                    image_names, image_features: of the images, with the exact resize (not rounded to 8 bits) and with
                    the weights of the network in half precision

Reads WORK/measured-images.jsonl, which `agenticiqa-fit measure` prints for the folder of the images.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
from pathlib import Path

import numpy as np
import torch
from labels import ATTRIBUTES, Photo, read
from losses import class_weights
from model import FARTHEST, HEADS, FusedModel, keep_memory, load
from network import moments
from PIL import Image
from train import measurements
from view import STATISTICS, network_input, resized, statistics

MAGIC = b"AIQALT01"


def network_file(convolutions: list[tuple[np.ndarray, np.ndarray]]) -> bytes:
    content = MAGIC
    for weight, bias in convolutions:
        content += weight.astype("<f2").tobytes() + bias.astype("<f4").tobytes()
    return content + hashlib.sha256(content).digest()


def halved(model: FusedModel) -> FusedModel:
    """A copy whose folded weights are rounded to half precision."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        for part in model.backbone.convolutions():
            weight, bias = part.folded()
            part.weight.copy_(weight.half().float())
            part.scale.fill_(1)
            part.variance.fill_(1 - 1e-3)
            part.mean.zero_()
            part.shift.copy_(bias)
    return model


def correction(photos: list[Photo]) -> np.ndarray:
    """What is added to the outputs to take the class weights of training out of the logits."""
    weights = class_weights([photo for photo in photos if not photo.validation])
    taken = np.concatenate([np.zeros(2), *[-np.log(weights[name].numpy()) for name in ATTRIBUTES]])
    return taken.astype(np.float32)


@torch.no_grad()
def answers(model: FusedModel, path: Path, measured: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    pixels = resized(np.asarray(Image.open(path).convert("RGB")))
    planes = torch.from_numpy(np.ascontiguousarray(pixels)).permute(2, 0, 1)[None]
    stages = model.backbone.first(network_input(planes))
    known = torch.cat([*moments(stages), statistics(planes), measured[None]], 1)
    features = model.features(stages[-1], known)
    return features[0].numpy(), model.answer(features)[0].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--name", default="checkpoint")
    parser.add_argument("--images", type=Path, default=Path(__file__).resolve().parents[2] / "examples")
    arguments = parser.parse_args()
    keep_memory()
    torch.set_num_threads(2)
    model = load(arguments.work / f"{arguments.name}.pt")
    with torch.no_grad():
        folded = [[t.contiguous().numpy() for t in part.folded()] for part in model.backbone.convolutions()]
    (arguments.work / "fused-nr2.bin").write_bytes(network_file(folded))
    numbers = {}
    for index, (weight, bias) in enumerate(folded):
        numbers[f"conv{index:02}_weight"], numbers[f"conv{index:02}_bias"] = weight, bias
    half = halved(model)
    images = sorted(path for path in arguments.images.iterdir() if path.suffix in (".jpg", ".png"))
    measured = measurements(arguments.work / "measured-images.jsonl")
    seen = [answers(model, path, measured[path.stem]) for path in images]
    seen_half = [answers(half, path, measured[path.stem]) for path in images]
    for path, (_, one), (_, two) in zip(images, seen, seen_half, strict=True):
        print(
            f"{path.name}: opinion {one[0]:.3f}, quality {one[1]:.3f}; half precision differs {abs(one - two).max():.4f}"
        )
    print("largest weight", max(abs(weight).max() for weight, _ in folded))
    np.savez(
        arguments.work / "fused-nr2.npz",
        **numbers,
        center=model.center.numpy(),
        spread=model.spread.numpy(),
        farthest=np.float32(FARTHEST),
        hidden_weight=model.hidden.weight.detach().numpy(),
        hidden_bias=model.hidden.bias.detach().numpy(),
        heads_weight=model.heads.weight.detach().numpy(),
        heads_bias=model.heads.bias.detach().numpy(),
        correction=correction(read(arguments.datasets)),
        heads=np.array(json.dumps(HEADS)),
        classes=np.array(json.dumps(ATTRIBUTES)),
        statistics=np.array(json.dumps(STATISTICS)),
        image_names=np.array([path.name for path in images]),
        image_features=np.stack([features for features, _ in seen_half]),
    )


if __name__ == "__main__":
    main()
