"""Readers for images and manifests, in addition to the readers of Ray such as ``ray.data.read_parquet``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .. import _native

if TYPE_CHECKING:
    from ray.data import Dataset

#: File extensions of images in a folder.
EXTENSIONS = ("avif", "bmp", "gif", "jpeg", "jpg", "png", "tif", "tiff", "webp")


def read_images(paths: str | list[str], **options: Any) -> Dataset:
    """Reads image files from folders or paths as rows of ``path`` and ``bytes``.

    Paths are local or in an object store (``s3://``, ``gs://``, ``abfs://``). The bytes are those
    of the undecoded file. ``ray.data.read_images`` decodes it and loses the color profile, the
    orientation and the JPEG tables, which affect the assessment. ``options`` are those of
    ``ray.data.read_binary_files``.
    """
    import ray.data

    if isinstance(paths, list) or not os.path.isfile(paths):
        options.setdefault("file_extensions", [spelling for name in EXTENSIONS for spelling in (name, name.upper())])
    return ray.data.read_binary_files(paths, include_paths=True, **options)


def read_manifest(path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Dataset:
    """Reads a manifest (JSON Lines, CSV or Parquet) like ``agenticiqa batch``.

    `assess` then writes the same records. Relative paths are resolved against ``root``, the working
    folder or the folder of the manifest. Workers open the files, so the paths must be valid there.
    The manifest is read into memory; use the readers of Ray for a larger one.
    """
    import pyarrow
    import ray.data

    lines = _native.manifest(os.fspath(path), None if root is None else os.fspath(root))
    names, numbers, fields = map(list, zip(*lines)) if lines else ([], [], [])
    table = {
        "sample_id": pyarrow.array(names, pyarrow.string()),
        "line": pyarrow.array(numbers, pyarrow.int64()),
        "sample": pyarrow.array(fields, pyarrow.string()),
    }
    return ray.data.from_arrow(pyarrow.table(table))
