"""The library behind the package: where it lies, how its C API is called, and which HIP runtime it uses.

The library is found in this order: the file that TESSERA_LIBRARY names, the one inside the package (in a wheel), the
loader's `libMIOpen.so.1`. Everything else (its compiler, the worker, HIP runtimes) it finds beside itself.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import threading
import warnings

FOLDER = pathlib.Path(__file__).resolve().parent

# miopenStatus_t, as far as callers tell one from another.
BAD_PARM, NOT_IMPLEMENTED, UNSUPPORTED_OP = 3, 6, 8


class Error(RuntimeError):
    """A call of the library failed; the text is the library's sentence, `status` its miopenStatus_t."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class InvalidProblem(Error, ValueError):
    """The problem contradicts itself, or an argument does not fit it."""


class NotSupported(Error, NotImplementedError):
    """The problem is valid, and no kernel covers it."""


_ERRORS = {BAD_PARM: InvalidProblem, NOT_IMPLEMENTED: NotSupported, UNSUPPORTED_OP: NotSupported}


class Counters(ctypes.Structure):
    """tesseraCounters of <tessera/tessera.h>."""
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in "compiled from_database from_memory launched generic promoted".split()]


FROM_END = 1  # TESSERA_PROBLEM_FROM_END.


class Arguments(ctypes.Structure):
    """tesseraProblemArguments of <tessera/problem.h>."""
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32)] + [
        (name, ctypes.c_void_p) for name in "x w y bias residual indices workspace".split()] + [
        ("workspace_bytes", ctypes.c_size_t)] + [
        (name, ctypes.c_double) for name in "alpha beta activ_alpha activ_beta activ_gamma".split()] + [
        ("tensors", ctypes.c_void_p * 12), ("scalars", ctypes.c_double * 6),
        ("mean", ctypes.c_void_p), ("variance", ctypes.c_void_p)]

    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(Arguments), **{"alpha": 1, **values})


class StageTime(ctypes.Structure):
    """tesseraStageTime of <tessera/tessera.h>."""
    _fields_ = [("name", ctypes.c_char * 32), ("ms", ctypes.c_double)]


class KernelInfo(ctypes.Structure):
    """tesseraKernelInfo of <tessera/tessera.h>."""
    _fields_ = [("size", ctypes.c_uint32), ("origin", ctypes.c_int), ("code_bytes", ctypes.c_uint64),
                ("workspace_bytes", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32)
        for name in "vgprs agprs sgprs vgpr_spills sgpr_spills lds_bytes scratch_bytes stage_count".split()] + [
        ("tile", ctypes.c_char * 128), ("stages", StageTime * 16)]

    def __init__(self):
        super().__init__(size=ctypes.sizeof(KernelInfo))


def find_library() -> str:
    """The file of the library, or the name by which the loader knows it."""
    if named := os.environ.get("TESSERA_LIBRARY"):
        return named
    inside = FOLDER / "lib" / "libMIOpen.so.1"
    return str(inside) if inside.exists() else "libMIOpen.so.1"


def load_beside(name: str) -> ctypes.CDLL:
    """A shared object that lies where the library does. Raises OSError where it is not, or cannot be loaded."""
    library = find_library()
    return ctypes.CDLL(str(pathlib.Path(library).resolve().parent / name) if "/" in library else name)


@functools.cache
def get_api() -> ctypes.CDLL:
    """The loaded library, with the types of the functions that the package calls."""
    name = find_library()
    try:
        api = ctypes.CDLL(name)
    except OSError as error:
        raise Error(f"the library cannot be loaded: {error}; TESSERA_LIBRARY may name its file") from error
    if not hasattr(api, "tesseraRunProblem"):
        raise Error(f"{name} is not Tessera's library but another MIOpen; TESSERA_LIBRARY may name the file")
    pointer = ctypes.c_void_p
    api.tesseraGetLastErrorMessage.restype = ctypes.c_char_p
    api.miopenSetStream.argtypes = [pointer, pointer]
    api.tesseraRunProblem.argtypes = [pointer, ctypes.c_char_p, pointer]
    api.tesseraGetProblemKernelInfo.argtypes = [pointer, ctypes.c_char_p, pointer]
    api.tesseraTuneProblem.argtypes = [pointer, ctypes.c_char_p]
    api.tesseraGetCounters.argtypes = [pointer]
    return api


def check(status: int) -> None:
    """Raises the exception of a status other than success, with the library's sentence."""
    if status:
        message = get_api().tesseraGetLastErrorMessage().decode()
        raise _ERRORS.get(status, Error)(message or f"status {status}", status)


def choose_device(name: str) -> None:
    """Chooses the device of the process: "amd", "nvidia", "emulated" or, by its chip, "emulated:gfx1100".

    The library chooses once, with its first handle, so that a later call may only repeat the choice. Without one it
    takes the first of AMD's, NVIDIA's and the emulated device that is there.
    """
    chosen = os.environ.get("TESSERA_DEVICE")
    if _started.is_set() and name != chosen:
        raise Error(f"the process uses {chosen or 'a device that the library has chosen'} already, not {name}")
    os.environ["TESSERA_DEVICE"] = name


