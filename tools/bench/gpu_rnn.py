#!/usr/bin/env python3
"""Compares recurrent networks of the C API with PyTorch's, and times them.

`check` draws networks (mode, type, layers, directions, biases, skipped input
weights, packed and padded sequences, given and final states), runs inference,
training and both gradients, and compares with PyTorch in double. `time` puts
an LSTM of one layer beside torch.nn.LSTM's cuDNN: inference, and training with
all gradients, as plain calls and as a CUDA graph. `deepbench PROBLEMS` reads
rnn_problems.h of DeepBench and runs its lists, as its programs do: networks
without input weights and biases; those for training with their gradients.
`--repeats 0 --share I/N` only makes the kernels of every Nth network.

Needs PyTorch, and LIBRARY (libMIOpen.so.1). With TESSERA_DEVICE=nvidia it runs
on the GPU. `check --emulator libtessera-emulator.so` runs on the emulated
device that TESSERA_DEVICE names, with PyTorch on the host.
"""

import argparse
import ctypes
import math
import random
import re
import statistics
import time

import torch

import c_api

TYPES = {"f16": (torch.float16, 0), "f32": (torch.float32, 1),
         "bf16": (torch.bfloat16, 5)}
MODES = ("relu", "tanh", "lstm", "gru")  # By miopenRNNMode_t.
GATES = {"relu": 1, "tanh": 1, "lstm": 4, "gru": 3}
# MIOpen's gates in PyTorch's order: i, f, g, o and r, z, n.
ORDER = {"relu": (0,), "tanh": (0,), "lstm": (0, 1, 3, 2), "gru": (1, 0, 2)}
LAYOUTS = {"packed": 1, "steps": 2, "sequences": 3}  # miopenRNNBaseLayout_t


class Memory:
    """Tensors that both the library and PyTorch can reach."""

    def __init__(self, emulator=None):
        self.device = "cpu" if emulator else "cuda"
        self.hip = ctypes.CDLL(emulator) if emulator else None

    def share(self, tensor):
        tensor = tensor.to(self.device).contiguous()
        if self.hip and tensor.numel():
            address = ctypes.c_void_p(tensor.data_ptr())
            if self.hip.hipHostRegister(address, ctypes.c_size_t(tensor.nbytes),
                                        0):
                raise RuntimeError("hipHostRegister failed")
        return tensor

    def release(self, tensors):
        for tensor in tensors if self.hip else ():
            self.hip.hipHostUnregister(ctypes.c_void_p(tensor.data_ptr()))

    def finish(self):
        if self.hip:
            self.hip.hipDeviceSynchronize()
        else:
            torch.cuda.synchronize()


