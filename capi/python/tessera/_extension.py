"""The extension that carries out plans without Python: libtessera-torch.so, beside the library.

It answers PyTorch's operators in front of Python's answers, on PyTorch's stable C ABI (2.10 and later). A call whose
arguments have no plan it hands to the operator of the same name in the namespace "tessera", which is Python's answer;
what that decides it then gets by `keep`. Without the extension all is the same, and slower.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Callable

import torch

from tessera import _library
from tessera._launch import Direct, Emulated, Entry, Sum

_NOTHING = -2**31  # Call::kNothing.
# Arguments.h: how arguments of PyTorch's types are read.
_KINDS = {"Tensor": "T", "Optional[Tensor]": "t", "int": "n", "bool": "n", "float": "n", "Optional[int]": "o",
          "List[int]": "l", "List[bool]": "l", "Optional[List[int]]": "L"}
_IGNORED = ("momentum", "exponential_average_factor")  # Of floats: those that change no plan.
_POINTER = ctypes.c_void_p


class _Settings(ctypes.Structure):
    """Settings of Call.h."""
    RUN = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, ctypes.c_char_p, ctypes.POINTER(_library.Arguments))
    ASK = ctypes.CFUNCTYPE(ctypes.c_int)
    _fields_ = [("is_gpu", ctypes.c_int), ("run", _POINTER), ("set_stream", _POINTER), ("allows_tf32", ASK)]


def _array(kind: Any, values: Any) -> ctypes.Array:
    values = list(values)
    return (kind * max(len(values), 1))(*values)


class Extension:
    """The loaded extension. There is one, because a process has one device."""

    def __init__(self, api: ctypes.CDLL, launcher: Direct | Emulated, allows_tf32: Callable[[], bool]):
        for name in ("NewReplacements", "NewCall"):
            getattr(api, "tesseraTorch" + name).restype = _POINTER
        api.tesseraTorchGetCount.restype = ctypes.c_uint64
        self._api, self._launcher, library = api, launcher, _library.get_api()
        run = _Settings.RUN(launcher.launch_again) if isinstance(launcher, Emulated) else library.tesseraRunProblem
        # Kept, because C has only their addresses.
        self._settings = _Settings(isinstance(launcher, Direct) and launcher.on_gpu, ctypes.cast(run, _POINTER),
                                   ctypes.cast(library.miopenSetStream, _POINTER), _Settings.ASK(allows_tf32))
        self._run = run
        if isinstance(launcher, Direct):
            launcher.shares_handles = True
        self.is_usable = bool(api.tesseraTorchStart(ctypes.byref(self._settings)))
        self._fragment = torch.library.Library("tessera", "FRAGMENT")
        self._defined: set[str] = set()

    def replace(self, space: str, key: str, answers: dict[str, Callable]) -> Callable[[], None]:
        """Answers operators of a namespace, and by `answers` what there is no plan for. Returns what ends that."""
        replacements = _POINTER(self._api.tesseraTorchNewReplacements(space.encode(), key.encode()))
        library = torch.library.Library("tessera", "IMPL")
        for name, answer in answers.items():
            schema = getattr(getattr(torch.ops, space), name).default._schema
            kinds = [_KINDS.get(str(argument.type)) for argument in schema.arguments]
            if None in kinds:
                continue
            kinds = ["i" if argument.name in _IGNORED else kind for kind, argument in zip(kinds, schema.arguments)]
            if name not in self._defined:
                self._fragment.define(str(schema).removeprefix(space + "::"))
                self._defined.add(name)
            library.impl(name, self._guard(answer, len(schema.returns)), key)
            self._api.tesseraTorchReplace(replacements, name.encode(), "".join(kinds).encode(),
                                          "convolution" in name)

        def end() -> None:
            self._api.tesseraTorchEndReplacements(replacements)
            library._destroy()
        return end

    def _guard(self, answer: Callable, results: int) -> Callable:
        """An answer that raises no exception, which C could not pass on."""
        def guarded(*arguments):
            try:
                return answer(*arguments)
            except Exception as error:  # pylint: disable=broad-except
                self._api.tesseraTorchFail(str(error).encode())
                return (torch.empty(0),) * results if results > 1 else torch.empty(0)
        return guarded

    def keep(self, entry: Entry) -> None:
        """Lets the extension carry out the plan of the call that Python is answering for it, if that is so."""
        plan, api = entry.plan, self._api
        if plan.gathers or not plan.launches:
            return
        kernel = plan.launches[0][0]
        call = _POINTER(api.tesseraTorchNewCall(_POINTER(kernel.handle), kernel.device))
        if not call:
            return
        for new in plan.new:
            if isinstance(new, Sum):
                api.tesseraTorchAddSum(call, len(new.dims), _array(ctypes.c_int64, new.dims), new.argument)
            else:
                shape, strides, dtype = new
                api.tesseraTorchAddNew(call, len(shape), _array(ctypes.c_int64, shape),
                                       _array(ctypes.c_int64, strides), _get_type(dtype))
        for kernel, numbers in plan.launches:
            api.tesseraTorchAddLaunch(call, kernel.text, ctypes.byref(kernel.arguments), len(numbers),
                                      _array(ctypes.c_uint32, kernel.offsets), _array(ctypes.c_int, numbers))
        if plan.scalar:
            api.tesseraTorchSetScalar(call, *plan.scalar)
        for number in plan.results if isinstance(plan.results, tuple) else (plan.results,):
            api.tesseraTorchAddResult(call, _NOTHING if number is None else number)
        api.tesseraTorchKeepCall(call)
        entry.counters.append(functools.partial(api.tesseraTorchGetCount, call))


@functools.cache
def _get_type(dtype: torch.dtype) -> int:
    """A type's number in PyTorch's C ABI."""
    return getattr(ctypes.CDLL("libtorch_cpu.so", mode=os.RTLD_NOLOAD), "aoti_torch_dtype_" + str(dtype)[6:])()


_extension: Extension | None = None


def load(launcher: Direct | Emulated, allows_tf32: Callable[[], bool]) -> Extension | None:
    """The extension; None where there is none, or PyTorch lacks what it needs."""
    global _extension
    if not _extension:
        try:
            api = _library.load_beside("libtessera-torch.so")
        except OSError:
            return None
        _extension = Extension(api, launcher, allows_tf32)
    return _extension if _extension.is_usable else None
