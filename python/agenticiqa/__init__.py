"""Image quality assessment: ask about an image, get an answer, a score from 1 to 5, and the evidence; or the metrics alone.

>>> import agenticiqa
>>> agenticiqa.Metric("PSNR").lower_is_better
False

`score`, `score_many`, `score_table` and `Metric` measure; `assess`, `assess_async` and `stream` ask the agent; `create_metric` works as
that of pyiqa does. ``agenticiqa.ray`` and ``agenticiqa.spark`` do both on many machines. Nothing is loaded before it is needed: importing this
takes milliseconds.
"""

from typing import TYPE_CHECKING, Any

from ._agent import Agent, Run, assess, assess_async, stream
from ._install import install_tool
from ._metrics import (
    Metric,
    Score,
    ToolInfo,
    list_tools,
    score,
    score_many,
    score_table,
)
from ._native import Picture, __version__, set_threads, threads
from ._pyiqa import InferenceModel, create_metric, list_models
from ._records import Assessment, Citation, Distortion, Event, ToolLog
from .errors import (
    AgenticIQAError,
    AssessmentError,
    ForkError,
    MissingFileError,
    PairError,
    PictureError,
    SettingsError,
    ToolError,
    UnknownToolError,
)

if TYPE_CHECKING:
    from ._maps import QualityMap

__all__ = [
    "Agent",
    "AgenticIQAError",
    "Assessment",
    "AssessmentError",
    "Citation",
    "Distortion",
    "Event",
    "ForkError",
    "InferenceModel",
    "Metric",
    "MissingFileError",
    "PairError",
    "Picture",
    "PictureError",
    "QualityMap",
    "Run",
    "Score",
    "SettingsError",
    "ToolError",
    "ToolInfo",
    "ToolLog",
    "UnknownToolError",
    "__version__",
    "assess",
    "assess_async",
    "create_metric",
    "install_tool",
    "list_models",
    "list_tools",
    "score",
    "score_many",
    "score_table",
    "set_threads",
    "stream",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name == "QualityMap":
        from ._maps import QualityMap

        return QualityMap
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
