"""Ray Data: scores and assessments of datasets that are too large for one machine.

    import ray, agenticiqa.ray as iqa

    images = iqa.read_images("s3://bucket/photos/")
    iqa.score(images, tools=["Fused-NR", "NIQE"], output="s3://bucket/scores/")

Rows come back with columns of scores; an image that cannot be read is a row with an error, not a failed job. With ``output`` results are
written as Parquet while the job runs, and a job that is started again computes only what is missing. Needs ``pip install agenticiqa[ray]``.
"""

from ._jobs import assess, score
from ._limiter import Limiter
from ._read import read_images, read_manifest
from ._shards import Shards

__all__ = ["Limiter", "Shards", "assess", "read_images", "read_manifest", "score"]
