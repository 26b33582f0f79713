"""The interface of pyiqa: ``create_metric("ssim")``, N, C, H, W tensors from 0 to 1, lowercase names."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from typing import Any

from ._metrics import Metric, list_tools, score_many
from .errors import PairError, PictureError

# Additional names in pyiqa. Its NIQE and BRISQUE use the original models, as ours do.
_SYNONYMS = {"niqe_matlab": "NIQE", "brisque_matlab": "BRISQUE"}


class InferenceModel:
    """A metric with the interface of pyiqa, created by `create_metric`.

    Call it as ``metric(image, reference)`` with paths, Pillow images or N, C, H, W batches.
    Returns N scores: a tensor for Torch tensors, a NumPy array for everything else.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self.metric_name = metric.name.lower().replace("-", "_")
        self.metric_mode = "FR" if metric.needs_reference else "NR"
        #: Whether a lower score is better.
        self.lower_better = bool(metric.lower_is_better)
        low, high = metric.range
        #: Lowest and highest score as a string, such as "0, 1". "~" means unbounded or unknown.
        self.score_range = f"{_bound(low)}, {_bound(high)}"

    def __call__(self, target: Any, ref: Any = None, **_: Any) -> Any:
        return self.forward(target, ref)

    def forward(self, target: Any, ref: Any = None) -> Any:
        """Returns the scores of ``target``. Full-reference metrics need ``ref``."""
        pictures = _batch(target)
        references = None if ref is None or self.metric_mode == "NR" else _batch(ref)
        if references is None and self.metric_mode == "FR":
            raise PairError(f"{self._metric.name} needs a reference: call it with two images")
        if references is not None and len(references) == 1 and len(pictures) > 1:
            references = references * len(pictures)
        scores = score_many(pictures, references, self._metric)
        if type(target).__module__.split(".")[0] == "torch":
            import torch

            return torch.from_numpy(scores).to(torch.float32)
        return scores

    def to(self, *_: Any, **__: Any) -> InferenceModel:
        """Does nothing: metrics always run on the CPU."""
        return self

    def eval(self) -> InferenceModel:
        """Does nothing: metrics are not trained."""
        return self

    def __repr__(self) -> str:
        return f"InferenceModel({self.metric_name!r}, {self.metric_mode}, lower_better={self.lower_better})"


def create_metric(metric_name: str, as_loss: bool = False, device: Any = None, **options: Any) -> InferenceModel:
    """Creates a metric by its pyiqa name. It is called like a metric of pyiqa.

    >>> metric = create_metric("ssim")
    >>> metric.lower_better, metric.score_range, metric.metric_mode
    (False, '-1, 1', 'FR')
    """
    if as_loss:
        raise NotImplementedError("agenticiqa does not compute gradients: use pyiqa for training")
    if device is not None and "cpu" not in str(device):
        raise NotImplementedError(f"agenticiqa runs on the CPU only, not on {device}: omit device")
    if options:
        names = ", ".join(options)
        raise NotImplementedError(f"metrics use the parameters of their authors: {names} cannot be set")
    return InferenceModel(Metric(_SYNONYMS.get(metric_name.lower(), metric_name)))


def list_models(
    metric_mode: str | None = None, filter: str | None = None, exclude_filters: str | Sequence[str] = ()
) -> list[str]:
    """Returns the names of the metrics that can run on this machine, like ``list_models`` of pyiqa.

    >>> list_models("FR", filter="*ssim*")
    ['cw_ssim', 'ms_ssim', 'ssim', 'ssimulacra2']
    """
    excluded = [exclude_filters] if isinstance(exclude_filters, str) else list(exclude_filters)
    tools = (tool for tool in list_tools() if tool.available and metric_mode in (None, tool.type))
    names = sorted(tool.name.lower().replace("-", "_") for tool in tools)
    wanted = [name for name in names if filter is None or fnmatch.fnmatch(name, filter)]
    return [name for name in wanted if not any(fnmatch.fnmatch(name, pattern) for pattern in excluded)]


def _batch(pictures: Any) -> list[Any]:
    """Splits an N, C, H, W batch into images. A single path or object is a batch of one."""
    shape = getattr(pictures, "shape", None)
    if isinstance(pictures, (str, bytes, os.PathLike)) or shape is None:
        return [pictures]
    if len(shape) != 4:
        raise PictureError(
            f"a batch must have the shape N, C, H, W, not {tuple(shape)}: for one image use score() or image[None]"
        )
    if shape[1] not in (1, 3):
        raise PictureError(f"a batch must have the shape N, C, H, W with 1 or 3 channels, not {tuple(shape)}")
    return list(pictures)


def _bound(value: float | None) -> str:
    return "~" if value is None else f"{value:g}"
