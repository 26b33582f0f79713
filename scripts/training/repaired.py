"""Labeled photos with a fault that a plain edit can mend: mended, half mended, as they are, and worse.

Nobody rated these forms. They only say that less of the fault that somebody saw is better than more of it.
"""

from __future__ import annotations

import cv2
import numpy as np
from damage import clip
from labels import Photo
from split import name_hash

# Targets (0 to 9) of the four forms, by hand.
TARGETS = (5.5, 5.1, 4.6, 3.8)
AS_IT_IS = TARGETS[2]
# At most this many photos of each fault; of casts, to which a score is blind otherwise, all.
MOST, MOST_CASTS = 40, 200
GAMMA = 2.2
WHITE = 250


def to_light(image: np.ndarray) -> np.ndarray:
    return (np.clip(image, 0, 255) / 255) ** GAMMA


def from_light(light: np.ndarray) -> np.ndarray:
    return clip(255 * np.clip(light, 0, 1) ** (1 / GAMMA))


def balanced(image: np.ndarray, share: float, _: np.random.Generator) -> np.ndarray:
    """Removes a share of the cast (adds to it below 0): shades of gray over pixels that are not clipped."""
    light = to_light(image)
    told = light[(image.max(2) < WHITE) & (image.mean(2) > 12)]
    if len(told) < 100:
        return clip(image)
    color = (told**5).mean(0) ** 0.2
    luma = np.array([0.299, 0.587, 0.114], np.float32)
    gains = np.clip(float(color @ luma) / np.maximum(color, 1e-3), 0.4, 2.5) ** share
    out = light * gains
    return from_light(out * float((light @ luma).mean() / max((out @ luma).mean(), 1e-4)))


def brightened(image: np.ndarray, share: float, _: np.random.Generator) -> np.ndarray:
    """Raises the exposure towards a middle gray; highlights keep below white."""
    light = to_light(image)
    middle = max(float(np.quantile(light.mean(2), 0.6)), 1e-3)
    factor = float(np.clip(0.2 / middle, 1.5, 5.0)) ** share
    return from_light(light * factor / (1 + max(factor - 1, 0) * light) if factor > 1 else light * factor)


def dimmed(image: np.ndarray, share: float, _: np.random.Generator) -> np.ndarray:
    return from_light(to_light(image) * 0.6**share)


def lifted(image: np.ndarray, share: float, _: np.random.Generator) -> np.ndarray:
    """Brightens the dark tones."""
    unit = np.clip(image / 255, 0, 1)
    return clip(255 * (unit + (unit ** (1 - 0.45 * share) - unit) * (1 - unit)))


def denoised(image: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    if share < 0:
        return clip(image - 12 * share * random.standard_normal(image.shape).astype(np.float32))
    strength = 9 * share
    return cv2.fastNlMeansDenoisingColored(image.astype(np.uint8), None, strength, strength, 5, 15).astype(np.float32)


def stretched(image: np.ndarray, share: float, _: np.random.Generator) -> np.ndarray:
    if share < 0:
        return clip((image - image.mean()) * (1 + 0.45 * share) + image.mean())
    low, high = np.quantile(image.mean(2), [0.005, 0.995])
    low, high = share * low, 255 - share * (255 - high)
    return clip(255 * (image - low) / max(high - low, 60))


EDITS = {
    "colour cast": balanced,
    "underexposure": brightened,
    "overexposure": dimmed,
    "backlight": lifted,
    "noise": denoised,
    "low contrast": stretched,
    "haze": stretched,
}


def chosen(photos: list[Photo]) -> list[Photo]:
    """The photos that are trained on and have a fault of this kind, at most MOST of each."""
    found = []
    for problem in EDITS:
        own = [p for p in photos if p.labels and not p.validation and p.labels["main_problem"] == problem]
        found += sorted(own, key=lambda photo: name_hash("repaired" + photo.name))[
            : MOST_CASTS if problem == "colour cast" else MOST
        ]
    return found


def forms(image: np.ndarray, problem: str, random: np.random.Generator) -> list[np.ndarray]:
    """Returns the four forms, in the order of TARGETS."""
    edit = EDITS[problem]
    shares = (0.9, 0.45, None, -0.6)
    made = [image if share is None else edit(image, share, random) for share in shares]
    return [np.clip(np.rint(form), 0, 255).astype(np.uint8) for form in made]
