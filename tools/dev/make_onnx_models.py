#!/usr/bin/env python3
"""Writes small ONNX models to test with.

usage: make_onnx_models.py FOLDER

Weights have their shapes and no data, so a whole ResNet-50 is some kilobytes:
nothing that reads problems looks at a weight. Needs python3-onnx.

  resnet50.onnx     the 53 convolutions and two poolings of ResNet-50 v1.5; its
                    batch "N" is open
  mobilenet.onnx    MobileNet v2: depthwise layers, Clip as activation, f16
  attributes.onnx   every attribute of the window operators that has a say
  open.onnx         two open dimensions, "batch" and "height"
  nested.onnx       a convolution in each branch of a condition
  function.onnx     a convolution in a function of the model
  huge.onnx         lengths and padding that no machine has
  hostile.onnx      a convolution of a matrix, which ends the ONNX library 1.12
"""

import pathlib
import sys

import onnx
from onnx import TensorProto, helper


class Model:
    """Collects nodes and weights; every method returns its result's name."""

    def __init__(self, name, element=TensorProto.FLOAT):
        self.name = name
        self.element = element
        self.nodes, self.weights, self.inputs, self.results = [], [], [], []
        self.count = 0

    def input(self, name, shape):
        self.inputs.append(
            helper.make_tensor_value_info(name, self.element, shape))
        return name

    def weight(self, shape):
        tensor = TensorProto(dims=shape, data_type=self.element)
        tensor.name = f"w{len(self.weights)}"
        self.weights.append(tensor)
        return tensor.name

    def scalar(self, value):
        tensor = helper.make_tensor(f"s{len(self.weights)}", TensorProto.FLOAT,
                                    [], [value])
        self.weights.append(tensor)
        return tensor.name

    def node(self, op, inputs, name=None, outputs=1, **attributes):
        self.count += 1
        name = name or f"{op.lower()}{self.count}"
        results = [name] + [f"{name}_{i}" for i in range(1, outputs)]
        self.nodes.append(
            helper.make_node(op, inputs, results, name=name, **attributes))
        return name

    def conv(self, x, channels, filters, window, name=None, bias=True,
             op="Conv", **attributes):
        """A convolution; `channels` counts those of one group."""
        shape = ([channels, filters] if op == "ConvTranspose" else
                 [filters, channels]) + list(window)
        operands = [x, self.weight(shape)]
        if bias:
            operands.append(self.weight([filters]))
        return self.node(op, operands, name, **attributes)

    def result(self, value, rank=4):
        self.results.append(helper.make_tensor_value_info(
            value, self.element, [None] * rank))

    def save(self, folder, opset=13):
        graph = helper.make_graph(self.nodes, self.name, self.inputs,
                                  self.results, self.weights)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)])
        onnx.save(model, folder / f"{self.name}.onnx")


def make_resnet50(folder):
    model = Model("resnet50")
    x = model.input("image", ["N", 3, 224, 224])
    x = model.conv(x, 3, 64, (7, 7), "stem", strides=[2, 2],
                   pads=[3, 3, 3, 3])
    x = model.node("Relu", [x])
    x = model.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2],
                   pads=[1, 1, 1, 1])
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = [2, 2] if stage > 0 and block == 0 else [1, 1]
            y = model.node("Relu", [model.conv(x, channels, width, (1, 1))])
            y = model.node("Relu", [model.conv(y, width, width, (3, 3),
                                               strides=stride,
                                               pads=[1, 1, 1, 1])])
            y = model.conv(y, width, 4 * width, (1, 1))
            if block == 0:
                x = model.conv(x, channels, 4 * width, (1, 1), strides=stride)
            channels = 4 * width
            x = model.node("Relu", [model.node("Add", [x, y])])
    x = model.node("GlobalAveragePool", [x])
    x = model.node("Flatten", [x])
    model.result(model.node("Gemm", [x, model.weight([2048, 1000])]), 2)
    model.save(folder)


