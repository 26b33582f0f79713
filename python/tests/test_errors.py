"""Invalid input raises exceptions of the package, with the messages of the command line, and never crashes."""

from __future__ import annotations

import contextlib
import pickle
import random
import re
from pathlib import Path

import numpy
import pytest
from conftest import CODED, ORIGINAL

import agenticiqa
from agenticiqa import (
    AgenticIQAError,
    AssessmentError,
    Metric,
    MissingFileError,
    PairError,
    Picture,
    PictureError,
    SettingsError,
    ToolError,
    UnknownToolError,
    _native,
    assess,
    errors,
    score,
    score_many,
)

NOISE = numpy.random.default_rng(3).integers(0, 256, (48, 64, 3), dtype=numpy.uint8)


def said(error: type[AgenticIQAError], call: object, *arguments: object, **options: object) -> str:
    """Returns the message of the exception, which must have exactly this type."""
    with pytest.raises(AgenticIQAError) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    assert type(caught.value) is error
    return str(caught.value)


@pytest.mark.parametrize(
    "dtype", ["int8", "int32", "int64", "uint32", "bool", "complex128", "object", "S3", "datetime64[s]", "V3"]
)
def test_samples_of_the_wrong_type(dtype):
    array = numpy.zeros((48, 64, 3), dtype)
    message = f"an array of {array.dtype} is not an image: samples must be uint8, uint16, or floating-point numbers from 0 to 1"
    assert said(PictureError, score, array, NOISE) == message
    assert said(PictureError, score, NOISE, array) == f"the reference cannot be used: {message}"


@pytest.mark.parametrize("shape", [(), (9,), (48, 64, 2), (48, 64, 5), (1, 48, 64, 3), (2, 3, 48, 64), (48, 64, 0)])
def test_arrays_of_the_wrong_shape(shape):
    told = said(PictureError, score, numpy.zeros(shape, numpy.uint8), NOISE)
    assert told.startswith(
        f"an array of shape ({', '.join(map(str, shape))}) is not an image: it must have height and width"
    )


@pytest.mark.parametrize("shape", [(0, 0), (0, 64), (48, 0), (0, 64, 3), (48, 0, 3), (0, 0, 4), (3, 0, 64), (1, 0, 0)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_arrays_without_pixels(shape, dtype):
    assert said(PictureError, score, numpy.zeros(shape, dtype), NOISE).startswith("the image has no pixels (")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (numpy.nan, "the array contains NaN: every sample must be a number from 0 to 1"),
        (numpy.inf, "these go from 0 to inf"),
        (-numpy.inf, "these go from -inf to 1"),
        (-0.5, "these go from -0.5 to 1"),
        (255, "these go from 0 to 255: divide them by the white value"),
    ],
)
def test_numbers_that_are_no_fractions(dtype, value, message):
    array = (NOISE / 255).astype(dtype)
    array[:2, 0, 0] = 0, 1
    array[-1, -1, -1] = value
    assert message in said(PictureError, score, array, NOISE)


@pytest.mark.parametrize(
    "thing", [None, 5, 2.5, [[1, 2], [3, 4]], {"a": 1}, object(), numpy.float32(1), range(5), lambda: 0]
)
def test_what_is_no_picture(thing):
    assert "is not an image" in said(PictureError, score, thing, NOISE)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "the file is empty"), (b"hello", "not an image: it looks like text"), (bytes(100), "not an image")],
)
def test_bytes_that_are_no_picture(content, message):
    assert message in said(PictureError, score, content, NOISE)


