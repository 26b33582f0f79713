"""Image quality assessment: classical metrics, and an agent that answers questions about images.

>>> import agenticiqa
>>> agenticiqa.Metric("PSNR").lower_is_better
False

- Metrics: `score`, `score_many`, `score_table` and `Metric`.
- Questions: `assess`, `assess_async` and `stream` return an answer, a score from 1 to 5 and the evidence.
- Places: `regions` finds objects, the subject, the sky and other parts of an image.
- Photos: `rank` orders the photos of a folder, `cull` proposes which to keep.
- pyiqa: `create_metric` and `list_models` work like the functions of the same name in pyiqa.
- Clusters: ``agenticiqa.ray`` and ``agenticiqa.spark`` run metrics and questions on many machines.

Dependencies are imported on first use, so importing this package takes milliseconds.
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
from ._photos import cull, rank
from ._pyiqa import InferenceModel, create_metric, list_models
from ._records import Advice, Assessment, Attribute, Citation, Contribution, Distortion, Event, Measurement, ToolLog
from ._regions import FoundRegion, regions
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
    "Advice",
    "Agent",
    "AgenticIQAError",
    "Assessment",
    "AssessmentError",
    "Attribute",
    "Citation",
    "Contribution",
    "Distortion",
    "Event",
    "ForkError",
    "FoundRegion",
    "InferenceModel",
    "Measurement",
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
    "cull",
    "install_tool",
    "list_models",
    "list_tools",
    "rank",
    "regions",
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
