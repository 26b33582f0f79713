"""Converts image objects of other libraries to a path, bytes or a NumPy array."""

from __future__ import annotations

import operator
import os
import sys
from typing import TYPE_CHECKING, Any

from .errors import PictureError

if TYPE_CHECKING:
    import numpy

# Pillow modes that need no conversion.
_PLAIN_MODES = {"L", "RGB", "RGBA", "I;16"}


def plain(picture: Any) -> str | bytes | numpy.ndarray[Any, Any]:
    """Converts an image object. Not called for paths, bytes and arrays, which need no conversion."""
    if isinstance(picture, os.PathLike):
        return os.fsdecode(picture)
    if isinstance(picture, (bytearray, memoryview)):
        return bytes(picture)
    if _is_pillow(picture):
        return _of_pillow(picture)
    if hasattr(picture, "__dlpack__"):
        return _of_dlpack(picture)
    if hasattr(picture, "__array__") or hasattr(picture, "__array_interface__"):
        import numpy

        return numpy.asarray(picture)
    if isinstance(picture, dict) and (picture.get("bytes") or picture.get("path")):
        # The form of undecoded images in Hugging Face datasets.
        held: str | bytes = picture.get("bytes") or picture["path"]
        return held
    if picture is None:
        raise PictureError("None is not an image: the value is missing")
    raise PictureError(
        f"{_name(picture)} is not an image: pass a path, the bytes of a file, an array of height by width by channels, "
        "or a Pillow image"
    )


def region(box: Any) -> tuple[int, int, int, int]:
    """Converts a region to left, top, width and height. Accepts integers of any library."""
    try:
        left, top, width, height = map(operator.index, box)
        if all(0 <= side <= sys.maxsize for side in (left, top, width, height)):
            return left, top, width, height
    except (TypeError, ValueError):
        pass
    raise PictureError(f"a region must be left, top, width and height in whole pixels, not {box!r}")


def _is_pillow(picture: Any) -> bool:
    return any(kind.__module__ == "PIL.Image" and kind.__name__ == "Image" for kind in type(picture).__mro__)


def _of_pillow(picture: Any) -> numpy.ndarray[Any, Any]:
    import numpy

    if 0 in picture.size:
        raise PictureError(f"the image has no pixels ({picture.size[0]}x{picture.size[1]})")
    if picture.mode not in _PLAIN_MODES:
        if picture.mode in ("I", "F"):
            raise PictureError(
                f"Pillow mode {picture.mode} does not define a white level: convert the image to an array of uint8, "
                "uint16 or floating-point numbers from 0 to 1"
            )
        transparent = picture.mode in ("LA", "La", "PA", "RGBa") or "transparency" in picture.info
        picture = picture.convert("RGBA" if transparent else "RGB")
    return numpy.asarray(picture)


def _of_dlpack(picture: Any) -> numpy.ndarray[Any, Any]:
    """Converts a tensor, without a copy if DLPack supports it."""
    import numpy

    if getattr(picture, "requires_grad", False):
        picture = picture.detach()
    try:
        return numpy.from_dlpack(picture)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        device = getattr(picture, "device", None)
        if device is not None and "cpu" not in str(device).lower():
            raise PictureError(f"the tensor is on {device}: copy it to the CPU first, with .cpu()") from error
        try:
            return numpy.asarray(picture)
        except Exception:
            raise PictureError(f"{_name(picture)} cannot be read as an array: {error}") from error


def _name(picture: Any) -> str:
    kind = type(picture)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
