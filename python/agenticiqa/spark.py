"""Scores and assessments of the rows of a Spark DataFrame. Images are paths that executors can open, or the bytes of files.

Each task uses one thread: its number of cores is Spark's to say. An image that cannot be used has its error in a column, and the job goes
on. As all of Spark this is lazy: write the result, or ``cache()`` it, before using it twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from . import _agent, _tables
from ._metrics import Metric, score_table
from ._native import set_threads
from .errors import SettingsError

#: Columns of some rows.
Table: TypeAlias = Callable[[pyarrow.RecordBatch], dict[str, Any]]
# Rows that are worked on at a time: few, since the bytes of their images are copied.
_ROWS = 64


def score(
    frame: DataFrame, tools: Sequence[str | Metric] = ("SSIM",), image: str = "path", reference: str | None = None
) -> DataFrame:
    """Adds the columns of `agenticiqa.score_table`; there is null where it has NaN. ``image`` and ``reference`` are names of columns."""

    def table(rows: pyarrow.RecordBatch) -> dict[str, Any]:
        return score_table(_values(rows, image), _values(rows, reference), tools, threads=1)

    _check(frame, image, reference)
    names = list(score_table([], None, tools))
    return _with(frame, names, {name for name in names if not name.endswith("_error")}, table)


def assess(
    frame: DataFrame,
    query: str | None = None,
    image: str = "path",
    reference: str | None = None,
    backend: str | None = None,
    *,
    queries: str | None = None,
    config: str | os.PathLike[str] | None = None,
    at_a_time: int = 1,
    **question: Any,
) -> DataFrame:
    """Adds final_answer, quality_score, quality_level, status, error and record (JSON). ``queries`` is a column with a question for each row, instead
    of ``query``. With a model as ``backend`` a task waits most of the time: ``at_a_time`` is how many rows it works on. The rest is as in `agenticiqa.assess`."""

    def table(rows: pyarrow.RecordBatch) -> dict[str, Any]:
        asked = [query] * len(rows) if queries is None else _values(rows, queries)
        pictures, agent = (_values(rows, image), asked, _values(rows, reference)), _agent._known(backend, config)
        return _tables.assessed(agent, *pictures, at_a_time, **question)

    _check(frame, image, reference, queries)
    _agent._known(backend, config)  # What is wrong with the settings is told here, not by an executor.
    return _with(frame, _tables.COLUMNS, {"quality_score"}, table)


def _with(frame: DataFrame, names: Sequence[str], numbers: set[str], table: Table) -> DataFrame:
    """The rows of ``frame`` in their order with what ``table`` says of them. Columns that have these names already are replaced."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        set_threads(1)
        for batch in batches:
            for start in range(0, len(batch), _ROWS):
                rows = batch.slice(start, _ROWS)
                for name, values in table(rows).items():
                    kind = pyarrow.float64() if name in numbers else pyarrow.string()
                    rows = rows.append_column(name, pyarrow.array(values, kind, from_pandas=True))
                yield rows

    frame = frame.drop(*names)
    added = [StructField(name, DoubleType() if name in numbers else StringType()) for name in names]
    return frame.mapInArrow(work, StructType([*frame.schema.fields, *added]))


def _values(rows: pyarrow.RecordBatch, column: str | None) -> list[Any]:
    return [None] * len(rows) if column is None else rows.column(column).to_pylist()


def _check(frame: DataFrame, *columns: str | None) -> None:
    unknown = [column for column in columns if column is not None and column not in frame.columns]
    if unknown:
        raise SettingsError(f"the frame has no column {unknown[0]}: it has {', '.join(frame.columns)}")
