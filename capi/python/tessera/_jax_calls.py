"""How XLA launches a problem's kernel: through its FFI, by the handler in libtessera-jax.so (capi/jax)."""

from __future__ import annotations

import collections
import ctypes
import functools
import os
from typing import Any, Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from tessera import _library
from tessera._common import Refusal, Report

TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_POINTER = ctypes.c_void_p
_TARGET = "tessera"


class _Settings(ctypes.Structure):
    """Settings of Handler.h."""
    _fields_ = [("is_gpu", ctypes.c_int32)] + [
        (name, _POINTER) for name in "run create set_stream get_message allocate free copy".split()]


def _find_platform() -> str:
    """The platform of JAX whose arrays are ours."""
    if os.environ.get("TESSERA_DEVICE", "").startswith("emulated"):
        return "cpu"
    if jax.default_backend() != "gpu":
        raise Refusal("JAX sees no GPU, and TESSERA_DEVICE does not name the emulated device")
    platform = "rocm" if "rocm" in jax.devices()[0].client.platform_version else "cuda"
    if "TESSERA_DEVICE" not in os.environ:
        _library.choose_device("amd" if platform == "rocm" else "nvidia")
    return platform


@functools.cache
def _get_handler() -> ctypes.CDLL:
    api = _library.load_beside("libtessera-jax.so")
    api.tesseraJaxGetCount.restype = ctypes.c_uint64
    return api


@functools.cache
def start() -> str:
    """Makes the handler known to XLA, once. Returns the platform whose arrays are ours; raises Refusal where there is
    none."""
    platform = _find_platform()
    try:
        handler, library, hip = _get_handler(), _library.get_api(), _library.get_hip()
    except (OSError, _library.Error) as error:
        raise Refusal(str(error)) from error
    functions = [ctypes.cast(getattr(library, name), _POINTER) for name in (
        "tesseraRunProblem", "miopenCreateWithStream", "miopenSetStream", "tesseraGetLastErrorMessage")]
    functions += [hip.get_address(name) for name in ("hipMalloc", "hipFree", "hipMemcpy")]
    handler.tesseraJaxStart(ctypes.byref(_Settings(platform != "cpu", *functions)))
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(handler.tesseraJaxRun),
                                platform=platform if platform == "cpu" else platform.upper())
    return platform


def get_type(*arrays: Any) -> str:
    """The type that all arrays have."""
    names = {array.dtype.name for array in arrays}
    if len(names) > 1 or not names <= TYPES.keys():
        raise Refusal("arrays of " + " and ".join(sorted(names)))
    return TYPES[names.pop()]


def call(operator: str, config: str, tensors: str, results: Sequence[jax.ShapeDtypeStruct], reference: Callable,
         *arrays: jax.Array, needs: Sequence[str] = ()) -> tuple[jax.Array, ...]:
    """The results of a problem; of `reference`, given the same arrays, where no kernel covers it or one of those that
    it `needs`. `tensors` has a letter for each array and each result; "-" is an array that only `reference` reads.
    """
    try:
        workspace, *_ = [_library.get_info(each).workspace_bytes for each in (config, *needs)]
    except _library.Error as error:
        refuse(operator, str(error))
        return reference(*arrays)
    _problems[config] = operator
    # XLA plans the memory of the workspace as that of a result.
    shapes = [*results] + [jax.ShapeDtypeStruct((workspace,), jnp.uint8)] * bool(workspace)
    letters = tensors.replace("-", "") + "s" * bool(workspace)

    def launch(*arrays):
        read = [array for array, letter in zip(arrays, tensors) if letter != "-"]
        return tuple(jax.ffi.ffi_call(_TARGET, shapes)(*read, problem=config, tensors=letters)[:len(results)])
    return lax.platform_dependent(*arrays, default=reference, **{start(): launch})


_problems: dict[str, str] = {}  # The operator of each.
_fallbacks: collections.Counter = collections.Counter()


def refuse(operator: str, reason: str) -> None:
    """Counts what JAX computes by itself."""
    _fallbacks[operator, reason] += 1


def report() -> Report:
    """What kernels were launched for, by XLA's own count, and what was refused."""
    calls, shapes = collections.Counter(), collections.Counter()
    for config, operator in _problems.items():
        if count := _get_handler().tesseraJaxGetCount(config.encode()):
            calls[operator] += count
            shapes[operator] += 1
    return Report(dict(calls), dict(shapes), dict(_fallbacks), framework="JAX")
