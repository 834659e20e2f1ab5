#!/usr/bin/env python3
"""Builds the wheel: capi/python/build.py [--out dist] [--jobs N] [--build FOLDER]

Inside are the package, the library with its compiler, the HIP runtimes and the tools, of the preset gpu-host, which
needs nothing of the other machine but glibc: its version is the wheel's manylinux tag. The wheel is a zip archive that
is written here, so that neither a build back end nor the network is needed. Fails beyond 60 MiB.
"""

import argparse
import base64
import hashlib
import lzma
import os
import pathlib
import re
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPU_HOST = ROOT / "build/gpu-host"
LIBRARIES = ("libMIOpen.so.1", "libtessera-compiler.so", "libtessera-hip-on-cuda.so", "libtessera-emulator.so",
             "libtessera-jax.so", "libtessera-torch.so", "tessera-compile-worker")
TOOLS = ("dnn-driver", "dnn-emu", "dnn-fit", "dnn-opt", "dnn-tune")
# Second copies of LLVM, which deflate would leave too large; tessera.find_tool() unpacks them, into a folder of the
# user's, so they must need no library of the wheel.
PACKED_TOOLS = ("dnn-emu", "dnn-fit", "dnn-opt", "dnn-tune")
PACKING = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6}]
LIMIT_MIB = 60

# What the machine has: glibc, and what is in the wheel itself.
ALLOWED = re.compile(r"lib(?:c|m|dl|pthread|rt|MIOpen|tessera-.*)\.so|ld-linux")
# What PyTorch has brought where this one is loaded.
ALLOWED_WITH_TORCH = re.compile(ALLOWED.pattern + r"|libstdc\+\+\.so\.6|libgcc_s\.so\.1")


def run(*command):
    """Runs a command in the tree and returns its output."""
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build_programs(jobs):
    """Builds libraries and tools. The reader of ONNX models is not among them: it needs Debian's libraries."""
    if not (GPU_HOST / "build.ninja").exists():
        run("cmake", "--preset", "gpu-host")
    subprocess.run(["ninja", "-C", str(GPU_HOST), f"-j{jobs}", "tessera", "tessera-hip-on-cuda", "tessera-emulator",
                    "tessera-jax", "tessera-torch", *TOOLS], cwd=ROOT, check=True)


def find_glibc(files):
    """The newest version of glibc that the files ask for. Exits if one needs another library."""
    newest = (2, 17)
    for file in files:
        text = run("objdump", "-p", str(file))
        allowed = ALLOWED_WITH_TORCH if file.name == "libtessera-torch.so" else ALLOWED
        for name in re.findall(r"NEEDED\s+(\S+)", text):
            if not allowed.match(name):
                sys.exit(f"build.py: error: {file} needs {name}, which another machine may not have")
        versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)
        newest = max([newest, *((int(major), int(minor)) for major, minor in versions)])
    return newest


class Wheel:
    """A wheel that is being written: a zip archive with the hash of each file in its RECORD."""

    def __init__(self, folder, version, tag, compress):
        self.name, self.info = f"tessera-{version}-{tag}.whl", f"tessera-{version}.dist-info"
        self.path, self.records = folder / self.name, []
        self.compress = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        self.archive = zipfile.ZipFile(self.path, "w")

    def add(self, name, data, executable=False):
        """Adds a file. Times are fixed, so that a build can be repeated."""
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(".xz") else self.compress
        self.archive.writestr(entry, data, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        """Writes RECORD, which comes last."""
        name = f"{self.info}/RECORD"
        self.archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), "\n".join([*self.records, f"{name},,", ""]))
        self.archive.close()


def write_metadata(wheel, version, tag):
    """What pip reads."""
    wheel.add(f"{wheel.info}/METADATA", "\n".join([
        "Metadata-Version: 2.1", "Name: tessera", f"Version: {version}",
        "Summary: GPU kernels compiled for exactly the problem that is asked for, behind MIOpen's API and PyTorch's",
        "License: MIT", "Requires-Python: >=3.10", "Requires-Dist: numpy; extra == 'numpy'", "Provides-Extra: numpy",
        "Description-Content-Type: text/markdown", "", (ROOT / "docs/guides/python.md").read_text()]).encode())
    wheel.add(f"{wheel.info}/WHEEL", "\n".join([
        "Wheel-Version: 1.0", "Generator: capi/python/build.py", "Root-Is-Purelib: false", f"Tag: {tag}", ""]).encode())
    wheel.add(f"{wheel.info}/entry_points.txt", "\n".join(
        ["[console_scripts]", *(f"{tool} = tessera._tools:main" for tool in TOOLS), "",
         "[torch_dynamo_backends]", "tessera = tessera._backend:backend", ""]).encode())
    wheel.add(f"{wheel.info}/LICENSE", (ROOT / "LICENSE").read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", type=pathlib.Path)
    options = parser.parse_args()
    build, is_portable = options.build or GPU_HOST, not options.build
    if is_portable:
        build_programs(options.jobs)
    libraries = [build / "lib" / name for name in LIBRARIES]
    tag = "py3-none-linux_x86_64"
    if is_portable:
        major, minor = find_glibc([*libraries, *(build / "bin" / tool for tool in TOOLS)])
        tag = f"py3-none-manylinux_{major}_{minor}_x86_64"
    package = pathlib.Path(__file__).resolve().parent / "tessera"
    version = re.search(r'__version__ = "(.+)"', (package / "__init__.py").read_text())[1]
    options.out.mkdir(parents=True, exist_ok=True)
    wheel = Wheel(options.out, version, tag, compress=is_portable)
    for file in sorted(package.glob("*.py")) + [package / "py.typed"]:
        wheel.add(f"tessera/{file.name}", file.read_bytes())
    for file in libraries:
        wheel.add(f"tessera/lib/{file.name}", file.read_bytes(), executable=True)
    for tool in TOOLS:
        data = (build / "bin" / tool).read_bytes()
        if is_portable and tool in PACKED_TOOLS:
            wheel.add(f"tessera/bin/{tool}.xz", lzma.compress(data, filters=PACKING))
        else:
            wheel.add(f"tessera/bin/{tool}", data, executable=True)
    write_metadata(wheel, version, tag)
    wheel.close()
    size = wheel.path.stat().st_size / 2**20
    print(f"{wheel.path}: {size:.1f} MiB")
    return 0 if size <= LIMIT_MIB or not is_portable else 1


if __name__ == "__main__":
    sys.exit(main())
