"""PyTorch's operators on the emulated device, against PyTorch's own on the CPU. With TESSERA_DEVICE=nvidia, the same on
the GPU.
"""

import contextlib
import ctypes
import itertools
import os
import tempfile
import threading
import unittest
from unittest import mock

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is not installed: {error}") from error

import tessera
import tessera.torch
from tessera import _batch_norm, _launch, _library, _operators

DEVICE = "cpu" if os.environ.get("TESSERA_DEVICE", "").startswith("emulated") else "cuda"
TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
LAST = {3: torch.contiguous_format, 4: torch.channels_last, 5: torch.channels_last_3d}
CONV = (F.conv1d, F.conv2d, F.conv3d)
TRANSPOSED = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)


def setUpModule():
    """All tensors are on the device; f32 is not rounded to tf32."""
    torch.set_default_device(DEVICE)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False


def make(*shape, dtype=torch.float32, last=False):
    """A leaf."""
    tensor = torch.randn(shape, dtype=torch.float64).to(dtype)
    return (tensor.contiguous(memory_format=LAST[len(shape)]) if last else tensor).requires_grad_()


def get_counters():
    """How many kernels the process has compiled or loaded."""
    counters = (ctypes.c_uint64 * 7)(56)  # tesseraCounters; the size is in the lower half of the first number.
    _library.check(_library.get_api().tesseraGetCounters(counters))
    return counters[1], counters[2]


def make_network(device):
    """A network with the operators that are ours, and eight images; the same numbers in every process."""
    with torch.device("cpu"):
        torch.manual_seed(4)
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                  torch.nn.MaxPool2d(2), torch.nn.Conv2d(8, 4, 3), torch.nn.Flatten())
        images = torch.randn(8, 3, 8, 8)
    return net.to(device), images.to(device)


def train_share(rank, address, folder):
    """Process `rank` of two: gradients of DistributedDataParallel of its share of the images, by ours and by PyTorch's
    operators."""
    device = torch.device("cpu" if DEVICE == "cpu" else f"cuda:{rank}")
    setUpModule()
    if DEVICE != "cpu":
        torch.cuda.set_device(device)
    torch.distributed.init_process_group("gloo" if DEVICE == "cpu" else "nccl", init_method=f"file://{address}",
                                         rank=rank, world_size=2)
    saved = {}
    for ours in (False, True):
        net, images = make_network(device)
        net = torch.nn.parallel.DistributedDataParallel(net, device_ids=None if DEVICE == "cpu" else [rank])
        with tessera.torch.enabled() if ours else contextlib.nullcontext():
            for _ in range(3):  # The extension answers from the second step on.
                net.zero_grad()
                net(images.chunk(2)[rank]).square().mean().backward()
            report = tessera.torch.report() if ours else None
        saved[ours] = [p.grad.cpu() for p in net.parameters()]
    torch.save((saved, sum(report.calls.values()), report.fallbacks), os.path.join(folder, str(rank)))
    torch.distributed.destroy_process_group()


