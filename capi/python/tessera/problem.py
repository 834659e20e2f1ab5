"""Problems by their names: what a kernel computes, the kernel for it, and running it."""

from __future__ import annotations

import ctypes
import dataclasses
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any, Sequence

from tessera import _library
from tessera.buffers import Placed, get_span

_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "f64": 8, "i8": 1, "i32": 4, "i64": 8,
          "u8": 1, "u16": 2, "u32": 4, "u64": 8}
STAGES = ("problem", "dnn", "tiled", "workgroup", "gpu", "llvm", "isa")


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of a problem. Lengths are in the order N, C, [D,] H, W; strides are in elements."""
    name: str
    type: str
    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool

    @property
    def bytes(self) -> int:
        """Bytes from the first element to the last one."""
        return _BYTES[self.type] * (1 + sum((n - 1) * s for n, s in zip(self.lengths, self.strides)))


@dataclasses.dataclass(frozen=True)
class Info:
    """The kernel for a problem. Registers and spills are of the code object; NVIDIA's driver counts its own."""
    tile: str
    origin: str  #: "compiled" or "database"
    workspace_bytes: int
    code_bytes: int
    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int
    scratch_bytes: int
    stages_ms: dict[str, float]  #: Wall time of each stage, if this process has compiled it.


def _get_strides(layout: str, lengths: Sequence[int]) -> tuple[int, ...]:
    if layout.startswith("s"):
        return tuple(map(int, layout[1:].split(":")))
    rank = len(lengths)
    order = [0, *range(2, rank), 1] if layout.endswith("c") else range(rank)  # From the outermost dimension.
    strides, step = [0] * rank, 1
    for dim in reversed(order):
        strides[dim] = step
        step *= lengths[dim]
    return tuple(strides)


def _get_pads(text: str) -> list[tuple[int, int]]:
    ends = [list(map(int, pad.split(":"))) for pad in text.split("x")]
    return [(end[0], end[-1]) for end in ends]


