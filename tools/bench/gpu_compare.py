#!/usr/bin/env python3
"""Times convolutions of this library on an NVIDIA GPU beside cuDNN's.

  gpu_compare.py [--library lib/libtessera.so.0] [--list FILE] [--batch N]
                 [--directions fwd,bwd,wrw] [--type bf16|f16|tf32|f32]
                 [--layout nhwc|nchw] [--out FOLDER]

Everything runs in one process: our kernels through the C API
(tesseraRunProblem), cuDNN's through PyTorch with cudnn.benchmark on. Each line
of FILE has a name and the network config of a forward convolution, and how
often a network has it, if that is not once. The type, the layout, the
directions and, with --batch, the batch are replaced. For each problem:

1. Our result is compared with cuDNN's f32 result on the same data, five times
   over poisoned memory; all five must have the same bits. A tf32 result must be
   right to 6e-4 of the norm, which operands that are rounded pass and operands
   that are truncated do not. Of f32 the errors of both against f64 are told.
2. Both are timed alternately, as one CUDA graph each: medians of events, after
   a write of 256 MiB that leaves nothing in L2.

The floor of a problem is the larger of its operations over the rate of an
8192^3 GEMM and its bytes over the rate of a 1 GiB copy, both measured in the
same run. FOLDER gets compare.tsv and compare.svg. Exits 1 if a result is wrong
or a problem does not run.
"""

import argparse
import concurrent.futures
import ctypes
import math
import os
import pathlib
import re
import sys

import c_api
import gpu_device

DIRECTIONS = ("fwd", "bwd", "wrw")

# ------------------------------------------------------------------ the C API


class Arguments(ctypes.Structure):
    """tesseraProblemArguments of include/tessera/problem.h."""
    _fields_ = [("size", ctypes.c_uint32), ("flags", ctypes.c_uint32)] + [
        (name, ctypes.c_void_p)
        for name in "x w y bias residual indices workspace".split()] + [
        ("workspace_bytes", ctypes.c_size_t)] + [
        (name, ctypes.c_double)
        for name in "alpha beta activ_alpha activ_beta activ_gamma".split()]


class StageTime(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 32), ("ms", ctypes.c_double)]


class KernelInfo(ctypes.Structure):
    """tesseraKernelInfo of include/tessera/tessera.h."""
    _fields_ = [("size", ctypes.c_uint32), ("origin", ctypes.c_int),
                ("code_bytes", ctypes.c_uint64),
                ("workspace_bytes", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32)
        for name in ("vgprs agprs sgprs vgpr_spills sgpr_spills lds_bytes "
                     "scratch_bytes stage_count").split()] + [
        ("tile", ctypes.c_char * 128), ("stages", StageTime * 16)]


class Library(c_api.Library):
    """Runs problems by their network configs."""

    def get_info(self, config):
        """Compiles the kernel, unless that has been done."""
        info = KernelInfo(size=ctypes.sizeof(KernelInfo))
        self.call("tesseraGetProblemKernelInfo", self.handle, config.encode(),
                  ctypes.byref(info))
        return info

    def run(self, config, tensors, workspace):
        arguments = Arguments(
            size=ctypes.sizeof(Arguments), alpha=1,
            workspace=workspace.data_ptr() if workspace is not None else None,
            workspace_bytes=workspace.numel() if workspace is not None else 0,
            **{name: tensor.data_ptr() for name, tensor in tensors.items()})
        self.call("tesseraRunProblem", self.handle, config.encode(),
                  ctypes.byref(arguments))


def compile_all(path, configs, threads):
    """Compiles every kernel, several at once. Returns the failures."""
    faults = {}

    def compile_some(part):
        library = Library(path)
        for config in part:
            try:
                library.get_info(config)
            except RuntimeError as error:
                faults[config] = str(error)

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(compile_some, [configs[i::threads]
                                     for i in range(threads)]))
    return faults


# ------------------------------------------------------------------- problems


