#!/usr/bin/env python3
"""Checks that no layer includes what it must not know.

The rules are those of docs/guides/architecture.md: the runtime never sees the
compiler, the dialect sees neither, only Gpu/ sees HIP and only Db/ sees
SQLite. An include from the repository root names its layer in its first
component, so the text of the #include lines is enough. Exits 1 with one line
for each fault.
"""

import pathlib
import re
import sys
import tempfile

import tree_check

LAYERS = ("dialect", "compiler", "runtime", "capi")
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".def", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

HIP = r"hip/"
SQLITE = r"sqlite3"
LLVM = r"(?:mlir|llvm|llvm-c|mlir-c|lld|clang)/"

# (files, forbidden includes, reason). A file must satisfy every rule whose
# first pattern matches its path; patterns match from the beginning.
RULES = [
    (r"", r"(?:tools|test)/", "the product does not need its tools and tests"),
    (r"dialect/", rf"compiler/|runtime/|capi/|{HIP}|{SQLITE}",
     "the dialect knows nothing but MLIR"),
    (r"dialect/Reference/", rf"{LLVM}|dialect/(?!Reference/)",
     "the oracle shares no code with what it judges"),
    (r"compiler/", r"runtime/(?!Base/|DriverCommand/|Engine/KernelCompiler\.h)",
     "the compiler knows the runtime's plain data and one interface"),
    (r"compiler/", rf"capi/|{HIP}|{SQLITE}",
     "the compiler knows neither API nor device nor database"),
    (r"compiler/(?!Driver/)", r"compiler/Driver/",
     "the driver is built on the rest of the compiler"),
    (r"compiler/Target/", r"compiler/(?!Target/)",
     "the target knows LLVM and no step before it"),
    (r"compiler/Frontend/", r"compiler/(?!Frontend/)",
     "the frontend knows problems and the dialect"),
    (r"compiler/Algorithms/", r"compiler/(?!Algorithms/|Frontend/|Target/)",
     "an algorithm writes a program and lowers none"),
    (r"compiler/Conversion/", r"compiler/(?!Conversion/|Target/)",
     "a lowering reads the program and asks no algorithm"),
    (r"compiler/Transforms/", r"compiler/(?!Algorithms/|Transforms/)",
     "a transform asks algorithms and lowers nothing"),
    (r"compiler/Algorithms/Common/", r"compiler/Algorithms/(?!Common/)",
     "what algorithms share knows none of them"),
    (r"compiler/Algorithms/(?:ImplicitGemm|Tma)/",
     r"compiler/Algorithms/(?!(?:Common|ImplicitGemm|Tma)/|\w+\.h)",
     "implicit GEMM and its TMA tiles know no other algorithm"),
    (r"compiler/Algorithms/(?:Depthwise|General|Pooling|RowWise|Toeplitz)/",
     r"compiler/Algorithms/(?:ImplicitGemm|NarrowGroups|Packed|Stem|Tma)/",
     "only algorithms of matrix products build on implicit GEMM"),
    (r"compiler/Conversion/Common/", r"compiler/Conversion/(?!Common/)",
     "what all lowerings share knows none of them"),
    (r"compiler/Conversion/(?:Cooperative|Nvidia)/",
     r"compiler/Conversion/(?!Common/|Cooperative/|Nvidia/)",
     "one generation's lowering is built on it"),
    (r"compiler/Conversion/Hopper/",
     r"compiler/Conversion/(?!Common/|Cooperative/|Nvidia/|Hopper/)",
     "Hopper's lowering knows no sibling and no pass"),
    (r"compiler/Conversion/Ampere/",
     r"compiler/Conversion/(?!Common/|Cooperative/|Nvidia/|Ampere/)",
     "Ampere's lowering knows no sibling and no pass"),
    (r"runtime/(?!Emulator/)", LLVM, "the runtime is built without LLVM"),
    (r"runtime/", r"dialect/(?!Reference/)|compiler/|capi/",
     "the runtime never sees the compiler"),
    (r"runtime/(?!Reference/|Tuning/)", r"dialect/Reference/|runtime/Reference/",
     "only tuning needs a judge"),
    (r"runtime/Reference/", r"runtime/(?!Base/|Gpu/|Reference/)",
     "the judge knows the device and nothing that it judges"),
    (r"runtime/(?!Gpu/|Hip/|Emulator/|HipOnCuda/)", HIP,
     "only the layers around the device see HIP"),
    (r"runtime/(?!Db/.*\.cpp$)", SQLITE, "only sources of Db/ see SQLite"),
    (r"runtime/Base/", r"runtime/(?!Base/)", "Base is the lowest layer"),
    (r"runtime/DriverCommand/", r"runtime/(?!Base/|DriverCommand/)",
     "MIOpenDriver's command lines are plain data"),
    (r"runtime/(?!DriverCommand/)", r"runtime/DriverCommand/",
     "the runtime takes problems and no command lines"),
    (r"runtime/Gpu/", r"runtime/(?!Base/|Gpu/)", "Gpu knows only Base"),
    (r"runtime/Db/", r"runtime/(?!Base/|Db/)", "Db knows only Base"),
    (r"runtime/Tuning/", r"runtime/(?:Hip|Emulator|HipOnCuda)/",
     "tuning sees devices through the HIP table only"),
    (r"runtime/(?!Tuning/)", r"runtime/Tuning/",
     "tuning lies above the engine"),
    (r"runtime/Worker/", r"runtime/(?!Base/|Worker/|Engine/KernelCompiler\.h)",
     "the worker knows the runtime's plain data and one interface"),
    (r"runtime/Hip/", r"runtime/(?!Base/|Hip/)",
     "what HIP devices share knows none of them"),
    (r"runtime/Engine/", r"runtime/(?:Hip|Emulator|HipOnCuda)/",
     "the engine sees devices through the HIP table only"),
    (r"runtime/(?:Emulator|HipOnCuda)/", r"runtime/(?:Db|Tuning|Engine)/",
     "a HIP device is a shared object of its own"),
    (r"capi/", rf"compiler/(?!Driver/)|dialect/|{LLVM}|{SQLITE}",
     "the C API sees the compiler through Driver/ only"),
    (r"capi/torch/", r"compiler/|runtime/|capi/(?!torch/)|torch/|ATen/|c10/",
     "PyTorch's extension knows public headers, and no header of PyTorch"),
    (r"capi/jax/", r"compiler/|runtime/|capi/(?!jax/)|xla/",
     "XLA's handler knows public headers, and no header of XLA"),
    (r"capi/hipdnn/", r"compiler/|runtime/(?!Base/)|capi/(?!hipdnn/)|hipdnn_|"
     r"flatbuffers/",
     "hipDNN's plugin knows plain data and public headers, and no header of "
     "hipDNN"),
    (r"capi/onnxruntime/", r"compiler/|runtime/(?!Base/|Gpu/)|"
     r"capi/(?!hipdnn/|onnxruntime/)|onnx",
     "ONNX Runtime's provider knows plain data, the device and hipDNN's "
     "planner, and no header of ONNX Runtime"),
    (r"capi/include/", r"compiler/|runtime/|capi/|hip/(?!hip_runtime_api\.h$)",
     "public headers need nothing of ours and one header of HIP"),
    # C++ headers have no suffix: <string>, <vector>.
    (r"capi/include/", r"[a-z_]+$", "public headers are C"),
]


