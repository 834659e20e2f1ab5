#!/usr/bin/env python3
"""Times networks in PyTorch with and without tessera.torch, on an NVIDIA GPU.

  torch_models.py [--network resnet50] [--inference 1,32,256] [--training 256] [--ways compile/torch.compile]
                  [--seconds 200] [--profile compile] [--pytorch-norm] [--out FILE]

bf16, channels last: inference, and training steps (autocast, SGD). Ways: eager, the whole step as one CUDA graph,
both with PyTorch's kernels and with ours, ours without the extension (eager, "in Python"), torch.compile as a peer
(mode "reduce-overhead"), and the same with backend "tessera" (compile; with mode "max-autotune" "compile, tuned"; with
all launches from their first tile on "compile, one order"; in training without what convolutions measure for
Inductor's normalisations, "compile, plain"; with its own normalisation instead, "compile, norms"; with statistics and
without sums of gradients, "compile, statistics"). Eager is always
there. All ways of a batch are timed alternately, and the median of their times is told. Logits (of training the loss
of the third step) are compared with f32's: ours may be off by half as much again as PyTorch's bf16. What no longer
fits into the seconds is left out by name. FILE gets the table. Exits 1 if a number is wrong. The package must be
importable: a wheel, or PYTHONPATH=capi/python with TESSERA_LIBRARY.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import sys
import time
from unittest import mock

import torch
import torch.nn.functional as F

import models
import tessera.compile
import tessera.torch
from tessera import _fused

WAYS = ["eager, ours", "eager, ours in Python", "graph", "graph, ours", "compile", "compile, tuned", "compile, one order",
        "compile, plain", "compile, norms", "compile, statistics", "torch.compile"]
NEITHER = {"cuda_graphs": True, "statistics": False, "norm_gradients": False}
COMPILED = {"compile": {"backend": "tessera", "mode": "reduce-overhead"},
            "compile, tuned": {"backend": "tessera", "mode": "max-autotune"},
            "compile, one order": {"backend": "tessera", "options": {"cuda_graphs": True, "alternate": False}},
            "compile, plain": {"backend": "tessera", "options": NEITHER},
            "compile, norms": {"backend": "tessera", "options": {**NEITHER, "norm_relu": True}},
            "compile, statistics": {"backend": "tessera", "options": {**NEITHER, "statistics": True}},
            "torch.compile": {"mode": "reduce-overhead"}}
OF_TRAINING = ["compile, plain", "compile, norms", "compile, statistics"]
START = time.monotonic()


def capture(workload, step):
    """A function that replays the step as a CUDA graph. Its result is a tensor of the graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    result = workload.result

    def replay():
        graph.replay()
        workload.result = result
    return replay


class Inference:
    """The forward pass in bf16."""
    name = "inference"

    def __init__(self, name, batch):
        self.images, self.network = models.make_images(name, batch), models.make_network(name).eval()
        with torch.no_grad():
            self.wanted = torch.cat([self.network(part) for part in self.images.split(32)])
        self.network, self.images, self.result = self.network.bfloat16(), self.images.bfloat16(), None
        self.make_step = lambda function: lambda: self._run(function)

    @torch.inference_mode()
    def _run(self, function):
        self.result = function(self.images)

    def measure_error(self):
        """The distance of the last step's logits from f32's, as a fraction of the norm."""
        return ((self.result.float() - self.wanted).norm() / self.wanted.norm()).item()

    def restart(self):
        """Nothing changes from step to step."""


class Training:
    """A step with autocast and SGD."""
    name = "training"

    def __init__(self, name, batch):
        self.images, self.network, self.result = models.make_images(name, batch), models.make_network(name), None
        self.labels = torch.randint(0, 1000, (batch,), device="cuda")
        self.state = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.sgd = torch.optim.SGD(self.network.parameters(), 0.01, fused=True)
        self.make_step = lambda function: lambda: self._run(function)
        self.wanted = None

    def _run(self, function):
        self.sgd.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            loss = F.cross_entropy(function(self.images), self.labels)
        loss.backward()
        self.sgd.step()
        self.result = loss.detach()

    def restart(self):
        """Puts back the weights of the beginning, where they are."""
        with torch.no_grad():
            for name, value in self.network.state_dict().items():
                value.copy_(self.state[name])

    def measure_error(self):
        """The distance of the third step's loss from that of PyTorch's eager steps, which come first."""
        if self.wanted is None:
            self.wanted = self.result.item()
        return abs(self.result.item() - self.wanted) / abs(self.wanted)


def time_step(step, seconds=0.4):
    """Seconds of a step: as many as fill the time, at least ten, queued one behind the other between two waits."""
    count, passed = 3, 0.0
    while passed < seconds / 2:
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        passed, last = time.perf_counter() - start, count
        count = max(10, round(seconds / passed * count))
    return passed / last


