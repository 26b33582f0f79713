"""Image arguments: the same pixels have the same score in every supported form."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import numpy
import pytest
from conftest import CODED, ORIGINAL, succeeds
from PIL import Image

from agenticiqa import Metric, Picture, PictureError, score
from agenticiqa._pictures import plain

psnr, ssim = Metric("PSNR"), Metric("SSIM")


class Tensor:
    """A mock of a Torch tensor on the CPU, which only supports DLPack."""

    def __init__(self, array: numpy.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class Wrapped:
    """A mock of an array of another library."""

    def __init__(self, array: numpy.ndarray) -> None:
        self._array = array

    def __array__(self, dtype: object = None, copy: bool | None = None) -> numpy.ndarray:
        return self._array


def sixteen(array: numpy.ndarray) -> numpy.ndarray:
    """Converts to 16 bits, with values that 8 bits cannot represent."""
    noise = numpy.random.default_rng(0).integers(0, 200, array.shape, dtype=numpy.uint16)
    return array.astype(numpy.uint16) * 256 + noise


def test_a_file_in_any_form_has_the_score_of_the_program(rows):
    [row] = rows(CODED, "--reference", ORIGINAL, "--tool", "SSIM")
    content = Path(CODED).read_bytes()
    forms = [CODED, Path(CODED), content, bytearray(content), memoryview(content), Picture(CODED)]
    assert [ssim(form, ORIGINAL) for form in forms] == [row["raw_score"]] * len(forms)
    assert [ssim(CODED, form) for form in (ORIGINAL, Path(ORIGINAL), Picture(ORIGINAL))] == [row["raw_score"]] * 3


def test_an_array_has_the_score_of_its_file(rows, tmp_path, coded, original):
    names = [tmp_path / "coded.png", tmp_path / "original.png"]
    for name, array in zip(names, (coded, original)):
        Image.fromarray(array).save(name)
    [row] = rows(names[0], "--reference", names[1], "--tool", "SSIM")
    assert ssim(coded, original) == score(coded, original) == row["raw_score"]


def test_sixteen_bits_are_kept(rows, tmp_path, coded, original):
    fine = sixteen(coded)
    name, reference = tmp_path / "coded.png", tmp_path / "original.png"
    name.write_bytes(Picture(fine).to_png())
    Image.fromarray(original).save(reference)
    [row] = rows(name, "--reference", reference, "--tool", "SSIM")
    assert ssim(fine, original) == row["raw_score"]
    assert ssim(fine, original) != ssim((fine >> 8).astype(numpy.uint8), original)
    assert Picture(fine).bit_depth == 16


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
def test_fractions_of_white(dtype, coded, original):
    """Fractions of 8-bit samples become 8-bit again without loss, in single and double precision."""
    fractions = (coded / 255).astype(dtype)
    if dtype == "float16":
        assert ssim(fractions, original) == pytest.approx(ssim(coded, original), abs=1e-3)
        assert Picture(fractions).bit_depth == 16
    else:
        assert ssim(fractions, original) == ssim(coded, original)
        assert Picture(fractions).bit_depth == 8
    between = sixteen(coded) / 65535
    assert ssim(between.astype("float64"), original) == ssim(sixteen(coded), original)


@pytest.mark.parametrize(
    "form",
    [
        lambda array: numpy.moveaxis(array, -1, 0),
        lambda array: numpy.ascontiguousarray(numpy.moveaxis(array, -1, 0)),
        numpy.asfortranarray,
        lambda array: numpy.repeat(numpy.repeat(array, 2, 0), 3, 1)[::2, ::3],
        lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
        lambda array: numpy.concatenate([array, array], axis=-1)[..., 3:],
        lambda array: array.copy().view(numpy.ma.MaskedArray),
        lambda array: numpy.frombuffer(array.tobytes(), numpy.uint8).reshape(array.shape),
        Image.fromarray,
        Tensor,
        lambda array: Tensor(numpy.moveaxis(array, -1, 0)),
        Wrapped,
        Picture,
    ],
)
def test_layout_and_library_do_not_matter(form, coded, original):
    expected = ssim(coded, original)
    assert ssim(form(coded), original) == ssim(coded, form(original)) == expected
    assert ssim(form(coded), form(original)) == expected


def test_byte_order_does_not_matter(coded, original):
    fine = sixteen(coded)
    assert ssim(fine.astype(">u2"), original) == ssim(fine.astype("<u2"), original)


def test_gray(coded, original):
    gray, flat = coded[..., 1].copy(), original[..., 1].copy()
    expected = ssim(gray, flat)
    for form in (gray[..., None], gray[None], Image.fromarray(gray), Tensor(gray)):
        assert ssim(form, flat) == expected
    assert Picture(gray).channels == 1
    fine = sixteen(gray)
    assert ssim(Image.fromarray(fine), flat) == ssim(fine, flat)


def test_transparent_pixels_show_white(tmp_path, coded):
    """Transparent pixels are composited over white, as for files."""
    alpha = numpy.tile(numpy.linspace(0, 255, coded.shape[1]).astype(numpy.uint8), (coded.shape[0], 1))
    picture = numpy.dstack([coded, alpha])
    white = numpy.full_like(coded, 255)
    assert psnr(numpy.dstack([coded, numpy.zeros_like(alpha)]), white) == numpy.inf
    assert psnr(numpy.dstack([coded, numpy.full_like(alpha, 255)]), coded) == numpy.inf
    name = tmp_path / "transparent.png"
    Image.fromarray(picture).save(name)
    expected = ssim(str(name), white)
    assert ssim(picture, white) == ssim(numpy.moveaxis(picture, -1, 0), white) == expected
    assert ssim(Image.fromarray(picture), white) == ssim(picture / 255, white) == expected


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV"])
def test_modes_of_pillow(mode, coded):
    """Palette and other modes are converted by Pillow, with transparency over white."""
    picture = (
        Image.fromarray(coded).convert("L").convert(mode)
        if mode in ("LA", "PA")
        else Image.fromarray(coded).convert(mode)
    )
    seen = numpy.array(picture.convert("RGB"))
    assert psnr(picture.convert("RGB") if mode in ("1", "L", "LA") else picture, seen) == numpy.inf
    assert numpy.isfinite(score(picture, tool="BRISQUE"))


def test_a_palette_with_transparency_shows_white():
    picture = Image.new("P", (32, 32), 1)
    picture.putpalette([0, 0, 0, 200, 10, 10])
    picture.info["transparency"] = 1
    assert psnr(picture, numpy.full((32, 32, 3), 255, numpy.uint8)) == numpy.inf


@pytest.mark.parametrize("mode", ["I", "F"])
def test_pillow_without_white_is_refused(mode):
    with pytest.raises(PictureError, match=f"mode {mode} does not define a white level"):
        score(Image.new(mode, (32, 32)), tool="BRISQUE")


def test_tensors_are_read_where_they_lie(coded):
    for form in (Tensor, Wrapped):
        assert numpy.shares_memory(plain(form(coded)), coded)
    frozen = coded.copy()
    frozen.flags.writeable = False
    assert psnr(frozen, coded) == numpy.inf


def test_a_tensor_with_gradients_is_detached(coded):
    class Parameter(Tensor):
        requires_grad = True

        def detach(self) -> Tensor:
            return Tensor(self._array)

        def __dlpack__(self, **_: object) -> object:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    assert psnr(Parameter(coded), coded) == numpy.inf


def test_a_tensor_on_another_device_is_refused(coded):
    class Remote(Tensor):
        device = "cuda:0"

        def __dlpack__(self, **_: object) -> object:
            raise BufferError("not here")

    with pytest.raises(PictureError, match=r"the tensor is on cuda:0: copy it to the CPU first, with \.cpu\(\)"):
        psnr(Remote(coded), coded)


def test_a_picture_is_decoded_once_and_keeps_what_is_known_of_it():
    picture = Picture(Path(CODED))
    assert (picture.width, picture.height, picture.channels, picture.bit_depth) == (768, 512, 3, 8)
    assert str(picture.path) == CODED and Picture(Path(CODED).read_bytes()).path is None
    assert repr(picture) == "Picture(768x512, 3 channels, 8 bits)"
    assert score(picture, tool="JPEG-Quality") == 12
    part = picture.crop(10, 20, 100, 80)
    assert (part.width, part.height) == (100, 80)
    whole = numpy.array(Image.open(io.BytesIO(picture.to_png())))
    assert psnr(part, whole[20:100, 10:110]) == numpy.inf


def test_names_that_are_no_text_of_unicode(tmp_path, coded):
    """Paths are bytes; Python represents undecodable ones with surrogates."""
    name = str(tmp_path).encode() + b"/\xff.jpg"
    shutil.copy(CODED, name)
    assert ssim(os.fsdecode(name), CODED) == 1.0


def test_a_large_array_is_copied_once():
    """Only planes are copied: 24 million pixels of 8-bit RGB are 72 MB, and PSNR needs almost no memory."""
    code = """
import resource, numpy, agenticiqa
metric = agenticiqa.Metric("PSNR")
array = numpy.full((4000, 6000, 3), 200, numpy.uint8)
metric(array[:64, :64], array[:64, :64])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
metric(array, array)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    assert float(succeeds(code)) < 1.2 * (2 * 72e6)
