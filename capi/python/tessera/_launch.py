"""How tessera.torch launches kernels at little cost to the host: everything that depends on shapes is decided once."""

from __future__ import annotations

import ctypes
import dataclasses
import struct
from typing import Any, Callable, ClassVar, Sequence

import torch

from tessera import _library
from tessera._common import Refusal


class Direct:
    """Tensors whose addresses a kernel can read: those of a GPU."""

    def __init__(self, on_gpu: bool = True):
        self.on_gpu = on_gpu
        self.shares_handles = False  #: Whether the extension sets their streams, too.
        self._streams: dict[int, int] = {}  # The stream that each handle has.
        self._get_stream = torch._C._cuda_getCurrentRawStream if on_gpu else lambda device: 0
        self.get_device = torch._C._cuda_getDevice if on_gpu else lambda: -1
        self._set_stream = _library.get_api().miopenSetStream

    def launch(self, kernel: Kernel, tensors: Sequence[Any]) -> int:
        """Puts the kernel on PyTorch's current stream. Returns the status."""
        handle, stream = kernel.handle, self._get_stream(kernel.device)
        if self.shares_handles or self._streams.get(handle) != stream:
            self._set_stream(handle, stream)
            self._streams[handle] = stream
        workspace, size = 0, kernel.workspace_bytes
        if size:
            owner = tensors[0].new_empty(size, dtype=torch.uint8)
            workspace = owner.data_ptr()
        kernel.set_addresses([t.data_ptr() for t in tensors], workspace)
        return kernel.run()

    def check(self, tensor: torch.Tensor) -> None:
        """Refuses what must not be compiled now."""
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            raise Refusal("the first call of its shape was during a graph's capture; run once before")


class Emulated:
    """Tensors of the host, for which kernels run on the emulated device, in memory of its own."""

    @staticmethod
    def get_device() -> int:
        """There is one device, and tensors of the host are on none."""
        return -1

    def __init__(self):
        self._launched: dict[tuple[int, bytes], tuple[Kernel, list[int]]] = {}

    def launch(self, kernel: Kernel, tensors: Sequence[Any]) -> int:
        """Runs the kernel to its end. Returns the status."""
        sizes = [_get_span(tensor) for tensor in tensors]
        self._launched[kernel.handle, kernel.text] = kernel, sizes
        return self._run(kernel, [tensor.data_ptr() for tensor in tensors], sizes)

    def launch_again(self, handle: int, text: bytes, arguments: Any) -> int:
        """The same for the extension, instead of tesseraRunProblem()."""
        kernel, sizes = self._launched[handle, text]
        given = ctypes.addressof(arguments.contents)
        kernel.arguments.scalars[:] = arguments.contents.scalars[:]
        kernel.arguments.flags = arguments.contents.flags
        return self._run(kernel, [ctypes.c_uint64.from_address(given + offset).value for offset in kernel.offsets],
                         sizes)

    @staticmethod
    def _run(kernel: Kernel, addresses: Sequence[int], sizes: Sequence[int]) -> int:
        hip = _library.get_hip()
        memories = [_library.DeviceMemory(size) for size in sizes]
        workspace = _library.DeviceMemory(kernel.workspace_bytes)
        for memory, address in zip(memories, addresses):
            hip.copy(memory.address, address, memory.size, hip.TO_DEVICE)
        kernel.set_addresses([memory.address for memory in memories], workspace.address)
        status = kernel.run()
        for written in kernel.written if not status else ():
            hip.copy(addresses[written], memories[written].address, sizes[written], hip.TO_HOST)
        return status

    def check(self, tensor: torch.Tensor) -> None:
        """Nothing is refused."""


def _get_span(tensor: Any) -> int:
    """Bytes from a tensor's first element to its last one."""
    if not tensor.numel():
        return 0
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()


def _get_offset(name: str) -> int:
    """Where the struct has a tensor: by its name, or by the number of a row-wise problem's."""
    if name.isdigit():
        return _library.Arguments.tensors.offset + 8 * int(name)
    return getattr(_library.Arguments, name).offset


def _get_pack(offsets: Sequence[int]) -> tuple[Any, int]:
    """What writes addresses to the struct, zeros between them, and where it begins."""
    gaps = [after - before - 8 for before, after in zip(offsets, offsets[1:])]
    return struct.Struct("P" * bool(offsets) + "".join(f"{gap}xP" for gap in gaps)).pack_into, (*offsets, 0)[0]


