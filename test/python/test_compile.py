"""torch.compile's backend "tessera" on the emulated device, against PyTorch's own operators in eager mode. With
TESSERA_DEVICE=nvidia, the same on the GPU, where CUDA graphs are tested as well.
"""

import contextlib
import copy
import math
import os
import threading
import unittest
import warnings
from unittest import mock

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is not installed: {error}") from error

import tessera.compile
import tessera.torch
from tessera import _backend, _convolution, _fused, _layouts, _library, _rewrite

DEVICE = "cpu" if os.environ.get("TESSERA_DEVICE", "").startswith("emulated") else "cuda"
LAST = torch.channels_last
# Inductor's C++ takes half a minute; one test has it.
WITHOUT_INDUCTOR = {"inductor": False}


class Block(nn.Module):
    """Two convolutions beside an identity."""

    def __init__(self, channels):
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.second, self.second_norm = nn.Conv2d(channels, channels, 1), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.first_norm(self.first(x)), inplace=True)
        return F.relu(self.second_norm(self.second(y)) + x)


def make_network(*layers):
    """Layers in inference, whose normalisation changes something."""
    torch.manual_seed(0)
    network = nn.Sequential(*layers).to(DEVICE, memory_format=LAST).eval()
    for module in network.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
            for tensor in (module.weight, module.bias, module.running_mean)[0 if module.affine else 2:]:
                nn.init.normal_(tensor)
            nn.init.uniform_(module.running_var, 0.5, 2)
    return network


def make_residual_network():
    return make_network(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(3, 2, 1), Block(8),
                        nn.BatchNorm2d(8), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))


def make(*shape):
    return torch.randn(shape, device=DEVICE).contiguous(memory_format=LAST)


class Recorded:
    """Stands for a captured graph where there is none: it reads arguments where they were, but those given."""
    calls = 0

    def __init__(self, function, arguments, changing):
        self.function, self.changing = function, changing
        self.arguments = [one.detach() if isinstance(one, torch.Tensor) else one for one in arguments]

    def __call__(self, given):
        Recorded.calls += 1
        arguments = list(self.arguments)
        for number, one in zip(self.changing, given):
            arguments[number] = one
        return [one.clone() for one in self.function(arguments)]


