"""Metrics: score an image, with or without a reference, as a number, a map or a table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import _native, _pictures
from .errors import PictureError, SettingsError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from ._maps import QualityMap

#: An image: a path, the bytes of a file, an array of height by width by channels, a Pillow image,
#: any object with
#: ``__dlpack__`` or ``__array__``, or a `Picture`.
Image: TypeAlias = Any
#: Left edge, upper edge, width, height, in pixels.
Region: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Score:
    """A score with its details."""

    tool: str
    #: On the tool's own scale.
    raw_score: float
    #: The score from 1 (bad) to 5 (excellent). ``None`` for tools that measure a property and not
    #: quality.
    normalized_score: float | None
    #: 90% prediction interval of the mean opinion score, from 1 to 5. ``None`` if the tool has
    #: none.
    interval: tuple[float, float] | None
    #: Run time of the metric in seconds, without decoding.
    execution_time: float
    #: Conversions of the pixels before the measurement, such as to sRGB.
    notes: list[str]

    def __float__(self) -> float:
        return self.raw_score

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """The description of a tool."""

    name: str
    #: "FR" (full-reference) or "NR" (no-reference).
    type: Literal["FR", "NR"]
    #: ``None`` for tools that measure a property and not quality.
    lower_is_better: bool | None
    #: Lowest and highest raw score. ``None`` if unbounded or unknown.
    range: tuple[float | None, float | None]
    description: str
    has_map: bool
    #: Whether the tool can run on this machine. If not, ``reason`` says what is missing.
    available: bool
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@lru_cache(maxsize=8)
def _tools(config: str | None) -> _native.Tools:
    return _native.Tools(config)


def list_tools(*, config: str | os.PathLike[str] | None = None) -> list[ToolInfo]:
    """Returns all tools, including those that cannot run on this machine.

    >>> [tool.name for tool in list_tools() if tool.type == "NR"][:3]
    ['BRISQUE', 'NIQE', 'ILNIQE']
    """
    rows = map(json.loads, _tools(_path(config)).list())
    return [ToolInfo(**row | {"range": tuple(row["range"])}) for row in rows]


class Metric:
    """A metric, called with an image and, if it needs one, a reference.

    >>> import numpy
    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> ssim = Metric("ssim")
    >>> ssim(photo, photo)
    1.0
    >>> ssim.lower_is_better, ssim.range
    (False, (-1.0, 1.0))

    Settings are read when the metric is created: from ``config``, a folder or a file like the
    ``--config`` option of the command line, or from the default locations of the command line.
    """

    __slots__ = ("_config", "_tool")

    def __init__(self, tool: str, *, config: str | os.PathLike[str] | None = None) -> None:
        self._config = _path(config)
        self._tool = _tools(self._config).get(tool)

    @property
    def name(self) -> str:
        """The name of the metric, spelled as in its paper."""
        return self._tool.name

    @property
    def needs_reference(self) -> bool:
        """Whether the metric needs a reference image."""
        return self._tool.needs_reference

    @property
    def lower_is_better(self) -> bool | None:
        """Whether a lower raw score is better. ``None`` for tools that measure a property and not quality."""
        return self._tool.lower_is_better

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Lowest and highest raw score. ``None`` if unbounded or unknown."""
        return self._tool.range

    @property
    def description(self) -> str:
        """A one-sentence description."""
        return self._tool.description

    @property
    def has_map(self) -> bool:
        """Whether the metric can compute a map."""
        return self._tool.has_map

    def __call__(self, image: Image, reference: Image | None = None, *, region: Region | None = None) -> float:
        """Returns the raw score of ``image``. Full-reference metrics need ``reference``."""
        return self._tool.score(image, reference, _part(region))

    def measure(self, image: Image, reference: Image | None = None, *, region: Region | None = None) -> Score:
        """Returns the raw score, the score from 1 to 5, its interval and the run time."""
        return Score(**self._tool.measure(image, reference, _part(region)))

    def map(self, image: Image, reference: Image | None = None, *, region: Region | None = None) -> QualityMap:
        """Returns a map of local quality: an array of height by width."""
        from ._maps import QualityMap

        return QualityMap(self.name, *self._tool.map(image, reference, _part(region)))

    def many(self, images: Iterable[Image], references: Any = None, **options: Any) -> NDArray[numpy.float64]:
        """Returns the raw scores of many images; see `score_many`."""
        return score_many(images, references, tool=self, **options)

    def __repr__(self) -> str:
        return f"Metric({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _metric, (self.name, self._config)


def _metric(tool: str, config: str | None) -> Metric:
    """Restores a pickled metric."""
    return Metric(tool, config=config)


@lru_cache(maxsize=256)
def _known(tool: str) -> Metric:
    return Metric(tool)


