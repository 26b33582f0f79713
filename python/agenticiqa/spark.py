"""Scores and assesses the rows of a Spark DataFrame. Images are paths that executors can open, or the bytes of files.

Each task uses one thread, because Spark decides how many tasks run on a machine. An image that
fails has its error in a column, and the job continues. Evaluation is lazy: write the result, or
``cache()`` it, before using it twice.
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

#: Computes new columns for a batch of rows.
Table: TypeAlias = Callable[[pyarrow.RecordBatch], dict[str, Any]]
# Rows per batch. Small, because the bytes of their images are copied.
_ROWS = 64


def score(
    frame: DataFrame, tools: Sequence[str | Metric] = ("SSIM",), image: str = "path", reference: str | None = None
) -> DataFrame:
    """Adds the columns of `agenticiqa.score_table`, with null for missing scores.

    ``image`` and ``reference`` are column names.
    """

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
    """Adds the columns final_answer, quality_score, quality_level, status, error and record (JSON).

    ``queries`` is a column with a question for each row, in place of ``query``. ``at_a_time`` is
    the number of rows that a task assesses concurrently; raise it if ``backend`` is a model,
    because the task then mostly waits. The other arguments are those of `agenticiqa.assess`.
    """

    def table(rows: pyarrow.RecordBatch) -> dict[str, Any]:
        asked = [query] * len(rows) if queries is None else _values(rows, queries)
        pictures, agent = (_values(rows, image), asked, _values(rows, reference)), _agent._known(backend, config)
        return _tables.assessed(agent, *pictures, at_a_time, **question)

    _check(frame, image, reference, queries)
    _agent._known(backend, config)  # Reports invalid settings here and not on an executor.
    return _with(frame, _tables.COLUMNS, {"quality_score"}, table)


def _with(frame: DataFrame, names: Sequence[str], numbers: set[str], table: Table) -> DataFrame:
    """Adds the columns that ``table`` computes. Existing columns with the same names are replaced."""

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
        raise SettingsError(f"the DataFrame has no column {unknown[0]}: it has {', '.join(frame.columns)}")
