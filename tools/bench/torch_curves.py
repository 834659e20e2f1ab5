#!/usr/bin/env python3
"""Trains a network in PyTorch with and without tessera.torch, on an NVIDIA GPU, and compares the losses of all steps.

  torch_curves.py [--network resnet50] [--size 64] [--batch 64] [--steps 300] [--seeds 3] [--ways bf16/compile]
                  [--out FILE.tsv] [--plot FILE.svg]
  torch_curves.py --read FILE.tsv --plot FILE.svg

The data set is fixed: 2048 images, each one of 16 smooth patterns, shifted, under noise as large. A seed decides
the weights and the order of the images. Ways: f32 (PyTorch, no tf32), bf16 (PyTorch, autocast), ours (the same with our
operators), compile and "compile, statistics" (backend "tessera", all of it and without sums of gradients). A way's
distance is the mean over all steps of |loss - loss in f32|, both averaged over 20 steps, as rounding alone makes single
steps differ. Ours may be off by a quarter more than PyTorch's bf16, and 0.01, in the mean over the seeds; exits 1 if it
is more, or a loss is no number.
"""

import argparse
import contextlib
import math
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import models
import tessera.compile
import tessera.torch

WAYS = {"f32": None, "bf16": None, "ours": None, "compile": {},
        "compile, statistics": {"statistics": True, "norm_gradients": False}}
WINDOW = 20


def make_data(size, count=2048, classes=16):
    """Images (count, 3, size, size) and their classes."""
    generator = torch.Generator().manual_seed(7)
    patterns = F.interpolate(torch.randn(classes, 3, 8, 8, generator=generator), size=(size, size), mode="bilinear")
    labels = torch.arange(count) % classes
    shifts = torch.randint(0, size, (count, 2), generator=generator).tolist()
    shifted = torch.stack([patterns[label].roll(shift, (1, 2)) for label, shift in zip(labels.tolist(), shifts)])
    images = shifted + torch.randn(count, 3, size, size, generator=generator)
    return images.cuda().contiguous(memory_format=torch.channels_last), labels.cuda()


def make_state(name, seed):
    """Weights to begin with. What a block of ResNet-50 adds is small at first."""
    torch.manual_seed(seed)
    network = models.NETWORKS[name][0]()
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if isinstance(module, models.Bottleneck):
            nn.init.constant_(module.norms[2].weight, 0.2)
    return network.state_dict()


class Way:
    """A network and its step: of a batch, forward, backward and SGD with momentum, as one CUDA graph."""

    def __init__(self, way, data, options):
        self.images, self.labels = data
        self.network = models.NETWORKS[options.network][0]().cuda().to(memory_format=torch.channels_last)
        self.function = self.network
        if way.startswith("compile"):
            self.function = torch.compile(self.network, backend="tessera", options=WAYS[way])
        self.is_short = way != "f32"
        self.sgd = torch.optim.SGD(self.network.parameters(), 0.01, momentum=0.9, weight_decay=1e-4, fused=True)
        self.batch, self.classes = self.images[:options.batch].clone(), self.labels[:options.batch].clone()
        if way == "ours":
            tessera.torch.prepare(self._step)
        with tessera.torch.enabled() if way == "ours" else contextlib.nullcontext():
            self._capture()

    def _step(self):
        self.sgd.zero_grad(set_to_none=False)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.is_short, cache_enabled=False):
            loss = F.cross_entropy(self.function(self.batch), self.classes)
        loss.backward()
        self.sgd.step()
        self.loss = loss.detach()

    def _capture(self):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self._step()

    def _restart(self, state):
        with torch.no_grad():
            for name, value in self.network.state_dict().items():
                value.copy_(state[name])
            for one in self.sgd.state.values():
                one["momentum_buffer"].zero_()

    def train(self, name, seed, steps):
        """The loss of each step."""
        self._restart(make_state(name, seed))
        generator, losses = torch.Generator().manual_seed(seed), []
        while len(losses) < steps:
            for chosen in torch.randperm(len(self.images), generator=generator).cuda().split(len(self.batch))[:-1]:
                self.batch.copy_(self.images[chosen])
                self.classes.copy_(self.labels[chosen])
                self.graph.replay()
                losses.append(self.loss.clone())
        return torch.stack(losses[:steps]).float().tolist()


