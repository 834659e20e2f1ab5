#!/usr/bin/env python3
"""Times batch normalisation through the C API beside PyTorch and cuDNN.

Needs an NVIDIA GPU and PyTorch, LIBRARY (libMIOpen.so.1) on the loader's path
and TESSERA_DEVICE=nvidia. Each line is a shape, a layout and a type: training,
the gradient and inference. They are first compared with sums in double. Then
come times of one call in microseconds, ours, cuDNN's and PyTorch's own kernel,
and the rate of the bytes that must be moved beside that of a copy of the same
tensor in the same run. A gradient and training read their tensors twice,
because the statistics of a row are known only after it has been read: their
share of the copy rate can reach 2/3 and 3/5.
"""

import argparse
import ctypes

import torch

import c_api

TYPES = {"f16": (torch.float16, 0), "f32": (torch.float32, 1),
         "bf16": (torch.bfloat16, 5)}
EPSILON, FACTOR = 1e-5, 0.1
SPATIAL = 1


class Library(c_api.Library):
    """Gets PyTorch's tensors as arguments."""

    def describe(self, tensor):
        kind = next(number for torch_type, number in TYPES.values()
                    if torch_type == tensor.dtype)
        desc = ctypes.c_void_p()
        self.call("miopenCreateTensorDescriptor", ctypes.byref(desc))
        ints = ctypes.c_int * tensor.dim()
        self.call("miopenSetTensorDescriptor", desc, kind, tensor.dim(),
                  ints(*tensor.shape), ints(*tensor.stride()))
        return desc


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class Case:
    """One problem with its tensors and its three calls."""

    def __init__(self, library, shape, layout, kind):
        self.library = library
        torch.manual_seed(1)
        form = (torch.channels_last if layout == "nhwc"
                else torch.contiguous_format)
        dtype = TYPES[kind][0]

        def make():
            return torch.randn(shape, device="cuda", dtype=dtype).to(
                memory_format=form)

        self.x, self.dy = make(), make()
        self.y, self.dx = torch.empty_like(self.x), torch.empty_like(self.x)
        channels = shape[1]

        def parameter():
            return torch.randn(1, channels, 1, 1, device="cuda")

        self.scale, self.bias = parameter(), parameter()
        self.mean, self.variance = parameter(), parameter().abs() + 0.5
        self.saved, self.inverse = parameter(), parameter()
        self.dscale, self.dbias = parameter(), parameter()
        self.x_desc = library.describe(self.x)
        self.p_desc = library.describe(self.scale)
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        self.scales = (ctypes.byref(one), ctypes.byref(zero))
        self.keep = (one, zero)

    def train(self):
        self.library.call(
            "miopenBatchNormalizationForwardTraining", self.library.handle,
            SPATIAL, *self.scales, self.x_desc, pointer(self.x), self.x_desc,
            pointer(self.y), self.p_desc, pointer(self.scale),
            pointer(self.bias), ctypes.c_double(FACTOR), pointer(self.mean),
            pointer(self.variance), ctypes.c_double(EPSILON),
            pointer(self.saved), pointer(self.inverse))

    def infer(self):
        self.library.call(
            "miopenBatchNormalizationForwardInference", self.library.handle,
            SPATIAL, *self.scales, self.x_desc, pointer(self.x), self.x_desc,
            pointer(self.y), self.p_desc, pointer(self.scale),
            pointer(self.bias), pointer(self.mean), pointer(self.variance),
            ctypes.c_double(EPSILON))

    def backward(self):
        self.library.call(
            "miopenBatchNormalizationBackward", self.library.handle, SPATIAL,
            *self.scales, *self.scales, self.x_desc, pointer(self.x),
            self.x_desc, pointer(self.dy), self.x_desc, pointer(self.dx),
            self.p_desc, pointer(self.scale), pointer(self.dscale),
            pointer(self.dbias), ctypes.c_double(EPSILON), pointer(self.saved),
            pointer(self.inverse))

    def torch_calls(self):
        """The same calls by cuDNN and by PyTorch's own kernels; None where
        there is none.
        """
        aten = torch.ops.aten
        s, b = self.scale.flatten(), self.bias.flatten()
        m, v = self.mean.flatten().clone(), self.variance.flatten().clone()
        # PyTorch passes f32 scales to cuDNN only with f16 and f32 tensors.
        has_cudnn = self.x.dtype != torch.bfloat16
        if has_cudnn:
            saved = aten.cudnn_batch_norm(self.x, s, b, m, v, True, FACTOR,
                                          EPSILON)
        own = aten.native_batch_norm(self.x, s, b, m, v, True, FACTOR, EPSILON)
        calls = {
            "train": (
                lambda: aten.cudnn_batch_norm(self.x, s, b, m, v, True, FACTOR,
                                              EPSILON),
                lambda: aten.native_batch_norm(self.x, s, b, m, v, True, FACTOR,
                                               EPSILON)),
            "backward": (
                lambda: aten.cudnn_batch_norm_backward(
                    self.x, self.dy, s, m, v, saved[1], saved[2], EPSILON,
                    saved[3]),
                lambda: aten.native_batch_norm_backward(
                    self.dy, self.x, s, m, v, own[1], own[2], True, EPSILON,
                    [True, True, True])),
            "infer": (
                lambda: aten.cudnn_batch_norm(self.x, s, b, m, v, False, FACTOR,
                                              EPSILON),
                lambda: aten.native_batch_norm(self.x, s, b, m, v, False,
                                               FACTOR, EPSILON)),
        }
        return {name: (cudnn if has_cudnn else None, own)
                for name, (cudnn, own) in calls.items()}


