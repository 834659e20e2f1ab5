#!/usr/bin/env python3
"""Times each wgmma tile on an NVIDIA GPU, beside cuDNN.

  gpu_tiles.py pack FOLDER [--direction fwd|bwd|wrw] [--type bf16|tf32|f64]
               [--dnn-opt PATH] [--list FILE] [--only REGEX] [--best N]
               [--tiles TILE,...] [--target CHIP] [--ptxas PATH] [--jobs N]
      on the build machine: compiles every tile of every problem, or the N that
      the model ranks best, or those that are named ("m128n256k32-w2x4-d4-mma16",
      or with another algorithm in front), to PTX, or by ptxas to machine code.
      Backward weights always have the best. An older chip, whose kernels run on
      a newer one, too, has the tiles that the model ranks best: those of sm_80
      are all of mma.sync
  gpu_tiles.py run FOLDER [--only REGEX] [--repeats N]
      on the machine with the GPU: checks, then times unless N is 0

The output serves the cost models (compiler/Algorithms/Tma/TmaTiles.cpp), where
dnn-fit reads it as it is printed, and docs/performance.md. gpu_device.py says
what `run` needs and how it times; `pack` needs only Python. A kernel counts
only if its result agrees with cuDNN's in f32, in five runs with the same bits
over poisoned memory: to 1e-2 of the norm, or 6e-4 for tf32, which operands
that are rounded pass and operands that are truncated do not; f64's must agree to
1e-13 with cuDNN's in f64. Tiles of f64 are those that the model ranks best.
"""

import re
import sys

import gpu_device
import gpu_pack

TILES = """m192n128k64-w3x1-t4 m128n256k64-w2x1-t4 m256n128k64-w2x1-t4
m128n128k64-w1x1-p5 m192n128k64-w1x1-p4 m128n128k64-w2x1-t5 m128n64k64-w1x1-p6
m256n64k64-w2x1-t4 m192n64k64-w3x1-t5 m64n256k64-w1x1-p4 m64n128k64-w1x1-t3
m128n64k64-w1x1-t3""".split()


def read_list(options):
    """(name, config) of each line, in the requested direction and type."""
    for line in open(options.list):
        if line.strip() and not line.startswith("#"):
            name, config = line.split()[:2]
            yield (f"{name}.{options.direction}",
                   re.sub(r"^conv-\w+-\w+-",
                          f"conv-{options.direction}-{options.type}-", config))


def list_tiles(options, config):
    """The tiles to try for a problem."""
    if options.tiles:
        return [tile if re.match("[a-z]{2}", tile) else f"igemm-{tile}"
                for tile in options.tiles.split(",")]
    is_hopper = options.target == "sm_90" and options.type != "f64"
    if is_hopper and not options.best and options.direction != "wrw":
        return [f"igemm-{tile}-wgmma" if options.type == "bf16"
                else f"igemm-{tile.replace('k64', 'k32')}-wgmma_tf32"
                for tile in TILES]
    return [tile for tile in gpu_pack.list_best(options, config,
                                                options.best or 8)
            if "-wgmma" in tile or not is_hopper or tile.startswith("groups-")]


def run_problem(gpu, problem, repeats):
    """Prints a line for each tile. Returns the number of wrong ones."""
    torch, config = gpu.torch, problem["config"]
    conv = gpu_device.Conv(torch, config)
    torch.backends.cudnn.benchmark = False  # One choice is enough for f32.
    wanted = conv.compute(torch.float64 if conv.is_f64 else torch.float32)
    torch.backends.cudnn.benchmark = True
    launches, wrong = gpu_device.load_right(
        gpu, problem, conv.tensors, conv.letter,
        lambda result: gpu_device.get_norm_error(result, wanted),
        gpu_device.get_most_error(conv))
    if repeats == 0:
        print(f"{problem['name']} {', '.join(launches)}: right", flush=True)
        return wrong
    peer, *ours = gpu.time([conv.compute, *launches.values()], repeats)
    print(f"{problem['name']} {config} cuDNN {peer:.1f} us", flush=True)
    for us, tile in sorted(zip(ours, launches)):
        print(f"  {tile:34s} {us:8.1f} us "
              f"{conv.operations / us / 1e6:7.1f} TFLOP/s "
              f"{peer / us:6.3f} of cuDNN's speed", flush=True)
    return wrong


def run(options):
    gpu = gpu_device.Gpu()
    print(gpu.describe())
    status = gpu_device.run_folder(
        options, lambda problem: run_problem(gpu, problem, options.repeats))
    rate, bandwidth = gpu.measure_limits()
    print(f"GEMM 8192 {rate / 1e6:.0f} TFLOP/s, copy {bandwidth / 1e6:.2f} TB/s")
    return status


def main():
    parser = gpu_pack.make_parser(__doc__)
    parser.add_argument("--direction", choices=["fwd", "bwd", "wrw"],
                        default="fwd")
    parser.add_argument("--type", choices=["bf16", "tf32", "f64"],
                        default="bf16")
    parser.add_argument("--best", type=int, default=0)
    parser.add_argument("--tiles", default="")
    parser.add_argument("--list", default="tools/bench/conv-h100.txt")
    options = parser.parse_args()
    if options.command == "run":
        return run(options)
    return gpu_pack.pack(options, read_list(options),
                         lambda name, config: list_tiles(options, config))


if __name__ == "__main__":
    sys.exit(main())
