"""Losses of a batch of photos and of a batch of damaged forms."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from damage import CLEAN
from labels import ATTRIBUTES, Photo, target
from model import split

# Opinions of subset 2 are odd, so their order counts less, but their mean level is not.
SUBSET2 = 0.5
SUBSET2_LEVEL = 1.0
HUBER = 0.4
ATTRIBUTE = 0.12
MAIN_PROBLEM = 2.0
# Attributes implied by damage count less than those seen by eye.
IMPLIED = 0.5
# Fall of the level (1 to 5) for each unit of TID2013's opinion (0 to 9).
FALL = 0.55
# Weight of the ranking within a photo.
RANKING = 0.5


class Targets:
    """Targets of all photos or forms as tensors; rows without a label have weight 0."""

    def __init__(self, count: int):
        self.level = torch.zeros(count)
        self.quality = torch.zeros(count)
        self.labeled = torch.zeros(count)
        self.subset = torch.zeros(count, dtype=torch.long)
        self.attributes = {name: torch.zeros(count, len(classes)) for name, classes in ATTRIBUTES.items()}


def photo_targets(photos: list[Photo]) -> Targets:
    targets = Targets(len(photos))
    for row, photo in enumerate(photos):
        targets.level[row] = photo.level
        targets.subset[row] = photo.subset
        if photo.labels:
            targets.quality[row] = photo.labels["quality"]
            targets.labeled[row] = 1
            for name, table in targets.attributes.items():
                table[row] = torch.from_numpy(target(name, photo.labels[name], photo.labels["quick"]))
    return targets


def form_targets(forms: list[dict]) -> Targets:
    targets = Targets(len(forms))
    for row, form in enumerate(forms):
        fall = FALL * (CLEAN - form["target"])
        targets.level[row] = max(form["clean_level"] - fall, 1.0)
        targets.quality[row] = max(form.get("clean_quality", 4.4) - fall, 1.0)
        for name, value in form["implied"].items():
            if isinstance(value, list):
                targets.attributes[name][row] = torch.tensor(value)
            else:
                targets.attributes[name][row, ATTRIBUTES[name].index(value)] = 1
    return targets


def class_weights(photos: list[Photo]) -> dict[str, torch.Tensor]:
    """Root of the inverse frequency in the training photos, at most four times the mean."""
    weights = {}
    for name, classes in ATTRIBUTES.items():
        counts = np.array([sum(p.labels.get(name) == c for p in photos if p.labels) for c in classes], float)
        raw = 1 / np.sqrt(np.maximum(counts, 1))
        raw /= (raw * counts).sum() / counts.sum()
        weights[name] = torch.tensor(np.clip(raw, 0, 4), dtype=torch.float32)
    return weights


def correlation(a: torch.Tensor, b: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    weight = weight / weight.sum().clamp_min(1e-6)
    a, b = a - (weight * a).sum(), b - (weight * b).sum()
    return (weight * a * b).sum() / ((weight * a * a).sum() * (weight * b * b).sum() + 1e-6).sqrt()


def near(a: torch.Tensor, b: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    error = F.huber_loss(a, b, reduction="none", delta=0.5)
    return (weight * error).sum() / weight.sum().clamp_min(1)


def attribute_loss(out: dict, targets: Targets, rows, weights: dict, parts: dict) -> torch.Tensor:
    total = torch.zeros(())
    for name, weight in weights.items():
        wanted = targets.attributes[name][rows]
        share = (wanted * weight).sum(1)
        if share.sum() == 0:
            continue
        loss = -(wanted * weight * out[name].log_softmax(1)).sum() / share.sum()
        parts[name] = loss.item()
        # A batch with few labels of this kind counts accordingly.
        present = (wanted.sum(1) > 0).float().mean()
        total = total + loss * present * (MAIN_PROBLEM if name == "main_problem" else 1.0)
    return ATTRIBUTE * total


def photo_loss(outputs: torch.Tensor, targets: Targets, rows, weights: dict) -> tuple[torch.Tensor, dict]:
    out = split(outputs)
    second = targets.subset[rows] == 2
    weight = torch.where(second, SUBSET2, 1.0)
    level, quality, labeled = targets.level[rows], targets.quality[rows], targets.labeled[rows]
    parts: dict[str, float] = {}
    opinion = (1 - correlation(out["opinion"], level, weight)) * (SUBSET2 if bool(second.all()) else 1.0)
    second_teacher = 1 - correlation(out["quality"], quality, labeled)
    close = near(out["opinion"], level, torch.where(second, SUBSET2_LEVEL, 1.0))
    close = close + near(out["quality"], quality, labeled)
    attributes = attribute_loss(out, targets, rows, weights, parts)
    parts |= {"opinion": opinion.item(), "quality": second_teacher.item(), "huber": close.item()}
    parts["attributes"] = attributes.item()
    return opinion + second_teacher + HUBER * close + attributes, parts


def ranking(scores: torch.Tensor, wanted: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    """Logistic loss of all pairs of one content whose targets differ by more than 0.3 of nine."""
    gap = wanted[:, None] - wanted[None, :]
    pairs = (groups[:, None] == groups[None, :]) & (gap > 0.3)
    differences = (scores[:, None] - scores[None, :])[pairs]
    return F.softplus(-3 * differences).mean() if differences.numel() else scores.sum() * 0


def damage_loss(outputs, targets: Targets, rows, wanted, groups, weights: dict) -> tuple[torch.Tensor, dict]:
    out = split(outputs)
    parts: dict[str, float] = {}
    ones = torch.ones(len(wanted))
    total = IMPLIED * attribute_loss(out, targets, rows, weights, {})
    for name, level, share in (("opinion", targets.level, 1.0), ("quality", targets.quality, 0.5)):
        order = ranking(out[name], wanted, groups)
        far = 1 - correlation(out[name], wanted, ones)
        total = total + share * (far + RANKING * order + HUBER * near(out[name], level[rows], ones))
        parts |= {f"damage {name}": far.item(), f"ranking {name}": order.item()}
    return total, parts
