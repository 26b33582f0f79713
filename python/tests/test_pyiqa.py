"""The interface of pyiqa: names, shapes and attributes. scripts/compare_peers.py compares the scores."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numpy
import pytest
from conftest import CODED, ORIGINAL
from PIL import Image

from agenticiqa import (
    PairError,
    PictureError,
    ToolError,
    UnknownToolError,
    create_metric,
    list_models,
    list_tools,
    score,
)


@pytest.fixture
def batch(coded, original):
    """Converts to the tensors of pyiqa: N, C, H, W from 0 to 1."""

    def tensor(*arrays: numpy.ndarray) -> numpy.ndarray:
        return numpy.stack([array.transpose(2, 0, 1) / 255 for array in arrays]).astype(numpy.float32)

    return tensor(coded, original), tensor(original, original)


def test_a_batch_has_the_scores_of_its_pictures(batch, coded, original):
    ssim = create_metric("ssim")
    found = ssim(*batch)
    assert found.shape == (2,) and found.tolist() == [score(coded, original), 1.0]
    assert ssim(batch[0], batch[1][:1]).tolist() == found.tolist()
    niqe = create_metric("niqe")
    assert (
        niqe(batch[0]).tolist()
        == niqe(batch[0], batch[1]).tolist()
        == [score(coded, tool="NIQE"), score(original, tool="NIQE")]
    )
    assert ssim.forward(batch[0], batch[1]).tolist() == ssim(target=batch[0], ref=batch[1]).tolist() == found.tolist()


def test_files_and_pillow():
    ssim = create_metric("ssim", device="cpu")
    expected = [score(CODED, ORIGINAL)]
    assert ssim(CODED, ORIGINAL).tolist() == ssim(Path(CODED), Path(ORIGINAL)).tolist() == expected
    opened = ssim(Image.open(CODED), Image.open(ORIGINAL))
    assert opened.tolist() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "lower_better", "score_range", "mode"),
    [
        ("psnr", False, "0, ~", "FR"),
        ("ssim", False, "-1, 1", "FR"),
        ("ms_ssim", False, "-1, 1", "FR"),
        ("gmsd", True, "0, 1", "FR"),
        ("mad", True, "0, ~", "FR"),
        ("brisque", True, "~, ~", "NR"),
        ("niqe", True, "0, ~", "NR"),
        ("piqe", True, "0, 100", "NR"),
    ],
)
def test_what_is_known_of_a_metric(name, lower_better, score_range, mode):
    metric = create_metric(name)
    assert (metric.metric_name, metric.metric_mode, metric.lower_better) == (name, mode, lower_better)
    low, high = metric.score_range.split(", ")
    assert metric.score_range == score_range and (low == "~" or float(low) <= 0) and (high == "~" or float(high) > 0)
    assert metric.to("cpu").eval() is metric
    assert repr(metric) == f"InferenceModel({name!r}, {mode}, lower_better={lower_better})"


def test_every_metric_that_pyiqa_has_too():
    shared = [
        "psnr",
        "ssim",
        "ms_ssim",
        "cw_ssim",
        "fsim",
        "vsi",
        "gmsd",
        "nlpd",
        "vif",
        "mad",
        "brisque",
        "niqe",
        "piqe",
        "entropy",
    ]
    assert set(shared) <= set(list_models())
    assert [create_metric(name).metric_name for name in shared] == shared
    assert create_metric("brisque_matlab").metric_name == "brisque" and create_metric("SSIM").metric_name == "ssim"


def test_list_models():
    assert list_models("NR") == sorted(list_models("NR")) and not set(list_models("NR")) & set(list_models("FR"))
    assert len(list_models()) == sum(tool.available for tool in list_tools())
    assert list_models(filter="*ssim", exclude_filters=["cw*"]) == ["ms_ssim", "ssim"]
    assert list_models(filter="ms*", exclude_filters="ms_ssim") == []


def test_tensors_of_torch_come_back_as_tensors(batch, monkeypatch):
    """Uses a mock of Torch, which is too large for a test dependency."""
    torch = types.ModuleType("torch")
    torch.float32 = "float32"  # type: ignore[attr-defined]

    class Tensor:
        def __init__(self, array: numpy.ndarray) -> None:
            self.array, self.shape = array, array.shape

        def __iter__(self):
            return (Tensor(array) for array in self.array)

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def to(self, kind):
            return Tensor(self.array.astype(kind))

    Tensor.__module__ = "torch"
    torch.from_numpy = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    ssim = create_metric("ssim")
    found = ssim(Tensor(batch[0]), Tensor(batch[1]))
    assert isinstance(found, Tensor) and found.array.dtype == numpy.float32
    assert found.array.tolist() == ssim(*batch).astype(numpy.float32).tolist()


def test_what_it_cannot_do(batch):
    with pytest.raises(NotImplementedError, match="does not compute gradients"):
        create_metric("ssim", as_loss=True)
    with pytest.raises(NotImplementedError, match="not on cuda"):
        create_metric("ssim", device="cuda")
    with pytest.raises(NotImplementedError, match="test_y_channel cannot be set"):
        create_metric("ssim", test_y_channel=True)
    with pytest.raises(UnknownToolError, match='no tool is called "nobody"'):
        create_metric("nobody")
    with pytest.raises(ToolError, match="MUSIQ cannot run here: needs pyiqa"):
        create_metric("musiq")
    with pytest.raises(PairError, match="call it with two images"):
        create_metric("ssim")(batch[0])
    with pytest.raises(PictureError, match="N, C, H, W"):
        create_metric("niqe")(batch[0][0])
    with pytest.raises(PictureError, match="1 or 3 channels"):
        create_metric("niqe")(numpy.zeros((1, 2, 64, 64), numpy.float32))
    with pytest.raises(PictureError, match="there are 2 images and 3 references"):
        create_metric("ssim")(batch[0], numpy.concatenate([batch[1], batch[1][:1]]))
