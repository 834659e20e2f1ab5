"""The tensors of a recurrent network's steps with random data, and what the
steps make of them (docs/spec/row-wise.md)."""

import re

import numpy as np

TYPES = {"f16": np.float16, "f32": np.float32}


def logistic(x):
    return 1 / (1 + np.exp(-x))


def make_lstm(products, inputs, mode):
    *gates, old = inputs
    i, f, o = (logistic(gate + product)
               for gate, product in zip(gates[:3], products))
    g = np.tanh(gates[3] + products[3])
    c = f * old + i * g
    return [i, f, o, g][:4 * (mode & 1)] + [c, o * np.tanh(c)]


def make_gru(products, inputs, mode):
    *gates, bias, old = inputs
    z, reset = (logistic(gate + product)
                for gate, product in zip(gates[:2], products))
    product = products[2] + bias
    n = np.tanh(gates[2] + reset * product)
    return [z, reset, n, product][:4 * (mode & 1)] + [n + z * (old - n)]


def make_vanilla(products, inputs, mode):
    h = products[0] + inputs[0]
    h = np.tanh(h) if mode & 1 else np.maximum(h, 0)
    return [h] * (1 + (mode >> 1 & 1))


def make_lstm_gradients(products, inputs, mode):
    i, f, o, g, old, dy, dc = inputs
    dh, tanh_c = dy + products[0], np.tanh(f * old + i * g)
    dc = dc + dh * o * (1 - tanh_c ** 2)
    return [dc * g * i * (1 - i), dc * old * f * (1 - f),
            dh * tanh_c * o * (1 - o), dc * i * (1 - g ** 2), dc * f]


# By operation: its products, its formula, and which of its outputs are inputs
# of the next step.
STEPS = {
    "lstm_step": (4, make_lstm, lambda n: {0: [n - 1], 9: [n - 2]}),
    "gru_step": (3, make_gru, lambda n: {0: [n - 1], 8: [n - 1]}),
    "rnn_step": (1, make_vanilla, lambda n: {0: [0]}),
    "lstm_step_bwd": (1, make_lstm_gradients,
                      lambda n: {0: [0, 1, 2, 3], 8: [4]})}


class Steps:
    """All steps of `config`; outputs hold NaN."""

    def __init__(self, config, seed):
        name, mode, lengths, tensors = re.fullmatch(
            r"rowwise-(\w+)-m(\d+)-([\dx]+)-r3-(.*)", config).groups()
        self.products, self.formula, carried = STEPS[name]
        self.mode = int(mode)
        self.lengths = [int(length) for length in lengths.split("x")]
        fields = [tensor.split(":") for tensor in tensors.split("-")]
        self.kind = TYPES[fields[0][1]]
        self.is_output = [field[0] == "r" for field in fields]
        self.strides = [[int(stride) for stride in field[2:]]
                        for field in fields]
        self.carried = carried(sum(self.is_output))
        random = np.random.default_rng(seed)
        self.data = [self.draw(random, i) for i in range(len(fields))]

    def draw(self, random, i):
        size = 1 + sum((length - 1) * stride for length, stride in
                       zip(self.lengths, self.strides[i]))
        if self.is_output[i]:
            return np.full(size, np.nan, self.kind)
        scale = 2 / np.sqrt(self.lengths[3]) if 0 < i <= self.products else 1
        return random.uniform(-scale, scale, size).astype(self.kind)

    def view(self, data, i):
        """The tensor as [step, sequence, unit, element]; of dimensions along
        which it has one element, with a length of 1."""
        shape = [length if stride else 1 for length, stride in
                 zip(self.lengths, self.strides[i])]
        strides = [stride * data.itemsize for stride in self.strides[i]]
        return np.lib.stride_tricks.as_strided(data, shape, strides)

    def compute(self):
        """The outputs in f64, each rounded to the type where the next step
        takes it."""
        tensors = [self.view(data, i).astype(np.float64)
                   for i, data in enumerate(self.data)]
        first_output = self.is_output.index(True)
        outputs = tensors[first_output:]
        state = tensors[0][0, :, 0, :]
        weights = [w[0, 0] for w in tensors[1:1 + self.products]]
        inputs = tensors[1 + self.products:first_output]
        given = {}
        steps = range(self.lengths[0])
        for t in reversed(steps) if self.mode & 16 else steps:
            own = [given[i] if i in given else x[min(t, len(x) - 1), :, :, 0]
                   for i, x in enumerate(inputs, 1 + self.products)]
            results = self.formula([state @ w.T for w in weights], own,
                                   self.mode)
            for output, result in zip(outputs, results):
                output[min(t, len(output) - 1), :, :, 0] = result
            rounded = [result.astype(self.kind).astype(np.float64)
                       for result in results]
            given = {i: np.concatenate([rounded[n] for n in numbers], 1)
                     for i, numbers in self.carried.items()}
            state = given[0]
        return outputs
