"""JAX's convolutions and poolings on the emulated device, against JAX's own on the CPU. With TESSERA_DEVICE=nvidia, the
same on the GPU.
"""

import functools
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
from unittest import mock

try:
    import jax
    import jax.numpy as jnp
    import numpy
    from jax import lax
except ImportError as error:
    raise unittest.SkipTest(f"JAX is not installed: {error}") from error

import tessera.jax
from tessera import _jax_pooling, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
LAST = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}
FIRST = {1: ("NCW", "OIW", "NCW"), 2: ("NCHW", "OIHW", "NCHW"), 3: ("NCDHW", "OIDHW", "NCDHW")}

def setUpModule():
    """f64 is there, and f32 is not rounded to tf32."""
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")

def make(*shape, dtype="float32", seed=0):
    """Random numbers: numpy's, because JAX's are a program for each shape."""
    return jnp.asarray(numpy.random.default_rng(seed).standard_normal(shape).astype(jnp.dtype(dtype)))

def differentiate_by_jax(function, seed, *arrays):
    """JAX's result and gradients, in double on the CPU."""
    with jax.default_device(jax.devices("cpu")[0]):
        seed, *arrays = (jax.device_put(array.astype("float64"), jax.devices("cpu")[0]) for array in (seed, *arrays))

        @jax.jit
        def run(seed, *arrays):
            result, differentiate = jax.vjp(function, *arrays)
            return [result, *differentiate(seed)]
        return run(seed, *arrays)


def pool_by_jax(mode, x, window, strides=None, padding="VALID"):
    """tessera.jax's poolings in JAX's words."""
    return _jax_pooling.pool_by_jax(mode, x, *_jax_pooling.find_window(x, window, strides, padding))


