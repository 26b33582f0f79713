"""Where rows come from, besides what Ray reads itself (``ray.data.read_parquet`` and others)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .. import _native

if TYPE_CHECKING:
    from ray.data import Dataset

#: What is taken for an image in a folder.
EXTENSIONS = ("avif", "bmp", "gif", "jpeg", "jpg", "png", "tif", "tiff", "webp")


def read_images(paths: str | list[str], **options: Any) -> Dataset:
    """The images of folders or of files, here or in an object store (``s3://``, ``gs://``, ``abfs://``): rows of ``path`` and ``bytes``.

    Bytes are the file's own, since profiles, orientation and JPEG tables belong to an image: ``ray.data.read_images`` throws them away.
    ``options`` are those of ``ray.data.read_binary_files``.
    """
    import ray.data

    if isinstance(paths, list) or not os.path.isfile(paths):
        options.setdefault("file_extensions", [spelling for name in EXTENSIONS for spelling in (name, name.upper())])
    return ray.data.read_binary_files(paths, include_paths=True, **options)


def read_manifest(path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Dataset:
    """The lines of a manifest (JSON Lines, CSV or Parquet), read as ``agenticiqa batch`` reads them: `assess` writes the same records.

    Paths that are relative start below ``root``, or in the working folder, or beside the manifest. They are looked for by the workers, so
    they must mean the same there. The whole manifest is read here; one that is larger than memory is better read by Ray.
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