def read_list(options):
    """(name, direction, config, count) of every problem to be timed."""
    problems = []
    for line in open(options.list):
        if not line.strip() or line.startswith("#"):
            continue
        name, config, *count = line.split()
        if options.batch:
            config = re.sub(r"-n\d+c", f"-n{options.batch}c", config)
        for direction in options.directions.split(","):
            layout = options.layout
            if re.search(r"-n\d+c\d+d", config):
                layout = layout.replace("hw", "dhw")
            layouts = ",".join(3 * [layout])
            text = re.sub(r"^conv-\w+-\w+-[\w,]+-",
                          f"conv-{direction}-{options.type}-{layouts}-", config)
            problems.append((name, direction, text, int(*count or [1])))
    return problems


def compare(gpu, library, config, repeats):
    """Our microseconds, cuDNN's, the tile, the convolution. cuDNN's f32
    algorithm may be a Fourier transform that is off by 3e-3 (5x5 filters), so
    its f64 result judges a failure."""
    torch = gpu.torch
    conv = gpu_device.Conv(torch, config)
    wanted = conv.compute(torch.float32)
    most = gpu_device.get_most_error(conv)

    def get_error(result):
        error = gpu_device.get_norm_error(result, wanted)
        return error if error < most else gpu_device.get_norm_error(
            result, conv.compute(torch.float64))
    info = library.get_info(config)
    workspace = torch.empty(info.workspace_bytes, dtype=torch.uint8,
                            device="cuda") if info.workspace_bytes else None

    def run():
        library.set_stream(torch)
        library.run(config, conv.tensors, workspace)
    if fault := gpu_device.find_fault(torch, run, conv.result, get_error, most,
                                      workspace):
        raise RuntimeError(f"{fault} with {info.tile.decode()}")
    ours, peer = gpu.time([run, conv.compute], repeats)
    return ours, peer, info.tile.decode(), conv, measure_errors(conv, wanted)


def measure_errors(conv, wanted):
    """The errors of our f32 result and of cuDNN's against f64, as fractions of
    the norm; of other types nothing. Ours is what the last run has left."""
    if not conv.is_f32:
        return ""
    exact = conv.compute(conv.torch.float64)
    return ", ".join(f"{gpu_device.get_norm_error(result, exact):.1e}"
                     for result in (conv.result, wanted))


# -------------------------------------------------------------------- reports


def get_geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def write_chart(rows, title, path):
    """A bar for each problem: our speed over cuDNN's, cut at 3."""
    width, left, step, unit = 900, 190, 15, 220
    height = 70 + step * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             f'<text x="8" y="18" font-size="14">{title}</text>']
    for tick in (0.5, 1, 1.5, 2, 2.5, 3):
        x = left + tick * unit
        color = "#333" if tick == 1 else "#ccc"
        parts.append(f'<line x1="{x}" y1="34" x2="{x}" y2="{height - 20}" '
                     f'stroke="{color}"/><text x="{x - 8}" y="{height - 6}">'
                     f'{tick}</text>')
    for i, row in enumerate(rows):
        y, ratio = 40 + i * step, row["ratio"]
        color = "#3a7" if ratio >= 1 else "#c73" if ratio >= 0.8 else "#b22"
        parts.append(
            f'<text x="8" y="{y + 10}">{row["name"]} {row["direction"]}</text>'
            f'<rect x="{left}" y="{y}" width="{min(ratio, 3) * unit:.1f}" '
            f'height="{step - 3}" fill="{color}"/><text x="'
            f'{left + min(ratio, 2.8) * unit + 4:.1f}" y="{y + 10}">'
            f'{ratio:.2f}</text>')
    path.write_text("\n".join(parts) + "\n</svg>\n")