class Kernel:
    """A compiled problem with the struct that its launches pass. One thread's, as its handle is."""

    collected: ClassVar[list[tuple[str, int]] | None] = None  #: If there is a list, problems go there uncompiled.

    def __init__(self, config: str, names: Sequence[str], written: Sequence[str], device: int,
                 scalars: Sequence[float] = (), activation: Sequence[float] = ()):
        """`names` are the tensors of each launch in the struct's order, `written` those that the kernel writes."""
        self.config, self.device = config, device
        self.collects = Kernel.collected is not None
        if self.collects:
            Kernel.collected.append((config, device))
            return
        self.written = [names.index(name) for name in written]
        self.handle = _library.get_handle(device)
        self.workspace_bytes = _library.get_info(config, device).workspace_bytes
        self.text = config.encode()
        self._buffer = bytearray(ctypes.sizeof(_library.Arguments))
        self.arguments = _library.Arguments.from_buffer(self._buffer)
        self.arguments.__init__(workspace_bytes=self.workspace_bytes)
        self.arguments.scalars[:len(scalars)] = scalars
        for name, value in zip(("activ_alpha", "activ_beta", "activ_gamma"), activation):
            setattr(self.arguments, name, value)
        self._address = ctypes.addressof(self.arguments)
        # One call writes all addresses up to the numbers, one those behind: pads stand for the pointers between them.
        self.offsets = [_get_offset(name) for name in names]
        numbers = _library.Arguments.workspace_bytes.offset
        self._first = sum(offset < numbers for offset in self.offsets) or len(self.offsets)
        self._packs = [_get_pack(offsets) for offsets in (self.offsets[:self._first], self.offsets[self._first:])]
        self._function = _library.get_api().tesseraRunProblem

    def set_order(self, from_end: bool) -> None:
        """Whether launches begin with the last tile, if the kernel can."""
        if self.collects:
            return
        self.arguments.flags = _library.FROM_END if from_end else 0

    def set_addresses(self, addresses: Sequence[int], workspace: int) -> None:
        """The tensors of the next launch."""
        pack, start = self._packs[0]
        pack(self._buffer, start, *addresses[:self._first])
        if self._first < len(addresses):
            pack, start = self._packs[1]
            pack(self._buffer, start, *addresses[self._first:])
        if workspace:
            self.arguments.workspace = workspace

    def run(self) -> int:
        """Launches. Returns the status."""
        return self._function(self.handle, self.text, self._address)


@dataclasses.dataclass
class Sum:
    """A result that PyTorch adds up."""
    argument: int
    dims: Sequence[int]


@dataclasses.dataclass
class Plan:
    """What a call of an operator does. Numbers say which tensor: an argument or, as ~0, ~1 ..., a new one."""
    new: Sequence[tuple[Sequence[int], Sequence[int], torch.dtype] | Sum]  #: Shape, strides, type.
    launches: Sequence[tuple[Kernel, Sequence[int]]]  #: In this order.
    results: int | tuple[int | None, ...]  #: What is returned. None has no tensor.
    gathers: dict[int, Callable] = dataclasses.field(default_factory=dict)  #: What is copied first, by which function.
    scalar: tuple[int, int] | None = None  #: An argument, and which scalar of the first launch it is.

    def run(self, launch: Callable, arguments: Sequence[Any]) -> tuple[Any, int]:
        """The result, and the status of the launches."""
        tensors = [*arguments]
        for number, function in self.gathers.items():
            tensors[number] = function(tensors[number])
        like = arguments[0]
        # The last one is ~0.
        tensors += [tensors[new.argument].sum(new.dims) if isinstance(new, Sum)
                    else like.new_empty_strided(new[0], new[1], dtype=new[2]) for new in reversed(self.new)]
        if self.scalar:
            self.launches[0][0].arguments.scalars[self.scalar[1]] = arguments[self.scalar[0]]
        for kernel, numbers in self.launches:
            if status := launch(kernel, [tensors[number] for number in numbers]):
                return None, status
        if isinstance(self.results, int):
            return tensors[self.results], 0
        return tuple(None if number is None else tensors[number] for number in self.results), 0


class Entry:
    """What was decided for one combination of shapes, strides and types. Of one thread."""

    plan: Plan

    def __init__(self):
        self.reason = ""  #: Why PyTorch computes it.
        self.calls = 0  #: How often it was ours, beside the extension's.
        self.counters: list[Callable[[], int]] = []  #: How often the extension has carried the plan out.

    def count(self) -> int:
        """How often it was ours."""
        return self.calls + sum(counter() for counter in self.counters)

    def decide(self, *arguments: Any) -> None:
        """Compiles the kernels for a call of the operator, and plans it; raises Refusal where PyTorch is to compute
        it.
        """
        raise NotImplementedError