class Network:
    """A network of the C API with its tensors, which hold random numbers.

    `lengths` are those of the client's sequences. `layout` is "descriptors",
    one for each time step, or a name in LAYOUTS.
    """

    def __init__(self, library, memory, mode, kind, layers=1, directions=1,
                 input=1, hidden=1, lengths=(1,), layout="descriptors",
                 bias=True, skips=False, initial=True, final=True):
        self.library, self.memory = library, memory
        self.mode, self.kind, self.layers = mode, kind, layers
        self.directions, self.input, self.hidden = directions, input, hidden
        self.lengths, self.layout, self.bias = lengths, layout, bias
        self.skips, self.initial, self.final = skips, initial, final
        self.gates, self.batch = GATES[mode], len(lengths)
        self.dtype, self.number = TYPES[kind]
        self.batches = [sum(length > step for length in lengths)
                        for step in range(max(lengths))]
        self.shared, self.descs = [], []
        self.make_tensors()
        self.make_descriptors()

    # --------------------------------------------------------------- tensors

    def share(self, tensor):
        self.shared.append(self.memory.share(tensor))
        return self.shared[-1]

    def make_tensors(self):
        outputs = self.directions * self.hidden
        shape = {"steps": (max(self.lengths), self.batch),
                 "sequences": (self.batch, max(self.lengths))}.get(
                     self.layout, (sum(self.batches),))
        states = (self.layers * self.directions, self.batch, self.hidden)

        def draw(*shape, scale=1.0):
            values = (torch.rand(shape) * 2 - 1) * scale
            return self.share(values.to(self.dtype))

        def poison(*shape):
            return self.share(torch.full(shape, float("nan"), dtype=self.dtype))
        self.x, self.dy = draw(*shape, self.input), draw(*shape, outputs)
        scale = min(0.6, 1.5 / math.sqrt(self.hidden))
        self.w = draw(self.count_weights(), scale=scale)
        self.dw = self.share(torch.zeros(self.w.shape, dtype=self.dtype))
        self.hx, self.cx, self.dhy, self.dcy = (draw(*states) for _ in range(4))
        self.y, self.dx = poison(*shape, outputs), poison(*shape, self.input)
        self.hy, self.cy, self.dhx, self.dcx = (
            poison(*states) for _ in range(4))

    def list_blocks(self):
        """The layer, direction, rows and columns of each part of the weights,
        in MIOpen's order; biases have no columns."""
        rows = self.gates * self.hidden
        for layer in range(self.layers):
            columns = (self.directions * self.hidden if layer
                       else 0 if self.skips else self.input)
            for count in ([columns] if columns else []) + [self.hidden]:
                name = "ih" if count is columns and count else "hh"
                for direction in range(self.directions):
                    yield layer, direction, f"weight_{name}", rows, count
                columns = None
        for layer in range(self.layers if self.bias else 0):
            for name in ("bias_ih", "bias_hh"):
                for direction in range(self.directions):
                    yield layer, direction, name, rows, None

    def count_weights(self):
        return sum(rows * (columns or 1)
                   for *_, rows, columns in self.list_blocks())

    def split_weights(self, buffer):
        """PyTorch's parameters by name, as copies out of `buffer`."""
        parts, offset = {}, 0
        for layer, direction, name, rows, columns in self.list_blocks():
            count = rows * (columns or 1)
            block = buffer[offset:offset + count].view(
                self.gates, self.hidden, *([columns] if columns else []))
            offset += count
            name = f"{name}_l{layer}" + ("_reverse" if direction else "")
            parts[name] = block[list(ORDER[self.mode])].flatten(0, 1)
        return parts

    # ----------------------------------------------------------- descriptors

    def create(self, noun):
        desc = ctypes.c_void_p()
        self.library.call(f"miopenCreate{noun}Descriptor", ctypes.byref(desc))
        self.descs.append((noun, desc))
        return desc

    def describe(self, *lengths):
        desc = self.create("Tensor")
        strides = [math.prod(lengths[i + 1:]) for i in range(len(lengths))]
        ints = ctypes.c_int * len(lengths)
        self.library.call("miopenSetTensorDescriptor", desc, self.number,
                          len(lengths), ints(*lengths), ints(*strides))
        return desc

    def describe_rows(self, size):
        """The descriptor of x or y."""
        if self.layout == "descriptors":
            by_batch = {batch: self.describe(batch, size, 1)
                        for batch in set(self.batches)}
            return (ctypes.c_void_p * len(self.batches))(
                *[by_batch[batch] for batch in self.batches])
        desc = self.create("SeqTensor")
        self.library.call(
            "miopenSetRNNDataSeqTensorDescriptor", desc, self.number,
            LAYOUTS[self.layout], max(self.lengths), self.batch, size,
            (ctypes.c_int * self.batch)(*self.lengths), None)
        return desc

    def make_descriptors(self):
        call, handle = self.library.call, self.library.handle
        self.desc = self.create("RNN")
        call("miopenSetRNNDescriptor_V2", self.desc, self.hidden, self.layers,
             None, int(self.skips), self.directions - 1,
             MODES.index(self.mode), int(self.bias), 0, self.number)
        if self.layout in ("steps", "sequences"):
            call("miopenSetRNNPaddingMode", self.desc, 1)
        self.x_desc = self.describe_rows(self.input)
        self.y_desc = self.describe_rows(self.directions * self.hidden)
        self.state_desc = self.describe(*self.hx.shape)
        self.w_desc = self.describe(self.w.numel())
        bytes = [ctypes.c_size_t(), ctypes.c_size_t()]
        if self.layout == "descriptors":
            for name, size in zip(("Workspace", "TrainingReserve"), bytes):
                call(f"miopenGetRNN{name}Size", handle, self.desc,
                     len(self.batches), self.x_desc, ctypes.byref(size))
        else:
            call("miopenGetRNNTempSpaceSizes", handle, self.desc, self.x_desc,
                 0, *map(ctypes.byref, bytes))
        self.spaces = [self.share(torch.full((max(1, size.value),), 255,
                                             dtype=torch.uint8))
                       for size in bytes]

    def close(self):
        self.memory.finish()
        self.memory.release(self.shared)
        for noun, desc in reversed(self.descs):
            self.library.call(f"miopenDestroy{noun}Descriptor", desc)

    # ------------------------------------------------------------------ calls

    def get_space(self, number):
        space = self.spaces[number]
        return pointer(space), ctypes.c_size_t(space.numel())

    def get_states(self, *states, given):
        """Pairs of descriptor and address."""
        return [part for state in states
                for part in (self.state_desc, pointer(state) if given else None)]

    def forward(self, training):
        call, handle = self.library.call, self.library.handle
        steps = len(self.batches)
        if self.layout == "descriptors":
            name = "Training" if training else "Inference"
            return call(
                f"miopenRNNForward{name}", handle, self.desc, steps,
                self.x_desc, pointer(self.x),
                *self.get_states(self.hx, self.cx, given=self.initial),
                self.w_desc, pointer(self.w), self.y_desc, pointer(self.y),
                *self.get_states(self.hy, self.cy, given=self.final),
                *self.get_space(0), *(self.get_space(1) if training else ()))
        self.call_sequences(
            "miopenRNNForward", 0 if training else 1, self.x_desc,
            pointer(self.x), *self.get_both(self.hx, self.hy),
            *self.get_both(self.cx, self.cy), self.y_desc, pointer(self.y),
            *self.get_weights(self.w), *self.get_space(0), *self.get_space(1))

    def get_both(self, initial, final):
        return (self.state_desc, pointer(initial) if self.initial else None,
                pointer(final) if self.final else None)

    def get_weights(self, weights):
        return pointer(weights), ctypes.c_size_t(weights.nbytes)

    def call_sequences(self, name, *arguments):
        self.library.call(name, self.library.handle, self.desc, *arguments)

    def backward_data(self):
        if self.layout == "descriptors":
            return self.library.call(
                "miopenRNNBackwardData", self.library.handle, self.desc,
                len(self.batches), self.y_desc, pointer(self.y), self.y_desc,
                pointer(self.dy),
                *self.get_states(self.dhy, self.dcy, given=self.final),
                self.w_desc, pointer(self.w),
                *self.get_states(self.hx, self.cx, given=self.initial),
                self.x_desc, pointer(self.dx),
                *self.get_states(self.dhx, self.dcx, given=self.initial),
                *self.get_space(0), *self.get_space(1))

        def states(old, d_final, d_initial):
            final = pointer(d_final) if self.final else None
            return (self.state_desc, *(
                (pointer(old), final, pointer(d_initial)) if self.initial
                else (None, final, None)))
        self.call_sequences(
            "miopenRNNBackwardSeqData", self.y_desc, pointer(self.y),
            pointer(self.dy), *states(self.hx, self.dhy, self.dhx),
            *states(self.cx, self.dcy, self.dcx), self.x_desc,
            pointer(self.dx), *self.get_weights(self.w), *self.get_space(0),
            *self.get_space(1))

    def backward_weights(self):
        initial = pointer(self.hx) if self.initial else None
        if self.layout == "descriptors":
            return self.library.call(
                "miopenRNNBackwardWeights", self.library.handle, self.desc,
                len(self.batches), self.x_desc, pointer(self.x),
                self.state_desc, initial, self.y_desc, pointer(self.y),
                self.w_desc, pointer(self.dw), *self.get_space(0),
                *self.get_space(1))
        self.call_sequences(
            "miopenRNNBackwardWeightsSeqTensor", self.x_desc, pointer(self.x),
            self.state_desc, initial, self.y_desc, pointer(self.y),
            *self.get_weights(self.dw), *self.get_space(0), *self.get_space(1))

    def train(self):
        self.dw.zero_()
        self.forward(True)
        self.backward_data()
        self.backward_weights()


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