def test_damaged_files_never_end_the_interpreter():
    whole = Path(CODED).read_bytes()
    assert "truncated" in said(PictureError, Picture, whole[:5000])
    chance = random.Random(7)
    for _ in range(60):
        damaged = bytearray(whole[:20000] if chance.random() < 0.5 else whole)
        for _ in range(chance.randrange(1, 40)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        with contextlib.suppress(PictureError):
            Picture(bytes(damaged), max_pixels=2_000_000)


def test_files_that_are_not_there():
    assert said(MissingFileError, score, "missing.png", NOISE) == "missing.png: no such file"
    assert (
        said(MissingFileError, score, NOISE, "missing.png") == "the reference cannot be used: missing.png: no such file"
    )
    assert said(MissingFileError, Picture, Path("missing.png")) == "missing.png: no such file"
    assert said(MissingFileError, assess, "missing.png") == "missing.png: no such file"
    assert said(MissingFileError, assess, "missing.png", name="photo") == "missing.png: no such file"
    assert said(PictureError, score, ".", NOISE) == ".: this is a directory, not an image file"
    with pytest.raises(FileNotFoundError):
        score("missing.png", NOISE)


def facts(message: str) -> str:
    """Removes the advice from a message, which is different in Python and on the command line."""
    return re.split(r": pass |: call agenticiqa\.|; agenticiqa\.", message)[0]


def test_words_are_those_of_the_program(program, tmp_path):
    small = tmp_path / "small.png"
    small.write_bytes(Picture(NOISE[:4, :4]).to_png())
    cases = [
        (("missing.png", ORIGINAL, "SSIM"), MissingFileError),
        ((CODED, "missing.png", "SSIM"), MissingFileError),
        ((CODED, None, "SSIM"), PairError),
        ((CODED, str(small), "SSIM"), PairError),
        ((CODED, ORIGINAL, "SIMM"), UnknownToolError),
        ((CODED, None, "ILNIQE"), ToolError),
        ((str(small), None, "BRISQUE"), PictureError),
    ]
    for (image, reference, tool), error in cases:
        arguments = [image, "--tool", tool, *(["--reference", reference] if reference else [])]
        done = program("score", *arguments, "--quiet")
        assert done.returncode != 0
        assert facts(said(error, score, image, reference, tool)) in done.stderr, done.stderr
    for options, words in [({"query": " "}, ["--query", " "]), ({"answer": "choice"}, ["--answer", "choice"])]:
        done = program("assess", CODED, *words, "--quiet")
        assert facts(said(SettingsError, assess, CODED, **options)) in done.stderr


def test_advice_is_about_python(tmp_path):
    choice = said(SettingsError, assess, NOISE, answer="choice")
    assert choice.startswith("a choice needs options") and choice.endswith(": pass options=")
    # Names are trimmed, so two keys of a dictionary can become one name.
    box = (0, 0, 20, 20)
    repeated = said(SettingsError, assess, NOISE, regions={"face": box, " face": box})
    assert repeated == 'two regions are called "face": pass each region under its own name'
    folder = said(SettingsError, _native.manifest, str(tmp_path))
    assert folder.startswith(f"{tmp_path}: the manifest cannot be read: ")
    assert folder.endswith(": pass the path of a file")
    missing = said(SettingsError, _native.manifest, str(tmp_path / "none.jsonl"))
    assert "the manifest cannot be read" in missing
    for message in (choice, repeated, folder, missing):
        assert "--" not in message


def test_pictures_that_do_not_fit():
    assert said(PairError, score, NOISE[:20], NOISE).startswith("the reference is 64x48 but the image is 64x20")
    assert said(PairError, score, NOISE).startswith("SSIM compares with a reference")
    assert said(PairError, score_many, [NOISE, NOISE], [NOISE, None]).startswith("SSIM compares")
    assert said(PairError, assess, NOISE, reference=NOISE[:20]).startswith(
        "the reference is 64x20 but the image is 64x48"
    )
    assert (
        said(PictureError, score, NOISE[:4, :4], NOISE[:4, :4])
        == "SSIM needs at least 11x11 pixels, this image has 4x4"
    )


@pytest.mark.parametrize(
    "box",
    [(-1, 0, 20, 20), (1.5, 0, 20, 20), (0, 0, 20), (0, 0, 20, 20, 20), 5, "face", (0, 0, "a", 1), (2**70, 0, 1, 1)],
)
def test_regions_that_are_none(box):
    message = f"a region must be left, top, width and height in whole pixels, not {box!r}"
    assert said(PictureError, score, NOISE, NOISE, region=box) == message
    assert said(PictureError, assess, NOISE, regions={"face": box}) == message


@pytest.mark.parametrize("box", [(60, 0, 20, 20), (0, 0, 0, 20), (0, 48, 1, 1), (2**62, 2**62, 2**62, 2**62)])
def test_regions_beyond_the_picture(box):
    told = said(PictureError, score, NOISE, NOISE, region=box)
    assert "reaches beyond the image of 64x48" in told or told == "the image has no pixels (0x20)"
    assert "face" in said(PictureError, assess, NOISE, regions={"face": box})


def test_tools_that_are_none():
    assert said(UnknownToolError, Metric, "SIMM").startswith('no tool is called "SIMM", did you mean SSIM?')
    assert said(ToolError, Metric, "ILNIQE").startswith("ILNIQE cannot run here: templateModel.mat")
    assert said(ToolError, Metric("BRISQUE").map, NOISE) == "BRISQUE cannot compute a map"
    assert said(UnknownToolError, assess, NOISE, tools=["SIMM"]).startswith('no tool is called "SIMM"')
    assert said(SettingsError, score_many, [NOISE], NOISE, []) == "no tool given: name at least one, such as SSIM"
    with pytest.raises(LookupError):
        score(NOISE, NOISE, "SIMM")


def test_batches_that_are_none():
    assert said(PictureError, score_many, CODED, NOISE).startswith("expected a list of images, not a single image")
    assert said(PictureError, score_many, [NOISE, NOISE], [NOISE]).startswith("there are 2 images and 1 references")
    for options in ({"errors": "ignore"}, {"threads": 0}):
        with pytest.raises(ValueError):
            score_many([NOISE], NOISE, **options)
    for count in (0, -1):
        with pytest.raises(ValueError, match="the number of threads must be 1 or more"):
            agenticiqa.set_threads(count)


def test_settings_that_are_none(tmp_path):
    assert said(SettingsError, assess, NOISE, config="/missing").startswith("/missing: cannot be read")
    assert "must begin with a provider" in said(SettingsError, assess, NOISE, backend="nobody.model")
    assert "no such field" in said(SettingsError, agenticiqa.Agent, settings={"planer.temperature": 1})
    assert said(SettingsError, assess, NOISE, max_replan=9) == "max_replan must be from 0 to 5, not 9"
    assert said(SettingsError, assess, NOISE, answer="essay").startswith(
        'answer must be "auto", "score", "choice" or "text"'
    )
    (tmp_path / "pipeline.yaml").write_text("max_replan_iterations: 6\n")
    assert "must be from 0 to 5, not 6" in said(SettingsError, Metric, "SSIM", config=tmp_path)
    with pytest.raises(TypeError, match="options and tools must be lists of strings"):
        assess(NOISE, "Blur or noise?", options="Blur")
    with pytest.raises(TypeError, match="color"):
        assess(NOISE, color="red")


def test_an_exception_of_a_foreign_array_is_told(tmp_path):
    class Broken:
        def __array__(self, dtype: object = None, copy: object = None) -> numpy.ndarray:
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        score(Broken(), NOISE)
    found = agenticiqa.score_table([Broken(), NOISE], NOISE)
    assert found["SSIM_error"] == ["the disk is gone", None]


def test_exceptions_are_pickled_and_documented():
    for name in errors.__all__:
        kind = getattr(errors, name)
        again = pickle.loads(pickle.dumps(kind("words")))
        assert type(again) is kind and str(again) == "words"
        assert issubclass(kind, AgenticIQAError) and kind.__doc__
    kept = pickle.loads(pickle.dumps(AssessmentError("words", assess(NOISE))))
    assert kept.assessment.to_dict()["metadata"]["final_status"] in ("success", "partial")
