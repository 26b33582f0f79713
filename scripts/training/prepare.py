#!/usr/bin/env python3
"""Decodes, damages and resizes the photos once, so that an epoch costs only the network.

    OPENBLAS_NUM_THREADS=1 prepare.py --datasets /work/shared/datasets --photos /work/shared/photos-cc0 --work /work/train

Writes to the work folder:
  photos.u8     the photos of biq2021-train as the network sees them (384 pixels, rounded to 8 bits)
  photos.json   their heights and widths
  damaged.u8    clean and damaged forms of good photos, damaged at native resolution and then resized
  native        the forms at native resolution, for the measurements of perception
  forms         what is known about the forms of each content; a content that has a file here is not made again
  damaged.json  for each form: content, kind, level, target, attributes, size, and whether it is for validation
"""

from __future__ import annotations

import argparse
import json
import os
from multiprocessing import Pool
from pathlib import Path

import cv2
import numpy as np
import repaired
from damage import CLEAN, FORMS, KINDS, TID, Table, damage
from labels import Photo, read
from losses import FALL
from PIL import Image
from split import is_validation, name_hash
from view import LONGER, resized

# Gray photos, and photos that are no good pictures to begin with.
UNSUITED = {"brick", "camera", "clock_motion", "grass", "gravel", "hubble_deep_field", "retina", "dust-bowl-home"}
# The example of the README must not be learned.
KEPT = {"perched-osprey"}
FROM_OPINIONS, VALIDATION_FROM_OPINIONS = 44, 3
# CC0 photos for validation; those that the hash keeps for validation beyond this number are not used.
VALIDATION_FROM_PHOTOS = 1
# Whether the other CC0 photos are damaged for training too. The model that training goes on from has seen them.
TRAINS_PHOTOS = False
# Width and height at which the CC0 photos are damaged, with their odds: those of common datasets.
SIZES = [((512, 384), 0.55), ((480, 480), 0.2), ((768, 576), 0.15), ((1024, 768), 0.1)]


