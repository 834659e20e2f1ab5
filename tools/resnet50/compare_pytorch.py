#!/usr/bin/env python3
"""Compares a step that resnet50 wrote with PyTorch's, on one NVIDIA GPU.

  resnet50 --batch 32 --write FOLDER
  compare_pytorch.py FOLDER [--repeat N]

PyTorch evaluates the same list of layers (network.json) twice: in f32, without
tf32, and in f64, which judges both. The network amplifies rounding, and a
pixel that is nearly the greatest of its window may lose in one of two right
runs. So a tensor is right if its root-mean-square error against f64 is at most
three times that of PyTorch's f32, or at most 1e-5.
"""

import argparse
import json
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

PARAMETER, STATISTIC = 1, 2
MOMENTUM, EPSILON = 0.1, 1e-5


def read(folder, tensor, index, what):
    path = folder / f"{index}.{what}"
    values = torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32)
    return values.reshape(tensor["dims"]).cuda()


def run_layer(layer, values, statistics):
    """The result of one layer; running averages in `statistics` are updated.
    """
    x, kind = values[layer["x"]], layer["kind"]
    weights, bias = values.get(layer["weights"]), values.get(layer["bias"])
    if kind == "conv":
        return F.conv2d(x, weights, stride=layer["stride"], padding=layer["pad"])
    if kind == "batch-norm":
        return F.batch_norm(x, statistics[layer["running_mean"]].view(-1),
                            statistics[layer["running_variance"]].view(-1), weights.view(-1),
                            bias.view(-1), True, MOMENTUM, EPSILON)
    if kind == "relu":
        return F.relu(x)
    if kind == "max-pool":
        return F.max_pool2d(x, layer["window"], layer["stride"], layer["pad"])
    if kind == "average-pool":
        return F.avg_pool2d(x, layer["window"], layer["stride"], layer["pad"])
    if kind == "add":
        return x + values[layer["other"]]
    if kind == "bias":
        return x + bias
    if kind == "log-softmax":
        return F.log_softmax(x, 1)
    raise ValueError(f"unknown layer '{kind}'")


def run_step(network, inputs, dtype):
    """Output, gradients of parameters and running averages, by tensor."""
    values = {i: tensor.detach().to(dtype).requires_grad_(i != network["input"])
              for i, tensor in inputs.items()}
    statistics = {}
    for layer in network["layers"]:
        if layer["kind"] == "batch-norm":
            dims = network["tensors"][layer["running_mean"]]["dims"]
            statistics[layer["running_mean"]] = torch.zeros(dims, dtype=dtype).cuda()
            statistics[layer["running_variance"]] = torch.ones(dims, dtype=dtype).cuda()
    parameters = [i for i in inputs if i != network["input"]]
    leaves = [values[i] for i in parameters]
    for layer in network["layers"]:
        values[layer["y"]] = run_layer(layer, values, statistics)
    output = values[network["output"]]
    images, classes = output.shape[:2]
    labels = torch.tensor([(n * 37 + 11) % classes for n in range(images)]).cuda()
    loss = F.nll_loss(output.view(images, classes), labels)
    results = {(i, "gradient"): gradient
               for i, gradient in zip(parameters, torch.autograd.grad(loss, leaves))}
    results[network["output"], "value"] = output.detach()
    for i, tensor in statistics.items():
        results[i, "value"] = tensor
    return results


def get_distance(tensor, judge):
    """The relative root-mean-square error; infinite for a NaN."""
    distance = ((tensor.double() - judge).norm() / judge.norm()).item()
    return distance if distance == distance else float("inf")


def measure(network, inputs, repeat):
    """Milliseconds of a step."""
    run_step(network, inputs, torch.float32)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repeat):
        run_step(network, inputs, torch.float32)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3 / repeat


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=0)
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    network = json.loads((options.folder / "network.json").read_text())
    tensors = network["tensors"]
    inputs = {i: read(options.folder, tensor, i, "value") for i, tensor in enumerate(tensors)
              if tensor["role"] == PARAMETER or i == network["input"]}
    judge = run_step(network, inputs, torch.float64)
    theirs = run_step(network, inputs, torch.float32)
    wrong = 0
    rows = []
    for (i, what), expected in judge.items():
        ours = get_distance(read(options.folder, tensors[i], i, what), expected)
        other = get_distance(theirs[i, what], expected)
        rows.append((ours, other, f"{tensors[i]['name']} {what}"))
        if not ours <= max(3 * other, 1e-5):
            wrong += 1
            print(f"wrong: {tensors[i]['name']} {what}: {ours:.3g}, PyTorch's {other:.3g}")
    rows.sort(reverse=True)
    print("distance from f64   ours       PyTorch's f32")
    for ours, other, name in rows[:3] + rows[len(rows) // 2:len(rows) // 2 + 1] + rows[-1:]:
        print(f"{name:32} {ours:.3g}  {other:.3g}")
    print(f"{len(rows)} tensors compared, {wrong} wrong")
    if options.repeat:
        torch.backends.cudnn.benchmark = True  # cuDNN's fastest, found in the first step
        for tf32 in (False, True):
            torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
            took = measure(network, inputs, options.repeat)
            print(f"PyTorch's step takes {took:.3f} ms{' in tf32' if tf32 else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
