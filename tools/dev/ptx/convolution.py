"""A convolution's tensors and its result in f64, computed with numpy."""

import itertools
import re
import sys

import gpu_device
import numpy as np

from .formats import FLOAT8, round_to_bf16, round_to_float8

LETTERS = "xwy"
# Dimensions of each tensor at one filter tap: pixels, groups, channels.
DIMENSIONS = {"x": "pgc", "w": "gkc", "y": "pgk"}


class Convolution:
    """The problem of a network config. Its tensors, and those of its epilogue,
    which has a bias, a residual, relu, statistics or a normalisation's gradient,
    have values of its type and channels last; `result` is the letter of the one that it computes,
    `kind` the type of that one."""

    def __init__(self, config, seed):
        epilogue = re.search(r"-g\d+-e([a-z+]+)$", config)
        words = epilogue[1].split("+") if epilogue else []
        norms = [word for word in words if word.startswith("normgrad")]
        if set(words) - {"bias", "residual", "relu", "stats", *norms}:
            sys.exit(f"'{config}' has an epilogue that is not computed here")
        if epilogue:
            config = config[:epilogue.start(1) - len("-e")]
        self.sizes = gpu_device.parse_config(config)
        self.direction, kinds, layouts = config.split("-")[1:4]
        self.result = {"fwd": "y", "bwd": "x", "wrw": "w"}[self.direction]
        # Of elements of 8 bits the text has the result's type, too.
        kind, _, self.kind = kinds.rpartition(",")
        self.kinds = dict.fromkeys(LETTERS, kind or self.kind)
        self.kinds[self.result] = self.kind
        self.has_statistics = "stats" in words
        self.has_relu = "relu" in words
        self.layouts = dict(zip(LETTERS, layouts.split(",")))
        spatial = [self.sizes[name]
                   for name in "in filter pad stride dilation".split()]
        self.output = [
            (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
            for size, taps, pad, stride, dilation in zip(*spatial)]
        n, c, k, g = (self.sizes[name] for name in "nckg")
        self.shapes = {"x": (n, *self.sizes["in"], c),
                       "w": (k, *self.sizes["filter"], c // g),
                       "y": (n, *self.output, k)}
        of_channels = (self.shapes[self.result][-1],)
        for name, shape in (("bias", of_channels),
                            ("residual", self.shapes[self.result])):
            if name in words:
                self.shapes[name] = shape
                self.kinds[name] = ("f32" if self.kind == "i8" and
                                    name == "bias" else self.kind)
                self.layouts[name] = self.layouts[self.result]
        self.norm = norms[0] if norms else ""
        # As docs/spec/convolution.md numbers them.
        per_channel = {"normgrad": (1, 2), "normgradrelu": (1, 2, 5, 6),
                       "normgradmask": (1, 2)}.get(self.norm, ())
        for number in per_channel:
            self.add_tensor(f"t{number}", of_channels, "f32")
        images = {"normgradmask": (0, 7), "": ()}.get(self.norm, (0,))
        for number in images:
            self.add_tensor(f"t{number}", self.shapes[self.result], self.kind)
        random = np.random.default_rng(seed)
        # Far from zero, where a difference of sums would lose what is measured;
        # and large enough to be missed in sums.
        means = {"x": 20 if self.has_statistics else 0, "t0": 16, "t1": 16,
                 "t2": 4}
        scales = {"bias": 8, "residual": 8,
                  "x": 4 if self.kinds["x"] == "i8" else 1}
        self.data = {name: self.encode(
            random.standard_normal(shape) * scales.get(name, 1)
            + means.get(name, 0), name) for name, shape in self.shapes.items()}
        self.tensors = {letter: self.decode(data, letter)
                        for letter, data in self.data.items()}

    def add_tensor(self, name, shape, kind):
        self.shapes[name], self.kinds[name] = shape, kind
        self.layouts[name] = self.layouts[self.result]

    def has_channels_last(self, letter):
        return self.layouts[letter].endswith("c")

    def order_shapes(self):
        """The lengths of each tensor in the order of its memref."""
        return {name: shape if len(shape) == 1 or self.has_channels_last(name)
                else (shape[0], shape[-1], *shape[1:-1])
                for name, shape in self.shapes.items()}

    def encode(self, values, letter):
        """The bytes of a tensor in memory."""
        if not self.has_channels_last(letter) and values.ndim > 1:
            values = np.moveaxis(values, -1, 1)
        kind = self.kinds[letter]
        values = np.ascontiguousarray(
            values, np.float64 if kind == "f64" else np.float32)
        if kind in FLOAT8:
            values = round_to_float8(values, kind)
        elif kind == "i8":
            values = np.clip(np.rint(values), -128, 127).astype(np.int8)
        elif kind == "bf16":
            values = round_to_bf16(values)
        elif kind == "f16":
            values = values.astype(np.float16)
        return values.reshape(-1).view(np.uint8)

    def decode(self, data, letter):
        """The values of a tensor that lies in memory."""
        shape = self.shapes[letter]
        kind = self.kinds[letter]
        if kind in FLOAT8:
            values = FLOAT8[kind][data]
        elif kind in ("i8", "i32"):
            values = data.view(np.int8 if kind == "i8" else np.int32)
        elif kind == "bf16":
            bits = data.view(np.uint16).astype(np.uint32) << 16
            values = bits.view(np.float32)
        else:
            values = data.view({"f16": np.float16, "f64": np.float64}.get(
                kind, np.float32))
        if not self.has_channels_last(letter) and len(shape) > 1:
            values = values.reshape(shape[0], shape[-1], *shape[1:-1])
            values = np.moveaxis(values, 1, -1)
        return values.reshape(shape).astype(np.float64)

    def find_window(self, tap):
        """The part of the padded x that a filter tap reads."""
        return (slice(None), *(
            slice(index * dilation,
                  index * dilation + (size - 1) * stride + 1, stride)
            for index, dilation, size, stride in zip(
                tap, self.sizes["dilation"], self.output,
                self.sizes["stride"])))

    def compute(self, transform=lambda values: values):
        """The sums, of operands that `transform` changed."""
        groups, pads = self.sizes["g"], self.sizes["pad"]
        tensors = {letter: transform(tensor)
                   for letter, tensor in self.tensors.items()}
        tensors["x"] = np.pad(tensors["x"],
                              [(0, 0), *((pad, pad) for pad in pads), (0, 0)])
        result = np.zeros_like(tensors[self.result])
        split = {"x": (-1, groups, self.shapes["w"][-1]),
                 "w": (groups, -1, self.shapes["w"][-1]),
                 "y": (-1, groups, self.sizes["k"] // groups)}
        a, b = (letter for letter in LETTERS if letter != self.result)
        rule = f"{DIMENSIONS[a]},{DIMENSIONS[b]}->{DIMENSIONS[self.result]}"
        for tap in itertools.product(*map(range, self.sizes["filter"])):
            part_of = {"x": self.find_window(tap), "w": (slice(None), *tap),
                       "y": ...}
            factors = [tensors[letter][part_of[letter]].reshape(split[letter])
                       for letter in (a, b)]
            part = result[part_of[self.result]]
            part += np.einsum(rule, *factors, optimize=True).reshape(part.shape)
        if self.result != "x":
            return result
        return result[(slice(None), *(
            slice(pad, pad + size)
            for pad, size in zip(pads, self.sizes["in"])))]

    def find_cleared(self):
        """Where a normalisation's gradient is zero, as f32 says."""
        if self.norm == "normgradmask":
            return ~(self.tensors["t7"] > 0)
        if self.norm != "normgradrelu":
            return False
        z, mean, inverse = (self.tensors[name].astype(np.float32)
                            for name in ("t0", "t1", "t2"))
        # A product of two f32s is exact in f64.
        normalized = ((z - mean) * inverse).astype(np.float64)
        return ~(normalized * self.tensors["t5"] + self.tensors["t6"] > 0)

    def finish(self, sums):
        """The result, behind the epilogue."""
        for name in ("bias", "residual"):
            sums = sums + self.tensors.get(name, 0)
        if self.has_relu:
            sums = np.maximum(sums, 0)
        sums = np.where(self.find_cleared(), 0, sums)
        return np.clip(np.rint(sums), -128, 127) if self.kind == "i8" else sums
