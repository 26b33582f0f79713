"""Ranks and culls folders of photos."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterable
from typing import Any

from . import _native

#: What names images: folders, files and patterns such as ``photos/**/*.jpg``.
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def rank(images: Paths, by: str | None = None, *, cache: bool = True) -> Any:
    """Ranks photos, best first, as a pandas DataFrame; without pandas as a list of dictionaries.

    `by` is an axis (``"sharpness"``, ``"noise"`` ...) or a no-reference tool (``"BRISQUE"``); without it, the overall score
    decides. Columns: ``image_path``, ``score`` and ``interval`` (1 to 5), ``rank`` (shared where intervals overlap),
    ``percentile``, ``main_reason``, and ``error`` for photos that cannot be used, which come last.

    What was measured is kept by content, so a second call reads no photo; ``cache=False`` measures again.
    """
    return _table(_native.rank(_names(images), by, cache), ["error"])


def cull(images: Paths, *, reject_below: float | None = None, cache: bool = True) -> Any:
    """Groups photos of the same scene and proposes which to keep, as a DataFrame or a list of dictionaries.

    Columns: ``image_path``, ``group``, ``decision`` (``"keep"``, ``"reject"`` or ``"unsure"``), ``score`` and ``reason``. Nothing is
    written; the command ``agenticiqa cull`` writes sidecars and moves files. With ``reject_below``, photos whose score is
    certainly below it are rejected even if they are alone.
    """
    return _table(_native.cull(_names(images), reject_below, cache), [])


def _names(images: Paths) -> list[str]:
    if isinstance(images, str | os.PathLike):
        return [os.fspath(images)]
    return [os.fspath(image) for image in images]


def _table(rows: str, optional: list[str]) -> Any:
    found = [{**dict.fromkeys(optional), **row} for row in json.loads(rows)]
    if importlib.util.find_spec("pandas") is None:
        return found
    import pandas

    return pandas.DataFrame(found)
