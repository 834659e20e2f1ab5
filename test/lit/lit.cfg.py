# Configuration of the lit suite.
#
# A test is a file with RUN lines; it may call every tool of the build and of
# LLVM by its bare name. A test run has caches of its own in the build directory,
# so that it neither sees nor changes the user's.

import os
import shutil
import sys

import lit.formats

# Kernels are not stored in a directory that others may write.
os.umask(0o022)

config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".cpp"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tessera_binary_root, "test", "lit")

config.environment["PATH"] = os.pathsep.join([
    os.path.join(config.tessera_binary_root, "bin"),
    config.llvm_tools_dir,
    config.environment["PATH"],
])
config.environment["XDG_CACHE_HOME"] = os.path.join(
    config.test_exec_root, "cache")
for name in ("TESSERA_DEVICE", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# %S is the directory of the test; %clang compiles clients of the C API.
config.substitutions.append(("%tessera_source", config.tessera_source_root))
config.substitutions.append(("%tessera_lib",
                             os.path.join(config.tessera_binary_root, "lib")))
config.substitutions.append(("%clang", config.clang))
config.substitutions.append(("%llvm_include",
                             os.path.join(config.llvm_tools_dir, "..", "include")))

# A sanitizer needs more address space than a limit on it would leave.
if "-fsanitize=address" in config.cxx_flags:
    config.available_features.add("asan")

# For REQUIRES: onnx. `%make_onnx_models FOLDER` makes models in a directory.
if config.onnx_python:
    config.available_features.add("onnx")
    config.substitutions.append(("%make_onnx_models", " ".join([
        config.onnx_python,
        os.path.join(config.tessera_source_root, "tools", "dev",
                     "make_onnx_models.py")])))

# For REQUIRES: numpy. `%run_ptx CONFIG` runs a convolution's PTX without a GPU,
# `%run_ptx_steps CONFIG` that of a recurrent network's steps.
if config.numpy_python:
    config.available_features.add("numpy")
    for name in ("run_ptx_steps", "run_ptx"):
        config.substitutions.append((f"%{name}", " ".join([
            config.numpy_python,
            os.path.join(config.tessera_source_root, "tools", "dev",
                         f"{name}.py"),
            "--dnn-opt", "dnn-opt"])))

config.substitutions.append(("%python", sys.executable))

# For REQUIRES: mpirun. Open MPI's launcher starts programs that share work by its
# ranks. Tests need many ranks, also on a small machine.
if shutil.which("mpirun"):
    config.available_features.add("mpirun")
    config.substitutions.append(
        ("%mpirun", "mpirun --allow-run-as-root --oversubscribe"))

# For REQUIRES: gpu. TESSERA_DEVICE says that the machine has one.
if os.environ.get("TESSERA_DEVICE", "").startswith(("amd", "nvidia")):
    config.available_features.add("gpu")
