"""Tables that people hold already, read and put into the lake: labels, scores, readings, choices, decisions and more.

It may import what `inputs` may.
"""

from __future__ import annotations