class CompileTest(unittest.TestCase):
    def setUp(self):
        torch.compiler.reset()
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        _fused.start().fallbacks.clear()

    def count(self, function):
        """What our operators are called in a function, how often; nothing may have fallen back in this test."""
        operators = _fused.start()
        before = operators.count()[0]
        function()
        self.assertEqual(operators.fallbacks, {})
        return dict(operators.count()[0] - before)

    def compare(self, network, *inputs, atol=1e-5, calls=None, **options):
        """The compiled network against the network, without gradients. `calls` is how often our operators are called.
        """
        compiled = torch.compile(network, backend="tessera", options={**WITHOUT_INDUCTOR, **options})
        with torch.no_grad():
            for x in inputs:
                result, wanted = compiled(x), network(x)
                torch.testing.assert_close(result, wanted, atol=atol, rtol=atol)
                self.assertEqual(result.stride(), wanted.stride())
            count = self.count(lambda: compiled(x))
        if calls:
            self.assertEqual(count, {f"compiled_{name}": number for name, number in calls.items()})
        return compiled

    # Convolution, normalisation, addition and activation are one kernel; poolings are ours.
    def test_fuses_a_block(self):
        self.compare(make_residual_network(), make(2, 3, 12, 12),
                     calls={"convolution": 3, "max_pool": 1, "avg_pool": 1})

    # Without fusion: the same numbers.
    def test_options(self):
        self.compare(make_residual_network(), make(2, 3, 12, 12), fuse=False,
                     calls={"convolution": 3, "max_pool": 1, "avg_pool": 1})
        with self.assertRaisesRegex(Exception, "no option fast, but cuda_graphs"):
            torch.compile(nn.ReLU(), backend="tessera", options={"fast": True})(make(1, 1, 1, 1))
        with self.assertRaisesRegex(ValueError, "no mode 'fast', but default, reduce-overhead, max-autotune"):
            _backend._read_options("fast", None)

    # What reads a large tensor begins at the end that was written last; small ones and another option leave all alone.
    def test_orders(self):
        names = [_rewrite.get_operator(f"compiled_{name}") for name in ("convolution", "max_pool", "avg_pool")]
        for large, alternate, wanted in ((1, True, [False, True, False, True, True]), (1, False, [False] * 5),
                                         (_rewrite.LARGE, True, [False] * 5)):
            orders = []

            def split(module, static):
                orders.extend(node.args[-1] for node in _rewrite.find(module.graph, *names))
                return original(module, static)
            original = _rewrite.Split
            torch.compiler.reset()
            with mock.patch.object(_rewrite, "LARGE", large), mock.patch.object(_rewrite, "Split", split):
                self.compare(make_residual_network(), make(2, 3, 12, 12), alternate=alternate,
                             calls={"convolution": 3, "max_pool": 1, "avg_pool": 1})
            self.assertEqual(orders, wanted)

    # What is left goes through Inductor.
    def test_inductor(self):
        self.compare(make_residual_network(), make(2, 3, 12, 12), inductor=True,
                     calls={"convolution": 3, "max_pool": 1, "avg_pool": 1})

    # Group and instance normalisation: the statistics are ours, for every number of groups, with weights and without.
    def test_image_norms(self):
        for groups, affine, batch in ((2, True, 2), (8, False, 1), (1, True, 3)):
            torch.compiler.reset()
            network = make_network(nn.Conv2d(3, 8, 3), nn.GroupNorm(groups, 8, affine=affine), nn.SiLU(),
                                   nn.Conv2d(8, 8, 3), nn.InstanceNorm2d(8, affine=affine), nn.ReLU(), nn.Conv2d(8, 4, 1))
            self.compare(network, make(batch, 3, 9, 8), calls={"convolution": 3, "moments": 2})
        volume = nn.Sequential(nn.Conv3d(2, 4, 2), nn.InstanceNorm3d(4), nn.LeakyReLU(), nn.Flatten())
        volume = volume.to(DEVICE, memory_format=torch.channels_last_3d).eval()
        x = torch.randn(2, 2, 4, 5, 6, device=DEVICE).contiguous(memory_format=torch.channels_last_3d)
        self.compare(volume, x, calls={"convolution": 1, "moments": 1})

    # A large mean costs no digits, and images of one pixel, with gaps, or in the other layout are PyTorch's.
    def test_image_norms_that_differ(self):
        norm, x = nn.GroupNorm(2, 4).to(DEVICE).eval(), make(2, 4, 5, 5) + 1000
        with torch.no_grad():
            result = torch.compile(norm, backend="tessera", options=WITHOUT_INDUCTOR)(x)
            torch.testing.assert_close(result.double(), copy.deepcopy(norm).double()(x.double()), atol=2e-4, rtol=2e-4)
        for x in (make(2, 4, 1, 1), make(2, 4, 5, 5)[..., 1:], torch.randn(2, 4, 5, 5, device=DEVICE)):
            torch.compiler.reset()
            self.compare(norm, x, calls={})

    # On GPUs PyTorch brings images to NCHW in front of the normalisation of groups; so does this network by itself.
    def test_image_norms_of_gpus(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8)

            def forward(self, x):
                return self.norm(self.conv(x).contiguous())
        self.compare(make_network(Net()), make(2, 3, 6, 6), calls={"convolution": 1, "moments": 1})

    # Inductor hands over gradients as they lie in the graph, behind a mean, too.
    def test_strides_of_gradients(self):
        seen, decide = [], _convolution.Backward.decide

        def watch(entry, grad, *rest):
            seen.append(grad.is_contiguous(memory_format=LAST))
            return decide(entry, grad, *rest)
        network = nn.Sequential(nn.Conv2d(3, 8, 1), Block(8), Block(8)).to(DEVICE, memory_format=LAST)
        with mock.patch.object(_convolution.Backward, "decide", watch):
            torch.compile(network, backend="tessera")(make(2, 3, 6, 6)).mean((2, 3)).sum().backward()
        self.assertEqual(set(seen), {True})

    # An image that lies otherwise is brought to channels last once, before the convolutions that read it.
    def test_lays_channels_last(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.convs = nn.ModuleList([nn.Conv2d(3, 6, 3), nn.Conv2d(6, 4, 3), nn.Conv2d(6, 4, 3)])

            def forward(self, x):
                x = self.convs[0](x).contiguous() * 2
                return self.convs[1](x) + self.convs[2](x), x.view(x.shape[0], -1)
        seen = []
        decide = _fused._Forward.decide

        def watch(entry, x, *rest):
            seen.append(x.is_contiguous(memory_format=LAST))
            return decide(entry, x, *rest)
        network, x = make_network(Net()), make(2, 3, 8, 8)
        with mock.patch.object(_fused._Forward, "decide", watch), torch.no_grad():
            results = torch.compile(network, backend="tessera", options=WITHOUT_INDUCTOR)(x)
        self.assertEqual(set(seen), {True})
        for mine, wanted in zip(results, network(x)):
            torch.testing.assert_close(mine, wanted, atol=1e-5, rtol=1e-5)
            self.assertEqual(mine.stride(), wanted.stride())

    # Each activation, alone and behind an addition; two results that are added; one that is read twice.
    def test_activations_and_additions(self):
        class Net(nn.Module):
            def __init__(self, activation):
                super().__init__()
                self.a, self.b, self.activation = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 1), activation

            def forward(self, x):
                y = self.activation(self.a(x) + self.b(x))
                z = self.a(self.activation(y - 1))
                return z * torch.sigmoid(z) + self.activation(self.b(y)), self.b(y) + self.b(y)[:1]
        for activation in (F.relu, torch.sigmoid, torch.tanh, torch.abs, F.relu6, F.hardtanh, F.elu, F.leaky_relu,
                           F.silu, lambda v: F.leaky_relu(v, 0.3), lambda v: v.clamp(min=0.1)):
            torch.compiler.reset()
            network = Net(activation).to(DEVICE, memory_format=LAST)
            x = make(2, 4, 5, 6)
            compiled = torch.compile(network, backend="tessera", options=WITHOUT_INDUCTOR)
            with torch.no_grad():
                for mine, wanted in zip(compiled(x), network(x)):
                    torch.testing.assert_close(mine, wanted, atol=2e-5, rtol=2e-5)
                self.assertEqual(self.count(lambda: compiled(x)), {"compiled_convolution": 6})

    # Folding behind a transposed convolution, with groups, in three dimensions, and where it cannot be: before one.
    def test_folding(self):
        layers = (nn.BatchNorm2d(4), nn.ConvTranspose2d(4, 6, 3, 2, 1), nn.BatchNorm2d(6),
                  nn.ConvTranspose2d(6, 4, 2, groups=2), nn.BatchNorm2d(4, affine=False),
                  nn.Conv2d(4, 8, 3, groups=4, bias=False), nn.BatchNorm2d(8))
        self.compare(make_network(*layers), make(2, 4, 5, 5))
        torch.manual_seed(0)
        volume = nn.Sequential(nn.Conv3d(2, 4, 3, bias=False), nn.BatchNorm3d(4), nn.ReLU()).to(DEVICE).eval()
        self.compare(volume, torch.randn(1, 2, 5, 5, 5, device=DEVICE), calls={"convolution": 1})

    # Halves, and autocast: weights are rounded once, so that the distance from f32 is no larger than PyTorch's.
    def test_halves(self):
        network, x = make_residual_network(), make(2, 3, 12, 12)
        compiled = torch.compile(network, backend="tessera", options=WITHOUT_INDUCTOR)
        with torch.no_grad():
            wanted = network(x)
            with torch.autocast(DEVICE, torch.bfloat16):
                results = [network(x), compiled(x)]
            network, x = network.bfloat16(), x.bfloat16()
            results += [network(x), compiled(x)]
        errors = [((result.float() - wanted).norm() / wanted.norm()).item() for result in results]
        for theirs, ours in zip(errors[::2], errors[1::2]):
            self.assertLess(ours, 1.5 * theirs + 1e-3)

    # Weights that are written in place, loaded, or replaced are folded anew.
    def test_changed_weights(self):
        network, x = make_residual_network(), make(2, 3, 12, 12)
        compiled = self.compare(network, x)

        def check():
            with torch.no_grad():
                torch.testing.assert_close(compiled(x), network(x), atol=1e-5, rtol=1e-5)
        with torch.no_grad():
            network[0].weight.mul_(2)
            network[1].running_var.add_(1)
        check()
        network.load_state_dict({name: value + 0.5 for name, value in network.state_dict().items()})
        check()
        network[0].weight.data = network[0].weight.data.flip(0)
        check()
        network[4].first = copy.deepcopy(network[0])
        network[4].first = nn.Conv2d(8, 8, 3, padding=1, bias=False, device=DEVICE)
        check()
        with torch.inference_mode():
            torch.testing.assert_close(compiled(x), network(x), atol=1e-5, rtol=1e-5)

    # Where a graph is replayed before weights are looked at, it is replayed again, or captured anew, if they changed.
    def test_changed_weights_of_graphs(self):
        network, x, y = make_residual_network(), make(2, 3, 12, 12), make(2, 3, 12, 12)
        compiled = torch.compile(network, backend="tessera", options={**WITHOUT_INDUCTOR, "cuda_graphs": True})

        def check(calls, given):
            Recorded.calls = 0
            torch.testing.assert_close(compiled(given), network(given), atol=1e-5, rtol=1e-5)
            self.assertEqual(Recorded.calls, calls)
        with contextlib.ExitStack() as stack, torch.no_grad():
            for target, value in (("tessera._backend._is_on_gpu", lambda module: True), ("tessera._step._Replay", Recorded),
                                  ("torch.cuda.is_current_stream_capturing", lambda: False),
                                  ("torch.cuda.current_stream", lambda: mock.Mock(cuda_stream=0))):
                stack.enter_context(mock.patch(target, value))
            check(1, x)
            check(1, y)
            network[0].weight.mul_(2)
            check(2, x)
            check(1, y)
            network[-1].weight.mul_(2)
            check(2, x)
            network[0].weight.data = network[0].weight.data.flip(0)
            check(2, x)
            network[-1].weight.data = network[-1].weight.data.flip(0)  # The graph reads it as it is.
            check(1, x)
            check(1, y)

    # Other batches compile anew: first for each, then for all. Both ways are right.
    def test_batches(self):
        network = make_residual_network()
        self.compare(network, *(make(n, 3, 12, 12) for n in (2, 3, 5, 1, 2)))
        torch.compiler.reset()
        self.compare(network, make(2, 3, 12, 12), make(2, 3, 10, 14))
        torch.compiler.reset()
        compiled = torch.compile(network, backend="tessera", dynamic=True, options=WITHOUT_INDUCTOR)
        with torch.no_grad():
            for n in (2, 4):
                x = make(n, 3, 12, 12)
                torch.testing.assert_close(compiled(x), network(x), atol=1e-5, rtol=1e-5)

    # A layout that is not the channels' last, results that are views, and inputs that are written.
    def test_layouts_and_views(self):
        network = make_network(nn.Conv2d(3, 4, 3), nn.ReLU()).to(memory_format=torch.contiguous_format)
        self.compare(network, torch.randn(2, 3, 6, 6, device=DEVICE))

        def function(x, w):
            y = F.conv2d(x, w)
            x.add_(1)
            return y.transpose(0, 1), x, y.relu()
        inputs = [torch.randn(2, 3, 5, 5, device=DEVICE), torch.randn(4, 3, 3, 3, device=DEVICE)]
        mine = torch.compile(function, backend="tessera", options=WITHOUT_INDUCTOR)
        with torch.no_grad():
            for result, wanted in zip(mine(*copy.deepcopy(inputs)), function(*inputs)):
                torch.testing.assert_close(result, wanted, atol=1e-5, rtol=1e-5)

    # Gradients, running statistics, and a second batch.
    def test_training(self):
        mine = make_network(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(2),
                            nn.Conv2d(8, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3)).train()
        theirs = copy.deepcopy(mine)
        compiled = torch.compile(mine, backend="tessera", options=WITHOUT_INDUCTOR)
        for batch in (2, 3):
            x = make(batch, 3, 8, 8)
            compiled(x).square().sum().backward()
            theirs(x).square().sum().backward()
        theirs(x).square().sum().backward()
        self.assertEqual(self.count(lambda: compiled(x).square().sum().backward()),
                         {"compiled_convolution": 2, "compiled_convolution_backward": 2})
        for one, other in zip(mine.parameters(), theirs.parameters()):
            torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4)
        for one, other in zip(mine.buffers(), theirs.buffers()):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
        x = make(2, 3, 8, 8)
        with torch.autocast(DEVICE, torch.bfloat16):
            compiled(x).sum().backward()
        torch.testing.assert_close(compiled.eval()(x), mine(x), atol=1e-5, rtol=1e-5)

    # Batch normalisation with ReLU and both gradients as two kernels, beside one without ReLU.
    def test_training_norms(self):
        mine = make_network(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(True), nn.Conv2d(8, 4, 2),
                            nn.BatchNorm2d(4), nn.Sigmoid(), nn.BatchNorm2d(4, affine=False), nn.ReLU()).train()
        theirs, exact, x = copy.deepcopy(mine), copy.deepcopy(mine).double(), make(2, 3, 8, 8)
        compiled = torch.compile(mine, backend="tessera", options={**WITHOUT_INDUCTOR, "norm_relu": True})
        for number in range(2):
            for module in (mine, theirs, exact):
                module[1].momentum = 1 / (number + 2)
            theirs(x).square().sum().backward()
            exact(x.double()).square().sum().backward()
            count = self.count(lambda: compiled(x).square().sum().backward())
        self.assertEqual(count["compiled_norm_relu"], count["compiled_norm_relu_backward"])
        # A bias in front of a normalisation has no gradient but rounding errors, which differ between runs of PyTorch's.
        self.compare_steps(mine, theirs, exact, 8, 5e-5, least=1)

    # Convolutions measure what a batch normalisation behind them reads, in 16 bits: their statistics are those of what
    # they store, and gradients and running statistics are as near to f32's as PyTorch's own.
    def test_training_statistics(self):
        for dtype in (torch.bfloat16, torch.float16):
            mine = make_network(
                nn.Conv2d(8, 64, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 72, 3, 2, 1, bias=False),
                nn.BatchNorm2d(72), nn.Conv2d(72, 8, 1), nn.BatchNorm2d(8, affine=False), nn.AdaptiveAvgPool2d(3)).train()
            x, weights = make(4, 8, 17, 15) + 3, torch.randn(8, 3, 3, device=DEVICE)
            count = self.check_step(mine, {"statistics": True}, dtype, x, weights)
            # The third has a bias.
            self.assertEqual((count["compiled_conv_statistics"], count["compiled_convolution"]), (2, 1))

    # Gradients of convolutions add up what the gradient of a batch normalisation in front needs: behind a ReLU that is
    # computed again, at the end of a residual block, where the other branch's gradient is added, and without a ReLU.
    # A convolution with strides leaves it to PyTorch. The same beside statistics, and beside normalisations of ours.
    def test_training_norm_gradients(self):
        class Residual(nn.Module):
            def __init__(self, shortcut):
                super().__init__()
                self.body = nn.Sequential(
                    nn.Conv2d(64, 72, 1, bias=False), nn.BatchNorm2d(72), nn.ReLU(),
                    nn.Conv2d(72, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64))
                self.shortcut = nn.Sequential(
                    nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64)) if shortcut else nn.Identity()

            def forward(self, x):
                return (self.body(x) + self.shortcut(x)).relu()
        # Other batches, since preparing calls what is compiled already.
        for dtype, batch, further in ((torch.bfloat16, 4, {}), (torch.float16, 3, {"statistics": True}),
                                      (torch.bfloat16, 2, {"statistics": True, "norm_relu": True})):
            mine = make_network(
                nn.Conv2d(8, 64, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), Residual(True), Residual(False),
                nn.Conv2d(64, 64, 1, bias=False), nn.BatchNorm2d(64), nn.Conv2d(64, 64, 1, bias=False),
                nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 8, 3, 2, 1)).train()
            for module in mine.modules():
                if isinstance(module, nn.BatchNorm2d):
                    nn.init.uniform_(module.weight, 0.5, 1.5)
                    nn.init.uniform_(module.bias, -0.5, 0.5)
            x, weights = make(batch, 8, 11, 9) + 3, torch.randn(8, 5, 4, device=DEVICE)
            count = self.check_step(mine, {"norm_gradients": True, **further}, dtype, x, weights)
            # One behind the first ReLU, whose gradient joins two branches; two in each block, of which the second has
            # one at its beginning, too; one without ReLU.
            self.assertEqual(count["compiled_conv_norm_backward"], 6, further)

    # Both are on where a GPU has wgmma, and only there, unless options say so.
    def test_options_of_chips(self):
        x, names = torch.ones(1), ("statistics", "norm_gradients")
        for is_cuda, capability, given, wanted in ((False, (9, 0), {}, (False, False)), (True, (9, 0), {}, (True, True)),
                                                   (True, (10, 0), {}, (False, False)),
                                                   (True, (9, 0), {"statistics": False}, (False, True))):
            with mock.patch.object(torch.Tensor, "is_cuda", is_cuda), mock.patch.object(torch.version, "hip", None), \
                    mock.patch.object(torch.cuda, "get_device_capability", lambda device, found=capability: found):
                chosen = _backend._choose(_backend.Options(**given), [x, 3])
            self.assertEqual(tuple(getattr(chosen, name) for name in names), wanted)

    # The same with batches that change, which PyTorch compiles for all sizes then.
    def test_training_batches(self):
        torch.manual_seed(0)
        mine = make_network(
            nn.Conv2d(8, 64, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 1, bias=False),
            nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 8, 3)).train()
        options = {**WITHOUT_INDUCTOR, "statistics": True, "norm_gradients": True}
        compiled = torch.compile(mine, backend="tessera", options=options)
        for batch in (2, 3, 5):
            exact, theirs = copy.deepcopy(mine), copy.deepcopy(mine)
            x, weights = make(batch, 8, 9, 9), torch.randn(8, 5, 5, device=DEVICE)
            self.run_step(exact, None, x, weights)
            self.run_step(theirs, torch.bfloat16, x, weights)
            count = self.count(lambda: self.run_step(compiled, torch.bfloat16, x, weights))
            self.assertEqual((count["compiled_conv_statistics"], count["compiled_conv_norm_backward"]), (2, 2))
            self.compare_steps(mine, theirs, exact)
            mine.zero_grad(set_to_none=True)

    # The operator and what stands in for it, of each kind. In 16 bits the latter's sums are of what it has rounded.
    def test_norm_gradients(self):
        torch.manual_seed(0)
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            z, mask, residual, w = make(2, 16, 9, 7) + 20, make(2, 16, 9, 7), make(2, 16, 9, 7), make(24, 16, 3, 3)
            grad, (mean, inverse, scale, bias) = make(2, 24, 5, 5), torch.randn(4, 16, device=DEVICE)
            z, mask, residual, w, grad = (one.to(dtype) for one in (z, mask, residual, w, grad))
            mean, inverse = mean + 20, inverse.abs() + 1
            window = [2, 1], [1, 0], [1, 1], 1
            for further, numbers in (((None, None, None), (None,)), ((scale, bias, None), (residual,)),
                                     ((None, None, mask), (None, residual))):
                for added in numbers:
                    arguments = grad, w, added, z, mean, inverse, *further, *window
                    results = torch.ops.tessera_compiled.compiled_conv_norm_backward(*arguments)
                    self.assertEqual(_fused.start().fallbacks, {})
                    wanted = _fused._convolve_norm_backward(*arguments)
                    torch.testing.assert_close(results[0], wanted[0], atol=2e-1, rtol=2e-2)
                    if dtype is torch.float32:
                        torch.testing.assert_close(results[1:], wanted[1:], atol=1e-2, rtol=1e-4)
                    self.assertTrue(results[0].is_contiguous(memory_format=LAST))
                    # The sums are those of what is stored.
                    wide = results[0].double()
                    torch.testing.assert_close(results[1].double(), wide.sum((0, 2, 3)), atol=1e-4, rtol=1e-5)
                    n = (z.double() - mean.view(-1, 1, 1)) * inverse.view(-1, 1, 1)
                    torch.testing.assert_close(results[2].double(), (wide * n).sum((0, 2, 3)), atol=1e-3, rtol=1e-5)

    def check_step(self, mine, options, dtype, x, weights):
        """Trains by one step: a copy in f32, one in PyTorch's `dtype`, and `mine` compiled. Returns its calls."""
        exact, theirs = copy.deepcopy(mine), copy.deepcopy(mine)
        compiled = torch.compile(mine, backend="tessera", options={**WITHOUT_INDUCTOR, **options})

        self.run_step(exact, None, x, weights)
        self.run_step(theirs, dtype, x, weights)
        count = self.count(lambda: self.run_step(compiled, dtype, x, weights))
        self.compare_steps(mine, theirs, exact)
        return count

    @staticmethod
    def run_step(network, dtype, x, weights):
        """Adds the gradients of a weighted sum, with autocast if there is a type."""
        with torch.autocast(DEVICE, dtype, enabled=dtype is not None):
            y = network(x)
        (y.float() * weights).sum().backward()

    def compare_steps(self, mine, theirs, exact, factor=1.5, floor=5e-3, least=1e-2):
        """Gradients and buffers, whose distance from those of a wider type may be `factor` times PyTorch's own. It is
        a fraction of the norm plus `least`.
        """
        for name, tensor in exact.state_dict(keep_vars=True).items():
            tensors = [network.state_dict(keep_vars=True)[name] for network in (mine, theirs)]
            wanted, one, other = (t.grad if t.requires_grad else t.double() for t in (tensor, *tensors))
            norm = wanted.double().norm().item() + least
            mine_off, theirs_off = ((t.double() - wanted.double()).norm().item() / norm for t in (one, other))
            self.assertLess(mine_off, factor * theirs_off + floor, name)

    # The operator and what stands in for it, with channels whose mean is many deviations from zero.
    def test_statistics(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            x, w = (make(2, 8, 9, 7) + 20).to(dtype), make(24, 8, 3, 3).to(dtype)
            arguments = [2, 1], [1, 0], [1, 1], 1
            y, mean, variance = torch.ops.tessera_compiled.compiled_conv_statistics(x, w, *arguments)
            self.assertEqual(_fused.start().fallbacks, {})
            torch.testing.assert_close(y, F.conv2d(x, w, None, *arguments), atol=1e-1, rtol=2e-2)
            wide = y.double()
            torch.testing.assert_close(mean.double(), wide.mean((0, 2, 3)), atol=1e-4, rtol=1e-5)
            torch.testing.assert_close(variance.double(), wide.var((0, 2, 3), correction=0), atol=1e-4, rtol=1e-3)
            self.assertTrue(y.is_contiguous(memory_format=LAST))
            for one, other in zip(_fused._convolve_and_measure(x, w, *arguments)[1:], (mean, variance)):
                torch.testing.assert_close(one, other, atol=1e-1, rtol=5e-2)

    # Maximum pooling keeps a byte for its gradient, ours and PyTorch's the same; poolings that are not ours beside it.
    def test_training_pools(self):
        for dims, kind in ((2, nn.MaxPool2d), (3, nn.MaxPool3d)):
            for is_last in (True, False):
                conv = {2: nn.Conv2d, 3: nn.Conv3d}[dims](3, 8, 3, padding=1)
                mine = nn.Sequential(conv, kind(3, 2, 1, ceil_mode=True), kind(2, dilation=2), nn.Flatten()).to(DEVICE)
                x = torch.randn(2, 3, *[9, 12, 8][:dims], device=DEVICE)
                x = x.contiguous(memory_format=_layouts.LAST[dims + 2]) if is_last else x
                theirs = copy.deepcopy(mine)
                compiled = torch.compile(mine, backend="tessera", options=WITHOUT_INDUCTOR)
                theirs(x).square().sum().backward()
                compiled(torch.cat([x, x])).square().sum().backward()
                mine.zero_grad()
                count = self.count(lambda: compiled(x).square().sum().backward())
                self.assertEqual((count["compiled_max_pool_mask"], count["compiled_max_pool_backward"]), (1, 1))
                for one, other in zip(mine.parameters(), theirs.parameters()):
                    torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4)
                arguments = [3] * dims, [2] * dims, [1] * dims, True
                y, mask = torch.ops.tessera_compiled.compiled_max_pool_mask(x, *arguments)
                for one, other in zip((y, mask), _fused._pool_mask(x, *arguments)):
                    torch.testing.assert_close(one, other)
                rest = list(x.shape), *arguments, is_last, mask
                torch.testing.assert_close(torch.ops.tessera_compiled.compiled_max_pool_backward(y, *rest),
                                           _fused._pool_backward(y, *rest))

    # Behind a ReLU, zeros of its gradient go into that of the pooled result, also where a maximum is a NaN.
    def test_pooled_gradients(self):
        seen, mask = [], _rewrite.mask_pooled_gradients

        def look(graph):
            mask(graph)
            seen.extend(tuple(node.args[0].meta["val"].shape) for node in graph.nodes if "threshold" in str(node.target))
        mine = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2, 1)).to(
            DEVICE, memory_format=LAST)
        theirs, x = copy.deepcopy(mine), make(2, 8, 12, 10) - 0.5
        with mock.patch.object(_rewrite, "mask_pooled_gradients", look):
            compiled = torch.compile(mine, backend="tessera", options={**WITHOUT_INDUCTOR, "norm_gradients": True})
            for value in (0.25, math.nan):
                x[1, 3, 5, 5] = value
                weights = make(2, 16, 6, 5)
                for network, function in ((mine, compiled), (theirs, theirs)):
                    network.zero_grad()
                    y = function(x)
                    (y * weights).sum().backward()
                for one, other in zip(mine.parameters(), theirs.parameters()):
                    torch.testing.assert_close(one.grad, other.grad, atol=1e-4, rtol=1e-4, equal_nan=True)
        self.assertEqual(seen, [(2, 16, 6, 5)])

    # A gradient that lies otherwise than the image is gathered once for both gradients of a convolution.
    def test_gradient_layouts(self):
        conv = nn.Conv2d(8, 4, 3).to(DEVICE, memory_format=LAST)
        seen = []

        def look(graph):
            _replace(graph)
            seen.extend(node.args[0].meta["val"] for node in graph.nodes if "convolution_backward" in str(node.target))
        _replace = _rewrite.replace_gradients
        with mock.patch.object(_rewrite, "replace_gradients", look):
            compiled = torch.compile(lambda x: conv(x).contiguous(), backend="tessera", options=WITHOUT_INDUCTOR)
            x, grad = make(2, 8, 6, 6).requires_grad_(), torch.randn(2, 4, 4, 4, device=DEVICE)
            compiled(x).backward(grad)
        self.assertTrue(seen and all(one.is_contiguous(memory_format=LAST) for one in seen))
        mine, x.grad, conv.weight.grad = (x.grad, conv.weight.grad), None, None
        conv(x).backward(grad)
        for one, other in zip(mine, (x.grad, conv.weight.grad)):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)

    # A type without kernels is PyTorch's, and so is what a kernel is refused for, which is counted.
    def test_refusals(self):
        network = make_network(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2, dilation=2)).double()
        self.compare(network, make(1, 3, 8, 8).double(), atol=1e-9)
        compiled = torch.compile(network.float(), backend="tessera", options=WITHOUT_INDUCTOR)
        x = make(1, 3, 8, 8)
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), network(x), atol=1e-5, rtol=1e-5)
        self.assertEqual(dict(_fused.start().fallbacks), {("compiled_max_pool", "a dilation"): 1})

    # tessera.torch.prepare() of a compiled step compiles its kernels, and the step is as right as before.
    def test_prepare(self):
        network, x = make_residual_network(), make(1, 3, 20, 12)
        compiled = torch.compile(network, backend="tessera", options=WITHOUT_INDUCTOR)
        with torch.no_grad():
            self.assertEqual(tessera.torch.prepare(lambda: compiled(x)), 5)
            torch.testing.assert_close(compiled(x), network(x), atol=1e-5, rtol=1e-5)

    # Threads have captures and kernels of their own. PyTorch compiles in one thread at a time.
    def test_threads(self):
        network, x, results = make_residual_network(), make(2, 3, 12, 12), []
        compiled = self.compare(network, x)

        def run():
            with torch.no_grad():
                results.extend(compiled(x) for _ in range(3))
        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with torch.no_grad():
            for result in results:
                torch.testing.assert_close(result, network(x), atol=1e-5, rtol=1e-5)
        self.assertEqual(len(results), 9)

    # Mode "max-autotune" times the kernels of convolutions before the first step, and no others.
    def test_tuning(self):
        self.assertEqual(_backend._read_options("max-autotune", {"fuse": False}),
                         tessera.compile.Options(cuda_graphs=True, tune=True, fuse=False))
        network = make_network(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 8, 1))
        with mock.patch("tessera._library.tune", wraps=_library.tune) as tune:
            self.compare(network, make(2, 16, 6, 6), tune=True, calls={"convolution": 2, "max_pool": 1})
        self.assertEqual([call.args[0].split("-")[1] for call in tune.call_args_list], ["fwd", "fwd"])

    # A step is captured once for each shape; inputs elsewhere and changed weights are seen, and results stay.
    @unittest.skipIf(DEVICE == "cpu", "the emulated device has no graphs")
    def test_cuda_graphs(self):
        network = make_residual_network()
        compiled = torch.compile(network, backend="tessera", options={**WITHOUT_INDUCTOR, "cuda_graphs": True})
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("error")
            for batch in (2, 2, 3, 2):
                x, y = make(batch, 3, 12, 12), make(batch, 3, 12, 12)
                first, second = compiled(x), compiled(y)
                torch.testing.assert_close(first, network(x), atol=1e-4, rtol=1e-4)
                torch.testing.assert_close(second, network(y), atol=1e-4, rtol=1e-4)
                network[0].weight.mul_(0.5)
                network[-1].weight.mul_(2)
            network[-1].weight.data = network[-1].weight.data.clone() + 1
            torch.testing.assert_close(compiled(x), network(x), atol=1e-4, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