# ---------------------------------------------------------------------- check


class Reference:
    """PyTorch's results in double for a network's tensors."""

    def __init__(self, net):
        self.net = net
        keys = {"lstm": {}, "gru": {}, "relu": {"nonlinearity": "relu"},
                "tanh": {"nonlinearity": "tanh"}}[net.mode]
        kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(
            net.mode, torch.nn.RNN)
        self.model = kind(net.input, net.hidden, net.layers, bias=net.bias,
                          bidirectional=net.directions == 2, **keys)
        self.model = self.model.double().to(net.memory.device)
        self.parameters = dict(self.model.named_parameters())
        values = net.split_weights(net.w)
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                # A gate without input weights takes the input as it is.
                parameter.copy_(values[name] if name in values else torch.eye(
                    net.hidden).repeat(net.gates, 1))
        self.x = net.x.double().requires_grad_()
        self.states = [state.double().requires_grad_()
                       for state in (net.hx, net.cx)]

    def forward(self):
        net, rnn = self.net, torch.nn.utils.rnn
        lengths = torch.tensor(net.lengths)
        if net.layout in ("steps", "sequences"):
            rows = rnn.pack_padded_sequence(
                self.x, lengths, batch_first=net.layout == "sequences",
                enforce_sorted=False)
        else:
            rows = rnn.PackedSequence(self.x, torch.tensor(net.batches))
        given = ((self.states[0] if net.mode != "lstm" else tuple(self.states))
                 if net.initial else None)
        y, final = self.model(rows, given)
        y = (rnn.pad_packed_sequence(
                y, batch_first=net.layout == "sequences")[0]
             if net.layout in ("steps", "sequences") else y.data)
        return [y, *(final if net.mode == "lstm" else [final])]

    def get_results(self):
        """Results by name; a gradient is that of the sum of results times
        their given gradients."""
        net, results = self.net, self.forward()
        loss = (results[0] * net.dy.double()).sum()
        if net.final:
            for result, given in zip(results[1:], (net.dhy, net.dcy)):
                loss = loss + (result * given.double()).sum()
        wanted = [self.x, *self.parameters.values(),
                  *(self.states[:len(results) - 1] if net.initial else ())]
        gradients = torch.autograd.grad(loss, wanted)
        named = {"y": results[0], "dx": gradients[0]}
        if net.final:
            named |= dict(zip(("hy", "cy"), results[1:]))
        named |= {f"d{name}": gradient for name, gradient in
                  zip(self.parameters, gradients[1:])}
        return named | dict(zip(("dhx", "dcx"),
                                gradients[1 + len(self.parameters):]))