class Report:
    """The table, to which each problem is added at once, and the chart."""

    COLUMNS = ("name direction ours_us cudnn_us ratio floor_us share tile "
               "errors").split()

    def __init__(self, title, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.title, self.folder, self.rows = title, folder, []
        self.table = open(folder / "compare.tsv", "w")
        self.add_line([f"# {title}\n" + self.COLUMNS[0], *self.COLUMNS[1:]])

    def add_line(self, fields):
        print("\t".join(fields), file=self.table, flush=True)

    def add(self, row):
        self.rows.append(row)
        self.add_line([f"{row[c]:.3f}" if isinstance(row[c], float) else row[c]
                       for c in self.COLUMNS])
        write_chart(self.rows, self.title, self.folder / "compare.svg")


def summarise(rows):
    for direction in dict.fromkeys(row["direction"] for row in rows):
        ratios = [r["ratio"] for r in rows if r["direction"] == direction]
        print(f"{direction}: {len(ratios)} problems, geometric mean "
              f"{get_geomean(ratios):.3f} of cuDNN's speed, worst "
              f"{min(ratios):.2f}, best {max(ratios):.2f}")
        if any(row["count"] > 1 for row in rows):
            total = lambda column: sum(row[column] * row["count"] for row in rows
                                       if row["direction"] == direction)
            print(f"{direction}: all convolutions of the network "
                  f"{total('ours_us'):.0f} us, cuDNN {total('cudnn_us'):.0f} us, "
                  f"floor {total('floor_us'):.0f} us")
    print(f"all: {len(rows)} problems, geometric mean "
          f"{get_geomean([row['ratio'] for row in rows]):.3f}")


def compare_all(gpu, problems, options, limits, report):
    """Adds each problem to the report as soon as it is measured. Returns the
    failures.
    """
    rate, bandwidth = limits
    faults = compile_all(options.library, [p[2] for p in problems],
                         options.threads)
    library = Library(options.library)
    for done, (name, direction, config, count) in enumerate(problems):
        prefix = f"[{done + 1}/{len(problems)}] {name} {direction}"
        try:
            if config in faults:
                raise RuntimeError(faults[config])
            ours, peer, tile, conv, errors = compare(
                gpu, library, config, options.repeats)
        except RuntimeError as error:
            faults[config] = str(error)
            print(f"{prefix} FAILED {config}: {error}", flush=True)
            continue
        floor = max(conv.operations / rate, conv.bytes / bandwidth)
        report.add({"name": name, "direction": direction, "ours_us": ours,
                    "cudnn_us": peer, "ratio": peer / ours, "floor_us": floor,
                    "share": floor / ours, "tile": tile, "count": count,
                    "errors": errors})
        print(f"{prefix} {ours:.1f} us, cuDNN {peer:.1f}, ratio "
              f"{peer / ours:.2f}, {floor / ours:.2f} of the floor, {tile} {errors}",
              flush=True)
    return faults


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--library", default="build/dev/lib/libtessera.so.0")
    parser.add_argument("--list", default=here / "conv-h100.txt")
    parser.add_argument("--directions", default=",".join(DIRECTIONS))
    parser.add_argument("--type", default="bf16",
                        choices=["bf16", "f16", "tf32", "f32"])
    parser.add_argument("--layout", choices=["nhwc", "nchw"], default="nhwc")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=min(12, os.cpu_count()))
    parser.add_argument("--out", type=pathlib.Path, default="compare")
    return parser.parse_args()


def main():
    options = read_options()
    os.environ.setdefault("TESSERA_DEVICE", "nvidia")
    gpu = gpu_device.Gpu()
    gpu.torch.cuda.init()
    limits = rate, bandwidth = gpu.measure_limits("32" in options.type)
    torch = gpu.torch
    title = (f"{torch.cuda.get_device_name()}, {options.type} {options.layout.upper()}, cuDNN "
             f"{torch.backends.cudnn.version()}, GEMM {rate / 1e6:.0f} TFLOP/s, "
             f"copy {bandwidth / 1e6:.2f} TB/s")
    print(title, flush=True)
    report = Report(title, options.out)
    faults = compare_all(gpu, read_list(options), options, limits, report)
    if report.rows:
        summarise(report.rows)
    if faults:
        print(f"{len(faults)} problems failed")
    return 1 if faults or not report.rows else 0


if __name__ == "__main__":
    sys.exit(main())
