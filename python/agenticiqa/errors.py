"""What can go wrong. Messages are those of the program: they name the image or the field, and what to do."""

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
    """Anything that AgenticIQA has to say; catch this to catch all below."""


class PictureError(AgenticIQAError, ValueError):
    """A file, an array or a region is no image, or none that the tool can measure."""


class MissingFileError(PictureError, FileNotFoundError):
    """There is no such file."""


class PairError(AgenticIQAError, ValueError):
    """Image and reference are of different size, or the reference is missing."""


class ToolError(AgenticIQAError, RuntimeError):
    """A tool cannot run here, or could not give a score."""


class UnknownToolError(ToolError, LookupError):
    """No tool is called so."""


class SettingsError(AgenticIQAError, ValueError):
    """The configuration or an argument is no good."""


class AssessmentError(AgenticIQAError, RuntimeError):
    """There is no answer. The record, which says why, is in ``assessment``."""

    def __init__(self, message: str, assessment: object = None) -> None:
        super().__init__(message)
        self.assessment = assessment

    def __reduce__(self) -> tuple[type["AssessmentError"], tuple[str, object]]:
        return type(self), (str(self), self.assessment)


class ForkError(AgenticIQAError, RuntimeError):
    """This process was forked from one that had begun to work: its threads did not come along."""
