"""What the network sees, as in crates/vision/src/fused_nr/view.rs, and statistics of tone and color."""

from __future__ import annotations

import functools

import numpy as np
import torch

LONGER, SHORTER = 384, 32


@functools.cache
def axis(source: int, target: int) -> np.ndarray:
    """Matrix that resizes one axis as MATLAB's imresize does: a triangle, antialiased, mirrored at the border."""
    scale = target / source
    stretch = min(scale, 1.0)
    support = 2.0 / stretch
    matrix = np.zeros((target, source))
    for x in range(target):
        center = (x + 1) / scale + 0.5 * (1 - 1 / scale)
        left = int(np.floor(center - support / 2))
        for position in range(left, left + int(np.ceil(support)) + 2):
            weight = max(1 - abs(stretch * (center - position)), 0.0)
            place = (position - 1) % (2 * source)
            matrix[x, place if place < source else 2 * source - 1 - place] += weight
        matrix[x] /= matrix[x].sum()
    return matrix.astype(np.float32)


def resized(image: np.ndarray, longer: int = LONGER) -> np.ndarray:
    """Returns an image (height, width, 3; 0 to 255) with its longer side at most `longer`, as float32."""
    height, width = image.shape[:2]
    most = max(width, height)
    seen = [max((side * longer + most // 2) // most if most > longer else side, SHORTER) for side in (height, width)]
    factor = min(width // (2 * seen[1]), height // (2 * seen[0]))
    image = image.astype(np.float32)
    if factor >= 2:
        rows, columns = height // factor, width // factor
        image = image[: rows * factor, : columns * factor].reshape(rows, factor, columns, factor, 3).mean((1, 3))
    vertical, horizontal = axis(image.shape[0], seen[0]), axis(image.shape[1], seen[1])
    rows = vertical @ image.reshape(image.shape[0], -1)
    return horizontal @ rows.reshape(seen[0], image.shape[1], 3)


def network_input(pixels: torch.Tensor) -> torch.Tensor:
    """Maps 0..255 to the range that the network was trained with."""
    return (pixels - 127.0) / 128.0


LUMA_QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
CHROMA_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
STATISTICS = [
    *[f"luma quantile {q}" for q in LUMA_QUANTILES],
    "luma mean",
    "luma deviation",
    "root of the share of luma below 25",
    "root of the share of luma above 235",
    "root of the share of pixels with a channel of 250 or more",
    "root of the share of pixels with all channels of 5 or less",
    *[f"chroma quantile {q}" for q in CHROMA_QUANTILES],
    "U mean",
    "V mean",
    "U deviation",
    "V deviation",
    "U mean of the quarter with the lowest luma",
    "V mean of the quarter with the lowest luma",
    "U mean of the quarter with the highest luma",
    "V mean of the quarter with the highest luma",
    "log of the mean absolute difference of luma along rows",
    "log of the mean absolute difference of luma along columns",
    "log of the mean absolute second difference of luma (4 v - 4 neighbors)",
    "luma mean of the middle (half of each side) minus luma mean",
]


def quantiles(values: torch.Tensor, shares: tuple[float, ...]) -> torch.Tensor:
    """Sorted values at index floor(share * (count - 1) + 0.5)."""
    ordered = values.sort(1).values
    places = [int(share * (values.shape[1] - 1) + 0.5) for share in shares]
    return ordered[:, places]


def statistics(pixels: torch.Tensor) -> torch.Tensor:
    """Returns the numbers of STATISTICS for images (count, 3, height, width; 0 to 255).

    Every second pixel of every second row counts (from the first); differences use all pixels. Luma and chroma are
    divided by 255: Y = 0.299 R + 0.587 G + 0.114 B, U = 0.564 (B - Y), V = 0.713 (R - Y), chroma = sqrt(U U + V V).
    The quarters hold the pixels with luma <= the quantile 0.25 and >= the quantile 0.75.
    """
    full = (pixels.permute(0, 2, 3, 1).reshape(-1, 3) @ pixels.new_tensor([0.299, 0.587, 0.114])) / 255
    full = full.view(pixels.shape[0], *pixels.shape[2:])
    few = pixels[:, :, ::2, ::2].contiguous(memory_format=torch.contiguous_format)
    grid = full[:, ::2, ::2].contiguous()
    luma = grid.flatten(1)
    red, blue = few[:, 0].flatten(1) / 255, few[:, 2].flatten(1) / 255
    u, v = 0.564 * (blue - luma), 0.713 * (red - luma)
    chroma = (u * u + v * v).sqrt()
    levels = quantiles(luma, LUMA_QUANTILES)

    def share(what: torch.Tensor) -> torch.Tensor:
        return what.float().mean(1, keepdim=True).sqrt()

    def mean(values: torch.Tensor) -> torch.Tensor:
        return values.mean(1, keepdim=True)

    def spread(values: torch.Tensor) -> torch.Tensor:
        return values.std(1, correction=0, keepdim=True)

    dark, light = (luma <= levels[:, 3:4]).float(), (luma >= levels[:, 5:6]).float()

    def part(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return (values * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)

    inner = full[:, 1:-1, 1:-1]
    second = 4 * inner - full[:, :-2, 1:-1] - full[:, 2:, 1:-1] - full[:, 1:-1, :-2] - full[:, 1:-1, 2:]
    differences = [full[:, :, 1:] - full[:, :, :-1], full[:, 1:] - full[:, :-1], second]
    height, width = grid.shape[1:]
    middle = grid[:, height // 4 : height - height // 4, width // 4 : width - width // 4].flatten(1)
    largest = few.amax(1).flatten(1)
    return torch.cat(
        [
            levels,
            mean(luma),
            spread(luma),
            share(luma < 25 / 255),
            share(luma > 235 / 255),
            share(largest >= 250),
            share(largest <= 5),
            quantiles(chroma, CHROMA_QUANTILES),
            mean(u),
            mean(v),
            spread(u),
            spread(v),
            part(u, dark),
            part(v, dark),
            part(u, light),
            part(v, light),
            *[(255 * d.abs().flatten(1).mean(1, keepdim=True) + 0.1).log() for d in differences],
            mean(middle) - mean(luma),
        ],
        1,
    )
