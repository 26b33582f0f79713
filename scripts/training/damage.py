"""Generated damage at native resolution: the 24 kinds of TID2013 and ten more, at five levels.

The strength of a TID2013 kind is chosen so that the damage has the mean PSNR of that kind and level in
tid2013-half-scores.csv, and its target is the mean opinion (0 to 9) of that kind and level there. Only these numbers
are used, no image of TID2013. The strengths and targets of the other kinds are set by hand.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pywt
from PIL import Image

TID = [
    "white noise",
    "color noise",
    "correlated noise",
    "masked noise",
    "high-frequency noise",
    "impulse noise",
    "quantization",
    "gaussian blur",
    "denoise",
    "jpeg",
    "jpeg2000",
    "jpeg errors",
    "jpeg2000 errors",
    "pattern noise",
    "local blocks",
    "mean shift",
    "contrast change",
    "saturation",
    "multiplicative noise",
    "comfort noise",
    "compressed noise",
    "dithered colors",
    "chromatic aberration",
    "sparse sampling",
]
# Targets (0 to 9) at levels 1 to 5, by hand, in addition to those of TID2013: 2.5 to 6.2 for what is similar.
OTHERS = {
    "lens blur": (5.6, 4.9, 4.0, 3.1, 2.3),
    "motion blur": (5.7, 5.0, 4.1, 3.2, 2.4),
    "pixelate": (5.4, 4.6, 3.7, 2.8, 1.9),
    "oversharpen": (6.0, 5.5, 4.9, 4.2, 3.5),
    "darken": (5.9, 5.4, 4.7, 3.9, 2.9),
    "brighten": (5.9, 5.4, 4.7, 4.0, 3.1),
    "oversaturate": (6.1, 5.7, 5.1, 4.4, 3.7),
    "color cast": (5.8, 5.3, 4.6, 3.9, 3.2),
    "haze": (5.8, 5.2, 4.5, 3.8, 3.1),
    "jitter": (5.6, 4.9, 4.2, 3.5, 2.8),
}
KINDS = [*TID, *OTHERS]
# Number of forms of each photo that is trained on. The other kinds have one, those of TID2013 two. An edit can mend these, so
# the score must see that more of the damage is worse.
FORMS = {"color cast": 4, "darken": 3, "brighten": 3}
# Opinion (0 to 9) that a clean photo counts as.
CLEAN = 6.5

DCT = np.array([[np.cos((2 * x + 1) * k * np.pi / 16) * (0.5 if k else 8**-0.5) for x in range(8)] for k in range(8)])
DCT = DCT.astype(np.float32)
ROUGH = np.array([[1 + 0.35 * (i + j) for j in range(8)] for i in range(8)], np.float32)


class Table:
    """Mean opinion and mean PSNR of each kind and level of TID2013."""

    def __init__(self, path: Path):
        rows: dict[tuple[int, int], list[tuple[float, float]]] = {}
        with path.open() as file:
            for row in csv.DictReader(file):
                key = int(row["distortion_type"]) - 1, int(row["level"]) - 1
                rows.setdefault(key, []).append((float(row["mos"]), float(row["PSNR"])))
        self.opinion = {key: float(np.mean([mos for mos, _ in pairs])) for key, pairs in rows.items()}
        self.psnr = {key: float(np.mean([psnr for _, psnr in pairs])) for key, pairs in rows.items()}

    def target(self, kind: int, level: int) -> float:
        """Returns the opinion (0 to 9) that damage of this kind and level (0 to 4) counts as."""
        return self.opinion[kind, level] if kind < len(TID) else OTHERS[KINDS[kind]][level]


def rms(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def clip(image: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(image), 0, 255).astype(np.float32)


def scaled(image: np.ndarray, noise: np.ndarray, error: float) -> np.ndarray:
    """Adds noise, scaled to this root mean square error after clipping."""
    scale = error / (rms(noise, np.zeros_like(noise)) + 1e-6)
    for _ in range(3):
        out = clip(image + scale * noise)
        scale *= min(error / (rms(out, image) + 1e-6), 2.0)
    return clip(image + scale * noise)


def searched(image: np.ndarray, make: Callable[[float], np.ndarray], low: float, high: float, error: float, steps=6):
    """Bisects the logarithm of a strength that makes the error grow."""
    out = image
    for _ in range(steps):
        middle = float(np.sqrt(low * high))
        out = make(middle)
        if rms(out, image) < error:
            low = middle
        else:
            high = middle
    return out


def blocks(plane: np.ndarray) -> np.ndarray:
    height, width = plane.shape
    return plane.reshape(height // 8, 8, width // 8, 8).transpose(0, 2, 1, 3)


def plane_of(parts: np.ndarray) -> np.ndarray:
    rows, columns = parts.shape[:2]
    return parts.transpose(0, 2, 1, 3).reshape(rows * 8, columns * 8)


def each_block(plane: np.ndarray, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Changes the DCT coefficients of blocks of 8x8."""
    return plane_of(DCT.T @ change(DCT @ blocks(plane) @ DCT.T) @ DCT)