def check_include(path, name):
    """The reasons why `path` must not include `name`."""
    return [reason for files, forbidden, reason in RULES
            if re.match(files, path) and re.match(forbidden, name)]


def check(root):
    """Returns (number of files, list of faults)."""
    count, faults = 0, []
    for layer in LAYERS:
        for file in sorted((root / layer).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            count += 1
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(
                    file.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                for reason in check_include(path, match[2]):
                    faults.append(f"{path}:{number}: includes {match[2]}, "
                                  f"but {reason}")
    return count, faults


# What each rule must find, and what it must accept.
FORBIDDEN = [
    ("dialect/IR/A.cpp", "runtime/Base/Status.h"),
    ("dialect/IR/A.cpp", "hip/hip_runtime_api.h"),
    ("dialect/Reference/A.cpp", "llvm/ADT/APFloat.h"),
    ("dialect/Reference/A.cpp", "dialect/IR/Dnn.h"),
    ("compiler/Driver/A.cpp", "runtime/Engine/Engine.h"),
    ("compiler/Target/A.cpp", "runtime/Gpu/GpuApi.h"),
    ("compiler/Target/A.cpp", "sqlite3.h"),
    ("compiler/Pipeline/A.cpp", "compiler/Driver/JitCompiler.h"),
    ("compiler/Target/A.cpp", "compiler/Conversion/Passes.h"),
    ("compiler/Frontend/A.cpp", "compiler/Algorithms/Algorithm.h"),
    ("compiler/Algorithms/Pooling/A.cpp", "compiler/Conversion/Passes.h"),
    ("compiler/Conversion/A.cpp", "compiler/Algorithms/Registry.h"),
    ("compiler/Transforms/A.cpp", "compiler/Conversion/Passes.h"),
    ("compiler/Algorithms/Common/A.h", "compiler/Algorithms/Algorithm.h"),
    ("compiler/Algorithms/Tma/A.cpp", "compiler/Algorithms/Packed/Packed.h"),
    ("compiler/Algorithms/RowWise/A.cpp", "compiler/Algorithms/Tma/TmaModel.h"),
    ("compiler/Conversion/Common/A.h",
     "compiler/Conversion/Cooperative/TileProgram.h"),
    ("compiler/Conversion/Nvidia/A.h", "compiler/Conversion/Hopper/Wgmma.h"),
    ("compiler/Conversion/Hopper/A.h", "compiler/Conversion/Ampere/ImageTile.h"),
    ("compiler/Conversion/Ampere/A.h", "compiler/Conversion/Hopper/Wgmma.h"),
    ("runtime/Engine/A.cpp", "llvm/ADT/StringRef.h"),
    ("runtime/Engine/A.cpp", "compiler/Driver/JitCompiler.h"),
    ("runtime/Engine/A.h", "hip/hip_runtime_api.h"),
    ("runtime/Engine/A.cpp", "sqlite3.h"),
    ("runtime/Engine/A.cpp", "runtime/Emulator/Wave.h"),
    ("runtime/Db/A.h", "sqlite3.h"),
    ("runtime/Db/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Gpu/A.cpp", "runtime/Db/KernelCache.h"),
    ("runtime/Reference/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Engine/A.cpp", "dialect/Reference/Tensor.h"),
    ("runtime/Tuning/A.cpp", "dialect/IR/Dnn.h"),
    ("runtime/Base/A.cpp", "runtime/Gpu/GpuApi.h"),
    ("runtime/DriverCommand/A.cpp", "runtime/Db/KernelStore.h"),
    ("runtime/Base/A.cpp", "runtime/DriverCommand/DriverCommand.h"),
    ("runtime/Tuning/A.cpp", "runtime/Emulator/Wave.h"),
    ("runtime/Engine/A.cpp", "runtime/Tuning/Tuner.h"),
    ("runtime/Worker/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Emulator/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Hip/A.cpp", "runtime/Emulator/Chip.h"),
    ("capi/lib/A.cpp", "compiler/Pipeline/Pipeline.h"),
    ("capi/torch/A.cpp", "runtime/Base/Status.h"),
    ("capi/torch/A.cpp", "torch/csrc/stable/c/shim.h"),
    ("capi/jax/A.cpp", "capi/torch/Call.h"),
    ("capi/jax/A.cpp", "xla/ffi/api/ffi.h"),
    ("capi/hipdnn/A.cpp", "runtime/Engine/Engine.h"),
    ("capi/hipdnn/A.cpp", "flatbuffers/flatbuffers.h"),
    ("capi/onnxruntime/A.cpp", "onnxruntime_c_api.h"),
    ("capi/onnxruntime/A.cpp", "runtime/Engine/Engine.h"),
    ("capi/include/miopen/a.h", "runtime/Base/Status.h"),
    ("capi/include/miopen/a.h", "hip/hip_fp16.h"),
    ("capi/include/miopen/a.h", "string"),
    ("runtime/Base/A.cpp", "test/unit/Support/A.h"),
    ("compiler/Driver/A.cpp", "tools/dnn-opt/A.h"),
]
ALLOWED = [
    ("dialect/IR/A.cpp", "mlir/IR/Builders.h"),
    ("dialect/Reference/A.cpp", "dialect/Reference/Tensor.h"),
    ("compiler/Frontend/A.cpp", "runtime/Base/Problem.h"),
    ("compiler/Frontend/A.cpp", "dialect/Reference/ConvReference.h"),
    ("compiler/Driver/A.h", "runtime/Engine/KernelCompiler.h"),
    ("compiler/Algorithms/Tma/A.cpp", "compiler/Algorithms/ImplicitGemm/GemmTile.h"),
    ("compiler/Algorithms/Tma/A.cpp", "compiler/Algorithms/Registry.h"),
    ("compiler/Conversion/Hopper/A.cpp", "compiler/Conversion/Nvidia/WarpMatrix.h"),
    ("compiler/Conversion/A.cpp", "compiler/Conversion/Ampere/ImageTile.h"),
    ("compiler/Pipeline/A.cpp", "runtime/DriverCommand/DriverCommand.h"),
    ("runtime/DriverCommand/A.cpp", "runtime/Base/Problem.h"),
    ("runtime/Emulator/A.cpp", "llvm/MC/MCInst.h"),
    ("runtime/Emulator/A.cpp", "hip/hip_runtime_api.h"),
    ("runtime/Gpu/A.h", "hip/hip_runtime_api.h"),
    ("runtime/Reference/A.cpp", "runtime/Gpu/GpuApi.h"),
    ("runtime/Reference/A.cpp", "dialect/Reference/Tensor.h"),
    ("runtime/Tuning/A.cpp", "dialect/Reference/Tensor.h"),
    ("runtime/Tuning/A.cpp", "runtime/Reference/ConvCase.h"),
    ("runtime/Tuning/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Db/A.cpp", "sqlite3.h"),
    ("runtime/Engine/A.cpp", "runtime/Db/KernelCache.h"),
    ("runtime/Tuning/A.cpp", "runtime/Engine/Engine.h"),
    ("runtime/Worker/A.cpp", "runtime/Engine/KernelCompiler.h"),
    ("capi/lib/A.cpp", "compiler/Driver/JitCompiler.h"),
    ("capi/lib/A.cpp", "runtime/Engine/Engine.h"),
    ("capi/lib/A.cpp", "string"),
    ("capi/torch/A.cpp", "capi/torch/Call.h"),
    ("capi/torch/A.cpp", "tessera/problem.h"),
    ("capi/jax/A.cpp", "capi/jax/XlaFfi.h"),
    ("capi/hipdnn/A.cpp", "runtime/Base/Problem.h"),
    ("capi/onnxruntime/A.cpp", "capi/hipdnn/Plan.h"),
    ("capi/include/miopen/a.h", "hip/hip_runtime_api.h"),
    ("capi/include/miopen/a.h", "stddef.h"),
    ("capi/include/miopen/a.h", "miopen/version.h"),
]


def self_test():
    """Each forbidden include is found in a real file, each allowed one passes.
    """
    for path, name in FORBIDDEN + ALLOWED:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(f'// A file.\n#  include "{name}"\n')
            count, faults = check(pathlib.Path(folder))
        assert count == 1
        forbidden = (path, name) in FORBIDDEN
        assert bool(faults) == forbidden, (path, name, faults)
        assert not forbidden or faults[0].startswith(f"{path}:2: includes {name}")
    for files, _, reason in RULES:
        assert any(reason in check_include(path, name)
                   for path, name in FORBIDDEN), f"no case for: {reason}"


if __name__ == "__main__":
    sys.exit(tree_check.main(check, self_test, "files"))
