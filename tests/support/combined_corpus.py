"""Small textured pictures, and judges that a hidden mix of changes pushes."""

from __future__ import annotations

import csv

import cv2
import numpy as np
from PIL import Image

SIDE = 224
AXES = ["saturation+", "sharpen", "brightness-"]


def write_corpus(folder, *, sources=("one", "two"), n=36, seed=0):
    """Write pictures and an items file; each prompt is of its own."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "source", "prompt", "image"])
        for source in sources:
            for at in range(n):
                name = f"{source}-{at:02d}"
                coarse = rng.uniform(70, 170, (8, 8, 3)).astype(np.float32)
                pixels = cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
                pixels += rng.normal(0, 9, (SIDE, SIDE, 1)).astype(np.float32)
                Image.fromarray(np.clip(pixels, 0, 255).round().astype(np.uint8)).save(folder / f"{name}.png")
                writer.writerow([name, source, f"a picture of {name}", f"{name}.png"])
    return folder / "items.csv"


def features(image):
    """Colourfulness and crispness of a picture."""
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    chroma = float(np.hypot(lab[..., 1], lab[..., 2]).mean())
    luma = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return chroma, float(np.abs(cv2.Laplacian(luma, cv2.CV_32F)).mean())


class Pushed:
    """Scores by the prompt alone, plus what colour and crispness gain together over the picture of that prompt.

    Either alone moves nothing: a gain of one brings little of the other, and little is not counted. `asked` counts
    the pictures it was shown; from `dies_at` on it dies.
    """

    def __init__(self, items, push, *, dies_at=10**9):
        with items.open() as file:
            rows = list(csv.DictReader(file))
        self.first = {
            row["prompt"]: features(np.array(Image.open(items.parent / row["image"]))) for row in rows
        }
        draws = np.random.default_rng(1).uniform(3, 7, len(rows))
        self.quality = dict(zip(self.first, draws, strict=True))
        self.push, self.dies_at, self.asked = push, dies_at, 0
        self.identity = f"pushed {push}"

    def __call__(self, images, prompts):
        found = []
        for image, prompt in zip(images, prompts, strict=True):
            self.asked += 1
            if self.asked >= self.dies_at:
                raise KeyboardInterrupt
            gains = [
                now / before - 1 for now, before in zip(features(image), self.first[prompt], strict=True)
            ]
            both = min(max(0.0, gain - 0.012) / 0.03 for gain in gains)
            found.append(float(self.quality[prompt] + self.push * min(1.0, both)))
        return found
