"""Memory that knows what is allocated, and the engine that copies boxes of
tensors between global and shared memory."""

import dataclasses
import itertools

import numpy as np

from .formats import FLOAT8, round_to_tf32
from .fault import Fault

GUARD = 4096  # Bytes between two allocations, which nobody may touch.
SHARED_BASE = 1024
# From the shared memory of one block of a cluster to that of the next one.
SHARED_WINDOW = 1 << 18


def align(value, unit):
    return -(-value // unit) * unit


class Memory:
    """Bytes from the address `base` on. All are NaN at first."""

    def __init__(self, name, base, size):
        self.name, self.base = name, base
        self.bytes = np.full(align(size, 16), 0xff, np.uint8)
        self.allocated = np.zeros(len(self.bytes) + 16, bool)
        self.views = {size: self.bytes.view(f"u{size}")
                      for size in (1, 2, 4, 8)}

    def find(self, addresses, size):
        """Offsets of `size` bytes at each address, all of them allocated."""
        offsets = addresses - self.base
        last = offsets + size - 1
        inside = (offsets >= 0) & (last < len(self.bytes))
        if not inside.all() or not (self.allocated[offsets].all()
                                    and self.allocated[last].all()):
            bad = ~inside
            bad[inside] = ~(self.allocated[offsets[inside]]
                            & self.allocated[last[inside]])
            raise Fault(f"{bad.sum()} accesses outside of {self.name} memory, "
                        f"first at byte {offsets[bad][0]}")
        return offsets

    def find_aligned(self, addresses, size, count=1):
        """Indices of the first of `count` elements at each address."""
        offsets = self.find(addresses, size * count)
        if (offsets % (size * count)).any():
            raise Fault(f"address in {self.name} memory is not a multiple of "
                        f"{size * count}")
        return offsets // size

    def load(self, addresses, size, count=1):
        """`count` lists of elements, one element for each address."""
        first = self.find_aligned(addresses, size, count)
        return [self.views[size][first + i] for i in range(count)]

    def store(self, addresses, size, values):
        first = self.find_aligned(addresses, size, len(values))
        for i, value in enumerate(values):
            self.views[size][first + i] = value


class GlobalMemory(Memory):
    """Tensors by name, each between guards."""

    def __init__(self, sizes, base=1 << 28):
        super().__init__("global", base,
                         GUARD + sum(align(n, 256) + GUARD
                                     for n in sizes.values()))
        self.addresses, offset = {}, GUARD
        for name, size in sizes.items():
            self.addresses[name] = base + offset
            self.allocated[offset:offset + size] = True
            offset += align(size, 256) + GUARD

    def get(self, name, size):
        first = self.addresses[name] - self.base
        return self.bytes[first:first + size]


@dataclasses.dataclass
class TensorMap:
    """What runtime/Base/TensorMap.h prints, at an address."""
    address: int
    kind: str
    mode: str
    sizes: list
    strides: list
    box: list
    steps: list
    lower: list
    upper: list

    @classmethod
    def parse(cls, text, address):
        _, kind, mode, *lists = text.split(":")
        lists = [[int(n) for n in field.split(",") if n] for field in lists]
        return cls(address, kind, mode, *lists, *[[]] * (6 - len(lists)))

    @property
    def element_bytes(self):
        return 1 if self.kind in FLOAT8 else 2 if self.kind.endswith("f16") else 4

    @property
    def row_bytes(self):
        return self.box[0] * self.element_bytes

    def walk_box(self, corner):
        """The coordinates of the rows of a box, without the innermost one."""
        if any(step != 1 for step in self.steps):
            raise Fault("a box of a tiled tensor map has steps")
        ranges = [range(size) for size in reversed(self.box[1:])]
        steps = np.array(list(itertools.product(*ranges)))[:, ::-1]
        return steps + np.array(corner[1:])

    def walk_pixels(self, corner, offsets):
        """The coordinates of the pixels of an im2col copy: the window's corner
        moves through the images from `corner` on, and each pixel lies `offsets`
        beyond it."""
        index, stride = np.zeros(self.box[1], np.int64), 1
        counts = []
        for size, lower, upper, step, first in zip(
                self.sizes[1:], self.lower, self.upper, self.steps[1:],
                corner[1:]):
            position, rest = divmod(first - lower, step)
            counts.append(-(-(size + upper - lower) // step))
            if rest or not 0 <= position < counts[-1]:
                raise Fault(f"an im2col copy begins beside its positions: "
                            f"{corner} in {self}")
            index += position * stride
            stride *= counts[-1]
        index += corner[-1] * stride + np.arange(self.box[1])
        columns = []
        for count, lower, step, offset in zip(counts, self.lower,
                                              self.steps[1:], offsets):
            index, position = np.divmod(index, count)
            columns.append(lower + position * step + offset)
        return np.stack(columns + [index], axis=1)

    def find_elements(self, corner, rows):
        """Global addresses of all elements of `rows`, and which of them lie in
        the tensor."""
        columns = corner[0] + np.arange(self.box[0])
        inside = ((rows >= 0) & (rows < self.sizes[1:])).all(axis=1)
        inside = inside[:, None] & (columns >= 0) & (columns < self.sizes[0])
        addresses = (self.address + (rows @ np.array(self.strides))[:, None]
                     + columns * self.element_bytes)
        return addresses, inside

    def find_shared(self, address, rows):
        """Shared addresses of the elements of `rows` rows."""
        if address % 128:
            raise Fault(f"a tensor copy's shared address {address} is not a "
                        "multiple of 128")
        offsets = np.arange(rows * self.row_bytes, step=self.element_bytes)
        swizzle = 0 if self.mode == "plain" else self.row_bytes
        return swizzle_addresses(address + offsets, swizzle)


def swizzle_addresses(addresses, row_bytes):
    """Exchanges units of 16 bytes by the bits 7.. of their address."""
    mask = {128: 7, 64: 3, 32: 1}.get(row_bytes, 0)
    return addresses ^ (((addresses >> 7) & mask) << 4)


def copy_to_shared(tensor, corner, offsets, memory, shared, address):
    """Copies a box; what lies outside of the tensor is zero. Returns the number
    of bytes that the copy counts. A swizzled copy whose rows began beside 16
    bytes was an illegal instruction on an H100."""
    if tensor.mode != "plain" and corner[0] * tensor.element_bytes % 16:
        raise Fault(f"a swizzled tensor load has its corner at {corner}")
    rows = (tensor.walk_pixels(corner, offsets) if tensor.mode == "im2col"
            else tensor.walk_box(corner))
    size = tensor.element_bytes
    sources, inside = tensor.find_elements(corner, rows)
    values = np.zeros(inside.shape, f"u{size}")
    values[inside], = memory.load(sources[inside], size)
    if tensor.kind == "tf32":
        values = round_to_tf32(values)
    shared.store(tensor.find_shared(address, len(rows)), size,
                 [values.reshape(-1)])
    return values.nbytes


def copy_to_global(tensor, corner, memory, shared, address):
    """Copies that part of a box that lies in the tensor. An H100 faults at a
    corner which is negative, or whose row begins beside 16 bytes."""
    if min(corner) < 0 or corner[0] * tensor.element_bytes % 16:
        raise Fault(f"a tensor store has its corner at {corner}")
    rows = tensor.walk_box(corner)
    size = tensor.element_bytes
    values, = shared.load(tensor.find_shared(address, len(rows)), size)
    targets, inside = tensor.find_elements(corner, rows)
    memory.store(targets[inside], size, [values.reshape(inside.shape)[inside]])
