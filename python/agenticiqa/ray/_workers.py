"""The code of the actors: adds results to batches of rows, or writes them to files."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow

from .. import _tables, set_threads
from .._agent import Agent, Run
from .._metrics import Metric, score_table
from .._records import Assessment
from ..errors import AgenticIQAError, SettingsError
from ._shards import Shards


@dataclass(frozen=True)
class Columns:
    """The names of the columns. A name that is not given defaults to the first common name that the rows have."""

    image: str | None = None
    reference: str | None = None
    key: str | None = None

    def image_of(self, names: Sequence[str]) -> str:
        return _column("image", self.image, ("bytes", "image", "image_path", "path", "content"), names)

    def key_of(self, names: Sequence[str]) -> str:
        return _column("key", self.key, ("sample_id", "image_path", "path"), names)

    def reference_of(self, names: Sequence[str]) -> str | None:
        if self.reference is not None:
            return _column("reference", self.reference, (), names)
        return next((name for name in ("reference", "reference_path") if name in names), None)


def _column(what: str, given: str | None, usual: Sequence[str], names: Sequence[str]) -> str:
    found = given if given is not None else next((name for name in usual if name in names), None)
    if found is None or found not in names:
        wanted = repr(given) if given is not None else " or ".join(usual)
        raise SettingsError(f"the dataset has no column {wanted}, only {', '.join(names)}: name one with {what}=")
    return found


def pictures(column: pyarrow.ChunkedArray) -> list[Any]:
    """Converts a column to a list of paths, file bytes or arrays."""
    kind = column.type
    if (
        pyarrow.types.is_string(kind)
        or pyarrow.types.is_large_string(kind)
        or _is_bytes(kind)
        or pyarrow.types.is_null(kind)
    ):
        return list(column.to_pylist())
    whole = column.combine_chunks()
    # Arrow has tensors of a fixed shape; Ray has its own types, also for tensors of different
    # shapes.
    tensors = getattr(whole, "to_numpy_ndarray", None)
    return list(tensors() if tensors is not None else whole.to_numpy(zero_copy_only=False))


def _is_bytes(kind: pyarrow.DataType) -> bool:
    return bool(pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind))


def without_pixels(table: pyarrow.Table, names: Sequence[str | None]) -> pyarrow.Table:
    """Drops the columns with image data, so that they are not stored twice. Columns of paths stay."""
    text = (pyarrow.types.is_string, pyarrow.types.is_large_string)
    heavy = [
        name for name in names if name in table.column_names and not any(is_text(table[name].type) for is_text in text)
    ]
    return table.drop_columns(heavy)


class _Worker:
    """Computes the results of a batch and returns them, or writes them to a file."""

    def __init__(self, columns: Columns, shards: Shards | None, threads: int) -> None:
        set_threads(threads)
        self.columns, self.shards = columns, shards

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        if self.shards is None:
            return self.results(table)
        path = self.shards.path(table[self.shards.key].to_pylist())
        # The file exists if an earlier attempt wrote it before its node was lost.
        if not self.shards.has(path):
            self.shards.write(path, self.results(table))
        return pyarrow.table({"file": [path], "rows": [table.num_rows]})

    def results(self, table: pyarrow.Table) -> pyarrow.Table:
        raise NotImplementedError


class Scorer(_Worker):
    """Runs tools on batches of rows."""

    def __init__(
        self, tools: Sequence[str], columns: Columns, shards: Shards | None, threads: int, keep_images: bool
    ) -> None:
        super().__init__(columns, shards, threads)
        self.metrics = [Metric(tool) for tool in tools]
        self.threads, self.keep_images = threads, keep_images

    def results(self, table: pyarrow.Table) -> pyarrow.Table:
        names = table.column_names
        image, reference = self.columns.image_of(names), self.columns.reference_of(names)
        compared = reference is not None and any(metric.needs_reference for metric in self.metrics)
        references = pictures(table[reference]) if compared else None
        scores = score_table(pictures(table[image]), references, self.metrics, threads=self.threads)
        kept = table if self.keep_images else without_pixels(table, [image, reference])
        return with_columns(kept, scores, numbers={name for name in scores if not name.endswith("_error")})


def with_columns(table: pyarrow.Table, columns: Mapping[str, Any], numbers: set[str]) -> pyarrow.Table:
    """Adds or replaces columns of numbers (NaN becomes null) and of strings."""
    for name, values in columns.items():
        kind = pyarrow.float64() if name in numbers else pyarrow.string()
        array = pyarrow.array(values, kind, from_pandas=True)
        place = table.schema.get_field_index(name)
        table = table.append_column(name, array) if place < 0 else table.set_column(place, name, array)
    return table


@dataclass(frozen=True)
class Question:
    """The question for every row, and the settings of the agent."""

    query: str | None = None
    tools: tuple[str, ...] = ()
    timeout: float | None = None
    backend: str | None = None
    config: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    cache: str | None = None
    limiter: Any = None
    at_a_time: int = 1


class Assessor(_Worker):
    """Runs the agent on batches of rows, with several assessments at a time."""

    def __init__(self, question: Question, columns: Columns, shards: Shards | None, threads: int) -> None:
        super().__init__(columns, shards, threads)
        self.question = question
        self.agent = Agent(
            question.backend,
            config=question.config,
            settings=question.settings,
            cache=question.cache,
            limiter=question.limiter,
        )

    def results(self, table: pyarrow.Table) -> pyarrow.Table:
        names = table.column_names
        image = reference = None
        if "sample" not in names:
            image, reference = self.columns.image_of(names), self.columns.reference_of(names)
        answers = asyncio.run(self._all(self._lines(table, image, reference)))
        kept = without_pixels(table, [image, reference])
        return with_columns(kept, _tables.columns(answers), numbers={"quality_score"})

    def _lines(self, table: pyarrow.Table, image: str | None, reference: str | None) -> list[tuple[Any, Any]]:
        """Converts rows to manifest lines, with the bytes of their images if the rows have them."""
        if image is None:
            rows = table.select(["sample_id", "line", "sample"]).to_pylist()
            return [((row["sample_id"], row["line"], row["sample"]), (None, None)) for row in rows]
        key = self.columns.key_of(table.column_names)
        carried = [
            pictures(table[name]) if name is not None else [None] * table.num_rows for name in (image, reference)
        ]
        rows = without_pixels(table, [image, reference]).to_pylist()
        numbers = table["line"].to_pylist() if "line" in table.column_names else [0] * table.num_rows
        lines = []
        for row, number, *both in zip(rows, numbers, *carried):
            own = dict(row)
            named = {
                "image_path": own.pop(image, None),
                "reference_path": own.pop(reference, None) if reference else None,
            }
            named["image_path"] = (
                named["image_path"] or own.pop("image_path", None) or own.pop("path", None) or str(row[key])
            )
            if both[1] is not None:
                named["reference_path"] = named["reference_path"] or own.pop("reference_path", None) or "reference"
            own.pop("line", None)
            own["sample_id"] = str(own.pop(key, row[key]))
            query = {"query": self.question.query} if self.question.query is not None else {}
            fields = {**own, **query, **{name: value for name, value in named.items() if value is not None}}
            # Tables use NaN for missing values, and JSON does not have it.
            fields = {
                name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in fields.items()
            }
            bytes_of = tuple(picture if isinstance(picture, bytes) else None for picture in both)
            lines.append(((own["sample_id"], number, json.dumps(fields, default=str)), bytes_of))
        return lines

    async def _all(self, lines: list[tuple[Any, Any]]) -> list[Assessment | AgenticIQAError]:
        places = asyncio.Semaphore(self.question.at_a_time)

        async def one(line: Any, carried: Any) -> Assessment | AgenticIQAError:
            async with places:
                try:
                    return await Run._of_line(
                        self.agent, line, carried, self.question.tools, self.question.timeout
                    ).recorded()
                except AgenticIQAError as error:
                    return error

        return await asyncio.gather(*(one(line, carried) for line, carried in lines))
