"""MIOpen's find databases: what a record says, and which half it belongs to.

A line of a find database is KEY=SOLVER:MS,WORKSPACE,ALGORITHM;... and a key is
C-H-W-YxX-K-P-Q-N-PADS-STRIDES-DILATIONS-BIAS-LAYOUT-TYPE-DIRECTION[_gGROUPS]. In
the directions B and W the first tensor is dy and the second x or dx, while pads,
strides and N are those of the forward problem. Layouts are one name, or three.
"""

import bz2
import dataclasses
import hashlib
import re

KEY = re.compile(
    r"(?P<first>\d+-\d+-\d+)-(?P<filter>\d+x\d+)-(?P<second>\d+-\d+-\d+)-(?P<n>\d+)"
    r"-(?P<pads>\d+x\d+)-(?P<strides>\d+x\d+)-(?P<dilations>\d+x\d+)-\d+"
    r"-(?P<layout>[A-Z-]+)-(?P<type>[A-Z0-9]+)-(?P<direction>[FBW])"
    r"(?:_g(?P<groups>\d+))?")
TYPE_BYTES = {"FP32": 4, "FP16": 2, "BF16": 2}
LAYOUTS = {"NCHW": False, "NCHW-NCHW-NCHW": False, "NHWC": True,
           "NHWC-NHWC-NHWC": True}


class Refused(ValueError):
    """A record that the tool leaves out; the text is the reason it counts."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """The forward convolution behind a record: x is N C H W, w is K C/G Y X, y
    is N K P Q, whatever the layout in memory."""
    n: int
    c: int
    h: int
    w: int
    k: int
    p: int
    q: int
    y: int
    x: int
    pads: tuple
    strides: tuple
    dilations: tuple
    groups: int
    is_nhwc: bool
    type: str
    direction: str

    @property
    def element_bytes(self):
        return TYPE_BYTES[self.type]

    @property
    def sizes(self):
        """Elements of x, w and y."""
        return (self.n * self.c * self.h * self.w,
                self.k * (self.c // self.groups) * self.y * self.x,
                self.n * self.k * self.p * self.q)

    @property
    def bytes(self):
        return sum(self.sizes) * self.element_bytes

    @property
    def macs(self):
        """Multiply-adds, those on padding included."""
        return self.sizes[2] * (self.c // self.groups) * self.y * self.x


def numbers(text):
    return tuple(int(word) for word in re.split("[-x]", text))


def parse_key(key):
    if re.match(r"\d+-\d+-\d+-\d+-\d+x\d+x\d+-", key):
        raise Refused("three dimensions")
    match = KEY.fullmatch(key)
    if not match:
        raise Refused("a key of another form")
    if match["layout"] not in LAYOUTS:
        raise Refused("layouts that differ or are not NCHW or NHWC")
    if match["type"] not in TYPE_BYTES:
        raise Refused("a type other than FP32, FP16 and BF16")
    first, second = numbers(match["first"]), numbers(match["second"])
    image, result = (first, second) if match["direction"] == "F" \
        else (second, first)
    y, x = numbers(match["filter"])
    return Problem(int(match["n"]), *image, *result, y, x, numbers(match["pads"]),
                   numbers(match["strides"]), numbers(match["dilations"]),
                   int(match["groups"] or 1), LAYOUTS[match["layout"]],
                   match["type"], match["direction"])


@dataclasses.dataclass(frozen=True)
class Record:
    chip: str
    key: str
    solver: str
    ms: float

    @property
    def is_fit(self):
        """Whether it may be looked at when parameters are chosen: the even half
        of the records by the hash of what was timed."""
        text = f"{self.chip} {self.solver} {self.key}"
        return hashlib.sha256(text.encode()).digest()[0] % 2 == 0

    @property
    def order(self):
        """Where it is in the random order in which records are drawn."""
        text = f"draw {self.chip} {self.solver} {self.key}"
        return hashlib.sha256(text.encode()).hexdigest()


def read_lines(path):
    opener = bz2.open if str(path).endswith(".bz2") else open
    with opener(path, "rt") as file:
        yield from file


def read_find_db(path, chip):
    """Yields the records of a find database in the order of its lines."""
    for line in read_lines(path):
        key, equals, solvers = line.strip().partition("=")
        if not equals:
            continue
        for entry in solvers.split(";"):
            solver, colon, values = entry.partition(":")
            if not colon:
                continue
            words = values.split(",")
            if "Algo" in solver:  # an older form: ALGORITHM:SOLVER,MS,...
                solver, words = words[0], words[1:]
            yield Record(chip, key, solver, float(words[0]))
