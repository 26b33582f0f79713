"""Where the damage is. In a file of its own because it needs NumPy, which takes longer to load than all else."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


class QualityMap(numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float32]]):
    """An array of height and width: one number for each place, on the metric's own local scale.

    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> from agenticiqa import Metric
    >>> found = Metric("GMSD").map(photo, photo)
    >>> found.best, float(found.min()), bool(found.damage.any())
    (1.0, 1.0, False)
    """

    #: The metric.
    tool: str
    #: The value that a flawless place has.
    best: float
    #: The value from which a place counts as fully damaged.
    worst: float

    def __new__(cls, tool: str, values: NDArray[numpy.float32], best: float, worst: float) -> QualityMap:
        made = values.view(cls)
        made.tool, made.best, made.worst = tool, best, worst
        return made

    def __array_finalize__(self, source: Any) -> None:
        # A part of a map is a map.
        self.tool, self.best, self.worst = (getattr(source, name, None) for name in ("tool", "best", "worst"))  # type: ignore[assignment]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # What is computed from a map is none: its best and its worst would be others.
        plain = array.view(numpy.ndarray)
        return plain[()] if return_scalar else plain

    @property
    def damage(self) -> NDArray[numpy.float32]:
        """The same from 0 (flawless) to 1 (fully damaged), ready to be shown as an image."""
        share = (self.view(numpy.ndarray) - self.best) / (self.worst - self.best)
        damage: NDArray[numpy.float32] = numpy.clip(share, 0, 1, dtype=numpy.float32)
        return damage

    def __reduce__(self) -> Any:
        return QualityMap, (self.tool, self.view(numpy.ndarray), self.best, self.worst)