def check(case):
    """The largest errors as fractions of the largest numbers, against double.
    """
    x, dy = case.x.double(), case.dy.double()
    scale, bias = case.scale.double(), case.bias.double()
    dims = (0, 2, 3)
    count = x.numel() / x.shape[1]
    mean = x.mean(dims, keepdim=True)
    variance = x.var(dims, unbiased=False, keepdim=True)
    inverse = (variance + EPSILON).rsqrt()
    old_mean, old_variance = case.mean.double(), case.variance.double()
    inferred = ((x - old_mean) * (old_variance + EPSILON).rsqrt() * scale + bias)
    errors = {}

    def compare(name, found, wanted):
        error = ((found.double() - wanted).abs().max() / wanted.abs().max()).item()
        errors[name] = error

    case.y.fill_(float("nan"))
    case.infer()
    compare("infer", case.y, inferred)
    case.y.fill_(float("nan"))
    case.train()
    normal = (x - mean) * inverse
    compare("y", case.y, normal * scale + bias)
    compare("mean", case.saved, mean)
    compare("inverse", case.inverse, inverse)
    compare("running mean", case.mean,
            old_mean * (1 - FACTOR) + mean * FACTOR)
    compare("running variance", case.variance,
            old_variance * (1 - FACTOR)
            + variance * count / (count - 1) * FACTOR)
    case.dx.fill_(float("nan"))
    case.backward()
    dscale = (dy * normal).sum(dims, keepdim=True)
    dbias = dy.sum(dims, keepdim=True)
    compare("dscale", case.dscale, dscale)
    compare("dbias", case.dbias, dbias)
    compare("dx", case.dx,
            scale * inverse * (dy - (dbias + normal * dscale) / count))
    # Half a unit in the last place of the type, and sums in f32.
    limit = {torch.float16: 2**-10, torch.bfloat16: 2**-7,
             torch.float32: 2**-17}[case.x.dtype]
    wrong = {name: error for name, error in errors.items()
             if not error <= (limit if name in ("infer", "y", "dx")
                              else 2**-14)}
    return "right" if not wrong else f"WRONG {wrong}"


def time_us(function, repeats=20):
    for _ in range(3):
        function()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(3):
        begin.record()
        for _ in range(repeats):
            function()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) * 1000 / repeats)
    return best


def measure(library, shape, layout, kind):
    case = Case(library, shape, layout, kind)
    verdict = check(case)
    size = case.x.numel() * case.x.element_size()
    copy = time_us(lambda: case.y.copy_(case.x))
    rate = 2 * size / copy / 1e6
    print(f"{'x'.join(map(str, shape))} {layout} {kind} {size / 1e6:.0f} MB "
          f"{verdict}; copy {copy:.0f} us {rate:.2f} TB/s", flush=True)
    others = case.torch_calls()
    for name, function, tensors in (("train", case.train, 3),
                                    ("backward", case.backward, 5),
                                    ("infer", case.infer, 2)):
        ours = time_us(function)
        cudnn, own = (time_us(other) if other else float("nan")
                      for other in others[name])
        moved = tensors * size / ours / 1e6
        print(f"  {name:9}{ours:8.0f} us  cuDNN {cudnn:8.0f}  torch {own:8.0f}"
              f"  {moved:.2f} TB/s, {moved / rate:.2f} of the copy's",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--types", default="f16,bf16,f32")
    parser.add_argument("--shapes", default="64x256x56x56,256x2048x7x7")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    library.set_stream(torch)
    for shape in arguments.shapes.split(","):
        for kind in arguments.types.split(","):
            for layout in ("nhwc", "nchw"):
                measure(library, tuple(map(int, shape.split("x"))), layout,
                        kind)


if __name__ == "__main__":
    main()