def find_wrong(net, found, wanted, name):
    """Says how far a result is from the wanted one if that is too far: so many
    roundings of the largest number, as products are summed in f32."""
    longest = max(net.input + net.hidden, sum(net.batches))
    units = {"f32": (16 + longest) * 2**-24, "f16": 24 * 2**-11,
             "bf16": 24 * 2**-8}[net.kind]
    largest = max(0.05, wanted.abs().max().item())
    error = (found.double() - wanted).abs().max().item() / largest
    return "" if error <= units else f"{name}: {error:.1e} > {units:.1e}"


def is_padding(net):
    """True where x and y have padding."""
    steps = torch.arange(max(net.lengths))
    mask = steps[:, None] >= torch.tensor(net.lengths)
    mask = mask.T if net.layout == "sequences" else mask
    return mask.to(net.memory.device)[..., None]


def check(net):
    """Says what is wrong with a network's results."""
    wanted = Reference(net).get_results()
    wrong = []

    def compare(name, found):
        right = wanted[name].detach()
        if net.layout in ("steps", "sequences") and name in ("y", "dx"):
            # What lies in the padding is the library's own matter.
            padding = is_padding(net)
            found = found.masked_fill(padding, 0)
            right = right.masked_fill(padding, 0)
        wrong.append(find_wrong(net, found, right, name))
    forward = [name for name in ("y", "hy", "cy") if name in wanted]
    net.forward(False)
    net.memory.finish()
    for name in forward:
        compare(name, getattr(net, name))
        getattr(net, name).fill_(float("nan"))
    net.spaces[0].fill_(255)
    net.train()
    net.memory.finish()
    for name in forward:
        compare(name, getattr(net, name))
    if net.mode == "relu" and net.kind != "f32":
        # Rounding changes the sign of a sum near zero, and so the gradient.
        return "; ".join(filter(None, wrong))
    for name in ("dx", "dhx", "dcx"):
        if name in wanted:
            compare(name, getattr(net, name))
    for name, gradient in net.split_weights(net.dw).items():
        compare(f"d{name}", gradient)
    return "; ".join(filter(None, wrong))


