"""Batches, images and lengths that change from call to call: no kernel of their own and no graph is compiled for them.
"""

import os
import unittest

try:
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is not installed: {error}") from error

import tessera.compile
import tessera.torch
from tessera import _fused, _library

DEVICE = "cpu" if os.environ.get("TESSERA_DEVICE", "").startswith("emulated") else "cuda"
LAST = torch.channels_last


def count_compiled():
    return _library.count().compiled


def make_network(pool):
    """Images of any size to four numbers."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), pool,
        nn.Conv2d(16, 32, 3, padding=1, stride=2), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 16, 1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)).to(DEVICE, memory_format=LAST).eval()


def make_vocoder():
    """Lines of any length, as text-to-speech has them."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv1d(8, 16, 7, padding=3), nn.LeakyReLU(0.1), nn.ConvTranspose1d(16, 8, 8, stride=4, padding=2),
        nn.LeakyReLU(0.1), nn.Conv1d(8, 8, 3, padding=3, dilation=3), nn.Tanh()).to(DEVICE).eval()


class DynamicTest(unittest.TestCase):
    def setUp(self):
        torch.compiler.reset()
        torch._dynamo.utils.counters.clear()

    def check(self, function, network, inputs, known, most):
        """After the first `known` inputs, which may compile `most` kernels, none and no graph is compiled."""
        before = count_compiled()
        graphs = 0
        for number, x in enumerate(inputs):
            if number == known:
                self.assertLessEqual(count_compiled() - before, most)
                before = count_compiled()
                graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
            torch.testing.assert_close(function(x), network(x), atol=1e-4, rtol=1e-4)
        self.assertEqual(count_compiled(), before, "a size compiled a kernel of its own")
        self.assertEqual(torch._dynamo.utils.counters["stats"]["unique_graphs"], graphs, "a size compiled a graph")

    # Eager mode: batches and images of many sizes, and lengths. Small and large ones have kernels of their own. A
    # maximum has indices, which are numbers of pixels in an image of any size.
    def test_eager(self):
        for network, inputs in (
                (make_network(nn.MaxPool2d(2)), [self.make_image(n, h, w) for n, h, w in SIZES]),
                (make_vocoder(), [torch.randn(n, 8, length, device=DEVICE) for n, length in LENGTHS])):
            def function(x):
                with tessera.torch.enabled(dynamic=True):
                    return network(x)
            with torch.no_grad():
                self.check(function, network, inputs, known=2, most=16)

    # A graph whose sizes are symbols from the first call on, and one that learns it with the second size.
    def test_compiled(self):
        for dynamic, known in ((True, 2), (None, 3)):
            for network, inputs in (
                    (make_network(nn.MaxPool2d(2)), [self.make_image(n, h, w) for n, h, w in SIZES]),
                    (make_vocoder(), [torch.randn(n, 8, length, device=DEVICE) for n, length in LENGTHS])):
                torch.compiler.reset()
                with self.subTest(dynamic=dynamic), torch.no_grad():
                    function = torch.compile(network, backend="tessera", dynamic=dynamic, options={"inductor": False})
                    self.check(function, network, inputs, known, most=24)
        self.assertEqual(_fused.start().fallbacks, {})

    # Training steps whose batch changes: gradients, too, have one kernel for all.
    def test_training(self):
        network = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 8, 3)).to(
            DEVICE, memory_format=LAST)

        def step(x):
            network.zero_grad()
            network(x).square().mean().backward()
            return [one.grad.clone() for one in network.parameters()]

        def ours(x):
            with tessera.torch.enabled(dynamic=True):
                return step(x)
        self.check(ours, step, [self.make_image(n, h, w) for n, h, w in SIZES], known=2, most=16)

    @staticmethod
    def make_image(n, h, w):
        return torch.randn(n, 3, h, w, device=DEVICE).contiguous(memory_format=LAST)


# The first is large, the second small, so that both classes of a family are known. PyTorch itself makes other graphs
# for one image, for odd sizes under a pooling, and for very long lines.
SIZES = [(3, 64, 64), (2, 12, 12), (3, 12, 14), (5, 8, 14), (4, 16, 8), (2, 30, 22), (7, 10, 10), (2, 62, 70)]
LENGTHS = [(4, 2500), (2, 40), (3, 41), (2, 77), (5, 130), (3, 19), (2, 255), (4, 2401)]


if __name__ == "__main__":
    unittest.main()