def make_ways(workload, options):
    """(name, whether ours is on while it runs, and how its extension, function) of each way; one that fails is told and
    left out.
    """
    eager = workload.make_step(workload.network)
    ways = [("eager", None, eager)]
    if "graph, ours" in options.ways:
        with tessera.torch.enabled(**options.ours):
            eager()
            ways.append(("graph, ours", None, capture(workload, eager)))
            print(tessera.torch.report(), flush=True)
    ways += [(name, state, eager) for name, state in (("eager, ours", "on"), ("eager, ours in Python", "off"))
             if name in options.ways]
    if "graph" in options.ways:
        ways.append(("graph", None, capture(workload, eager)))
    for name, how in COMPILED.items():
        if name in options.ways and (workload.name == "training" or name not in OF_TRAINING):
            ways += [(name, None, step) for step in [compile_step(workload, name, how, options)] if step]
    return ways


def compile_step(workload, name, how, options):
    """The step with a compiled network; None if time is short, or it fails."""
    start, needed = time.monotonic() - START, 45 if workload.name == "training" else 25
    if start + needed > options.seconds:
        print(f"{workload.name}: {name} left out: no time", flush=True)
        return None
    try:
        compiled = workload.make_step(torch.compile(workload.network, **how))
        for _ in range(4):
            compiled()
        torch.cuda.synchronize()
    except Exception as error:  # pylint: disable=broad-except
        print(f"{workload.name}: {name} failed: {str(error)[:2000]}", flush=True)
        return None
    print(f"{workload.name}: {name} is ready after {time.monotonic() - START - start:.0f} s", flush=True)
    if name != "torch.compile":
        print(*(f"{name}: {count}" for name, count in sorted(_fused.start().fallbacks.items())), sep="\n", flush=True)
    return compiled


def print_profile(name, step, count=5):
    """Which kernels a step spends the GPU's time in."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(count):
            step()
        torch.cuda.synchronize()
    kernels = sorted(profile.key_averages(), key=lambda one: -one.self_device_time_total)
    print(f"{name}: {sum(one.self_device_time_total for one in kernels) / count:.0f} us of kernels")
    for one in kernels[:60]:
        print(f"  {one.self_device_time_total / count:8.1f} us {one.count / count:5.0f} x {one.key[:90]}", flush=True)


def compare(workload, batch, options):
    """Times all ways alternately. Returns rows of the table and whether numbers are right."""
    step = workload.make_step(workload.network)
    if any("ours" in way for way in options.ways):
        count = tessera.torch.prepare(step, **options.ours)
        print(f"{workload.name} {batch}: {count} kernels ready after {time.monotonic() - START:.0f} s", flush=True)
    ways, times, errors = make_ways(workload, options), {}, {}
    for number in range(options.rounds):
        for name, extension, function in ways:
            with _enabled(extension, options) if extension else contextlib.nullcontext():
                if number == 0:
                    workload.restart()
                    for _ in range(3):
                        function()
                    torch.cuda.synchronize()
                    errors[name] = workload.measure_error()
                times.setdefault(name, []).append(time_step(function))
    for name, _, function in ways:
        if name in options.profile:
            print_profile(name, function)
    limit = 1.5 * errors["eager"] + (1e-3 if workload.name == "inference" else 2e-2)
    rows, is_right = [], True
    for name, values in times.items():
        median = statistics.median(values)
        wrong = ("ours" in name or name.startswith("compile")) and not errors[name] <= limit
        is_right &= not wrong
        rows.append((workload.name, str(batch), name, f"{batch / median:.0f}", f"{median * 1e3:.3f}",
                     f"{errors[name]:.1e}" + (" WRONG" if wrong else "")))
        print("\t".join(rows[-1]), flush=True)
    return rows, is_right


@contextlib.contextmanager
def _enabled(extension, options):
    with mock.patch.dict(os.environ, {"TESSERA_TORCH_EXTENSION": extension}), tessera.torch.enabled(**options.ours):
        yield


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(number) for number in text.split(",") if number]
    parser.add_argument("--network", choices=models.NETWORKS, default="resnet50")
    parser.add_argument("--inference", type=numbers, default=[1, 32, 256])
    parser.add_argument("--training", type=numbers, default=[256])
    parser.add_argument("--seconds", type=float, default=200)
    names = lambda text: [name.strip() for name in text.split("/")]
    parser.add_argument("--ways", type=names, default=WAYS, help=f"which, with / between them: {' / '.join(WAYS)}")
    parser.add_argument("--profile", type=names, default=[], help="ways whose kernels are listed")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pytorch-norm", action="store_true", help="batch normalisation by PyTorch")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    options.ours = {"batch_norm": not options.pytorch_norm}
    return options


def main():
    options = read_options()
    torch.backends.cudnn.benchmark = True
    title = f"# {options.network}, {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    table, all_right = [(title,), ("what", "batch", "way", "images/s", "ms", "error")], True
    print(title, flush=True)
    workloads = [(Training, batch) for batch in options.training] + [(Inference, batch) for batch in options.inference]
    for kind, batch in workloads:
        rows, is_right = compare(kind(options.network, batch), batch, options)
        table, all_right = table + rows, all_right and is_right
        torch._dynamo.reset()
        torch.cuda.empty_cache()
        if options.out:
            options.out.write_text("".join("\t".join(row) + "\n" for row in table))
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