def is_on(name: str) -> bool:
    """A switch of the environment that is on unless it is turned off."""
    value = os.environ.get(name, "").lower()
    if value not in ("", "1", "on", "yes", "true", "enable", "enabled", *_OFF):
        warnings.warn(f"{name} is '{value}', but must be 1, on, yes ... or 0, off, no ...; it counts as not set")
    return value not in _OFF


_OFF = ("0", "off", "no", "false", "disable", "disabled")
_started = threading.Event()  # Whether a handle was made, and so the device is chosen.
_of_thread = threading.local()


def get_handle(user: int | str = "problem") -> int:
    """A handle of the calling thread: calls on one handle must not overlap. tessera.torch has one for each GPU, by its
    number, because a handle has the stream that was set last. Threads keep theirs.
    """
    handles = _of_thread.__dict__
    if user not in handles:
        handle = ctypes.c_void_p()
        check(get_api().miopenCreate(ctypes.byref(handle)))
        _started.set()
        handles[user] = handle.value
    return handles[user]


def get_info(config: str, user: int | str = "problem") -> KernelInfo:
    """Compiles a problem's kernel unless it is there, and describes it."""
    info = KernelInfo()
    check(get_api().tesseraGetProblemKernelInfo(get_handle(user), config.encode(), ctypes.byref(info)))
    return info


def tune(config: str, user: int | str = "problem") -> None:
    """Times several kernels of a problem on the device, once in a process, and uses the fastest from then on."""
    check(get_api().tesseraTuneProblem(get_handle(user), config.encode()))


def expect_new_sizes() -> None:
    """From now on one kernel serves convolutions that differ in batch and image sizes alone, where there is one for
    unknown sizes; a convolution that comes back often gets its own in the background. TESSERA_GENERIC_KERNELS=NEVER
    keeps that from happening.
    """
    get_api().tesseraExpectNewSizes()


def count() -> Counters:
    """What the library has done since the process started."""
    counters = Counters(size=ctypes.sizeof(Counters))
    check(get_api().tesseraGetCounters(ctypes.byref(counters)))
    return counters


class Hip:
    """The HIP runtime that the library has chosen: memory, for clients that have none of their own."""

    # In the library's own order; the first one with a device is in use.
    NAMES = {"amd": "libamdhip64.so", "nvidia": "libtessera-hip-on-cuda.so", "emulated": "libtessera-emulator.so"}
    TO_DEVICE, TO_HOST = 1, 2

    def __init__(self):
        get_handle()
        wanted = os.environ.get("TESSERA_DEVICE", "").partition(":")[0]
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        mapped = {line.split(maxsplit=5)[-1] for line in maps if "/" in line}
        for kind, name in self.NAMES.items():
            for path in sorted(path for path in mapped if os.path.basename(path).startswith(name)):
                hip = ctypes.CDLL(path)
                count = ctypes.c_int(0)
                if wanted in ("", kind) and not hip.hipGetDeviceCount(ctypes.byref(count)) and count.value:
                    self.kind, self._hip = kind, hip
                    return
        raise Error("no HIP runtime with a device is loaded")

    def get_address(self, name: str) -> ctypes.c_void_p:
        """Where a function of HIP lies."""
        return ctypes.cast(getattr(self._hip, name), ctypes.c_void_p)

    def check(self, status: int, what: str) -> None:
        """Raises an exception for a status of HIP other than success."""
        if status:
            self._hip.hipGetErrorString.restype = ctypes.c_char_p
            raise Error(f"{what}: {self._hip.hipGetErrorString(status).decode()}", status)

    def allocate(self, size: int) -> int:
        """The address of new device memory."""
        pointer = ctypes.c_void_p()
        self.check(self._hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(max(size, 1))), "hipMalloc")
        return pointer.value

    def free(self, address: int) -> None:
        """Frees memory of allocate()."""
        self.check(self._hip.hipFree(ctypes.c_void_p(address)), "hipFree")

    def copy(self, target: int, source: int, size: int, kind: int) -> None:
        """Copies between host and device, and waits."""
        self.check(self._hip.hipMemcpy(ctypes.c_void_p(target), ctypes.c_void_p(source), ctypes.c_size_t(size), kind),
                   "hipMemcpy")

    def synchronize(self) -> None:
        """Waits for everything that the device does."""
        self.check(self._hip.hipDeviceSynchronize(), "hipDeviceSynchronize")

    def get_chip(self) -> str:
        """The chip as --target names it."""
        if self.kind == "emulated":
            return os.environ.get("TESSERA_DEVICE", "").partition(":")[2] or "gfx942"
        if self.kind == "amd":
            raise Error("name the target: HIP tells an AMD chip's in a struct that differs between releases")
        major, minor = ctypes.c_int(), ctypes.c_int()
        for value, attribute in ((major, 23), (minor, 61)):  # hipDeviceAttributeComputeCapabilityMajor, Minor
            self.check(self._hip.hipDeviceGetAttribute(ctypes.byref(value), attribute, 0), "hipDeviceGetAttribute")
        return f"sm_{major.value}{minor.value}"


@functools.cache
def get_hip() -> Hip:
    """The runtime of the process."""
    return Hip()


class DeviceMemory:
    """Device memory that is freed with the object."""

    def __init__(self, size: int):
        self.size = size
        self.address = get_hip().allocate(size)

    def __del__(self):
        if hasattr(self, "address"):
            get_hip().free(self.address)