def score(
    image: Image, reference: Image | None = None, tool: str | Metric = "SSIM", *, region: Region | None = None
) -> float:
    """Returns the raw score of an image.

    >>> import numpy
    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> round(score(photo, photo // 2 * 2, tool="PSNR"), 2)
    51.14
    """
    if not isinstance(tool, (str, Metric)):
        raise SettingsError("score() accepts one tool: use score_many() or score_table() for several")
    metric = tool if isinstance(tool, Metric) else _known(tool)
    return metric._tool.score(image, reference, _part(region))


def score_many(
    images: Iterable[Image],
    references: Any = None,
    tool: str | Metric | Sequence[str | Metric] = "SSIM",
    *,
    errors: Literal["raise", "nan"] = "raise",
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> NDArray[numpy.float64]:
    """Returns the raw scores of many images, computed on all cores.

    ``references`` is a list or table column with one reference per image, or a single reference for
    all images (a path, bytes, an array or a `Picture`). One tool returns a one-dimensional array; a
    list of tools returns an array of images by tools. An image that cannot be scored raises an
    exception, or is NaN with ``errors="nan"``. ``progress`` is called with the number of finished
    images and the total.

    >>> import numpy
    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> score_many([photo, photo // 2 * 2], photo, tool="PSNR").round(2)
    array([  inf, 51.14])
    """
    if errors not in ("raise", "nan"):
        raise ValueError(f'errors must be "raise" or "nan", not {errors!r}')
    alone = isinstance(tool, (str, Metric))
    table = _run(images, references, tool, threads, progress)
    if errors == "raise" and table["errors"]:
        (row, _), error = min(table["errors"].items(), key=lambda item: item[0])
        error.add_note(f"at index {row} of the images")
        raise error
    raw: NDArray[numpy.float64] = table["raw"]
    return raw[:, 0] if alone else raw


def score_table(
    images: Iterable[Image],
    references: Any = None,
    tools: str | Metric | Sequence[str | Metric] = "SSIM",
    *,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Returns the scores of many images as columns for Arrow, pandas or Polars.

    Each tool has the columns ``NAME`` (the raw score), ``NAME_normalized`` (from 1 to 5) and
    ``NAME_error`` (why there is no score). Tools with an interval also have ``NAME_low`` and
    ``NAME_high``. Missing scores are NaN.

    >>> import numpy
    >>> photo = numpy.tile(numpy.arange(64, dtype=numpy.uint8) * 3, (64, 1))
    >>> table = score_table([photo, "missing.png"], photo, ["SSIM"])
    >>> list(table)
    ['SSIM', 'SSIM_normalized', 'SSIM_error']
    >>> table["SSIM_error"]
    [None, 'missing.png: no such file']
    """
    metrics = _metrics(tools)
    found = _run(images, references, metrics, threads, progress)
    table: dict[str, Any] = {}
    for column, metric in enumerate(metrics):
        name = metric.name
        table[name], table[f"{name}_normalized"] = found["raw"][:, column], found["normalized"][:, column]
        if metric._tool.has_interval:
            table[f"{name}_low"], table[f"{name}_high"] = found["low"][:, column], found["high"][:, column]
        said = [found["errors"].get((row, column)) for row in range(len(found["raw"]))]
        table[f"{name}_error"] = [None if error is None else str(error) for error in said]
    return table


def _metrics(tools: str | Metric | Sequence[str | Metric]) -> list[Metric]:
    tools = [tools] if isinstance(tools, (str, Metric)) else tools
    metrics = [tool if isinstance(tool, Metric) else _known(tool) for tool in tools]
    if not metrics:
        raise SettingsError("no tool given: name at least one, such as SSIM")
    return metrics


def _run(
    images: Iterable[Image],
    references: Any,
    tools: str | Metric | Sequence[str | Metric],
    threads: int | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, Any]:
    if isinstance(images, (str, bytes, os.PathLike, _native.Picture)):
        raise PictureError("expected a list of images, not a single image: use score(), or pass a list")
    if threads is not None and threads < 1:
        raise ValueError("the number of threads must be 1 or more")
    listed = _listed(images)
    pictures = list(images) if listed is None else listed
    each = _listed(references)
    if each is not None and len(each) != len(pictures):
        raise PictureError(
            f"there are {len(pictures)} images and {len(each)} references: pass one per image, or one for all images"
        )
    native = [metric._tool for metric in _metrics(tools)]
    shared = references is not None and each is None
    return _native.score_many(native, pictures, references if shared else each, shared, threads, progress)


def _listed(values: Any) -> list[Any] | None:
    """Converts a list or a table column to a list of images. Returns ``None`` for a single image, such as an array."""
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif hasattr(values, "to_list") or kind in ("O", "S", "U"):
        values = values.to_list() if hasattr(values, "to_list") else values.tolist()
    elif isinstance(values, (str, bytes, bytearray, memoryview)) or not isinstance(values, (Sequence, Iterator)):
        return None
    # Tables use NaN for missing values.
    return [None if isinstance(value, float) and value != value else value for value in values]


def _part(region: Region | None) -> Region | None:
    return None if region is None else _pictures.region(region)


def _path(config: str | os.PathLike[str] | None) -> str | None:
    return None if config is None else os.fspath(config)