def make_mobilenet(folder):
    model = Model("mobilenet", TensorProto.FLOAT16)

    def clip(x):
        return model.node("Clip", [x, model.scalar(0.0), model.scalar(6.0)])

    x = model.input("image", [1, 3, 224, 224])
    x = clip(model.conv(x, 3, 32, (3, 3), "stem", strides=[2, 2],
                        pads=[1, 1, 1, 1]))
    channels = 32
    for expand, width, blocks, stride in (
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            y, inner = x, channels * expand
            if expand > 1:
                y = clip(model.conv(y, channels, inner, (1, 1)))
            step = [stride, stride] if block == 0 else [1, 1]
            y = clip(model.conv(y, 1, inner, (3, 3), group=inner,
                                strides=step, pads=[1, 1, 1, 1]))
            y = model.conv(y, inner, width, (1, 1))
            if block > 0:
                y = model.node("Add", [x, y])
            x, channels = y, width
    x = clip(model.conv(x, channels, 1280, (1, 1)))
    model.result(model.node("GlobalAveragePool", [x]))
    model.save(folder)


def make_attributes(folder):
    model = Model("attributes")
    x = model.input("image", [2, 8, 13, 18])
    add = model.result

    # Padding by rule, without padding, and at one end only. A window of four
    # rows leaves an odd row of padding, at the end or at the beginning.
    add(model.conv(x, 8, 16, (4, 3), "upper", auto_pad="SAME_UPPER"))
    add(model.conv(x, 8, 16, (4, 3), "lower", auto_pad="SAME_LOWER"))
    add(model.conv(x, 8, 16, (3, 3), "even", auto_pad="SAME_UPPER"))
    add(model.conv(x, 8, 16, (3, 3), "valid", auto_pad="VALID"))
    add(model.conv(x, 8, 16, (3, 3), "uneven", pads=[0, 2, 1, 0]))
    # One additional row at the end, which no window reaches.
    add(model.conv(x, 8, 16, (3, 3), "unreached", strides=[2, 2],
                   pads=[1, 1, 2, 1]))
    add(model.conv(x, 4, 6, (3, 5), "full", bias=False, group=2,
                   dilations=[2, 3], strides=[1, 2], pads=[2, 6, 2, 6],
                   kernel_shape=[3, 5]))

    # Transposed convolutions: x is y of the equivalent convolution.
    def transpose(name, channels=8, filters=5, window=(3, 3), **attributes):
        add(model.conv(x, channels, filters, window, name, op="ConvTranspose",
                       **attributes))

    transpose("up", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    transpose("up_same", strides=[2, 2], auto_pad="SAME_UPPER")
    transpose("up_shape", strides=[2, 2], output_shape=[26, 36])
    transpose("up_groups", window=(2, 2), group=4, strides=[2, 2])

    def pool(op, name, window=(3, 3), source=x, **attributes):
        return model.node(op, [source], name, kernel_shape=list(window),
                          **attributes)

    add(pool("MaxPool", "max", strides=[2, 2], pads=[1, 1, 1, 1]))
    add(pool("MaxPool", "max_ceil", (2, 2), strides=[2, 2], ceil_mode=1))
    add(pool("MaxPool", "max_indices", outputs=2, strides=[3, 3]))
    add(pool("MaxPool", "max_dilated", dilations=[2, 2]))
    add(pool("AveragePool", "avg", strides=[2, 2], pads=[1, 1, 1, 1]))
    add(pool("AveragePool", "avg_pads", strides=[2, 2], pads=[1, 1, 1, 1],
             count_include_pad=1))
    add(pool("AveragePool", "avg_ceil", (2, 2), strides=[2, 2], ceil_mode=1))
    add(pool("AveragePool", "avg_ceil_pads", (2, 2), strides=[2, 2], ceil_mode=1,
             count_include_pad=1))
    add(model.node("GlobalMaxPool", [x], "global_max"))
    add(model.node("GlobalAveragePool", [x], "global_avg"))
    add(model.node("LpPool", [x], "lp", kernel_shape=[2, 2]))

    # Convolutions of one and of three dimensions.
    line = model.input("line", [2, 8, 100])
    add(model.conv(line, 8, 4, (5,), "line_conv", pads=[2, 2]), 3)
    cube = model.input("cube", [1, 4, 6, 7, 8])
    add(model.conv(cube, 4, 4, (1, 2, 3), "cube_conv", strides=[1, 2, 1]), 5)
    add(pool("MaxPool", "cube_max", (2, 2, 2), cube, strides=[2, 2, 2],
             outputs=2), 5)

    # Epilogues: operations that follow a convolution, and some that follow but
    # have more readers.
    def follow(name, op, operands=(), bias=True, **attributes):
        y = model.conv(x, 8, 8, (1, 1), name, bias=bias)
        add(model.node(op, [y, *operands], **attributes))
        return y

    follow("relu", "Relu")
    follow("leaky", "LeakyRelu", bias=False, alpha=0.1)
    follow("sigmoid", "Sigmoid")
    follow("tanh", "Tanh")
    follow("relu6", "Clip", [model.scalar(0.0), model.scalar(6.0)])
    follow("clamp", "Clip", [model.scalar(-1.0), model.scalar(1.0)])
    follow("floor", "Clip", [model.scalar(0.0)])
    follow("softmax", "Softmax")
    add(model.node("Neg", [follow("shared", "Relu")]))
    model.save(folder)


def make_open(folder):
    model = Model("open")
    x = model.input("image", ["batch", 8, "height", 32])
    x = model.conv(x, 8, 8, (3, 3), "first", pads=[1, 1, 1, 1])
    model.result(model.conv(x, 8, 8, (1, 1), "second"))
    model.save(folder)


def make_nested(folder):
    def branch(name, filters):
        inner = Model(name)
        inner.conv("image", 8, filters, (1, 1), name)
        inner.result(name)
        return helper.make_graph(inner.nodes, name, [], inner.results,
                                 inner.weights)

    model = Model("nested")
    model.input("image", [1, 8, 4, 4])
    model.inputs.append(
        helper.make_tensor_value_info("which", TensorProto.BOOL, []))
    model.result(model.node("If", ["which"], "choice",
                            then_branch=branch("yes", 8),
                            else_branch=branch("no", 16)))
    model.save(folder)


def make_function(folder):
    inner = Model("inner")
    inner.node("Conv", ["x", "w"], "y")
    opset = [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)]
    model = Model("function")
    x = model.input("image", [1, 8, 4, 4])
    y = model.node("MyConv", [x, model.weight([8, 8, 1, 1])], "call",
                   domain="own")
    model.result(y)
    graph = helper.make_graph(model.nodes, "function", model.inputs,
                              model.results, model.weights)
    function = helper.make_function("own", "MyConv", ["x", "w"], ["y"],
                                    inner.nodes, opset[:1])
    onnx.save(helper.make_model(graph, opset_imports=opset,
                                functions=[function]),
              folder / "function.onnx")


def make_huge(folder):
    model = Model("huge")
    x = model.input("long", [1, 2**40, 4, 4])
    model.result(model.conv(x, 2**40, 8, (1, 1), "channels", bias=False))
    x = model.input("small", [1, 8, 4, 4])
    model.result(model.conv(x, 8, 8, (3, 3), "padding", bias=False,
                            pads=[2**62] * 4))
    model.result(model.conv(x, 8, 8, (3, 3), "dilation", bias=False,
                            dilations=[2**31 - 1] * 2, pads=[2**31 - 1] * 4))
    x = model.input("wide", [2**31 - 1, 2**31 - 1, 2**31 - 1, 4])
    model.result(model.node("MaxPool", [x], "bytes", kernel_shape=[1, 1]))
    model.save(folder)


def make_hostile(folder):
    model = Model("hostile")
    x = model.input("image", [1, 8])
    model.result(model.conv(x, 8, 8, (3, 3)))
    model.save(folder)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (make_resnet50, make_mobilenet, make_attributes, make_open,
                 make_nested, make_function, make_huge, make_hostile):
        make(folder)


if __name__ == "__main__":
    main()
