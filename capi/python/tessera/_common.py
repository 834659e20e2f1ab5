"""What tessera.torch and tessera.jax share: refusals, their counts, and words of network configs."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Sequence


class Refusal(Exception):
    """Why the framework computes a call by itself."""


@dataclasses.dataclass
class Report:
    """What has been computed: calls and shapes by operator, and calls that the framework got, by reason. If they were
    timed, `times` has the milliseconds of each operator and of each reason, `total` those of all that ran.
    """
    calls: dict[str, int]
    shapes: dict[str, int]
    fallbacks: dict[tuple[str, str], int]
    times: dict[str | tuple[str, str], float] = dataclasses.field(default_factory=dict)
    total: float = 0.0
    framework: str = "PyTorch"

    def _tell_time(self, name: str | tuple[str, str]) -> str:
        """", 12.3 ms, 41 % of the time", if it was timed."""
        if not self.total:
            return ""
        time = self.times.get(name, 0.0)
        return f", {time:.3g} ms, {100 * time / self.total:.0f} % of the time"

    def __str__(self) -> str:
        lines = [f"{name}: {count} calls of {self.shapes[name]} shapes{self._tell_time(name)}"
                 for name, count in sorted(self.calls.items())]
        lines += [f"{name}: {count} calls by {self.framework}: {reason}{self._tell_time((name, reason))}"
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