def _count_windows(lengths, window, pads, strides, dilations) -> list[int]:
    return [max(1, (n + sum(pad) - d * (w - 1) - 1) // s + 1)
            for n, w, pad, s, d in zip(lengths, window, pads, strides, dilations)]


_CONV = re.compile(
    r"conv-(?P<direction>fwd|bwd|wrw)-(?P<type>\w+)(?:,(?P<result>\w+))?-(?P<layouts>[\w:,]+)"
    r"-n(?P<n>\d+)c(?P<c>\d+)(?P<image>[dhw\d]+)-k(?P<k>\d+)(?P<window>[zyx\d]+)-p(?P<pads>[\dx:]+)"
    r"-s(?P<strides>[\dx]+)-d(?P<dilations>[\dx]+)-g(?P<groups>\d+)(?:-e(?P<epilogue>[a-z+]+))?(?:-\w+)*")
_POOL = re.compile(
    r"pool-(?P<direction>fwd|bwd)-(?P<mode>\w+)-(?P<type>\w+)-(?P<layouts>[\w:,]+)-n(?P<n>\d+)c(?P<c>\d+)"
    r"(?P<image>[dhw\d]+)-(?P<window>[zyx\d]+)-p(?P<pads>[\dx:]+)-s(?P<strides>[\dx]+)"
    r"-i(?P<indices>none|u\d+)(?P<index_mode>\w*)(?:-\w+)*")
_ROW_WISE = re.compile(r"rowwise-\w+-m\d+-(?P<lengths>[\dx]+)-r[\d,]*(?P<tensors>(?:-[iro]:\w+(?::\d+)*)+)(?:-\w+)*")


# The numbered tensors of a normalisation's gradient (docs/spec/convolution.md).
_NORM_TENSORS = {"normgrad": range(5), "normgradrelu": range(7), "normgradmask": (*range(5), 7)}


def _numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", text)))


def _parse_conv(match: re.Match) -> list[Tensor]:
    n, c, k, groups = (int(match[name]) for name in ("n", "c", "k", "groups"))
    image, window = _numbers(match["image"]), _numbers(match["window"])
    out = _count_windows(image, window, _get_pads(match["pads"]), _numbers(match["strides"]),
                         _numbers(match["dilations"]))
    lengths = {"x": (n, c, *image), "w": (k, c // max(groups, 1), *window), "y": (n, k, *out)}
    written = {"fwd": "y", "bwd": "x", "wrw": "w"}[match["direction"]]
    types = {name: match["type"] for name in lengths}
    types[written] = match["result"] or match["type"]
    tensors = [Tensor(name, types[name], lengths[name], _get_strides(layout, lengths[name]), name == written)
               for name, layout in zip("xwy", match["layouts"].split(","))]
    result = next(tensor for tensor in tensors if tensor.is_output)
    terms = (match["epilogue"] or "").split("+")
    if "bias" in terms:
        tensors.append(Tensor("bias", result.type, (result.lengths[1],), (1,), False))
    if "residual" in terms:
        tensors.append(dataclasses.replace(result, name="residual", is_output=False))
    if "stats" in terms:
        tensors += [Tensor(name, "f32", (result.lengths[1],), (1,), True) for name in ("mean", "variance")]
    if norm := [term for term in terms if term in _NORM_TENSORS]:
        for number in _NORM_TENSORS[norm[0]]:
            tensors.append(dataclasses.replace(result, name=str(number), is_output=False) if number in (0, 7) else
                           Tensor(str(number), "f32", (result.lengths[1],), (1,), number in (3, 4)))
    return tensors


def _parse_pool(match: re.Match) -> list[Tensor]:
    n, c = int(match["n"]), int(match["c"])
    image = _numbers(match["image"])
    out = _count_windows(image, _numbers(match["window"]), _get_pads(match["pads"]), _numbers(match["strides"]),
                         [1] * len(image))
    lengths = {"x": (n, c, *image), "y": (n, c, *out)}
    written = "y" if match["direction"] == "fwd" else "x"
    layouts = match["layouts"].split(",")
    tensors = [Tensor(name, match["type"], lengths[name], _get_strides(layout, lengths[name]), name == written)
               for name, layout in zip("xy", layouts)]
    if match["indices"] != "none":
        layout = "chw" if layouts[1].startswith("s") else layouts[1]
        tensors.append(Tensor("indices", match["indices"], lengths["y"], _get_strides(layout, lengths["y"]),
                              written == "y"))
    return tensors


def _parse_row_wise(match: re.Match) -> list[Tensor]:
    lengths = tuple(_numbers(match["lengths"]))
    tensors = []
    for number, text in enumerate(match["tensors"].split("-")[1:]):
        role, kind, *strides = text.split(":")
        tensors.append(Tensor(str(number), kind, lengths, tuple(map(int, strides)), role != "i"))
    return tensors


class Problem:
    """What the library is asked to compute, by its network config.

    >>> problem = tessera.Problem("conv-fwd-f32-nchw,nchw,nchw-n1c8h9w9-k8y3x3-p1x1-s1x1-d1x1-g1")
    >>> problem.run(x, w, y)          # numpy arrays, or anything with device memory

    `tensors` has what the kernel reads and writes, by name. bf16 is two bytes of any type, uint16 for example.
    """

    def __init__(self, config: str):
        self.config = config
        self._info: Info | None = None
        for pattern, parse in ((_CONV, _parse_conv), (_POOL, _parse_pool), (_ROW_WISE, _parse_row_wise)):
            if match := pattern.fullmatch(config):
                self.tensors = {tensor.name: tensor for tensor in parse(match)}
                return
        raise _library.InvalidProblem(f"'{config}' is not a network config")

    def __repr__(self) -> str:
        return f"Problem({self.config!r})"

    def info(self) -> Info:
        """Compiles the kernel, unless it is known, and describes it."""
        if self._info is None:
            self._info = self._describe()
        return self._info

    def tune(self) -> Info:
        """Times the kernels that the cost model ranks first, on the device, and describes the fastest, which is used
        from now on. Once in a process; what was measured is kept in the user's database.
        """
        _library.tune(self.config)
        self._info = self._describe()
        return self._info

    def _describe(self) -> Info:
        info = _library.get_info(self.config)
        stages = {stage.name.decode(): stage.ms for stage in info.stages[:info.stage_count]}
        same = {field.name: getattr(info, field.name) for field in dataclasses.fields(Info)
                if field.name not in ("tile", "origin", "stages_ms")}
        return Info(tile=info.tile.decode(), origin="database" if info.origin else "compiled", stages_ms=stages, **same)

    def text(self, stage: str, target: str | None = None, tile: str | None = None) -> str:
        """The text of a stage of the compilation, one of STAGES, for the device's chip or `target`. By dnn-opt."""
        program = find_tool("dnn-opt")
        command = [program, "--problem", self.config, "--target", target or _library.get_hip().get_chip(),
                   "--stop-after", stage] + (["--tile", tile] if tile else [])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise _library.Error(done.stderr.strip() or f"dnn-opt left with {done.returncode}", done.returncode)
        return done.stdout

    def run(self, x: Any = None, w: Any = None, y: Any = None, *, bias: Any = None, residual: Any = None,
            indices: Any = None, mean: Any = None, variance: Any = None, tensors: Sequence[Any] = (), scalars: Sequence[float] = (), alpha: float = 1.0,
            beta: float = 0.0, activation: Sequence[float] = (), stream: int | None = None) -> None:
        """Runs the kernel. The direction of the problem says which array is written.

        Arrays of the host are copied to the device and back, and the call waits; with device memory alone it does not.
        `tensors` and `scalars` are those of a row-wise problem, in the order of its text. `activation` are the
        parameters a, b and c. `stream` is an address (`torch.cuda.Stream.cuda_stream`); None is the default one.
        """
        named = {"x": x, "w": w, "y": y, "bias": bias, "residual": residual, "indices": indices,
                 "mean": mean, "variance": variance}
        named |= {str(number): array for number, array in enumerate(tensors)}
        placed = {name: self._place(name, array) for name, array in named.items() if array is not None}
        if missing := self.tensors.keys() - placed.keys():
            raise _library.InvalidProblem(f"{self.config} needs {', '.join(sorted(missing))}")
        workspace = _library.DeviceMemory(self.info().workspace_bytes) if self.info().workspace_bytes else None
        arguments = _library.Arguments(
            alpha=alpha, beta=beta, workspace=workspace and workspace.address,
            workspace_bytes=workspace.size if workspace else 0,
            **{name: array.address for name, array in placed.items() if not name.isdigit()},
            **dict(zip(("activ_alpha", "activ_beta", "activ_gamma"), activation)))
        for name, array in placed.items():
            if name.isdigit():
                arguments.tensors[int(name)] = array.address
        arguments.scalars[:len(scalars)] = scalars
        handle = _library.get_handle()
        _library.check(_library.get_api().miopenSetStream(handle, stream))
        _library.check(_library.get_api().tesseraRunProblem(handle, self.config.encode(), ctypes.byref(arguments)))
        self._finish(placed, workspace)

    def _place(self, name: str, array: Any) -> Placed:
        if name not in self.tensors:
            raise _library.InvalidProblem(f"{self.config} has no tensor '{name}'")
        span, tensor = get_span(array), self.tensors[name]
        if 0 <= span.size < tensor.bytes:
            raise _library.InvalidProblem(
                f"'{name}' of {self.config} needs {tensor.bytes} bytes, but the array has {span.size}")
        if tensor.is_output and span.read_only:
            raise _library.InvalidProblem(f"'{name}' of {self.config} is written, but the array is read-only")
        return Placed(span)

    def _finish(self, placed: dict[str, Placed], workspace: _library.DeviceMemory | None) -> None:
        """Waits where memory of ours is in use, and brings results back."""
        if workspace or any(array.span.on_host for array in placed.values()):
            _library.get_hip().synchronize()
        for name, array in placed.items():
            if self.tensors[name].is_output:
                array.bring_back()


def find_tool(name: str) -> str:
    """The file of a tool of Tessera's: inside the package, else in the PATH."""
    inside = _library.FOLDER / "bin" / name
    if inside.exists():
        return str(inside)
    packed = inside.with_name(name + ".xz")
    if packed.exists():
        return str(_unpack(packed))
    if found := shutil.which(name):
        return found
    raise _library.Error(f"{name} is neither in the package nor in the PATH")


def _unpack(packed: pathlib.Path) -> pathlib.Path:
    """A tool that the wheel has in a smaller form, unpacked into the user's cache when it is first wanted."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    status = packed.stat()
    program = cache / "tessera" / "tools" / f"{status.st_size}-{status.st_mtime_ns}" / packed.stem
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=program.parent, delete=False) as file, lzma.open(packed) as source:
            shutil.copyfileobj(source, file)
        os.chmod(file.name, 0o755)
        os.replace(file.name, program)  # Appears when it is complete.
    return program
