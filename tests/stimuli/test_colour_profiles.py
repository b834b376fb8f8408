"""Pictures in a working colour space other than sRGB, against the colour arithmetic written out."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image

from judge_audit.stimuli.images import load_image

GAMMA = 2.19921875
WIDE = np.array([[0.60974, 0.20528, 0.14919], [0.31111, 0.62567, 0.06322], [0.01947, 0.06087, 0.74457]])
"""Adobe RGB (1998) to XYZ under D50, as its specification gives the adapted matrix."""

NARROW = np.array(
    [[0.4360747, 0.3850649, 0.1430804], [0.2225045, 0.7168786, 0.0606169], [0.0139322, 0.0971045, 0.7141733]]
)
"""sRGB to XYZ under D50 (Bradford)."""


def wide_profile():
    """Write a matrix profile (ICC.1:2001) with the primaries above and one gamma."""

    def fixed(value):
        return struct.pack(">i", round(value * 65536))

    def colour(column):
        return b"XYZ \0\0\0\0" + b"".join(fixed(value) for value in column)

    text = b"wide test space\0"
    description = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(12 + 67)
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(GAMMA * 256)) + b"\0\0"
    tags = {
        b"desc": description,
        b"cprt": b"text\0\0\0\0none\0\0\0\0",
        b"wtpt": colour((0.9642, 1.0, 0.8249)),
    }
    tags |= {name: colour(WIDE[:, at]) for at, name in enumerate((b"rXYZ", b"gXYZ", b"bXYZ"))}
    tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)
    table, content = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, body in tags.items():
        padded = body + bytes(-len(body) % 4)
        table += name + struct.pack(">II", start + len(content), len(body))
        content += padded
    head = struct.pack(">I4sI4s4s4s", start + len(content), b"lcms", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    head += b"".join(fixed(value) for value in (0.9642, 1.0, 0.8249))
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + table + content


def expected(pixels):
    """Turn values of the wide space into sRGB by the definitions."""
    light = (pixels / 255.0) ** GAMMA @ WIDE.T @ np.linalg.inv(NARROW).T
    light = np.clip(light, 0, 1)
    return 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def test_a_picture_in_a_wide_working_space_is_converted_to_srgb(tmp_path):
    steps = np.linspace(20, 235, 9).round().astype(np.uint8)
    pixels = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(27, 27, 3)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", icc_profile=wide_profile())
    (tmp_path / "wide.png").write_bytes(stream.getvalue())
    told = load_image(str(tmp_path / "wide.png"))
    wanted = expected(pixels)
    inside = (wanted > 2) & (wanted < 253)
    assert np.abs(told.pixels - wanted)[inside].max() <= 1.5
    assert np.abs(told.pixels.astype(int) - pixels)[inside].mean() > 3, "the profile was not applied at all"
    assert "ICC" in told.notes
