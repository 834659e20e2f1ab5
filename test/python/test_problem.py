"""The package's plain API: problems over numpy arrays on the emulated device."""

import ctypes
import unittest

import numpy

import tessera
from tessera import _library, buffers

CONV = "conv-{}-f32-{}-n2c3h7w6-k4y3x2-p1x0-s2x1-d1x1-g1"
SHAPES = {"x": (2, 3, 7, 6), "w": (4, 3, 3, 2), "y": (2, 4, 4, 5)}


def convolve(x, w):
    """The convolution of CONV, in double."""
    padded = numpy.pad(x.astype("f8"), ((0, 0), (0, 0), (1, 1), (0, 0)))
    y = numpy.zeros(SHAPES["y"])
    for a in range(3):
        for b in range(2):
            y += numpy.einsum("nchw,kc->nkhw", padded[:, :, a:a + 7:2, b:b + 5], w[:, :, a, b].astype("f8"))
    return y


class ProblemTest(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(7)
        self.x, self.w = (self.random.standard_normal(SHAPES[name], dtype="f4") for name in "xw")

    # Forward in both layouts: numpy's arrays in, the result in place.
    def test_forward(self):
        for layout in ("nchw", "nhwc"):
            order = (0, 1, 2, 3) if layout == "nchw" else (0, 2, 3, 1)
            x, w = (numpy.ascontiguousarray(a.transpose(order)) for a in (self.x, self.w))
            y = numpy.empty([SHAPES["y"][dim] for dim in order], "f4")
            tessera.Problem(CONV.format("fwd", ",".join(3 * [layout]))).run(x, w, y)
            numpy.testing.assert_allclose(y, convolve(self.x, self.w).transpose(order), atol=1e-5)

    # A gradient is the adjoint: <conv(x, w), g> = <w, grad(x, g)> = <x, grad(w, g)>.
    def test_gradients(self):
        g = self.random.standard_normal(SHAPES["y"], dtype="f4")
        wanted = (convolve(self.x, self.w) * g).sum()
        dx, dw = numpy.empty_like(self.x), numpy.empty_like(self.w)
        tessera.Problem(CONV.format("bwd", "nchw,nchw,nchw")).run(dx, self.w, g)
        tessera.Problem(CONV.format("wrw", "nchw,nchw,nchw")).run(self.x, dw, g)
        numpy.testing.assert_allclose([(dx * self.x).sum(), (dw * self.w).sum()], wanted, rtol=1e-4)

    # The epilogue's tensors and numbers reach the kernel.
    def test_epilogue(self):
        bias = self.random.standard_normal(4, dtype="f4")
        residual = self.random.standard_normal(SHAPES["y"], dtype="f4")
        y = numpy.empty(SHAPES["y"], "f4")
        problem = tessera.Problem(CONV.format("fwd", "nchw,nchw,nchw") + "-ealpha+bias+residual+leakyrelu")
        problem.run(self.x, self.w, y, bias=bias, residual=residual, alpha=0.5, activation=[0.1])
        z = 0.5 * convolve(self.x, self.w) + bias[:, None, None] + residual
        numpy.testing.assert_allclose(y, numpy.where(z > 0, z, 0.1 * z), atol=1e-5)

    # Tuning, here by predicted clocks, leaves a kernel that is right and no slower.
    def test_tuning(self):
        x, w = (self.random.standard_normal(shape, dtype="f4") for shape in ((1, 64, 5, 5), (32, 64, 3, 3)))
        problem = tessera.Problem("conv-fwd-f32-nchw,nchw,nchw-n1c64h5w5-k32y3x3-p1x1-s1x1-d1x1-g1")
        results = [numpy.empty((1, 32, 5, 5), "f4") for _ in range(2)]
        problem.run(x, w, results[0])
        self.assertEqual(problem.tune(), problem.info())
        self.assertIn("igemm", problem.info().tile)
        problem.run(x, w, results[1])
        numpy.testing.assert_allclose(*results, atol=1e-4)
        with self.assertRaisesRegex(tessera.Error, "not a network config"):
            _library.tune("conv")

    # Statistics are further results, of f32.
    def test_statistics(self):
        y, mean, variance = numpy.empty(SHAPES["y"], "f4"), numpy.empty(4, "f4"), numpy.empty(4, "f4")
        problem = tessera.Problem(CONV.format("fwd", "nchw,nchw,nchw") + "-estats")
        self.assertEqual([tensor.name for tensor in problem.tensors.values() if tensor.is_output],
                         ["y", "mean", "variance"])
        problem.run(self.x, self.w, y, mean=mean, variance=variance)
        numpy.testing.assert_allclose(y, convolve(self.x, self.w), atol=1e-5)
        numpy.testing.assert_allclose(mean, y.mean((0, 2, 3)), atol=1e-5)
        numpy.testing.assert_allclose(variance, y.var((0, 2, 3)), rtol=1e-4)

    # Padding that differs between the ends, a pooling with indices, and its gradient.
    def test_pooling(self):
        x = self.random.standard_normal((1, 2, 5, 5), dtype="f4")
        y, indices = numpy.empty((1, 2, 3, 3), "f4"), numpy.empty((1, 2, 3, 3), "u8")
        name = "pool-{}-max-f32-nchw,nchw-n1c2h5w5-y2x2-p0:1x0:1-s2x2-iu64image"
        tessera.Problem(name.format("fwd")).run(x, y=y, indices=indices)
        padded = numpy.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-numpy.inf)
        blocks = padded.reshape(1, 2, 3, 2, 3, 2)
        numpy.testing.assert_array_equal(y, blocks.max((3, 5)))
        numpy.testing.assert_array_equal(numpy.take_along_axis(x.reshape(2, 25), indices.reshape(2, 9).astype("i8"), 1),
                                         y.reshape(2, 9))
        dx = numpy.empty_like(x)
        tessera.Problem(name.format("bwd")).run(dx, y=y, indices=indices)
        numpy.testing.assert_allclose(dx.sum(), y.sum(), rtol=1e-5)

    # A row-wise problem has its tensors and scalars by number.
    def test_row_wise(self):
        x = self.random.standard_normal((4, 33), dtype="f4")
        y = numpy.empty_like(x)
        problem = tessera.Problem("rowwise-softmax_fwd-m1-4x33-r1-i:f32:33:1-o:f32:33:1")
        problem.run(tensors=[x, y], scalars=[1, 0])
        wanted = numpy.exp(x - x.max(1, keepdims=True))
        numpy.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), atol=1e-6)

    # Lengths, strides and roles are those of the text.
    def test_tensors(self):
        problem = tessera.Problem("conv-bwd-bf16-ncdhw,ndhwc,s480:1:80:16:4-n1c8d4h9w9-k4z3y3x3-p1x1:2x1-s1x2x2"
                                  "-d1x1x1-g2-ebias")
        x, w, y, bias = (problem.tensors[name] for name in ("x", "w", "y", "bias"))
        self.assertEqual((x.lengths, x.is_output, x.bytes), ((1, 8, 4, 9, 9), True, 2 * 8 * 4 * 81))
        self.assertEqual((w.lengths, w.strides), ((4, 4, 3, 3, 3), (108, 1, 36, 12, 4)))
        self.assertEqual((y.lengths, y.strides), ((1, 4, 4, 5, 5), (480, 1, 80, 16, 4)))
        self.assertEqual(bias.lengths, (8,))

    # What the library knows of the kernel.
    def test_info(self):
        info = tessera.Problem(CONV.format("fwd", "nhwc,nhwc,nhwc")).info()
        self.assertRegex(info.tile, r"^[a-z]+-")
        self.assertGreater(info.code_bytes, 0)
        self.assertIn(info.origin, ("compiled", "database"))

    # A stage's text, and the tool's own sentence where there is none.
    def test_text(self):
        problem = tessera.Problem(CONV.format("fwd", "nhwc,nhwc,nhwc"))
        self.assertIn("dnn.conv", problem.text("dnn"))
        self.assertIn(".target sm_90", problem.text("isa", target="sm_90"))
        with self.assertRaisesRegex(tessera.Error, "gfx1"):
            problem.text("dnn", target="gfx1")

    # Refusals are exceptions with a sentence, before any memory is touched.
    def test_refusals(self):
        problem = tessera.Problem(CONV.format("fwd", "nchw,nchw,nchw"))
        y = numpy.empty(SHAPES["y"], "f4")
        short, frozen = y[:1], y.copy()
        frozen.flags.writeable = False
        for arguments, sentence in ((dict(x=self.x, w=self.w), "needs y"),
                                    (dict(x=self.x, w=self.w, y=short), "640 bytes, but the array has 320"),
                                    (dict(x=self.x, w=self.w, y=frozen), "is read-only"),
                                    (dict(x=self.x, w=self.w, y=y, bias=y), "has no tensor 'bias'"),
                                    (dict(x=self.x[:, :, ::-1], w=self.w, y=y), "negative stride")):
            with self.assertRaisesRegex(tessera.InvalidProblem, sentence):
                problem.run(**arguments)
        with self.assertRaisesRegex(tessera.InvalidProblem, "not a network config"):
            tessera.Problem("conv")
        with self.assertRaisesRegex(tessera.InvalidProblem, "group"):
            tessera.Problem(CONV.format("fwd", "nchw,nchw,nchw").replace("-g1", "-g2")).info()
        with self.assertRaisesRegex(tessera.NotSupported, "32-bit arithmetic"):
            tessera.Problem(CONV.format("fwd", "nchw,nchw,nchw").replace("w6", "w536870912")).info()
        with self.assertRaisesRegex(tessera.Error, "uses emulated"):
            tessera.choose_device("nvidia")