def decoded(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"))


def store(path: Path, count: int, mode: str) -> np.memmap:
    return np.memmap(path, np.uint8, mode, shape=(count, LONGER, LONGER, 3))


def put(target: np.memmap, index: int, image: np.ndarray) -> tuple[int, int]:
    small = np.clip(np.rint(resized(image)), 0, 255).astype(np.uint8)
    height, width = small.shape[:2]
    target[index, :height, :width] = small
    return height, width


def cache_photos(job: tuple[Path, int, list[tuple[int, Path]]]) -> list[tuple[int, tuple[int, int]]]:
    path, count, photos = job
    target = store(path, count, "r+")
    sizes = [(index, put(target, index, decoded(photo))) for index, photo in photos]
    target.flush()
    return sizes


def good(photo: Photo) -> bool:
    """Whether a photo has nothing wrong with it."""
    seen = photo.labels
    fine = {"main_problem": "none", "sharpness": "sharp", "noise": "none", "compression": "none", "exposure": "ok"}
    return bool(seen) and all(seen[key] == value for key, value in fine.items()) and seen["quality"] >= 4.2


def cropped(image: np.ndarray, photo: bool, random: np.random.Generator) -> np.ndarray:
    """Returns the content at the size at which it is damaged."""
    height, width = image.shape[:2]
    if photo:
        if random.random() < 0.6 or height % 32 or width % 32:
            top = int(random.integers(0, height - 384 + 1))
            return image[top : top + 384]
        return image
    sizes = [size for size, _ in SIZES]
    wide, high = sizes[random.choice(len(sizes), p=[odds for _, odds in SIZES])]
    scale = max(wide / width, high / height)
    if scale > 1:
        wide, high, scale = 512, 384, max(512 / width, 384 / height)
    small = cv2.resize(
        image, (max(round(width * scale), wide), max(round(height * scale), high)), None, 0, 0, cv2.INTER_AREA
    )
    left, top = (small.shape[1] - wide) // 2, (small.shape[0] - high) // 2
    return small[top : top + high, left : left + wide]


def cache_damage(job: tuple) -> list[dict]:
    """Writes all forms of one content, and returns their descriptions."""
    path, total, index, (name, source, level), validation, forms, scores = job
    described = path.parent / "forms" / f"{name}.json"
    if described.exists():
        return json.loads(described.read_text())
    cv2.setNumThreads(1)
    random = np.random.default_rng(name_hash(name) % 2**32)
    table = Table(scores)
    image = np.ascontiguousarray(cropped(decoded(source), name.startswith("biq"), random)).astype(np.float32)
    native = list(image.shape[:2])
    target = store(path, total, "r+")
    rows = []
    for place, (kind, step) in enumerate(forms):
        if kind < 0:
            form, implied, opinion = image, {}, CLEAN
        else:
            form, implied = damage(image, kind, step, table, random)
            opinion = table.target(kind, step)
        size = put(target, index + place, form)
        Image.fromarray(np.clip(np.rint(form), 0, 255).astype(np.uint8)).save(
            path.parent / "native" / f"{index + place:05}.bmp"
        )
        rows.append(
            {
                "content": name,
                "clean_level": level,
                "kind": KINDS[kind] if kind >= 0 else "clean",
                "level": step + 1 if kind >= 0 else 0,
                "target": opinion,
                "implied": implied,
                "native": native,
                "size": size,
                "validation": validation,
            }
        )
    target.flush()
    described.write_text(json.dumps(rows))
    return rows


def cache_repaired(job: tuple[Path, int, int, Photo]) -> list[dict]:
    """Writes the forms of a photo with a fault, and returns their descriptions."""
    path, total, index, photo = job
    described = path.parent / "forms" / f"repaired {photo.name}.json"
    if described.exists():
        return json.loads(described.read_text())
    cv2.setNumThreads(1)
    random = np.random.default_rng(name_hash(photo.name) % 2**32)
    image, target = decoded(photo.path).astype(np.float32), store(path, total, "r+")
    # The photo as it is has the level that people gave it.
    room = FALL * (CLEAN - repaired.AS_IT_IS)
    rows = []
    for place, form in enumerate(repaired.forms(image, photo.labels["main_problem"], random)):
        size = put(target, index + place, form)
        Image.fromarray(form).save(path.parent / "native" / f"{index + place:05}.bmp")
        rows.append(
            {
                "content": f"repaired {photo.name}",
                "clean_level": photo.level + room,
                "clean_quality": photo.labels["quality"] + room,
                "kind": "repaired",
                "level": place,
                "target": repaired.TARGETS[place],
                "implied": {},
                "native": list(image.shape[:2]),
                "size": size,
                "validation": False,
            }
        )
    target.flush()
    described.write_text(json.dumps(rows))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=Path, required=True)
    parser.add_argument("--photos", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    photos = read(arguments.datasets)
    print(len(photos), "photos,", sum(photo.validation for photo in photos), "for validation")
    with Pool(arguments.processes) as pool:
        path = arguments.work / "photos.u8"
        numbered = [(index, photo.path) for index, photo in enumerate(photos)]
        if not (arguments.work / "photos.json").exists():
            store(path, len(photos), "w+")
            jobs = [(path, len(photos), numbered[start::40]) for start in range(40)]
            sizes = dict(pair for part in pool.imap(cache_photos, jobs) for pair in part)
            (arguments.work / "photos.json").write_text(json.dumps([sizes[index] for index in range(len(photos))]))
        print("photos are cached", flush=True)

        best = sorted((photo for photo in photos if good(photo)), key=lambda photo: name_hash("damage" + photo.name))
        chosen = [photo for photo in best if not photo.validation][:FROM_OPINIONS]
        held = [photo for photo in best if photo.validation][:VALIDATION_FROM_OPINIONS]
        contents = [((photo.name, photo.path, photo.level), photo.validation) for photo in chosen + held]
        files = sorted(
            p for p in arguments.photos.rglob("*") if p.suffix in (".jpg", ".png") and p.stem not in UNSUITED
        )
        kept = sorted((p for p in files if p.stem in KEPT or is_validation(p.stem)), key=lambda p: p.stem not in KEPT)
        files = (
            [p for p in files if p not in kept[VALIDATION_FROM_PHOTOS:]]
            if TRAINS_PHOTOS
            else kept[:VALIDATION_FROM_PHOTOS]
        )
        contents += [((p.stem, p, 4.4), p in kept) for p in files]
        jobs, total = [], 0
        for content, validation in contents:
            random = np.random.default_rng(name_hash("forms" + content[0]) % 2**32)
            forms = [(-1, 0)]
            for kind in range(len(KINDS)):
                count = 5 if validation else FORMS.get(KINDS[kind], 2 if kind < len(TID) else 1)
                forms += [(kind, int(level)) for level in sorted(random.choice(5, count, replace=False))]
            jobs.append((total, content, validation, forms))
            total += len(forms)
        print(len(contents), "contents,", sum(v for _, v in contents), "for validation,", total, "forms", flush=True)
        faulty = [(total + len(repaired.TARGETS) * place, photo) for place, photo in enumerate(repaired.chosen(photos))]
        total += len(repaired.TARGETS) * len(faulty)
        print(len(faulty), "photos with a fault that an edit can mend", flush=True)
        path = arguments.work / "damaged.u8"
        if not path.exists():
            store(path, total, "w+")
        os.truncate(path, total * LONGER * LONGER * 3)
        for folder in ("forms", "native"):
            (arguments.work / folder).mkdir(exist_ok=True)
        scores = arguments.datasets / "tid2013-half-scores.csv"
        rows = list(pool.imap(cache_damage, [(path, total, *job, scores) for job in jobs], chunksize=1))
        rows += pool.imap(cache_repaired, [(path, total, *job) for job in faulty], chunksize=1)
        (arguments.work / "damaged.json").write_text(json.dumps([row for part in rows for row in part]))
    print("damage is cached")


if __name__ == "__main__":
    main()
