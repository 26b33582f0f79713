"""Finds where things are in an image."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import _native

if TYPE_CHECKING:
    from ._metrics import Image

#: Where a region comes from.
Origin = Literal["given", "detector", "position", "model", "whole image"]


@dataclass(frozen=True, slots=True)
class FoundRegion:
    """A named part of an image, in pixels."""

    name: str
    x: int
    y: int
    width: int
    height: int
    #: "whole image" if the name was not found.
    origin: Origin
    #: The probability that the region is what its name says. ``None`` if the name was not found.
    probability: float | None = None
    #: What was found, if it differs from the name: "car" for "the vehicle".
    found: str | None = None

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height, as `region=` of the metrics."""
        return self.x, self.y, self.width, self.height


def regions(image: Image, names: str | Iterable[str] | None = None) -> list[FoundRegion]:
    """Finds objects and other parts of an image, without a model.

    `names` are positions such as "upper left", "sky", "ground", "subject", "background", "darkest part", or objects.
    Each gets an entry, in the same order. Without names, everything that can be found is returned.

    >>> import numpy
    >>> photo = numpy.zeros((90, 300, 3), dtype=numpy.uint8)
    >>> [(found.name, found.box, found.origin) for found in regions(photo, ["center left", "the chandelier"])]
    [('center left', (0, 13, 100, 64), 'position'), ('the chandelier', (0, 0, 300, 90), 'whole image')]
    """
    picture = image if isinstance(image, _native.Picture) else _native.Picture(image)
    wanted = [names] if isinstance(names, str) else None if names is None else list(names)
    found = json.loads(picture.regions(wanted))
    return [FoundRegion(**{"found" if key == "class" else key: value for key, value in one.items()}) for one in found]