class BuffersTest(unittest.TestCase):
    # Every protocol gives the same span; DLPack's is read without help of the array's package.
    def test_protocols(self):
        array = numpy.zeros((3, 4, 5), "f4")[1:, :, ::2]

        class OnlyDLPack:
            __dlpack__ = staticmethod(array.__dlpack__)
        for other in (array, OnlyDLPack()):
            span = buffers.get_span(other)
            self.assertEqual((span.address, span.size, span.on_host), (array.ctypes.data, 4 * (20 + 15 + 4 + 1), True))
        with self.assertRaisesRegex(tessera.Error, "str is no array"):
            buffers.get_span("x")

    # Device memory is used as it is: two launches, one copy at each end.
    def test_device_memory(self):
        hip = _library.get_hip()
        x = numpy.arange(-8, 8, dtype="f4")
        memory = tessera.DeviceMemory(x.nbytes)
        hip.copy(memory.address, x.ctypes.data, x.nbytes, hip.TO_DEVICE)
        relu = tessera.Problem("rowwise-activ_fwd-m3-16-r-i:f32:1-o:f32:1")
        relu.run(tensors=[memory, memory.address], scalars=[0, 0, 0])
        y = (ctypes.c_float * 16)()
        hip.copy(ctypes.addressof(y), memory.address, x.nbytes, hip.TO_HOST)
        numpy.testing.assert_array_equal(y, numpy.maximum(x, 0))


if __name__ == "__main__":
    unittest.main()