def to_ycc(image: np.ndarray) -> np.ndarray:
    y = image @ np.array([0.299, 0.587, 0.114], np.float32)
    return np.stack([y, 0.564 * (image[:, :, 2] - y), 0.713 * (image[:, :, 0] - y)], 2)


def to_rgb(ycc: np.ndarray) -> np.ndarray:
    y, u, v = ycc[:, :, 0], ycc[:, :, 1], ycc[:, :, 2]
    red, blue = y + v / 0.713, y + u / 0.564
    return np.stack([red, (y - 0.299 * red - 0.114 * blue) / 0.587, blue], 2)


def encoded(image: np.ndarray, **options) -> np.ndarray:
    buffer = io.BytesIO()
    Image.fromarray(image.astype(np.uint8)).save(buffer, **options)
    buffer.seek(0)
    return np.asarray(Image.open(buffer).convert("RGB"), np.float32)


def kernel_blur(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    return cv2.filter2D(image, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT)


def disc(radius: float) -> np.ndarray:
    reach = int(np.ceil(radius)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    return np.clip(radius + 0.5 - np.hypot(x, y), 0, 1).astype(np.float32)


def line(length: float, angle: float) -> np.ndarray:
    reach = int(np.ceil(length / 2)) + 1
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.float32)
    for along in np.linspace(-length / 2, length / 2, 8 * reach):
        x, y = reach + along * np.cos(angle), reach + along * np.sin(angle)
        column, row = int(x), int(y)
        dx, dy = x - column, y - row
        kernel[row, column] += (1 - dx) * (1 - dy)
        kernel[row, column + 1] += dx * (1 - dy)
        kernel[row + 1, column] += (1 - dx) * dy
        kernel[row + 1, column + 1] += dx * dy
    return kernel


def thresholded(image: np.ndarray, threshold: float) -> np.ndarray:
    """Drops small DCT coefficients in blocks at two offsets, and averages."""
    total = np.zeros_like(image)
    for offset in (0, 4):
        moved = np.roll(image, (offset, offset), (0, 1))

        def change(c: np.ndarray) -> np.ndarray:
            keep = np.abs(c) > threshold
            keep[..., 0, 0] = True
            return c * keep

        planes = [each_block(moved[:, :, channel], change) for channel in range(3)]
        total += np.roll(np.stack(planes, 2), (-offset, -offset), (0, 1))
    return total / 2


def wavelet(image: np.ndarray, change: Callable[[list], list]) -> np.ndarray:
    planes = []
    for channel in range(3):
        coefficients = pywt.wavedec2(image[:, :, channel], "bior4.4", mode="periodization", level=5)
        planes.append(pywt.waverec2(change(coefficients), "bior4.4", mode="periodization"))
    return np.stack(planes, 2).astype(np.float32)[: image.shape[0], : image.shape[1]]


def patches(image: np.ndarray, error: float, draw: Callable[[np.ndarray], None]) -> np.ndarray:
    """Draws faults until the error is reached."""
    out = image.copy()
    for count in range(4000):
        draw(out)
        if count % 4 == 3 and rms(out, image) >= error:
            break
    return clip(out)


def tid_damage(image: np.ndarray, kind: str, level: int, psnr: float, random: np.random.Generator) -> np.ndarray:
    """Damages an image (float32, 0 to 255; sides are multiples of 32) to about this PSNR."""
    height, width = image.shape[:2]
    error = 255 * 10 ** (-psnr / 20)
    noise = random.standard_normal(image.shape).astype(np.float32)
    if kind == "white noise":
        return scaled(image, noise, error)
    if kind == "color noise":
        noise[:, :, 0] *= 0.36
        return scaled(image, to_rgb(noise), error)
    if kind == "correlated noise":
        return scaled(image, cv2.blur(noise, (3, 3)), error)
    if kind == "masked noise":
        luma = to_ycc(image)[:, :, 0]
        high = luma - cv2.GaussianBlur(luma, (0, 0), 1.5)
        activity = np.sqrt(cv2.GaussianBlur(high * high, (0, 0), 3)) + 0.5
        return scaled(image, (noise - cv2.GaussianBlur(noise, (0, 0), 1)) * activity[:, :, None], error)
    if kind == "high-frequency noise":
        return scaled(image, noise - cv2.GaussianBlur(noise, (0, 0), 0.8), error)
    if kind == "impulse noise":
        field_, values = random.random(image.shape), np.where(random.random(image.shape) < 0.5, 0.0, 255.0)
        return searched(image, lambda p: np.where(field_ < p, values, image).astype(np.float32), 1e-5, 0.3, error)
    if kind == "quantization":
        return searched(image, lambda s: clip(np.floor(image / s) * s + s / 2), 4.0, 160.0, error, 8)
    if kind == "gaussian blur":
        return searched(image, lambda s: cv2.GaussianBlur(image, (0, 0), s), 0.25, 12.0, error)
    if kind == "denoise":
        sigma = (3.0, 6.0, 12.0, 22.0, 40.0)[level]
        noisy = scaled(image, noise, sigma)
        return searched(image, lambda t: clip(thresholded(noisy, t)), 2.0 * sigma, 14.0 * sigma, error, 5)
    if kind == "jpeg":
        return searched(image, lambda s: encoded(image, format="JPEG", quality=max(round(100 / s), 1)), 1.03, 60, error)
    if kind == "jpeg2000":
        return encoded(image, format="JPEG2000", quality_mode="dB", quality_layers=[psnr])
    if kind == "jpeg errors":
        base = encoded(image, format="JPEG", quality=75)

        def run(out: np.ndarray) -> None:
            row, column = 8 * random.integers(height // 8), 8 * random.integers(width // 8)
            length = 8 * random.integers(2, 24)
            end = min(column + length, width)
            rows = slice(row, row + 8)
            if random.random() < 0.5:
                out[rows, column:end] += random.normal(0, 45)
            else:
                start = random.integers(0, width - (end - column) + 1)
                out[rows, column:end] = base[rows, start : start + end - column]

        out = base.copy()
        for _ in range(600):
            run(out)
            if rms(out, image) >= error:
                break
        return clip(out)
    if kind == "jpeg2000 errors":
        chosen: dict[int, np.ndarray] = {}

        def change(coefficients: list) -> list:
            out = [coefficients[0]]
            for index, details in enumerate(coefficients[1:]):
                shape = details[0].shape
                if index not in chosen:
                    chosen[index] = random.standard_normal((3, *shape)) * (random.random((3, *shape)) < 0.012)
                gain = 60.0 * 2 ** (2 - index)
                out.append(tuple(d + gain * chosen[index][k] for k, d in enumerate(details)))
            return out

        damaged = wavelet(image, change)
        return scaled(image, damaged - image, error)
    if kind == "pattern noise":

        def move(out: np.ndarray) -> None:
            y, x = random.integers(16, height - 32), random.integers(16, width - 32)
            dy, dx = random.integers(-12, 13, 2)
            out[y : y + 15, x : x + 15] = image[y + dy : y + dy + 15, x + dx : x + dx + 15]

        return patches(image, error, move)
    if kind == "local blocks":
        count, strength = ((22, 12), (18, 25), (14, 40), (10, 60), (6, 85))[level]
        out = image.copy()
        for _ in range(count * height * width // (512 * 384)):
            y, x = random.integers(0, height - 32), random.integers(0, width - 32)
            part = image[y : y + 32, x : x + 32]
            out[y : y + 32, x : x + 32] = part.mean((0, 1)) + random.normal(0, strength, 3)
        return clip(out)
    if kind == "mean shift":
        return clip(image + error * random.choice((-1.0, 1.0)))
    if kind == "contrast change":
        gain = (0.9, 1.17, 0.75, 1.35, 0.5)[level] + random.normal(0, 0.02)
        return clip((image - image.mean()) * gain + image.mean())
    if kind == "saturation":
        ycc = to_ycc(image)
        chroma = np.array([0, 1, 1], np.float32)
        return searched(image, lambda s: clip(to_rgb(ycc * (1 - s * chroma))), 0.05, 1.6, error, 8)
    if kind == "multiplicative noise":
        return scaled(image, noise * image / 100, error)
    if kind == "comfort noise":
        signs = random.choice((-1.0, 1.0), (height // 8, width // 8, 8, 8)).astype(np.float32)
        ycc = to_ycc(image)

        def change_signs(threshold: float) -> np.ndarray:
            def change(c: np.ndarray) -> np.ndarray:
                small = np.abs(c) < threshold
                small[..., 0, 0] = False
                return np.where(small, c * signs, c)

            out = ycc.copy()
            out[:, :, 0] = each_block(ycc[:, :, 0], change)
            return clip(to_rgb(out))

        return searched(image, change_signs, 3.0, 1500.0, error, 7)
    if kind == "compressed noise":
        noisy = scaled(image, noise, 0.95 * error)

        def quantized(step: float) -> np.ndarray:
            def change(c: np.ndarray) -> np.ndarray:
                return np.rint(c / (step * ROUGH)) * step * ROUGH

            return clip(np.stack([each_block(noisy[:, :, channel], change) for channel in range(3)], 2))

        return searched(image, quantized, 2.0, 300.0, error)
    if kind == "dithered colors":
        picture = Image.fromarray(image.astype(np.uint8))

        def colors(inverse: float) -> np.ndarray:
            palette = picture.quantize(max(round(256 / inverse), 2), dither=Image.Dither.NONE)
            drawn = picture.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)
            return np.asarray(drawn.convert("RGB"), np.float32)

        return searched(image, colors, 1.0, 128.0, error, 4)
    if kind == "chromatic aberration":

        def shifted(s: float) -> np.ndarray:
            out = cv2.GaussianBlur(image, (0, 0), 0.3 + 0.15 * s)
            for channel, sign in ((0, 1.0), (2, -1.0)):
                matrix = np.array([[1, 0, sign * s], [0, 1, 0.5 * sign * s]], np.float32)
                border = cv2.BORDER_REFLECT
                plane = np.ascontiguousarray(out[:, :, channel])
                out[:, :, channel] = cv2.warpAffine(plane, matrix, (width, height), borderMode=border)
            return out

        return searched(image, shifted, 0.2, 20.0, error)
    if kind == "sparse sampling":

        def shrunk(threshold: float) -> np.ndarray:
            def change(coefficients: list) -> list:
                inner = [tuple(pywt.threshold(d, threshold, "garrote") for d in parts) for parts in coefficients[1:]]
                return [coefficients[0], *inner]

            return clip(wavelet(image, change))

        return searched(image, shrunk, 4.0, 800.0, error, 5)
    raise ValueError(kind)


def other_damage(image: np.ndarray, kind: str, level: int, random: np.random.Generator) -> np.ndarray:
    """Damages an image by a kind that TID2013 does not have."""
    height, width = image.shape[:2]
    scale = max(height, width) / 512
    if kind == "lens blur":
        return clip(kernel_blur(image, disc((1.2, 2.0, 3.2, 5.0, 8.0)[level] * scale)))
    if kind == "motion blur":
        return clip(kernel_blur(image, line((4, 7, 12, 19, 30)[level] * scale, np.pi * random.random())))
    if kind == "pixelate":
        share = (0.6, 0.4, 0.27, 0.18, 0.11)[level] / scale
        small = cv2.resize(image, (int(width * share), int(height * share)), interpolation=cv2.INTER_AREA)
        return clip(cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST))
    if kind == "oversharpen":
        gain, sigma = (0.8, 1.6, 2.8, 4.5, 8.0)[level], random.uniform(0.8, 2.0) * scale
        return clip(image + gain * (image - cv2.GaussianBlur(image, (0, 0), sigma)))
    if kind == "darken":
        gain = (0.8, 0.62, 0.45, 0.3, 0.18)[level]
        if random.random() < 0.5:
            return clip(image * gain)
        return clip(255 * (image / 255) ** (1 / gain**0.6) * (0.8 + 0.2 * gain))
    if kind == "brighten":
        gain = (1.2, 1.45, 1.8, 2.3, 3.2)[level]
        if random.random() < 0.5:
            return clip(image * gain)
        return clip(255 - (255 - image) / gain)
    if kind == "oversaturate":
        ycc = to_ycc(image)
        ycc[:, :, 1:] *= (1.35, 1.7, 2.2, 3.0, 4.5)[level]
        return clip(to_rgb(ycc))
    if kind == "haze":
        share = (0.15, 0.28, 0.42, 0.56, 0.7)[level]
        depth = np.linspace(1.0, random.uniform(0.5, 1.0), height, dtype=np.float32)[:, None, None]
        air = random.uniform(170, 235)
        return clip(image * (1 - share * depth) + air * share * depth)
    if kind == "jitter":
        reach = (0.6, 1.2, 2.0, 3.2, 5.0)[level] * scale
        y, x = np.mgrid[:height, :width].astype(np.float32)
        dx, dy = (random.normal(0, reach, (height, width)).astype(np.float32) for _ in range(2))
        return clip(cv2.remap(image, x + dx, y + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT))
    raise ValueError(kind)


CASTS = {"warm": (1, 0.15, -1), "cool": (-1, -0.1, 1), "green": (-0.7, 1, -0.7), "magenta": (0.7, -1, 0.7)}


def cast_damage(image: np.ndarray, level: int, color: str, random: np.random.Generator) -> np.ndarray:
    """Adds a color cast, by gains of the channels, at the same luma."""
    strength = (0.06, 0.12, 0.2, 0.3, 0.45)[level]
    hue = np.array(CASTS[color], np.float32) + random.normal(0, 0.12, 3).astype(np.float32)
    gains = 1 + strength * hue
    out = image * gains
    luma = np.array([0.299, 0.587, 0.114], np.float32)
    return clip(out * float((image @ luma).mean() / max((out @ luma).mean(), 1.0)))


NOISY = ("white noise", "color noise", "correlated noise", "impulse noise", "multiplicative noise")


def implied(kind: str, level: int, color: str | None) -> dict[str, list[float] | str | bool]:
    """Returns the attributes that damage implies: a class, or a distribution. Level is 0 to 4."""
    implied: dict[str, list[float] | str | bool] = {}
    if kind in NOISY or (kind == "high-frequency noise" and level >= 2):
        implied["noise"] = ([0.5, 0.5, 0.0], [0.1, 0.8, 0.1], [0.0, 0.6, 0.4], [0, 0.15, 0.85], [0, 0, 1.0])[level]
        if level >= 3:
            implied["main_problem"] = "noise"
    if kind in ("gaussian blur", "lens blur", "motion blur"):
        rows = [[0.5, 0.5, 0, 0], [0.1, 0.8, 0.1, 0], [0, 0.4, 0.6, 0], [0, 0, 0.6, 0.4], [0, 0, 0.1, 0.9]]
        implied["sharpness"] = rows[level]
        blur = {"gaussian blur": "soft", "lens blur": "defocus", "motion blur": "motion"}[kind]
        if level >= 2:
            implied["blur_kind"] = blur
            implied["main_problem"] = "motion blur" if blur == "motion" else "blur"
    if kind == "denoise" and level >= 2:
        implied["sharpness"] = [[0.2, 0.7, 0.1, 0], [0, 0.4, 0.6, 0], [0, 0.1, 0.5, 0.4]][level - 2]
        implied["blur_kind"] = "soft"
    if kind in ("jpeg", "jpeg2000", "pixelate", "compressed noise"):
        implied["compression"] = ([0.6, 0.4, 0], [0.3, 0.65, 0.05], [0.05, 0.65, 0.3], [0, 0.1, 0.9], [0, 0, 1.0])[
            level
        ]
        if level >= 3 and kind != "compressed noise":
            implied["main_problem"] = "compression"
    if kind == "contrast change" and level >= 2:
        implied["contrast"] = {2: [0.5, 0.5, 0], 3: [0, 0.3, 0.7], 4: [0.9, 0.1, 0]}[level]
        if level == 4:
            implied["main_problem"] = [0.0] * 8 + [0.7, 0.0, 0.1, 0.0, 0.0, 0.2, 0.0]
    if kind == "saturation" and level >= 1:
        implied["colour"] = [[0, 0.6, 0.4, 0], [0.05, 0.85, 0.1, 0], [0.3, 0.7, 0, 0], [0.3, 0.6, 0.1, 0]][level - 1]
        if level in (2, 3):
            implied["main_problem"] = "dull colours"
    if kind == "oversaturate":
        implied["colour"] = [0, 0, max(0.5 - 0.15 * level, 0.0), min(0.5 + 0.15 * level, 1.0)]
        if level >= 2:
            implied["main_problem"] = "oversaturation"
    if kind == "color cast" and color and level >= 1:
        row = [0.0] * 6
        row[0] = (0.4, 0.15, 0.0, 0.0)[level - 1]
        row[("none", "warm", "cool", "green", "magenta").index(color)] = 1 - row[0]
        implied["cast"] = row
        if level >= 3:
            implied["main_problem"] = "colour cast"
    if kind == "darken" and level >= 3:
        implied["lighting"] = [0.4, 0.6, 0, 0, 0] if level == 3 else [0.85, 0.15, 0, 0, 0]
        implied["exposure"] = "under"
        implied["main_problem"] = "underexposure"
    if kind == "brighten" and level >= 3:
        implied["lighting"] = [0, 0, 0, 0.5, 0.5] if level == 3 else [0, 0, 0, 0.15, 0.85]
        implied["exposure"] = "over"
        implied["main_problem"] = "overexposure"
    if kind == "oversharpen":
        implied["sharpened"] = ([0.6, 0.4], [0.3, 0.7], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0])[level]
        if level >= 3:
            implied["main_problem"] = "oversharpening"
    if kind == "haze" and level >= 1:
        implied["haze"] = [0.3, 0.7] if level == 1 else [0.0, 1.0]
        implied["contrast"] = [0.4, 0.6, 0] if level == 1 else [0.85, 0.15, 0]
        if level >= 3:
            implied["main_problem"] = [0.0] * 8 + [0.2, 0.0, 0.0, 0.0, 0.0, 0.8, 0.0]
    return implied


def damage(
    image: np.ndarray, kind: int, level: int, table: Table, random: np.random.Generator
) -> tuple[np.ndarray, dict]:
    """Damages an image by kind (index in KINDS) and level (0 to 4). Returns it with the attributes implied."""
    name = KINDS[kind]
    color = None
    if kind < len(TID):
        psnr = table.psnr[kind, level] + float(np.clip(random.normal(0, 0.5), -1, 1))
        out = tid_damage(image, name, level, psnr, random)
    elif name == "color cast":
        color = str(random.choice(list(CASTS)))
        out = cast_damage(image, level, color, random)
    else:
        out = other_damage(image, name, level, random)
    return np.clip(np.rint(out), 0, 255).astype(np.uint8), implied(name, level, color)
