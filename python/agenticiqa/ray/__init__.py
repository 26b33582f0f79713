"""Ray Data: scores and assesses datasets that are too large for one machine.

    import ray, agenticiqa.ray as iqa

    images = iqa.read_images("s3://bucket/photos/")
    iqa.score(images, tools=["Fused-NR", "NIQE"], output="s3://bucket/scores/")

Results are new columns of the dataset. An image that fails has its error in a column, and the job
continues. With ``output``, results are written as Parquet while the job runs, and a restarted job
computes only the missing rows. Requires ``pip install agenticiqa[ray]``.
"""

from ._jobs import assess, score
from ._limiter import Limiter
from ._read import read_images, read_manifest
from ._shards import Shards

__all__ = ["Limiter", "Shards", "assess", "read_images", "read_manifest", "score"]
