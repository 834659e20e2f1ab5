"""ONNX Runtime with our execution provider on the emulated device, against its own CPU provider, and against ONNX's
reference in f64, which that provider lacks.
"""

import os
import pathlib
import threading
import unittest

try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError as error:
    raise unittest.SkipTest(f"ONNX Runtime is not installed: {error}") from error

NAME = "TesseraExecutionProvider"
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE}
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "float64": 1e-12}


def setUpModule():
    library = pathlib.Path(os.environ["TESSERA_LIBRARY"]).parent / "libtessera-onnxruntime.so"
    onnxruntime.register_execution_provider_library("tessera", str(library))
    onnxruntime.set_default_logger_severity(4)  # Errors are expected, and come as exceptions.


class Graph:
    """Collects the nodes of a model; every method returns its result's name."""

    def __init__(self, dtype="float32", seed=0):
        self.dtype, self.random = dtype, numpy.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds = [], [], [], [], {}

    def input(self, *shape, opens=()):
        """An input; the dimensions in `opens` are left open in the model."""
        name = f"x{len(self.inputs)}"
        declared = [f"{name}d{i}" if i in opens else length for i, length in enumerate(shape)]
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[self.dtype], declared))
        self.feeds[name] = self.random.standard_normal(shape).astype(self.dtype)
        return name

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(values, self.dtype), name))
        return name

    def weight(self, *shape, positive=False):
        values = self.random.standard_normal(shape) / max(1, numpy.prod(shape[1:])) ** 0.5
        return self.constant(numpy.abs(values) + 0.5 if positive else values)

    def add(self, op, *operands, outputs=1, **attributes):
        names = [f"{op}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, *shape, bias=True, **attributes):
        """A convolution with a filter of the shape; "pads" and the rest as in ONNX."""
        operands = [x, self.weight(*shape)] + ([self.weight(shape[0])] if bias else [])
        return self.add("Conv", *operands, **attributes)

    def norm(self, x, channels):
        return self.add("BatchNormalization", x, self.weight(channels), self.weight(channels), self.weight(channels),
                        self.weight(channels, positive=True))

    def result(self, *names):
        self.outputs += [helper.make_tensor_value_info(name, TYPES[self.dtype], None) for name in names]
        return self

    def bytes(self, opset=17):
        graph = helper.make_graph(self.nodes, "test", self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        return model.SerializeToString()


def add_unit(graph, x, channels, filters, size, activation="Relu", stride=1, group=1):
    """A convolution, its normalisation, and an activation: "Clip" to 0 and 6, "Relu" or none."""
    y = graph.conv(x, filters, channels // group, size, size, strides=[stride] * 2, pads=[size // 2] * 4, group=group,
                   bias=False)
    y = graph.norm(y, filters)
    bounds = [graph.constant(0), graph.constant(6)] if activation == "Clip" else []
    return graph.add(activation, y, *bounds) if activation else y


def add_head(graph, x, channels):
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    return graph.add("Gemm", x, graph.weight(1000, channels), graph.weight(1000), transB=1)


def add_resnet50(graph, x):
    """Version 1.5: the 3x3 convolution of a bottleneck has its stride."""
    x = add_unit(graph, x, 3, 64, 7, stride=2)
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (count, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(count):
            stride = 2 if stage and block == 0 else 1
            y = add_unit(graph, x, channels, width, 1)
            y = add_unit(graph, y, width, width, 3, stride=stride)
            y = add_unit(graph, y, width, 4 * width, 1, None)
            if block == 0:
                x = add_unit(graph, x, channels, 4 * width, 1, None, stride=stride)
            channels = 4 * width
            x = graph.add("Relu", graph.add("Add", y, x))
    return add_head(graph, x, channels)


def add_mobilenet2(graph, x):
    x, channels = add_unit(graph, x, 3, 32, 3, "Clip", stride=2), 32
    for factor, filters, count, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                          (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(count):
            stride, wide = first if block == 0 else 1, channels * factor
            y = add_unit(graph, x, channels, wide, 1, "Clip") if factor > 1 else x
            y = add_unit(graph, y, wide, wide, 3, "Clip", stride=stride, group=wide)
            y = add_unit(graph, y, wide, filters, 1, None)
            x = graph.add("Add", x, y) if stride == 1 and channels == filters else y
            channels = filters
    return add_head(graph, add_unit(graph, x, channels, 1280, 1, "Clip"), 1280)


def make_session(model, ours=True, optimizes=False):
    options = onnxruntime.SessionOptions()
    if not optimizes:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if not ours:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
    options.add_provider_for_devices(devices, {})
    return onnxruntime.InferenceSession(model, options)


def get_groups(session):
    """The operators of each group of nodes that is ours."""
    return [sorted(node.op_type for node in graph.get_nodes())
            for graph in session.get_provider_graph_assignment_info() if graph.ep_name == NAME]


class ProviderTest(unittest.TestCase):
    def check(self, graph, groups=None, opset=17, tolerance=None):
        """Compares all outputs. Without `groups` every node must be ours, in one group; they may be anything if it is
        False.
        """
        model = graph.bytes(opset)
        by_reference = graph.dtype == "float64"
        wanted = (ReferenceEvaluator(model) if by_reference else make_session(model, ours=False)).run(None, graph.feeds)
        session = make_session(model)
        if groups is not False:
            self.assertEqual(get_groups(session),
                             [sorted(node.op_type for node in graph.nodes)] if groups is None else groups)
        for right, got in zip(wanted, session.run(None, graph.feeds), strict=True):
            if by_reference:
                right = right.astype(graph.dtype)
            self.assertEqual((right.shape, right.dtype), (got.shape, got.dtype))
            scale = max(1, float(numpy.abs(right).max()))
            numpy.testing.assert_allclose(got, right, rtol=0, atol=(tolerance or TOLERANCE[graph.dtype]) * scale)
        return session

    def test_convolutions(self):
        """One to three dimensions, unequal pads, strides, dilations, groups, every type, padding by rule."""
        cases = [((2, 5, 13), (7, 5, 4), {"pads": [1, 2], "strides": [2]}),
                 ((3, 4, 9, 7), (6, 4, 3, 3), {"pads": [0, 1, 2, 1], "strides": [2, 1]}),
                 ((1, 6, 11, 10), (9, 2, 3, 2), {"group": 3, "dilations": [2, 1], "pads": [2, 0, 1, 3]}),
                 ((2, 8, 9, 9), (8, 1, 5, 5), {"group": 8, "pads": [2, 2, 2, 2]}),
                 ((1, 3, 4, 6, 5), (5, 3, 2, 3, 3), {"pads": [1, 0, 1, 0, 1, 1], "strides": [1, 2, 1]}),
                 ((2, 3, 10, 9), (4, 3, 4, 4), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
                 ((2, 3, 10, 9), (4, 3, 4, 4), {"auto_pad": "SAME_UPPER", "strides": [3, 1]}),
                 ((1, 3, 8, 8), (4, 3, 3, 3), {"auto_pad": "VALID"})]
        for dtype in ("float32", "float64"):
            for x, w, attributes in cases:
                with self.subTest(dtype=dtype, x=x, w=w, **attributes):
                    graph = Graph(dtype)
                    self.check(graph.result(graph.conv(graph.input(*x), *w, **attributes)))

    def test_halves(self):
        """f16, against the CPU's, which widens to f32."""
        graph = Graph("float16")
        x = graph.conv(graph.input(2, 8, 11, 9), 12, 8, 3, 3, pads=[1, 0, 1, 2])
        self.check(graph.result(graph.add("MaxPool", graph.add("Relu", x), kernel_shape=[2, 2])))

    def test_transposed(self):
        cases = [((2, 6, 5, 4), (6, 4, 3, 3), {"strides": [2, 2], "pads": [1, 0, 1, 1]}),
                 ((1, 6, 5, 5), (6, 2, 4, 3), {"strides": [3, 2], "group": 2, "output_padding": [1, 1]}),
                 ((2, 4, 7), (4, 3, 5), {"dilations": [2], "pads": [3, 2]}),
                 ((1, 3, 3, 4, 3), (3, 5, 2, 3, 2), {"strides": [2, 1, 2]})]
        for x, w, attributes in cases:
            for bias in (False, True):
                with self.subTest(x=x, w=w, bias=bias, **attributes):
                    graph = Graph()
                    channels = w[1] * attributes.get("group", 1)
                    operands = [graph.input(*x), graph.weight(*w)] + ([graph.weight(channels)] if bias else [])
                    self.check(graph.result(graph.add("ConvTranspose", *operands, **attributes)))

    def test_poolings(self):
        """Windows that are rounded up, averages with and without padding, whole images."""
        cases = [("MaxPool", {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 0, 1]}),
                 ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
                 ("MaxPool", {"kernel_shape": [2, 2], "strides": [3, 3], "ceil_mode": 1, "pads": [1, 1, 1, 1]}),
                 ("MaxPool", {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
                 ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
                 ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 0, 1, 1], "count_include_pad": 1}),
                 ("AveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
                 ("GlobalAveragePool", {}), ("GlobalMaxPool", {})]
        for op, attributes in cases:
            for shape in ((2, 5, 10, 8), (1, 3, 11, 13)):
                with self.subTest(op=op, shape=shape, **attributes):
                    graph = Graph()
                    self.check(graph.result(graph.add(op, graph.input(*shape), **attributes)))
        graph = Graph()
        x = graph.add("AveragePool", graph.input(1, 3, 5, 6, 7), kernel_shape=[2, 3, 2], strides=[1, 2, 3])
        self.check(graph.result(x, graph.add("MaxPool", x, kernel_shape=[2, 1, 2])))

    def test_norms(self):
        """Rows from an axis on, and channels of one image, alone and behind a convolution."""
        for axis, shape in ((None, (3, 4, 7)), (1, (2, 5, 3, 4)), (-2, (2, 3, 6, 5)), (2, (1, 2, 3, 4, 3))):
            with self.subTest(axis=axis, shape=shape):
                graph = Graph()
                row = shape[-1:] if axis is None else shape[axis:]
                attributes = {} if axis is None else {"axis": axis, "epsilon": 1e-3}
                self.check(graph.result(graph.add("LayerNormalization", graph.input(*shape), graph.weight(*row),
                                                  graph.weight(*row), **attributes)))
        for shape in ((2, 3, 9), (3, 4, 7, 6), (1, 3, 4, 5, 6)):
            with self.subTest(shape=shape):
                graph = Graph()
                x = graph.conv(graph.input(*shape), 5, shape[1], *[2] * (len(shape) - 2))
                x = graph.add("InstanceNormalization", x, graph.weight(5), graph.weight(5), epsilon=1e-2)
                self.check(graph.result(graph.add("Relu", x)))

    def test_softmax(self):
        """The axis, which means something else before operator set 13."""
        for opset, axis, shape in ((17, None, (3, 7)), (17, 1, (2, 5, 3, 4)), (12, None, (3, 4, 5)),
                                   (12, 2, (2, 3, 4, 2)), (17, -2, (1, 3, 9))):
            with self.subTest(opset=opset, axis=axis, shape=shape):
                graph = Graph()
                attributes = {} if axis is None else {"axis": axis}
                self.check(graph.result(graph.add("Softmax", graph.input(*shape), **attributes)), opset=opset)

    def test_activations(self):
        """Each behind a convolution whose result is read once, and behind one that is read twice."""
        activations = [("Relu", {}), ("LeakyRelu", {"alpha": 0.2}), ("Sigmoid", {}), ("Tanh", {}), ("Elu", {"alpha": 0.7}),
                       ("Softplus", {}), ("Abs", {}), ("Neg", {})]
        for op, attributes in activations:
            for twice in (False, True):
                with self.subTest(op=op, twice=twice):
                    graph = Graph()
                    x = graph.conv(graph.input(2, 3, 7, 9), 5, 3, 2, 3)
                    y = graph.add(op, x, **attributes)
                    self.check(graph.result(y, graph.add("Mul", x, y)) if twice else graph.result(y))

    def test_clips(self):
        """Bounds as inputs and as attributes, one of them or both."""
        for low, high in ((0, 6), (-0.5, 0.25), (None, 0.1), (-0.1, None), (0, None)):
            for opset in (10, 17):
                with self.subTest(low=low, high=high, opset=opset):
                    graph = Graph()
                    x = graph.conv(graph.input(1, 4, 6, 5), 5, 4, 3, 3)
                    if opset == 10:
                        bounds = {key: float(value) for key, value in (("min", low), ("max", high)) if value is not None}
                        y = graph.add("Clip", x, **bounds)
                    else:
                        y = graph.add("Clip", x, *["" if value is None else graph.constant(value) for value in (low, high)])
                    self.check(graph.result(y), opset=opset)

    def test_blocks(self):
        """Bottlenecks with both kinds of shortcut, and inverted ones, with batch normalisations."""
        graph = Graph()
        x = graph.add("Relu", graph.norm(graph.conv(graph.input(2, 3, 13, 11), 8, 3, 3, 3, bias=False), 8))
        shortcut = graph.norm(graph.conv(x, 16, 8, 1, 1, strides=[2, 2], bias=False), 16)
        y = graph.add("Relu", graph.norm(graph.conv(x, 6, 8, 3, 3, strides=[2, 2], pads=[1] * 4, bias=False), 6))
        y = graph.norm(graph.conv(y, 16, 6, 1, 1), 16)
        x = graph.add("Relu", graph.add("Add", y, shortcut))
        y = graph.add("Clip", graph.conv(x, 32, 16, 1, 1), graph.constant(0), graph.constant(6))
        y = graph.add("Clip", graph.conv(y, 32, 1, 3, 3, group=32, pads=[1] * 4), graph.constant(0), graph.constant(6))
        x = graph.add("Add", x, graph.conv(y, 16, 32, 1, 1))
        self.check(graph.result(graph.add("GlobalAveragePool", x), x))

    def test_spreading(self):
        """Tensors of fewer dimensions and of lengths 1, numbers among them."""
        graph = Graph()
        x = graph.conv(graph.input(2, 3, 6, 7), 4, 3, 3, 3)
        for op, shape in (("Add", (4, 1, 1)), ("Mul", (5,)), ("Sub", ()), ("Max", (2, 1, 4, 1)), ("Min", (1,))):
            x = graph.add(op, x, graph.weight(*shape))
        self.check(graph.result(graph.add("Sub", graph.weight(1, 4, 1, 5), x)))

    def test_two_types_of_operands(self):
        """Filters that are inputs, constants that two nodes share, one tensor as both terms."""
        graph = Graph()
        x, w = graph.input(1, 4, 6, 6), graph.input(4, 4, 3, 3)
        b = graph.weight(4)
        x = graph.add("Conv", x, w, b, pads=[1] * 4)
        x = graph.add("Conv", graph.add("Add", x, x), w, b, pads=[1] * 4)
        self.check(graph.result(x))

    def test_random(self):
        """Chains of random nodes over images of random sizes, with outputs in the middle."""
        for seed in range(int(os.environ.get("TESSERA_TEST_CHAINS", "12"))):
            with self.subTest(seed=seed):
                graph = Graph(seed=seed)
                draw = lambda low, high: int(graph.random.integers(low, high + 1))
                channels, rank = draw(1, 9), draw(1, 3)
                x = graph.input(draw(1, 3), channels, *[draw(7, 14) for _ in range(rank)])
                for step in range(draw(2, 5)):
                    kind = draw(0, 5)
                    if kind <= 1:
                        group = draw(1, 2) if channels % 2 == 0 else 1
                        filters = group * draw(1, 6)
                        window = [draw(1, 3) for _ in range(rank)]
                        pads = [draw(0, size - 1) for size in window * 2]
                        x = graph.conv(x, filters, channels // group, *window, bias=draw(0, 1) == 1, group=group, pads=pads)
                        channels = filters
                    elif kind == 2:
                        x = graph.norm(x, channels)
                    elif kind == 3:
                        x = graph.add(["Relu", "Sigmoid", "Tanh", "Abs"][draw(0, 3)], x)
                    elif kind == 4:
                        x = graph.add(["Add", "Mul"][draw(0, 1)], x, graph.weight(channels, *[1] * rank))
                    else:
                        window = [2] * rank
                        x = graph.add(["MaxPool", "AveragePool"][draw(0, 1)], x, kernel_shape=window,
                                      pads=[draw(0, 1) for _ in window * 2])
                    if step == 1:
                        graph.result(x)
                graph.result(graph.add("GlobalMaxPool", x))
                self.check(graph)

    def test_random_graphs(self):
        """Nodes that read from random ones before them, some of which are the CPU's: no group contains a path through
        one of those, or ONNX Runtime takes none.
        """
        for seed in range(int(os.environ.get("TESSERA_TEST_GRAPHS", "12"))):
            with self.subTest(seed=seed):
                graph = Graph(seed=seed)
                values = [graph.input(1, 4, 5, 6)]
                for _ in range(graph.random.integers(5, 16)):
                    first, second = (values[i] for i in graph.random.integers(0, len(values), 2))
                    op = graph.random.choice(["Conv", "MaxPool", "Relu", "Add", "Erf", "Sin"])
                    if op == "Conv":
                        values.append(graph.conv(first, 4, 4, 3, 3, pads=[1] * 4))
                    elif op == "MaxPool":
                        values.append(graph.add(op, first, kernel_shape=[3, 3], pads=[1] * 4))
                    else:
                        values.append(graph.add(op, *([first, second] if op == "Add" else [first])))
                graph.result(*values[1:])
                session = self.check(graph, groups=False)
                ours = [op for group in get_groups(session) for op in group]
                for op in ("Conv", "MaxPool", "Erf"):
                    wanted = 0 if op == "Erf" else sum(node.op_type == op for node in graph.nodes)
                    self.assertEqual(ours.count(op), wanted, op)

    def test_networks(self):
        """ResNet-50 and MobileNetV2 with random weights, as they are and as ONNX Runtime rewrites them."""
        for build in (add_resnet50, add_mobilenet2):
            graph = Graph()
            length = int(os.environ.get("TESSERA_TEST_IMAGE", "64"))
            graph.result(build(graph, graph.input(2, 3, length, length, opens=(0,))))
            model = graph.bytes()
            wanted = make_session(model, ours=False).run(None, graph.feeds)[0]
            for optimizes in (False, True):
                with self.subTest(network=build.__name__, optimizes=optimizes):
                    session = make_session(model, optimizes=optimizes)
                    self.assertEqual(len([group for group in get_groups(session) if "Conv" in group]), 1)
                    error = float(numpy.abs(session.run(None, graph.feeds)[0] - wanted).max())
                    print(f"{build.__name__}: largest error {error:.2g} of {numpy.abs(wanted).max():.2g}")
                    self.assertLess(error, 1e-5 * numpy.abs(wanted).max())

    def test_open_lengths(self):
        """A batch and images whose lengths change between calls."""
        graph = Graph()
        x = graph.add("Relu", graph.conv(graph.input(1, 3, 9, 9, opens=(0, 2, 3)), 4, 3, 3, 3, pads=[1] * 4))
        graph.result(graph.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]))
        ours, theirs = make_session(graph.bytes()), make_session(graph.bytes(), ours=False)
        self.assertEqual(len(get_groups(ours)), 1)
        for shape in ((1, 3, 9, 9), (5, 3, 9, 9), (2, 3, 6, 17), (1, 3, 9, 9), (7, 3, 2, 2)):
            feeds = {"x0": graph.random.standard_normal(shape).astype("float32")}
            numpy.testing.assert_allclose(ours.run(None, feeds)[0], theirs.run(None, feeds)[0], atol=2e-5)
        with self.assertRaisesRegex(Exception, "AveragePool.*window is larger"):
            ours.run(None, {"x0": numpy.zeros((1, 3, 1, 1), "float32")})
        with self.assertRaisesRegex(Exception, "length below 1"):
            ours.run(None, {"x0": numpy.zeros((0, 3, 4, 4), "float32")})
        numpy.testing.assert_allclose(ours.run(None, feeds)[0], theirs.run(None, feeds)[0], atol=2e-5)

    def test_others_nodes(self):
        """What is not served stays with the CPU, and a path through it separates groups."""
        graph = Graph()
        x = graph.conv(graph.input(1, 3, 8, 8), 4, 3, 3, 3)
        y = graph.add("Erf", graph.add("Relu", x))
        z = graph.add("Add", graph.conv(x, 4, 4, 1, 1), y)
        self.check(graph.result(graph.add("MaxPool", z, kernel_shape=[2, 2])),
                   groups=[["Conv", "Conv", "Relu"], ["Add", "MaxPool"]])

    def test_refusals(self):
        """Nodes and attributes that are left to the CPU."""
        def indices(graph, x):
            values, numbers = graph.add("MaxPool", x, kernel_shape=[2, 2], outputs=2)
            return graph.add("Mul", values, graph.add("Cast", numbers, to=TensorProto.FLOAT))

        cases = [(lambda g, x: g.add("MaxPool", x, kernel_shape=[2, 2], dilations=[2, 2]), []),
                 (lambda g, x: g.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
                                     count_include_pad=1), []),
                 (lambda g, x: g.add("ConvTranspose", x, g.weight(3, 2, 3, 3), output_shape=[10, 11]), []),
                 (lambda g, x: g.add("Relu", x), []),
                 (lambda g, x: g.add("Clip", g.conv(x, 4, 3, 3, 3), g.add("ReduceMin", x, keepdims=0)), [["Conv"]]),
                 (lambda g, x: g.add("LayerNormalization", x, g.weight(10)), []),
                 (lambda g, x: g.add("LayerNormalization", x, g.weight(10), g.weight(10), outputs=2)[1], []),
                 (indices, [])]
        for number, (build, groups) in enumerate(cases):
            with self.subTest(number=number):
                graph = Graph()
                self.check(graph.result(build(graph, graph.input(1, 3, 10, 10))), groups=groups)

    def test_branches(self):
        """Graphs inside a condition, which read a value of the graph around them."""
        graph = Graph()
        x = graph.add("Relu", graph.conv(graph.input(1, 3, 6, 6), 4, 3, 3, 3))
        bodies = {}
        for key, factor in (("then_branch", 2.0), ("else_branch", 3.0)):
            nodes = [helper.make_node("Constant", [], [f"{key}_f"], value=numpy_helper.from_array(numpy.float32(factor))),
                     helper.make_node("Mul", [x, f"{key}_f"], [f"{key}_m"]),
                     helper.make_node("MaxPool", [f"{key}_m"], [key], kernel_shape=[2, 2])]
            bodies[key] = helper.make_graph(nodes, key, [], [helper.make_tensor_value_info(key, TYPES["float32"], None)])
        graph.weights.append(numpy_helper.from_array(numpy.array(True), "condition"))
        graph.result(graph.add("If", "condition", **bodies))
        model = graph.bytes()
        wanted = make_session(model, ours=False).run(None, graph.feeds)[0]
        numpy.testing.assert_allclose(make_session(model).run(None, graph.feeds)[0], wanted, atol=2e-5)

    def test_threads(self):
        """One session, called by threads with different lengths."""
        graph = Graph()
        x = graph.conv(graph.input(1, 3, 8, 8, opens=(0,)), 4, 3, 3, 3)
        graph.result(graph.add("Softmax", x, axis=1))
        ours, theirs = make_session(graph.bytes()), make_session(graph.bytes(), ours=False)
        errors = []

        def run(batch):
            feeds = {"x0": numpy.random.default_rng(batch).standard_normal((batch, 3, 8, 8)).astype("float32")}
            wanted = theirs.run(None, feeds)[0]
            for _ in range(5):
                errors.append(float(numpy.abs(ours.run(None, feeds)[0] - wanted).max()))

        threads = [threading.Thread(target=run, args=(batch,)) for batch in (1, 2, 3, 4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(errors), 20)
        self.assertLess(max(errors), 2e-5)


if __name__ == "__main__":
    unittest.main()
