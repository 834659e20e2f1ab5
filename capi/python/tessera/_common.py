"""What tessera.torch and tessera.jax share: refusals, their counts, and words of network configs."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Sequence


class Refusal(Exception):
    """Why the framework computes a call by itself."""


@dataclasses.dataclass
class Report:
    """What has been computed: calls and shapes by operator, and calls that the framework got, by reason."""
    calls: dict[str, int]
    shapes: dict[str, int]
    fallbacks: dict[tuple[str, str], int]
    framework: str = "PyTorch"

    def __str__(self) -> str:
        lines = [f"{name}: {count} calls of {self.shapes[name]} shapes" for name, count in sorted(self.calls.items())]
        lines += [f"{name}: {count} calls by {self.framework}: {reason}"
                  for (name, reason), count in sorted(self.fallbacks.items(), key=lambda item: -item[1])]
        return "\n".join(lines) or "nothing was called"


def join(values: Sequence[Any]) -> str:
    """ "1x2x3"."""
    return "x".join(map(str, values))


def get_spatial(shape: Sequence[int], letters: str) -> str:
    """ "h5w7" of an image, "y3x3" of a window; a single dimension is a row."""
    lengths = [*shape] if len(shape) > 1 else [1, *shape]
    return "".join(letter + str(length) for letter, length in zip(letters[-len(lengths):], lengths))


_FLAT = re.compile(r"(?<=\d)d1(?=h)|z1(?=y)|(?<=-p)0x|(?<=-s)1x|(?<=-d)1x")


def drop_depth(config: str) -> str:
    """A network config as the library writes it: volumes of one plane under one tap are images."""
    words = 4 if config.startswith("pool") else 5
    short, count = _FLAT.subn("", config)
    return short.replace("ncdhw", "nchw").replace("ndhwc", "nhwc") if count == words else config