class TorchTest(unittest.TestCase):
    has_extension = True

    def setUp(self):
        torch.manual_seed(3)
        self.addCleanup(tessera.torch.disable)
        environment = mock.patch.dict(os.environ, {} if self.has_extension else {"TESSERA_TORCH_EXTENSION": "off"})
        environment.start()
        self.addCleanup(environment.stop)

    def compare(self, function, *leaves, calls, tolerance=None):
        """Result and gradients of `function`, ours against PyTorch's in double on the CPU; strides against PyTorch's.
        Every call must be ours, and `calls` says how many operators there are, forward and backward. The second time
        the extension answers, if it is there.
        """
        double = [leaf.detach().cpu().double().requires_grad_(leaf.requires_grad) for leaf in leaves]
        with torch.device("cpu"):
            wanted = function(*double)
        seed = torch.randn(wanted.shape, dtype=torch.float64).to(leaves[0].dtype)
        differentiate = lambda y, of, seed: torch.autograd.grad(y, of, seed) if of else ()
        inputs, of_double = ([leaf for leaf in all_ if leaf.requires_grad] for all_ in (leaves, double))
        exact = [wanted, *differentiate(wanted, of_double, seed.cpu().double())]
        ours = []
        with tessera.torch.enabled(rows=True):
            for _ in range(2):
                result = function(*leaves)
                ours.append([result, *differentiate(result, inputs, seed)])
            report = tessera.torch.report()
        self.assertEqual((report.fallbacks, sum(report.calls.values())), ({}, 2 * calls), report)
        for mine, other in itertools.chain(zip(ours[0], exact), zip(ours[1], exact)):
            self.assertEqual(mine.shape, other.shape)
            error = (mine.cpu().double() - other).norm() / other.norm().clamp(min=1e-30)
            self.assertLess(error.item(), tolerance or TOLERANCE[mine.dtype])
        strides = function(*(leaf.detach() for leaf in leaves)).stride()
        self.assertEqual([result.stride() for result, *_ in ours], [strides] * 2)

    # One to three dimensions, both layouts, with strides, dilations, groups and a bias.
    def test_convolutions(self):
        for dims, last in itertools.product((1, 2, 3), (False, True)):
            size = (9, 7, 6)[:dims]
            x, b = make(2, 6, *size, last=last), make(4)
            for stride, padding, dilation, groups, k in ((1, 0, 1, 1, 1), (2, 1, 1, 2, 3), (1, 2, 2, 1, 2)):
                w = make(4, 6 // groups, *[k] * dims, last=last)
                with self.subTest(dims=dims, last=last, stride=stride, groups=groups):
                    self.compare(lambda x, w, b: CONV[dims - 1](x, w, b, stride, padding, dilation, groups),
                                 x, w, b, calls=2)

    # Transposed: backward data, whose gradient is forward.
    def test_transposed(self):
        for dims, last in itertools.product((1, 2, 3), (False, True)):
            size = (5, 4, 3)[:dims]
            x, b = make(2, 6, *size, last=last), make(4)
            for stride, padding, extra, groups, dilation in ((1, 0, 0, 1, 1), (2, 1, 1, 2, 1), (3, 0, 2, 1, 2)):
                w = make(6, 4 // groups, *[3] * dims, last=last)
                with self.subTest(dims=dims, last=last, stride=stride, groups=groups):
                    self.compare(
                        lambda x, w, b: TRANSPOSED[dims - 1](x, w, b, stride, padding, extra, groups, dilation),
                        x, w, b, calls=2)

    # Every type; batches of 1, single pixels and channels, of which layouts cannot be told apart.
    def test_types_and_odd_shapes(self):
        shapes = (((2, 16, 6, 6), (8, 16, 3, 3)), ((1, 1, 5, 5), (1, 1, 5, 5)), ((3, 5, 1, 1), (7, 5, 1, 1)),
                  ((1, 8, 1, 13), (8, 1, 1, 3)), ((2, 1, 4, 4), (3, 1, 1, 1)))
        for dtype, (x, w), last in itertools.product(TOLERANCE, shapes, (False, True)):
            with self.subTest(dtype=dtype, x=x, last=last):
                self.compare(lambda x, w: F.conv2d(x, w, groups=x.shape[1] // w.shape[1]),
                             make(*x, dtype=dtype, last=last), make(*w, dtype=dtype, last=last), calls=2)

    # Padding by words, of which the ends differ; modes that PyTorch pads by itself; one layout for x, one for w.
    def test_padding_and_mixed_layouts(self):
        x, w = make(2, 4, 7, 6), make(5, 4, 2, 4, last=True)
        self.compare(lambda x, w: F.conv2d(x, w, padding="same"), x, w, calls=2)
        conv = torch.nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect", bias=False)
        self.compare(lambda x, w: torch.func.functional_call(conv, {"weight": w}, x), x, make(3, 4, 3, 3), calls=2)

    # Views with gaps, expanded gradients, tensors that begin at any element.
    def test_views(self):
        w = make(3, 4, 3, 3)
        self.compare(lambda x, w: F.conv2d(x[:, ::2, 1:, :-1], w), make(2, 8, 7, 7), w, calls=2)
        self.compare(lambda x, w: F.conv2d(x.transpose(2, 3), w).sum((2, 3)), make(2, 4, 6, 7), w, calls=2)
        self.compare(lambda x, w: F.conv2d(x.flatten()[1:].view(1, 4, 5, 5), w), make(101), w, calls=2)

    # A bias with gaps behind one without, of which nothing else differs.
    def test_bias_with_gaps(self):
        x, w = make(2, 4, 5, 5), make(3, 4, 3, 3)
        for bias in (make(3), make(3, 2)):
            self.compare(lambda x, w, b: F.conv2d(x, w, b.view(3, -1)[:, -1]), x, w, bias, calls=2)

    # Volumes of one plane are images to the library.
    def test_flat_volumes(self):
        for last in (False, True):
            x, w = make(2, 4, 1, 6, 7, last=last), make(3, 4, 1, 3, 2, last=last)
            self.compare(lambda x, w: F.conv3d(x, w, stride=(1, 2, 1), padding=(0, 1, 0)), x, w, calls=2)
            self.compare(lambda x: F.avg_pool3d(x, (1, 3, 2), (1, 2, 2)), x, calls=2)

    # What PyTorch refuses, it refuses in its own words.
    def test_bad_strides(self):
        with tessera.torch.enabled(), self.assertRaisesRegex(RuntimeError, "non-positive stride"):
            F.conv2d(make(1, 1, 4, 4), make(1, 1, 2, 2), stride=0)

    # A NaN is beyond every number, and a maximum may be minus infinity; indices are PyTorch's.
    def test_special_maxima(self):
        nan, inf = float("nan"), float("inf")
        x = torch.tensor([[1, nan, 3, nan], [-inf, -inf, -inf, 0], [-inf, -inf, inf, nan], [2, 2, 1, 1]])
        for x in (x.view(1, 1, 4, 4), x.view(1, 1, 4, 4).expand(2, 3, 4, 4).contiguous(memory_format=LAST[4])):
            for window, padding in ((2, 1), (3, 1), ((1, 2), 0)):
                wanted = F.max_pool2d(x.cpu(), window, 1, padding, return_indices=True)
                with tessera.torch.enabled():
                    results = F.max_pool2d(x, window, 1, padding, return_indices=True)
                    self.assertEqual(tessera.torch.report().fallbacks, {})
                torch.testing.assert_close(results[0].cpu(), wanted[0], equal_nan=True)
                chosen = wanted[0] != -inf
                self.assertTrue(torch.equal(results[1].cpu()[chosen], wanted[1][chosen]))

    # Only the gradients that are asked for are computed.
    def test_masks(self):
        for frozen in (0, 1):
            leaves = [make(1, 4, 5, 5), make(4, 4, 3, 3)]
            leaves[frozen].requires_grad_(False)
            self.compare(F.conv2d, *leaves, calls=2)

    # Gradients of gradients: PyTorch's formula, whose convolutions are ours again.
    def test_double_backward(self):
        leaves = [make(1, 2, 4, 4, dtype=torch.float64), make(2, 1, 3, 3, dtype=torch.float64),
                  make(2, dtype=torch.float64)]
        with tessera.torch.enabled():
            function = lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=2)
            self.assertTrue(torch.autograd.gradcheck(function, leaves))
            self.assertTrue(torch.autograd.gradgradcheck(function, leaves))
            self.assertEqual(tessera.torch.report().fallbacks, {})

    # Poolings, rounded up or not, with a result that lies as PyTorch's.
    def test_poolings(self):
        for last, ceil in itertools.product((False, True), (False, True)):
            image, volume = make(2, 3, 7, 8, last=last), make(2, 3, 5, 6, 7, last=last)
            with self.subTest(last=last, ceil=ceil):
                self.compare(lambda x: F.avg_pool2d(x, 3, 2, 1, ceil, count_include_pad=False), image, calls=2)
                self.compare(lambda x: F.avg_pool3d(x, 2, ceil_mode=ceil, count_include_pad=False), volume, calls=2)
                self.compare(lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=ceil), image, calls=2)
                self.compare(lambda x: F.max_pool3d(x, (2, 3, 2), ceil_mode=ceil), volume, calls=2)
        self.compare(lambda x: F.avg_pool2d(x, (3, 2), 2, 1), make(2, 3, 7, 8), calls=2)
        self.compare(lambda x: F.max_pool2d(x, 3, 2, 1).sum((2, 3)), make(2, 4, 6, 6, last=True), calls=2)

    # Batch normalisation: statistics of the batch and running ones, which are updated, and both of their gradients;
    # parameters in f32 beside halves. With fixed statistics the gradient is PyTorch's.
    def test_batch_norm(self):
        shapes = ((4, 6), (2, 6, 9), (4, 6, 5, 7), (2, 3, 3, 4, 5))
        for shape, last, dtype, training in itertools.product(
                shapes, (False, True), (torch.float64, torch.bfloat16), (True, False)):
            if last and len(shape) < 4:
                continue
            with self.subTest(shape=shape, last=last, dtype=dtype, training=training):
                type_ = torch.float64 if dtype == torch.float64 else torch.float32
                x = make(*shape, dtype=dtype, last=last).requires_grad_(training)
                weight, bias = make(shape[1], dtype=type_), make(shape[1], dtype=type_)
                statistics = [torch.randn(shape[1], dtype=type_), torch.rand(shape[1], dtype=type_) + 0.5]
                after = []

                def run(x, weight, bias):
                    after.append([value.to(weight, copy=True) for value in statistics])
                    return F.batch_norm(x, *after[-1], weight, bias, training, 0.3, 1e-3)
                if training:
                    self.compare(run, x, weight, bias, calls=2)
                else:
                    self.compare(run, x, weight.requires_grad_(False), bias.requires_grad_(False), calls=1)
                for mine, wanted in itertools.chain(zip(after[1], after[0]), zip(after[2], after[0])):
                    torch.testing.assert_close(mine.cpu().double(), wanted.double(), rtol=1e-5, atol=1e-5)

    # cuDNN's operator is the same with one result more, and its gradient has other arguments.
    def test_batch_norm_of_cudnn(self):
        x, g = torch.randn(3, 5, 4, 4), torch.randn(3, 5, 4, 4)
        weight, bias, mean, variance = torch.rand(4, 5)
        running = mean.clone(), variance.clone()
        wanted = torch.native_batch_norm(x, weight, bias, mean, variance, True, 0.1, 1e-5)
        gradients = torch.ops.aten.native_batch_norm_backward(
            g, x, weight, mean, variance, *wanted[1:], True, 1e-5, [True] * 3)
        launcher = _launch.Emulated() if DEVICE == "cpu" else _launch.Direct()

        def compute(name, *arguments):
            entry = _batch_norm.OPERATORS[name][0]()
            entry.decide(*arguments)
            result, status = entry.plan.run(launcher.launch, arguments)
            self.assertEqual(status, 0)
            return result
        ours = compute("cudnn_batch_norm", x, weight, bias, *running, True, 0.1, 1e-5)
        our_gradients = compute("cudnn_batch_norm_backward", x, g, weight, *running, *ours[1:3], 1e-5, ours[3])
        for mine, other in zip((*ours[:3], *running, *our_gradients), (*wanted, mean, variance, *gradients)):
            torch.testing.assert_close(mine, other)

    # Along every dimension, and of one element; both gradients.
    def test_softmax(self):
        for function, dtype in itertools.product((F.softmax, F.log_softmax), TOLERANCE):
            for shape, dims in (((5, 37), (0, -1)), ((2, 3, 4, 5), (0, 1, 2, 3)), ((), (0,)), ((1, 6), (0, 1))):
                for dim in dims:
                    with self.subTest(function=function.__name__, dtype=dtype, shape=shape, dim=dim):
                        self.compare(lambda x: function(x, dim), make(*shape, dtype=dtype), calls=2)

    # Rows with gaps, images with channels last, other orders, which are copied, expanded tensors and gradients, and
    # more dimensions than problems have; rows with infinities.
    def test_softmax_of_views(self):
        x = make(3, 4, 5, 6)
        self.compare(lambda x: F.softmax(x[:, 1:3, :, ::2], 1), x, calls=2)
        self.compare(lambda x: F.log_softmax(x.transpose(0, 2), -1), x, calls=2)
        self.compare(lambda x: F.softmax(x.expand(4, 5, 6), 1), make(5, 1), calls=2)
        self.compare(lambda x: F.log_softmax(x, 1)[:, 2].sum(), make(2, 3, 4, 4, last=True), calls=2)
        self.compare(lambda x: F.softmax(x[::2, ::2, ::2, ::2, ::2, ::2], 3), make(3, 3, 3, 3, 3, 3), calls=2)
        infinity = float("inf")
        y = torch.tensor([[-infinity, 1, 2], [-infinity] * 3, [infinity, 1, 2], [float("nan"), 1, 2]])
        with tessera.torch.enabled():
            ours = F.softmax(y, 1), F.log_softmax(y, 1)
        for mine, wanted in zip(ours, (F.softmax(y, 1), F.log_softmax(y, 1))):
            torch.testing.assert_close(mine, wanted, equal_nan=True)

    # On a GPU, halves can have a softmax in f32, whose gradient is halves again.
    def test_softmax_to_float(self):
        x = torch.randn(3, 9, dtype=torch.float16)
        with tessera.torch.enabled(rows=True):
            y = torch._softmax(x, -1, True)
            dx = torch._softmax_backward_data(y * 2, y, -1, torch.float16)
            self.assertEqual(tessera.torch.report().fallbacks, {})
        wanted = F.softmax(x.float(), -1)
        torch.testing.assert_close(y, wanted)
        torch.testing.assert_close(dx, torch._softmax_backward_data(wanted * 2, wanted, -1, torch.float32).half())

    # One to all dimensions of each type; with and without parameters, which on the CPU may be in f32 beside halves.
    def test_layer_norm(self):
        shapes = (((6, 40), 1), ((2, 3, 4, 5), 1), ((2, 3, 4, 5), 3), ((7, 9), 2))
        for (shape, dims), dtype, mixed in itertools.product(shapes, TOLERANCE, (False, True)):
            if mixed and (DEVICE == "cuda" or dtype not in (torch.float16, torch.bfloat16)):
                continue
            given = torch.float32 if mixed else dtype
            x, normal = make(*shape, dtype=dtype), shape[-dims:]
            parameters = make(*normal, dtype=given), make(*normal, dtype=given)
            # A mean that is rounded to a half, as PyTorch's on the CPU is, shifts what is left of small rows.
            tolerance = 10 * TOLERANCE[dtype] if given in (torch.float16, torch.bfloat16) else None
            with self.subTest(shape=shape, dims=dims, dtype=dtype, mixed=mixed):
                self.compare(lambda x, w, b: F.layer_norm(x, normal, w, b), x, *parameters, calls=2,
                             tolerance=tolerance)
                if not mixed:
                    self.compare(lambda x: F.layer_norm(x, normal, eps=1e-3), x, calls=2, tolerance=tolerance)

    # Some of the parameters, some of the gradients, and tensors with gaps or expanded ones.
    def test_layer_norm_of_views(self):
        x, w, b = make(4, 6, 10), make(10), make(10)
        self.compare(lambda x, w: F.layer_norm(x, (10,), w), x, w, calls=2)
        self.compare(lambda x, b: F.layer_norm(x, (10,), None, b), x, b, calls=2)
        # Of rows of one element the bias is left.
        self.compare(lambda x, w, b: F.layer_norm(x, (1,), w, b), torch.randn(4, 1), torch.randn(1), make(1), calls=2)
        fixed = torch.randn(4, 6, 10)
        self.compare(lambda x, w, b: F.layer_norm(x, (10,), w, b), fixed, w, b, calls=2)
        self.compare(lambda x, w, b: F.layer_norm(x, (10,), w, b), x, w.detach(), b.detach(), calls=2)
        self.compare(lambda x, w, b: F.layer_norm(x[:, :, 3:], (7,), w[::2], b[:7]), x, make(14), b, calls=2)
        self.compare(lambda x, w, b: F.layer_norm(x.transpose(0, 2), (4,), w, b), x, make(4), make(4), calls=2)
        self.compare(lambda x, w, b: F.layer_norm(x, (10,), w, b).sum(1), x, w, b, calls=2)
        self.compare(lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (6,)), make(2, 6, 3, 4, last=True), calls=2)

    # Both layouts of images, one to all channels in a group, parameters in f32 beside halves.
    def test_group_norm(self):
        for shape, last, dtype in itertools.product(((3, 6), (2, 6, 9), (2, 6, 4, 5), (2, 6, 2, 3, 4)), (False, True),
                                                    TOLERANCE):
            if last and len(shape) < 4:
                continue
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            for groups, given in ((3, dtype), (1, wide), (6, None)):
                if given and given != dtype and DEVICE != "cpu" or groups == 6 and len(shape) == 2:
                    continue
                parameters = [make(6, dtype=given) for _ in range(2)] if given else []
                with self.subTest(shape=shape, last=last, dtype=dtype, groups=groups, given=given):
                    # What is saved is rounded to the type of the parameters.
                    tolerance = 10 * TOLERANCE[dtype] if (given or dtype) in (torch.float16, torch.bfloat16) else None
                    self.compare(lambda x, *rest: F.group_norm(x, groups, *rest, eps=1e-2),
                                 make(*shape, dtype=dtype, last=last), *parameters, calls=2, tolerance=tolerance)
        x, w, b = make(2, 6, 4, 5, last=True), make(6), make(6)
        self.compare(lambda x, w, b: F.group_norm(x, 2, w, b).sum(1), x, w, b, calls=2)
        # With channels last and no gradient of x, PyTorch 2.11 ends the process.
        self.compare(lambda x, w, b: F.group_norm(x, 2, w[::2], b), torch.randn(2, 6, 4, 5), make(12), b, calls=2)

    # Numerical gradients of the formulas, with respect to every input.
    def test_gradients_of_rows(self):
        x, w, b = (make(*shape, dtype=torch.float64) for shape in ((3, 2, 5), (5,), (5,)))
        with tessera.torch.enabled(rows=True):
            for function in (lambda x: F.softmax(x, 1), lambda x: F.log_softmax(x, -1)):
                self.assertTrue(torch.autograd.gradcheck(function, x))
                self.assertTrue(torch.autograd.gradgradcheck(function, x))
            self.assertTrue(torch.autograd.gradcheck(lambda *of: F.layer_norm(of[0], (5,), *of[1:]), (x, w, b)))
            self.assertTrue(torch.autograd.gradgradcheck(lambda x: F.layer_norm(x, (5,)), x))
            x, w = make(2, 4, 3, dtype=torch.float64), make(4, dtype=torch.float64)
            self.assertTrue(torch.autograd.gradcheck(lambda *of: F.group_norm(of[0], 2, *of[1:]), (x, w, w)))
            self.assertEqual(tessera.torch.report().fallbacks, {})

    # The extension answers all eight from the second time on.
    def test_extension_of_rows(self):
        x, w = make(2, 4, 7), make(4)
        count = lambda: sum(counter() for entry in _operators.entries.values() for counter in entry.counters)
        with tessera.torch.enabled(rows=True):
            before = []
            for _ in range(3):
                y = F.group_norm(F.layer_norm(F.softmax(x, 1) + F.log_softmax(x, 2), (7,)), 2, w, w)
                torch.autograd.grad(y.square().sum(), [x, w])
                before.append(count())
            self.assertEqual(sum(tessera.torch.report().calls.values()), 3 * 8)
        self.assertEqual([after - start for start, after in zip(before, before[1:])],
                         [8, 8] if self.has_extension else [0, 0])

    # Operators on rows that are PyTorch's, and its errors.
    def test_fallbacks_of_rows(self):
        x, w = torch.randn(2, 4, 6), torch.randn(6)
        with tessera.torch.enabled(rows=True):
            self.assertEqual(F.softmax(x[:0], 1).shape, (0, 4, 6))
            F.layer_norm(x[:0], (6,), w)
            with self.assertRaisesRegex((RuntimeError, IndexError), "range"):
                F.log_softmax(x, 3)
            with self.assertRaisesRegex(RuntimeError, "shape"):
                torch.native_layer_norm(x, [5], None, None, 1e-5)
            with self.assertRaises(RuntimeError):
                F.layer_norm(x, (6,), w.double())
            with self.assertRaises(RuntimeError):
                F.softmax(torch.ones(3, dtype=torch.complex64), 0).sum()
            report = tessera.torch.report()
        self.assertEqual(report.calls, {})
        self.assertEqual(report.fallbacks["_softmax", "no elements"], 1)
        self.assertEqual(report.fallbacks["native_layer_norm", "no elements"], 1)
        self.assertEqual(report.fallbacks["native_layer_norm", "parameters of another type"], 1)
        self.assertEqual(report.fallbacks["_log_softmax", "a dimension that there is not"], 1)
        with tessera.torch.enabled():
            F.softmax(x, 1)
            self.assertEqual(str(tessera.torch.report()), "nothing was called")

    # Autocast gives the kernels halves; a compiled model reaches them through PyTorch's operators.
    def test_autocast_and_compile(self):
        net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 1))
        x = torch.randn(2, 3, 6, 6)
        wanted = net(x)
        with tessera.torch.enabled():
            with torch.autocast(DEVICE, torch.bfloat16):
                result = net(x)
            compiled = torch.compile(net, backend="aot_eager")(x)
            report = tessera.torch.report()
        self.assertEqual((report.calls["convolution"], report.fallbacks), (4, {}))
        self.assertEqual(result.dtype, torch.bfloat16)
        torch.testing.assert_close(result.float(), wanted, atol=3e-2, rtol=3e-2)
        torch.testing.assert_close(compiled, wanted)

    # What is refused is PyTorch's, counted with its reason; errors are PyTorch's own.
    def test_fallbacks(self):
        x, w = torch.randn(1, 2, 4, 4), torch.randn(2, 2, 3, 3)
        with tessera.torch.enabled():
            F.avg_pool2d(x.double(), 2)
            for _ in range(2):
                self.assertEqual(F.conv2d(x[:0], w).shape, (0, 2, 2, 2))
            F.avg_pool2d(x, 2, divisor_override=3)
            F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)
            F.avg_pool2d(x[0], 2)
            with self.assertRaisesRegex(RuntimeError, "channels"):
                F.conv2d(x, w[:, :1])
            report = tessera.torch.report()
        self.assertEqual(report.calls, {})
        self.assertEqual(report.fallbacks["convolution", "a tensor without elements"], 2)
        self.assertIn("avg_pool2d: 1 calls by PyTorch: a divisor of its own", str(report))
        with self.assertRaisesRegex(tessera.Error, "not enabled"):
            tessera.torch.report()

    # Times are of the calls after the last new shape, ours and PyTorch's, within the time of all.
    def test_times(self):
        x, w = torch.randn(2, 4, 9, 9), torch.randn(4, 4, 3, 3)

        def step(x):
            return F.conv2d(x, w).relu() + F.avg_pool2d(x, 3, 1, divisor_override=3)
        tessera._operators.entries.clear()  # No shape is known from another test.
        with tessera.torch.enabled(timed=True):
            step(x)
            self.assertEqual(tessera.torch.report().times, {})
            for _ in range(3):
                step(x)
            report = tessera.torch.report()
            self.assertEqual(set(report.times), {"convolution", ("avg_pool2d", "a divisor of its own")})
            self.assertTrue(all(time > 0 for time in report.times.values()))
            self.assertLess(sum(report.times.values()), report.total)
            self.assertRegex(str(report), r"convolution: 4 calls of 1 shapes, [0-9.e+]+ ms, \d+ % of the time\n"
                             r"avg_pool2d: 4 calls by PyTorch: a divisor of its own, [0-9.e-]+ ms, \d+ % of the time")
            F.conv2d(x[:1], w)
            self.assertNotIn("convolution", tessera.torch.report().times)
        with tessera.torch.enabled():
            step(x)
            self.assertEqual((tessera.torch.report().times, tessera.torch.report().total), ({}, 0.0))

    # Threads have handles and entries of their own.
    def test_threads(self):
        x, w = torch.randn(2, 4, 6, 6), torch.randn(3, 4, 3, 3)
        wanted, results = F.conv2d(x, w), []
        with tessera.torch.enabled():
            threads = [threading.Thread(target=lambda: results.extend(F.conv2d(x, w) for _ in range(5)))
                       for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(tessera.torch.report().calls, {"convolution": 20})
        for result in results:
            torch.testing.assert_close(result, wanted)

    # Two processes, each with half of the images, add up their gradients: gloo's between CPUs, NCCL's between GPUs.
    @unittest.skipIf(DEVICE == "cuda" and torch.cuda.device_count() < 2, "needs two GPUs")
    def test_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            with torch.device("cpu"):
                torch.multiprocessing.spawn(train_share, (os.path.join(folder, "address"), folder), nprocs=2)
            shares = [torch.load(os.path.join(folder, str(rank))) for rank in range(2)]
        for gradients, calls, fallbacks in shares:
            self.assertEqual((calls, fallbacks), (3 * 8, {}))
            for mine, wanted in zip(gradients[True], gradients[False]):
                torch.testing.assert_close(mine, wanted, rtol=1e-4, atol=1e-5)
        for first, second in zip(shares[0][0][True], shares[1][0][True]):
            self.assertTrue(torch.equal(first, second))

    # Calls of one process alternate between two GPUs; each has its own handle, kernels and workspace.
    @unittest.skipIf(DEVICE == "cpu" or torch.cuda.device_count() < 2, "needs two GPUs")
    def test_two_gpus(self):
        networks = [make_network(f"cuda:{index}") for index in range(2)]
        wanted = [torch.autograd.grad(net(x).square().mean(), list(net.parameters())) for net, x in networks]
        with tessera.torch.enabled():
            for _ in range(3):
                for (net, x), gradients in zip(networks, wanted):
                    mine = torch.autograd.grad(net(x).square().mean(), list(net.parameters()))
                    for one, other in zip(mine, gradients):
                        self.assertEqual(one.device, x.device)
                        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
            report = tessera.torch.report()
        self.assertEqual((sum(report.calls.values()), report.fallbacks), (6 * 8, {}))

    # A plan is decided once by Python; then the extension carries it out: results, counts, gradients of a bias, a
    # momentum that changes, errors, and calls that it leaves to Python.
    def test_extension(self):
        x, w, b = make(2, 4, 6, 6), make(4, 4, 3, 3), make(4)
        mean, variance = torch.zeros(4), torch.ones(4)
        tessera.torch.enable()
        carried_out = []
        for step in range(3):
            y = F.batch_norm(F.conv2d(x, w, b), mean, variance, b, b, True, 1 / (step + 1))
            torch.autograd.grad(y.square().sum(), [x, w, b])
            carried_out.append(sum(counter() for entry in _operators.entries.values()
                                   for counter in entry.counters) - sum(carried_out))
        self.assertEqual(carried_out[1:], [4, 4] if self.has_extension else [0, 0])
        report = tessera.torch.report()
        self.assertEqual((sum(report.calls.values()), report.fallbacks), (12, {}))
        torch.testing.assert_close(mean, F.conv2d(x, w, b).mean((0, 2, 3)).detach())
        with self.assertRaisesRegex(RuntimeError, "channels"):
            F.conv2d(x, w[:, :1])
        F.conv2d(x[:, :, ::2], w)
        F.conv2d(x[:, :, ::2], w)
        self.assertEqual(tessera.torch.report().calls["convolution"], 6)
        tessera.torch.disable()
        self.assertIsNone(tessera.torch._override)
        F.conv2d(x, w, b)

    # What a function will ask for is compiled before it is called; the function itself runs on PyTorch's operators.
    def test_prepare(self):
        leaves = [make(1, 4, 5, 6 + self.has_extension), make(3, 4, 2, 3)]
        step = lambda: F.conv2d(*leaves).sum().backward()
        self.assertEqual(tessera.torch.prepare(step), 3)
        with tessera.torch.enabled():
            before = get_counters()
            step()
            self.assertEqual(get_counters(), before)
            self.assertEqual(sum(tessera.torch.report().calls.values()), 2)

    # A graph's replay computes anew from what lies in its inputs; a shape that a capture meets first is PyTorch's.
    @unittest.skipIf(DEVICE == "cpu", "the emulated device has no graphs")
    def test_graphs_and_streams(self):
        x, w = make(2, 8, 9, 9), make(8, 8, 3, 3)
        run = lambda: torch.autograd.grad(F.conv2d(x, w).square().sum(), [x, w])
        tessera.torch.enable()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = run()
            F.conv2d(x, w, padding=1)
        report = tessera.torch.report()
        self.assertEqual(sum(report.calls.values()), 4)
        self.assertIn("during a graph's capture", str(report))
        with torch.no_grad():
            x.copy_(torch.randn(x.shape))
        graph.replay()
        tessera.torch.disable()
        for mine, wanted in zip(result, run()):
            torch.testing.assert_close(mine, wanted, rtol=1e-4, atol=1e-3)

    # A small network learns the same with ours as with PyTorch's.
    def test_training(self):
        def train():
            torch.manual_seed(0)
            net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                                      torch.nn.AvgPool2d(2), torch.nn.Conv2d(8, 4, 3), torch.nn.Flatten())
            step = torch.optim.SGD(net.parameters(), 0.1)
            x, y = torch.randn(4, 1, 8, 8), torch.randint(0, 4, (4,))
            losses = []
            for _ in range(10):
                step.zero_grad()
                loss = F.cross_entropy(net(x), y)
                loss.backward()
                step.step()
                losses.append(loss.item())
            return losses
        wanted = train()
        tessera.torch.enable()
        torch.testing.assert_close(train(), wanted, rtol=1e-4, atol=1e-5)
        self.assertEqual(tessera.torch.report().fallbacks, {})


class PythonTest(TorchTest):
    """The same without the extension."""
    has_extension = False


if __name__ == "__main__":
    unittest.main()
