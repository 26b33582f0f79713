"""Quality maps. A separate module because it imports NumPy, which takes longer to load than the rest."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray


class QualityMap(numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float32]]):
    """A map of local quality: an array of height by width, on the metric's own local scale.

    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> from agenticiqa import Metric
    >>> found = Metric("GMSD").map(photo, photo)
    >>> found.best, float(found.min()), bool(found.damage.any())
    (1.0, 1.0, False)
    """

    #: The name of the metric.
    tool: str
    #: The value of a flawless location.
    best: float
    #: The value at which a location counts as fully damaged.
    worst: float

    def __new__(cls, tool: str, values: NDArray[numpy.float32], best: float, worst: float) -> QualityMap:
        made = values.view(cls)
        made.tool, made.best, made.worst = tool, best, worst
        return made

    def __array_finalize__(self, source: Any) -> None:
        # A slice of a map is a map too.
        self.tool, self.best, self.worst = (getattr(source, name, None) for name in ("tool", "best", "worst"))  # type: ignore[assignment]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # The result of a computation is a plain array: `best` and `worst` would not apply to it.
        plain = array.view(numpy.ndarray)
        return plain[()] if return_scalar else plain

    @property
    def damage(self) -> NDArray[numpy.float32]:
        """The map rescaled from 0 (flawless) to 1 (fully damaged), for display as an image."""
        share = (self.view(numpy.ndarray) - self.best) / (self.worst - self.best)
        damage: NDArray[numpy.float32] = numpy.clip(share, 0, 1, dtype=numpy.float32)
        return damage

    def __reduce__(self) -> Any:
        return QualityMap, (self.tool, self.view(numpy.ndarray), self.best, self.worst)
