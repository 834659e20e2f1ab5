"""Runs small problems whole and compares them with a plain convolution: a launch
whose arguments are wrong does not compute one."""

import itertools
import struct
import subprocess
import tempfile

import random

import launches
from records import parse_key


def at(problem, tensor, a, b, i, j):
    """The offset of an element of x (n c h w), w (k c y x) or y (n k p q)."""
    channels, height, width = {
        0: (problem.c, problem.h, problem.w),
        1: (problem.c // problem.groups, problem.y, problem.x),
        2: (problem.k, problem.p, problem.q)}[tensor]
    if problem.is_nhwc:
        return ((a * height + i) * width + j) * channels + b
    return ((a * channels + b) * height + i) * width + j


def convolve(p, tensors, output):
    """Computes tensor `output` of x, w and y from the other two, and the sum of
    the products' magnitudes of each element."""
    size = p.sizes[output]
    total, magnitude = [0.0] * size, [0.0] * size
    cg, kg = p.c // p.groups, p.k // p.groups
    for n, k, i, j in itertools.product(range(p.n), range(p.k), range(p.p),
                                        range(p.q)):
        for c, y, x in itertools.product(range(cg), range(p.y), range(p.x)):
            h = i * p.strides[0] - p.pads[0] + y * p.dilations[0]
            w = j * p.strides[1] - p.pads[1] + x * p.dilations[1]
            if not (0 <= h < p.h and 0 <= w < p.w):
                continue
            offsets = (at(p, 0, n, k // kg * cg + c, h, w), at(p, 1, k, c, y, x),
                       at(p, 2, n, k, i, j))
            product = 1.0
            for tensor in range(3):
                if tensor != output:
                    product *= tensors[tensor][offsets[tensor]]
            total[offsets[output]] += product
            magnitude[offsets[output]] += abs(product)
    return total, magnitude


def compare(emulator, path, problem, launch, checks="all"):
    """Returns the largest error as a share of the magnitudes, or the fault."""
    code = "f" if problem.element_bytes == 4 else "e"
    rng = random.Random(7)
    tensors = [[rng.randrange(-8, 9) / 8 for _ in range(size)]
               for size in problem.sizes]
    with tempfile.TemporaryDirectory() as folder:
        options = launch.get_options()
        words = [i for i, word in enumerate(options) if word.startswith("buffer:")]
        for i, word in zip(launch.order, words):
            if i == launch.output:
                continue
            with open(f"{folder}/{i}", "wb") as file:
                file.write(struct.pack(f"{len(tensors[i])}{code}", *tensors[i]))
            options[word] += f"=file:{folder}/{i}"
        done = subprocess.run(
            [emulator, path, *options, f"--check={checks}", "--dump",
             f"{len(launch.first) + launch.order.index(launch.output)}="
             f"{folder}/out"], capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stdout[-300:] + done.stderr[-300:]
        with open(f"{folder}/out", "rb") as file:
            data = file.read()
    got = struct.unpack(f"{problem.sizes[launch.output]}{code}", data)
    if any(g != g for g in got):
        return "elements that are not written, or not a number"
    want, magnitude = convolve(problem, tensors, launch.output)
    return max(abs(g - w) / max(m, 1e-9)
               for g, w, m in zip(got, want, magnitude))


def small_problems():
    for layout, direction, element in itertools.product(
            ("NCHW", "NHWC"), "FBW", ("FP32", "FP16")):
        image, result = "8-9-7", "12-5-4"
        first, second = (image, result) if direction == "F" else (result, image)
        yield (f"{first}-3x3-{second}-3-1x1-2x2-1x1-0-{layout}-{element}-"
               f"{direction}_g2")


def run(emulator, paths, chip):
    solvers = dict(zip("FBW", launches.SOLVERS))
    for key in small_problems():
        problem = parse_key(key)
        launch = launches.make_launch(problem, solvers[problem.direction], chip,
                                      None)
        if launch.kernel in paths:
            print(chip, key, compare(emulator, paths[launch.kernel], problem,
                                     launch))
    for name, path in sorted(paths.items()):
        if name.startswith("igemm_fwd_"):
            verify_gtc(emulator, path, chip, name)
        if name.startswith("miopenSp3AsmConv_v30_3_1_gfx9_"):
            verify_winograd(emulator, path, chip, name)


def verify_gtc(emulator, path, chip, name):
    """A convolution of the kernel's own kind: 3 x 3, or 1 x 1 where it needs
    that."""
    tuning = parse_kernel_name(name)
    is_point = not tuning.nxe
    geometry = "0x0-1x1-1x1" if is_point else "1x1-1x1-1x1"
    element = tuning.type.upper()
    if element == "BF16" or tuning.splits:
        return
    key = (f"{tuning.k * 2}-5-4-{'1x1' if is_point else '3x3'}-{tuning.n}-5-4-2-"
           f"{geometry}-0-NHWC-{element}-F")
    problem = parse_key(key)
    launch = launches.gtc_launch(problem, tuning,
                                 launches.CHIPS[chip].generation)
    print(chip, name, key, compare(emulator, path, problem, launch))


def verify_winograd(emulator, path, chip, name):
    """All directions that the kernel is for, by 3 workgroups for each of 2 groups."""
    transform, kind = name.split("_")[-2:]
    element = "FP32" if "fp32" in name else "FP16"
    x, y, strides = ("8-9-7", "12-9-7", "1x1") if kind == "stride1" \
        else ("8-9-7", "12-5-4", "2x2")
    for direction in {"stride1": "FBW", "stride2": "F", "dilation2": "B"}[kind]:
        first, second = (x, y) if direction == "F" else (y, x)
        key = (f"{first}-3x3-{second}-3-1x1-{strides}-1x1-0-NCHW-{element}-"
               f"{direction}_g2")
        problem = parse_key(key)
        launch = launches.winograd_launch(problem, transform, 3)
        print(chip, name, key, compare(emulator, path, problem, launch, "none"))


def parse_kernel_name(name):
    """The tuning that a name spells."""
    words = name.split("_")
    flags = set(words)

    def numbers(prefix):
        word = next(w for w in words if w.startswith(prefix) and
                    w[len(prefix):].replace("x", "").isdigit())
        return tuple(int(w) for w in word[len(prefix):].split("x"))
    a_thread = words.index(next(w for w in words if w.startswith("ta") and
                                "x" in w))
    clusters = [tuple(int(v) for v in words[a_thread + i].lstrip("tab").split("x"))
                for i in range(4)]
    vector = next((int(w[2:]) for w in words if w.startswith("vs")), 0)
    values = ("fwd", "nhwc", words[4], *numbers("bx"), *numbers("ex"),
              *numbers("bt"), *numbers("wt"), *numbers("ws")[:2],
              *numbers("wr")[:2], int("mh" in flags), vector,
              int("gkgs" in flags), int("me" in flags), int("pta" in flags))
    return launches.GtcTuning(dict(zip(launches.GTC_FIELDS, values)), *clusters)