class JaxTest(unittest.TestCase):
    def setUp(self):
        self.before = tessera.jax.report()

    def count(self):
        """Calls and fallbacks of this test."""
        now = tessera.jax.report()
        return (sum(now.calls.values()) - sum(self.before.calls.values()),
                sum(now.fallbacks.values()) - sum(self.before.fallbacks.values()))

    def assert_close(self, ours, wanted, tolerance=None):
        for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(wanted), strict=True):
            self.assertEqual(mine.shape, other.shape)
            error = numpy.linalg.norm(numpy.ravel(numpy.asarray(mine, "float64") - other))
            self.assertLessEqual(error, (tolerance or TOLERANCE[mine.dtype.name]) *
                                 max(numpy.linalg.norm(numpy.ravel(other)), 1e-30))

    def compare(self, ours, jaxs, *arrays, calls, tolerance=None):
        """Result and gradients of a function of arrays. Each must be ours, in `calls` kernels."""
        with self.subTest(shapes=[array.shape for array in arrays], dtype=arrays[0].dtype.name):
            before, refused = self.count()
            result, differentiate = jax.vjp(ours, *arrays)
            seed = make(*result.shape, dtype=result.dtype, seed=9)
            gradients = differentiate(seed)
            self.assertEqual([g.dtype for g in gradients], [array.dtype for array in arrays])
            self.assert_close([result, *gradients], differentiate_by_jax(jaxs, seed, *arrays), tolerance)
            jax.effects_barrier()
            self.assertEqual(self.count(), (before + calls, refused))

    def compare_convolution(self, x, w, strides, padding, *arguments, calls=3, **options):
        """The same of a convolution."""
        run = lambda convolve: lambda x, w: convolve(x, w, strides, padding, *arguments, **options)
        self.compare(run(tessera.jax.conv_general_dilated), run(lax.conv_general_dilated), x, w, calls=calls)

    # One to three dimensions with channels last and first, with strides, dilations, groups and unequal padding.
    def test_convolutions(self):
        for dims, names in itertools.product((1, 2, 3), (LAST, FIRST)):
            size, window = (9, 7, 5)[:dims], (3, 2, 2)[:dims]
            is_last = names is LAST
            for strides, padding, dilation, groups in (
                    ((1, 1, 1), "SAME", (1, 1, 1), 1), ((2, 1, 2), "VALID", (1, 2, 1), 2),
                    ((1, 2, 1), ((2, 0), (0, 1), (1, 1)), (2, 1, 1), 1)):
                padding = padding if isinstance(padding, str) else padding[:dims]
                x = make(2, *size, 6) if is_last else make(2, 6, *size)
                w = make(*window, 6 // groups, 4, seed=1) if is_last else make(4, 6 // groups, *window, seed=1)
                self.compare_convolution(x, w, strides[:dims], padding, None, dilation[:dims], names[dims], groups)

    # Dimensions in any order, and a result whose channels lie otherwise than those of the argument.
    def test_dimension_numbers(self):
        self.compare_convolution(make(7, 2, 6, 3), make(3, 4, 3, 2, seed=1), (1, 2), "SAME",
                                 dimension_numbers=("HNWC", "IOHW", "CHNW"))
        self.compare_convolution(make(2, 3, 7, 6), make(2, 3, 3, 4, seed=1), (1, 1), "SAME_LOWER",
                                 dimension_numbers=("NCHW", "WHIO", "NHWC"))

    # Transposed: backward data, whose gradients are the other two directions; also with more padding behind.
    def test_transposed(self):
        for dims, names in itertools.product((1, 2), (LAST, FIRST)):
            is_last = names is LAST
            for steps, padding, dilation, groups in (
                    ((2, 2), ((1, 1), (2, 2)), (1, 1), 1), ((3, 2), ((2, 3), (0, 1)), (1, 1), 2),
                    ((2, 1), ((0, 2), (1, 0)), (2, 1), 1)):
                x = make(2, *(5, 4)[:dims], 4) if is_last else make(2, 4, *(5, 4)[:dims])
                w = (make(*(3, 3)[:dims], 4 // groups, 6, seed=1) if is_last
                     else make(6, 4 // groups, *(3, 3)[:dims], seed=1))
                self.compare_convolution(x, w, (1,) * dims, padding[:dims], steps[:dims], dilation[:dims], names[dims],
                                         groups)

    # Every type; batches of 1, single pixels and channels, depthwise filters.
    def test_types_and_odd_shapes(self):
        shapes = (((2, 6, 6, 16), (3, 3, 16, 8)), ((1, 5, 5, 1), (5, 5, 1, 1)), ((3, 1, 1, 5), (1, 1, 5, 7)),
                  ((1, 1, 13, 8), (1, 3, 1, 8)))
        for dtype, (x, w) in itertools.product(TOLERANCE, shapes):
            self.compare_convolution(make(*x, dtype=dtype), make(*w, dtype=dtype, seed=1), (1, 1), "VALID",
                                     dimension_numbers=LAST[2], feature_group_count=x[3] // w[2])

    # Under jit only what is asked for is computed, and gradients that nobody asks for are not planned at all.
    def test_jit_and_masks(self):
        x, w = make(2, 5, 6, 3), make(3, 3, 3, 4, seed=1)
        run = lambda convolve, x, w: (convolve(x, w, (1, 1), "SAME", dimension_numbers=LAST[2]) ** 2).sum()
        ours, jaxs = (lambda x, w, f=f: run(f, x, w) for f in (tessera.jax.conv_general_dilated,
                                                               lax.conv_general_dilated))
        for argument in (0, 1):
            before = tessera.jax.report().calls
            gradient = jax.jit(jax.grad(ours, argument))(x, w)
            self.assert_close(gradient, jax.grad(jaxs, argument)(x.astype("float64"), w.astype("float64")))
            after = tessera.jax.report().calls
            other = "gradient of " + ("weights", "data")[argument]
            self.assertEqual(after.get(other, 0), before.get(other, 0))
        compiled = jax.jit(ours).lower(x, w).as_text()
        self.assertEqual(compiled.count("@tessera("), 1)

    # Second derivatives: kernels again, and of max pooling JAX's.
    def test_higher_order(self):
        x, w = make(1, 5, 4, 2), make(2, 2, 2, 3, seed=1)

        def network(library):
            def run(x, w):
                convolve, pools = library
                y = jnp.tanh(convolve(x, w, (1, 1), "SAME", dimension_numbers=LAST[2]))
                y = pools[0](y, (2, 2)) + pools[1](y, (2, 2))
                return (y ** 3).sum()
            return lambda x, w: sum((g ** 2).sum() for g in jax.grad(run, (0, 1))(x, w))
        ours = network((tessera.jax.conv_general_dilated, (tessera.jax.max_pool, tessera.jax.avg_pool)))
        pools = [functools.partial(pool_by_jax, mode) for mode in ("maxnan", "avgin")]
        jaxs = network((lax.conv_general_dilated, pools))
        double = x.astype("float64"), w.astype("float64")
        self.assert_close(jax.jit(jax.grad(ours, (0, 1)))(x, w), jax.grad(jaxs, (0, 1))(*double), 1e-4)
        self.assertEqual(self.count()[1], 0)

    # vmap of images joins the batch, of filters the groups; nested, and of gradients for each image.
    def test_vmap(self):
        for names, groups in itertools.product((LAST, FIRST), (1, 2)):
            is_last = names is LAST
            x = make(3, 2, 6, 5, 4) if is_last else make(3, 2, 4, 6, 5)
            w = make(3, 3, 2, 4 // groups, 6, seed=1) if is_last else make(3, 6, 4 // groups, 3, 2, seed=1)
            run = lambda convolve: lambda x, w: convolve(x, w, (1, 2), ((1, 0), (0, 0)), dimension_numbers=names[2],
                                                         feature_group_count=groups)
            gradient = lambda convolve: jax.grad(lambda x, w: (run(convolve)(x, w) ** 2).sum(), (0, 1))
            for axes in ((0, None), (None, 0), (0, 0)):
                arrays = [array if axis == 0 else array[0] for array, axis in zip((x, w), axes)]
                double = [array.astype("float64") for array in arrays]
                for what in (run, gradient):
                    self.assert_close(jax.vmap(what(tessera.jax.conv_general_dilated), axes)(*arrays),
                                      jax.vmap(what(lax.conv_general_dilated), axes)(*double), 1e-4)
            double = x.astype("float64"), w.astype("float64")
            twice = lambda convolve: jax.vmap(jax.vmap(run(convolve), (0, None)), (None, 0))
            self.assert_close(twice(tessera.jax.conv_general_dilated)(x, w),
                              twice(lax.conv_general_dilated)(*double))
        self.assertEqual(self.count()[1], 0)

    # Poolings, in one to three dimensions, with channels last and first, of a batch and without one.
    def test_poolings(self):
        cases = (((2, 7, 8, 3), (3, 3), (2, 2), "SAME"), ((2, 7, 8, 3), (3, 2), None, ((1, 0), (0, 1))),
                 ((7, 8, 3), (2, 2), (2, 2), "VALID"), ((2, 9, 3), (3,), (2,), "SAME"),
                 ((2, 5, 6, 7, 3), (2, 3, 2), (2, 2, 1), "VALID"), ((2, 3, 7, 8), (1, 1, 3, 3), (1, 1, 2, 2), "SAME"),
                 ((2, 3, 17, 17), (1, 1, 17, 17), None, "VALID"), ((4, 5), (3,), None, "VALID"))
        for number, (shape, *arguments) in enumerate(cases):
            x = make(*shape, dtype=("float32", "bfloat16", "float16")[number % 3])
            self.compare(lambda x: tessera.jax.max_pool(x, *arguments),
                         lambda x: pool_by_jax("maxnan", x, *arguments), x, calls=2)
            self.compare(lambda x: tessera.jax.avg_pool(x, *arguments),
                         lambda x: pool_by_jax("avgin", x, *arguments), x, calls=2)
        x, arguments = make(2, 7, 8, 3), ((3, 3), (2, 2), "SAME")
        self.compare(lambda x: tessera.jax.avg_pool(x, *arguments, count_include_pad=False),
                     lambda x: pool_by_jax("avg", x, *arguments), x, calls=2)
        stack = make(3, 2, 7, 8, 3)
        for mode, ours in (("maxnan", tessera.jax.max_pool), ("avgin", tessera.jax.avg_pool)):
            run = lambda pool: jax.vmap(jax.grad(lambda x: (pool(x) ** 2).sum()))(stack)
            self.assert_close(run(lambda x: ours(x, *arguments)), run(lambda x: pool_by_jax(mode, x, *arguments)))

    # What is refused is JAX's, counted with its reason; errors are JAX's own.
    def test_fallbacks(self):
        x, w = make(2, 3, 6, 6), make(4, 3, 3, 3)
        ours, jaxs = tessera.jax.conv_general_dilated, lax.conv_general_dilated
        cases = {"a negative padding": (x, w, (1, 1), ((-1, 0), (0, 0))),
                 "groups of the batch": (x, w, (1, 1), "VALID", None, None, None, 1, 2),
                 "strides of a transposed convolution": (x, w, (2, 1), ((1, 1), (1, 1)), (2, 2)),
                 "a result of another type": (x, w, (1, 1), "VALID", None, None, None, 1, 1, None, "float64"),
                 "padding that reaches beyond the filter of a transposed convolution":
                     (x, w, (1, 1), ((3, 0), (0, 0)), (2, 2)),
                 "arrays of int32": (x.astype("int32"), w.astype("int32"), (1, 1), "VALID"),
                 "an array without elements": (x[:0], w, (1, 1), "VALID"),
                 "0 dimensions": (x[:, :, 0, 0], w[:, :, 0, 0], (), ())}
        for reason, arguments in cases.items():
            with self.subTest(reason=reason):
                before = tessera.jax.report().fallbacks.get(("convolution", reason), 0)
                self.assertTrue(jnp.array_equal(ours(*arguments), jaxs(*arguments)))
                self.assertEqual(tessera.jax.report().fallbacks["convolution", reason], before + 1)
        with self.assertRaisesRegex((TypeError, ValueError), "feature"):
            ours(x, w[:, :1], (1, 1), "VALID")
        tessera.jax.max_pool(make(1, 4, 4, 2, dtype="float64"), (2, 2))
        self.assertEqual(tessera.jax.report().fallbacks["max pooling", "arrays of float64"], 1)
        self.assertIn("calls by JAX: a negative padding", str(tessera.jax.report()))

    # Without a GPU or without the library all is JAX's, forward mode too.
    def test_without_a_device(self):
        program = """if True:
            import jax, jax.numpy as jnp, tessera.jax
            x, w = jnp.ones((1, 2, 5, 5)), jnp.ones((3, 2, 3, 3))
            y, _ = jax.jvp(lambda x: tessera.jax.conv_general_dilated(x, w, (1, 1), "VALID"), (x,), (x,))
            tessera.jax.max_pool(y, (1, 2, 2, 1))
            print(y.sum(), tessera.jax.report())"""
        for changes, reason in (({"TESSERA_DEVICE": "", "JAX_PLATFORMS": "cpu"}, "JAX sees no GPU"),
                                ({"TESSERA_DEVICE": "emulated", "TESSERA_LIBRARY": "/none/libMIOpen.so.1"}, "/none/")):
            output = subprocess.run([sys.executable, "-c", program], env=os.environ | changes, check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
            self.assertIn("486.0 ", output)
            self.assertEqual(output.count(reason), 2, output)

    # What the library refuses JAX computes too, even if it is one kernel of a gradient.
    def test_refused_kernels(self):
        x, w = make(1, 4, 5, 2), make(2, 2, 2, 3, seed=1)

        def run(convolve, *pools):
            def get_loss(x, w):
                y = convolve(x, w, (1, 1), "VALID", dimension_numbers=LAST[2])
                return sum((pool(y, (2, 3)) ** 2).sum() for pool in pools)
            return jax.grad(get_loss, (0, 1))
        wanted = run(lax.conv_general_dilated, *(functools.partial(pool_by_jax, mode) for mode in ("maxnan", "avgin")))(
            x.astype("float64"), w.astype("float64"))
        ours = run(tessera.jax.conv_general_dilated, tessera.jax.max_pool, tessera.jax.avg_pool)
        get_info = _library.get_info
        self.addCleanup(jax.clear_caches)
        for refused in ("fwd", "bwd", "wrw", ""):
            jax.clear_caches()

            def refuse(config, refused=refused):
                if refused in config:
                    raise tessera.NotSupported("no such kernel")
                return get_info(config)
            with mock.patch.object(_library, "get_info", refuse):
                self.assert_close(ours(x, w), wanted)
        self.assertEqual(tessera.jax.report().fallbacks["gradient of weights", "no such kernel"], 2)

    # A small network learns the same as with JAX's functions.
    def test_training(self):
        def train(convolve, pool):
            w = [0.3 * make(3, 3, 1, 8), 0.3 * make(3, 3, 8, 4, seed=1)]
            x, labels = make(4, 10, 10, 1, seed=2), jnp.array([0, 1, 2, 3])

            def get_loss(w):
                y = jax.nn.relu(convolve(x, w[0], (1, 1), "SAME", dimension_numbers=LAST[2]))
                y = convolve(pool(y, (2, 2), (2, 2)), w[1], (2, 2), "SAME", dimension_numbers=LAST[2]).mean((1, 2))
                return -jax.nn.log_softmax(y)[jnp.arange(4), labels].mean()
            step, losses = jax.jit(jax.value_and_grad(get_loss)), []
            for _ in range(10):
                loss, gradients = step(w)
                w = [value - 0.3 * g for value, g in zip(w, gradients)]
                losses.append(float(loss))
            return losses
        ours = train(tessera.jax.conv_general_dilated, tessera.jax.max_pool)
        wanted = train(lax.conv_general_dilated, lambda *a: pool_by_jax("maxnan", *a))
        for mine, other in zip(ours, wanted):
            self.assertLess(abs(mine - other), 1e-4)

    # capi/jax/XlaFfi.h declares what jaxlib does.
    def test_declarations(self):
        compiler = shutil.which("clang++-22") or shutil.which("c++")
        if not compiler:
            self.skipTest("there is no compiler")
        fields = {"Extension": ("XLA_FFI_Extension_Base", {"size": "struct_size", "kind": "type", "next": "next"}),
                  "ApiVersion": ("XLA_FFI_Api_Version", {"major": "major_version", "minor": "minor_version"}),
                  "Metadata": ("XLA_FFI_Metadata", {"version": "api_version", "traits": "traits"}),
                  "MetadataExtension": ("XLA_FFI_Metadata_Extension", {"metadata": "metadata"}),
                  "String": ("XLA_FFI_ByteSpan", {"data": "ptr", "size": "len"}),
                  "Buffer": ("XLA_FFI_Buffer", {"type": "dtype", "data": "data", "rank": "rank", "lengths": "dims"}),
                  "Buffers": ("XLA_FFI_Args", {"count": "size", "kinds": "types", "buffers": "args"}),
                  "Attributes": ("XLA_FFI_Attrs", {"count": "size", "kinds": "types", "names": "names",
                                                   "values": "attrs"}),
                  "CreateError": ("XLA_FFI_Error_Create_Args", {"message": "message", "code": "errc"}),
                  "GetStream": ("XLA_FFI_Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
                  "GetDevice": ("XLA_FFI_DeviceOrdinal_Get_Args", {"context": "ctx", "device": "device_ordinal"}),
                  "Api": ("XLA_FFI_Api", {"version": "api_version", "createError": "XLA_FFI_Error_Create",
                                          "getStream": "XLA_FFI_Stream_Get",
                                          "getDevice": "XLA_FFI_DeviceOrdinal_Get"}),
                  "CallFrame": ("XLA_FFI_CallFrame", {"api": "api", "context": "ctx", "stage": "stage",
                                                      "arguments": "args", "results": "rets",
                                                      "attributes": "attrs"})}
        header = pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text(encoding="utf-8")
        if "XLA_FFI_DeviceOrdinal_Get" not in header:
            del fields["GetDevice"], fields["Api"][1]["getDevice"]
        lines = ['#include "xla/ffi/api/c_api.h"', '#include "capi/jax/XlaFfi.h"',
                 "namespace ours = tessera::jax::xla;"]
        lines += [f"static_assert(offsetof(ours::{mine}, {a}) == offsetof({theirs}, {b}), \"{mine}::{a}\");"
                  for mine, (theirs, names) in fields.items() for a, b in names.items()]
        constants = {"kMetadata": "XLA_FFI_Extension_Metadata", "kString": "XLA_FFI_AttrType_STRING",
                     "kMajorVersion": "XLA_FFI_API_MAJOR", "kInternal": "XLA_FFI_Error_Code_INTERNAL"}
        constants |= {f"Type::{name}": f"XLA_FFI_DataType_{name}" for name in "U8 U32 F16 F32 F64 BF16".split()}
        lines += [f"static_assert(int(ours::{mine}) == {theirs}, \"{mine}\");" for mine, theirs in constants.items()]
        subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{ROOT}", f"-I{jax.ffi.include_dir()}",
                        "-"], input="\n".join(lines), text=True, check=True)

if __name__ == "__main__":
    unittest.main()