def draw_network(rng, smallest, largest, modes, kinds):
    """Keyword arguments of a random network."""
    mode = rng.choice(modes)
    hidden = rng.choice([rng.randint(smallest, largest),
                         16 * rng.randint(max(1, smallest // 16),
                                          max(1, largest // 16))])
    skips = rng.random() < 0.2
    layout = rng.choice(["descriptors", *LAYOUTS])
    lengths = [rng.randint(1, 8) for _ in range(rng.randint(1, 9))]
    if rng.random() < 0.4:
        lengths = [max(lengths)] * len(lengths)
    if layout in ("descriptors", "packed"):
        lengths.sort(reverse=True)
    return {"mode": mode, "kind": rng.choice(kinds),
            "layers": rng.choice([1, 1, 2, 3]),
            "directions": rng.choice([1, 2]), "hidden": hidden,
            "input": hidden if skips else rng.randint(1, largest),
            "lengths": tuple(lengths), "layout": layout,
            "bias": rng.random() < 0.6, "skips": skips,
            "initial": rng.random() < 0.7, "final": rng.random() < 0.7}


def make_even(rng, drawn):
    """The network with one layer, whose sequences have one length, and whole
    matrix instructions: each of its steps may be a launch."""
    batch, steps = rng.randint(2, 70), rng.randint(2, 6)
    hidden = -(-drawn["hidden"] // 16) * 16
    return drawn | {"layers": 1, "hidden": hidden, "layout": "descriptors",
                    "input": hidden if drawn["skips"] else drawn["input"],
                    "lengths": (steps,) * batch}


def run_checks(library, memory, options):
    wrong = 0
    for number in range(options.first, options.first + options.count):
        rng = random.Random(f"{options.seed} {number}")
        torch.manual_seed(rng.getrandbits(32))
        drawn = draw_network(rng, options.smallest, options.largest,
                             options.modes.split(","),
                             options.types.split(","))
        if options.even:
            drawn = make_even(rng, drawn)
        net = Network(library, memory, **drawn)
        try:
            fault = check(net)
        except RuntimeError as error:
            fault = str(error)
        net.close()
        if fault:
            wrong += 1
            print(f"WRONG {number} {drawn}: {fault}", flush=True)
    print(f"seed {options.seed}: {options.count} networks, {wrong} wrong",
          flush=True)
    return 1 if wrong else 0


# ----------------------------------------------------------------------- time


class Cudnn:
    """cuDNN's network of one layer, called as torch.nn.LSTM calls it."""

    def __init__(self, net):
        self.net = net
        self.model = torch.nn.LSTM(net.input, net.hidden).to("cuda", net.dtype)
        self.x = net.x.view(len(net.batches), net.batch, net.input)
        self.dy = net.dy.view(len(net.batches), net.batch, net.hidden)
        self.weights = [weight.detach() for weight in self.model._flat_weights]
        self.flat = torch._cudnn_rnn_flatten_weight(
            self.weights, 4, net.input, 2, net.hidden, 0, 1, False, False)

    def forward(self, training):
        net = self.net
        return torch.ops.aten._cudnn_rnn(
            self.x, self.weights, 4, self.flat, net.hx, net.cx, 2, net.hidden,
            0, 1, False, 0.0, training, False, [], None)

    def infer(self):
        self.forward(False)

    def train(self):
        net = self.net
        y, hy, cy, reserve, flat = self.forward(True)
        torch.ops.aten._cudnn_rnn_backward(
            self.x, self.weights, 4, flat, net.hx, net.cx, y, self.dy, net.dhy,
            net.dcy, 2, net.hidden, 0, 1, False, 0.0, True, False, [], None,
            reserve, [True, True, True, True])


def capture(function):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        function()
    return graph.replay


def time_us(functions, repeats):
    """Microseconds of each function, alternately: medians of events."""
    times = [[] for _ in functions]
    for repeat in range(repeats + 2):
        for i, function in enumerate(functions):
            begin, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            torch.cuda.synchronize()
            begin.record()
            function()
            end.record()
            torch.cuda.synchronize()
            if repeat >= 2:
                times[i].append(begin.elapsed_time(end) * 1e3)
    return [statistics.median(t) for t in times]


def time_network(library, memory, kind, hidden, batch, options):
    """Prints a line and returns cuDNN's time over ours by way."""
    net = Network(library, memory, "lstm", kind, input=hidden, hidden=hidden,
                  lengths=(options.steps,) * batch)
    cudnn = Cudnn(net)
    speeds, text = {}, f"{kind} {hidden:5} {batch:3}"
    # All run in one stream, and before they are captured: a handle frees its
    # scratch memory when its stream changes or more is needed.
    ways = {"inference": (lambda: net.forward(False), cudnn.infer),
            "training": (net.train, cudnn.train)}
    with torch.cuda.stream(torch.cuda.Stream()):
        library.set_stream(torch)
        for calls in ways.values():
            for call in calls:
                call()
        torch.cuda.synchronize()
        times = {name: time_us([*calls, *map(capture, calls)], options.repeats)
                 for name, calls in ways.items()}
    for name, (plain, their_plain, graph, their_graph) in times.items():
        speeds[f"{name}, calls"] = their_plain / plain
        speeds[f"{name}, graph"] = their_graph / graph
        text += (f" | {name} {plain:8.0f} {graph:8.0f}  cuDNN "
                 f"{their_plain:8.0f} {their_graph:8.0f} "
                 f"{speeds[f'{name}, graph']:6.2f}")
    print(text, flush=True)
    net.close()
    return speeds


def run_times(library, memory, options):
    torch.backends.cudnn.allow_tf32 = options.tf32
    print(f"{torch.cuda.get_device_name()} cuDNN "
          f"{torch.backends.cudnn.version()}, tf32 {options.tf32}; us of "
          "calls and of a graph; speed of graphs", flush=True)
    found = {}
    for kind in options.types.split(","):
        for hidden in map(int, options.hidden.split(",")):
            for batch in map(int, options.batches.split(",")):
                speeds = time_network(library, memory, kind, hidden, batch,
                                      options)
                for name, speed in speeds.items():
                    found.setdefault((kind, name), []).append((batch, speed))
    for (kind, name), pairs in found.items():
        by_batch = {}
        for batch, speed in pairs:
            by_batch.setdefault(batch, []).append(speed)
        print(kind, name, f"{mean([s for _, s in pairs]):.3f}",
              *[f"batch {batch}: {mean(speeds):.3f}"
                for batch, speeds in by_batch.items()], flush=True)
    return 0


# ------------------------------------------------------------------ DeepBench


def read_problems(path):
    """Lists of DeepBench by name: hidden units, batch, steps, mode."""
    lists = {}
    for line in open(path):
        if name := re.search(r"> (\w+_set) =", line):
            lists[name[1]] = found = []
        if numbers := re.search(r'\((\d+), (\d+), (\d+), "(\w+)"\)', line):
            hidden, batch, steps = map(int, numbers.groups()[:3])
            mode = numbers[4].replace("vanilla", "relu")
            found.append((hidden, batch, steps, mode))
    return lists


def run_problem(library, memory, options, problem, trains):
    """Microseconds of a call of each pass, and whether results are numbers."""
    hidden, batch, steps, mode = problem
    net = Network(library, memory, mode, options.type, input=hidden,
                  hidden=hidden, lengths=(steps,) * batch, bias=False,
                  skips=True)
    passes = [lambda: net.forward(trains)]
    if trains:
        passes += [net.backward_data, net.backward_weights]
    for one in passes:
        one()
    results = [net.y, net.dx] if trains else [net.y]
    isRight = all(bool(torch.isfinite(each).all()) for each in results)
    times = [time_us([one], options.repeats)[0] if options.repeats else 0
             for one in passes]
    net.close()
    return times, isRight


def run_deepbench(library, memory, options):
    print(f"{torch.cuda.get_device_name()}, {options.type}, microseconds of a "
          "call: forward, gradients of data, of weights", flush=True)
    wrong = 0
    share, shares = map(int, options.share.split("/"))
    for name, problems in read_problems(options.problems).items():
        trains, problems = name == "training_set", problems[share::shares]
        total, begin = [0] * (3 if trains else 1), time.time()
        for problem in problems:
            times, isRight = run_problem(library, memory, options, problem,
                                         trains)
            wrong += not isRight
            total = [a + b for a, b in zip(total, times)]
            print(*problem, *(f"{each:.0f}" for each in times),
                  "" if isRight else "WRONG", flush=True)
        print(f"{name}: {len(problems)} networks, total",
              *(f"{each:.0f}" for each in total),
              f"in {time.time() - begin:.0f} s", flush=True)
    return 1 if wrong else 0


def mean(values):
    return math.exp(statistics.mean(map(math.log, values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    commands = parser.add_subparsers(required=True)
    checks = commands.add_parser("check")
    checks.add_argument("--emulator")
    checks.add_argument("--count", type=int, default=200)
    checks.add_argument("--first", type=int, default=0)
    checks.add_argument("--seed", type=int, default=1)
    checks.add_argument("--largest", type=int, default=80)
    checks.add_argument("--smallest", type=int, default=1)
    checks.add_argument("--even", action="store_true")
    checks.add_argument("--modes", default=",".join(MODES))
    checks.add_argument("--types", default=",".join(TYPES))
    checks.set_defaults(run=run_checks)
    times = commands.add_parser("time")
    times.add_argument("--types", default="f16,f32")
    times.add_argument("--hidden", default="256,512,1024")
    times.add_argument("--batches", default="1,16,64")
    times.add_argument("--steps", type=int, default=100)
    times.add_argument("--repeats", type=int, default=9)
    times.add_argument("--tf32", action="store_true")
    times.set_defaults(run=run_times, emulator=None)
    lists = commands.add_parser("deepbench")
    lists.add_argument("problems")
    lists.add_argument("--type", default="f32")
    lists.add_argument("--repeats", type=int, default=3)
    lists.add_argument("--share", default="0/1")
    lists.set_defaults(run=run_deepbench, emulator=None)
    options = parser.parse_args()
    memory = Memory(options.emulator)
    library = c_api.Library(options.library)
    if not options.emulator:
        library.set_stream(torch)
    raise SystemExit(options.run(library, memory, options))


if __name__ == "__main__":
    main()