def run(options):
    """{(way, seed): losses}."""
    data, curves = make_data(options.size), {}
    for way in options.ways:
        start, trained = time.monotonic(), Way(way, data, options)
        for seed in range(options.seeds):
            losses = curves[way, seed] = trained.train(options.network, seed, options.steps)
            print(f"{way}, seed {seed}: {losses[0]:.3f} to {losses[-1]:.3f}, {time.monotonic() - start:.0f} s",
                  flush=True)
        torch._dynamo.reset()
        if options.out:
            write_table(options.out, curves)
    return curves


def smooth(losses):
    """Means of WINDOW steps."""
    sums = [0.0]
    for loss in losses:
        sums.append(sums[-1] + loss)
    width = min(WINDOW, len(losses))
    return [(sums[i + width] - sums[i]) / width for i in range(len(losses) - width + 1)]


def compare(curves):
    """Prints each way's distance from f32; whether ours are as near as PyTorch's bf16."""
    distances = {}
    for (way, seed), losses in curves.items():
        wanted = smooth(curves["f32", seed])
        distance = sum(abs(a - b) for a, b in zip(smooth(losses), wanted)) / len(wanted)
        distances.setdefault(way, []).append(distance)
    means = {way: sum(values) / len(values) for way, values in distances.items()}
    limit, is_right = 1.25 * means["bf16"] + 0.01, True
    for way, mean in means.items():
        wrong = not math.isfinite(mean) or (way not in ("f32", "bf16") and mean > limit)
        is_right &= not wrong
        last = [smooth(losses)[-1] for (name, _), losses in curves.items() if name == way]
        print(f"{way}: distance {mean:.4f} ({' '.join(f'{value:.4f}' for value in distances[way])}), "
              f"last losses {' '.join(f'{value:.3f}' for value in last)}" + (" WRONG" if wrong else ""))
    return is_right


def write_table(path, curves):
    keys = list(curves)
    rows = ["\t".join(["step"] + [f"{way}; {seed}" for way, seed in keys])]
    for step, values in enumerate(zip(*(curves[key] for key in keys))):
        rows.append("\t".join([str(step)] + [f"{value:.4f}" for value in values]))
    path.write_text("\n".join(rows) + "\n")


def read_table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    keys = [(name.rsplit("; ", 1)[0], int(name.rsplit("; ", 1)[1])) for name in rows[0][1:]]
    return {key: [float(row[i + 1]) for row in rows[1:]] for i, key in enumerate(keys)}


def plot(path, curves):
    import matplotlib   # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot   # pylint: disable=import-outside-toplevel
    seeds, ways = sorted({seed for _, seed in curves}), list(dict.fromkeys(way for way, _ in curves))
    figure, axes = pyplot.subplots(1, len(seeds), figsize=(4.5 * len(seeds), 3.5), sharey=True, squeeze=False)
    for seed, axis in zip(seeds, axes[0]):
        for way in ways:
            axis.plot(smooth(curves[way, seed]), label=way, linewidth=1)
        axis.set(title=f"seed {seed}", xlabel="step", yscale="log")
    axes[0][0].set_ylabel(f"loss, mean of {WINDOW} steps")
    axes[0][-1].legend()
    figure.tight_layout()
    figure.savefig(path)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=("resnet50", "mobilenet"), default="resnet50")
    parser.add_argument("--size", type=int, default=64, help="pixels of an image's edge")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ways", type=lambda text: [way.strip() for way in text.split("/")], default=list(WAYS))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--read", type=pathlib.Path, help="a table of before, in place of training")
    options = parser.parse_args()
    options.ways = ["f32", "bf16"] + [way for way in options.ways if way not in ("f32", "bf16")]
    if unknown := [way for way in options.ways if way not in WAYS]:
        parser.error(f"no way is called {unknown[0]}; there are {' / '.join(WAYS)}")
    return options


def main():
    options = read_options()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    curves = read_table(options.read) if options.read else run(options)
    if options.plot:
        plot(options.plot, curves)
    return 0 if compare(curves) else 1


if __name__ == "__main__":
    sys.exit(main())
