"""Addresses of other packages' arrays.

A kernel reads device memory. An array that is on the device already is used as it is; one of the host (numpy's, say)
is copied to the device before the launch and, if the kernel writes it, back after it.
"""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any

from tessera._library import DeviceMemory, Error, InvalidProblem, get_hip


@dataclasses.dataclass
class Span:
    """Memory of an array: from its first element to its last one."""
    address: int
    size: int  #: Bytes; -1 if unknown.
    on_host: bool
    owner: Any  #: What keeps the memory alive.
    read_only: bool = False


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def _count_bytes(shape, strides, item: int) -> int:
    """Bytes from the first element to the last one; strides in bytes, or None where elements lie together."""
    if any(length == 0 for length in shape):
        return 0
    if strides is None:
        size = item
        for length in shape:
            size *= length
        return size
    if any(stride < 0 for stride in strides):
        raise InvalidProblem("an array with a negative stride has no first element")
    return item + sum((length - 1) * stride for length, stride in zip(shape, strides))


def _from_interface(array: Any, interface: dict, on_host: bool) -> Span:
    item = int(interface["typestr"][2:])
    address, read_only = interface["data"]
    return Span(address, _count_bytes(interface["shape"], interface.get("strides"), item), on_host, array, read_only)


def _from_tensor(tensor: Any) -> Span:
    size = _count_bytes(tensor.shape, [s * tensor.element_size() for s in tensor.stride()], tensor.element_size())
    return Span(tensor.data_ptr(), size, tensor.device.type == "cpu", tensor)


def _from_dlpack(array: Any) -> Span:
    capsule = array.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get_pointer(capsule, b"dltensor"))
    shape, item = tensor.shape[:tensor.ndim], tensor.bits * tensor.lanes // 8
    strides = [stride * item for stride in tensor.strides[:tensor.ndim]] if tensor.strides else None
    return Span(tensor.data + tensor.offset, _count_bytes(shape, strides, item), tensor.device_type == 1, capsule)


def get_span(array: Any) -> Span:
    """The memory of a tensor of PyTorch's, of an array with `__cuda_array_interface__`, `__array_interface__` or
    `__dlpack__`, of DeviceMemory, or of a device address as an int.
    """
    if isinstance(array, int):
        return Span(array, -1, False, None)
    if isinstance(array, DeviceMemory):
        return Span(array.address, array.size, False, array)
    if hasattr(array, "data_ptr") and hasattr(array, "element_size"):
        return _from_tensor(array)
    if hasattr(array, "__cuda_array_interface__"):
        return _from_interface(array, array.__cuda_array_interface__, False)
    if hasattr(array, "__array_interface__"):
        return _from_interface(array, array.__array_interface__, True)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    raise Error(f"{type(array).__name__} is no array: it has neither data_ptr, an array interface nor __dlpack__")


class Placed:
    """An array as a kernel sees it: its own device memory, or a copy of host memory."""

    def __init__(self, span: Span):
        self.span, self.address = span, span.address
        if span.on_host:
            self.copy = DeviceMemory(span.size)
            self.address = self.copy.address
            get_hip().copy(self.address, span.address, span.size, get_hip().TO_DEVICE)

    def bring_back(self) -> None:
        """Copies what the kernel has written to the host, where the array is there. Waits for the kernel."""
        if self.span.on_host:
            get_hip().copy(self.span.address, self.address, self.span.size, get_hip().TO_HOST)
