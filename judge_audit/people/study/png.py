"""PNG files that tell nothing by their size: stored, not compressed, with a random part."""

from __future__ import annotations

import secrets
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RANDOM = b"rnDm"
"""A private chunk that every reader of PNG skips; it makes two files of one picture differ."""


def stored_png(pixels: NDArray[np.uint8]) -> bytes:
    """Write pixels as a PNG whose length depends on their size alone.

    A compressed file would be shorter for a blurred or a darker copy, and the same for the same picture: it would
    tell the reader what is changed.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).
    """
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(RANDOM, secrets.token_bytes(16)),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 0)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
