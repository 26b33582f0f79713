"""The exceptions of the package. Messages name the image or setting and say what to do."""

__all__ = [
    "AgenticIQAError",
    "AssessmentError",
    "ForkError",
    "MissingFileError",
    "PairError",
    "PictureError",
    "SettingsError",
    "ToolError",
    "UnknownToolError",
]


class AgenticIQAError(Exception):
    """Base class of all exceptions of this package."""


class PictureError(AgenticIQAError, ValueError):
    """A file, array or region is not an image, or the tool cannot measure it."""


class MissingFileError(PictureError, FileNotFoundError):
    """The file does not exist."""


class PairError(AgenticIQAError, ValueError):
    """Image and reference have different sizes, or the reference is missing."""


class ToolError(AgenticIQAError, RuntimeError):
    """A tool cannot run on this machine, or failed."""


class UnknownToolError(ToolError, LookupError):
    """No tool has this name."""


class SettingsError(AgenticIQAError, ValueError):
    """A setting or an argument is invalid."""


class AssessmentError(AgenticIQAError, RuntimeError):
    """The agent found no answer. ``assessment`` is the record, which has the reasons."""

    def __init__(self, message: str, assessment: object = None) -> None:
        super().__init__(message)
        self.assessment = assessment

    def __reduce__(self) -> tuple[type["AssessmentError"], tuple[str, object]]:
        return type(self), (str(self), self.assessment)


class ForkError(AgenticIQAError, RuntimeError):
    """This process was forked after its parent had started threads, which a fork does not copy."""
