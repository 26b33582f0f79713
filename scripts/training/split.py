"""The split into training and validation, by name."""

from __future__ import annotations


def name_hash(text: str) -> int:
    """FNV-1a, as `hash` in crates/fit/src/samples.rs."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x0100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def is_validation(name: str) -> bool:
    """As `validation` in crates/fit/src/fused_nr/samples.rs."""
    return name_hash(name) // 7 % 5 == 0
