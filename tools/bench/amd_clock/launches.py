"""How the kernels of MIOpen's solvers are launched: grid, block and arguments.

These are facts about a public interface between host code and kernels, of MIOpen
2d1fd997 and, for the naive kernels, of the releases that made the databases. The
kernels themselves are not here: who has their code objects gives a folder.
"""

import bz2
import dataclasses
import sqlite3
import tempfile

from records import Problem, Refused

TYPE_NAMES = {"FP32": ("float", "fp32", "f32"), "FP16": ("half", "fp16", "f16"),
              "BF16": ("ushort", "bf16", "bf16")}


@dataclasses.dataclass
class Launch:
    """One kernel as dnn-emu runs it. `side_bytes` are what kernels beside it move
    (transpositions, zeroing, casts), and `side_launches` how many there are."""
    kernel: str
    grid: int
    block: int
    buffers: list  # bytes of x, w and y
    arguments: list  # dnn-emu's words for what follows the buffers
    output: int  # which of x, w and y is written
    side_bytes: int = 0
    side_launches: int = 0
    first: list = dataclasses.field(default_factory=list)  # before the buffers
    order: tuple = (0, 1, 2)  # in which x, w and y are arguments
    options: list = dataclasses.field(default_factory=list)  # more of dnn-emu's

    def get_options(self):
        options = ["--kernel", self.kernel, "--grid", str(self.grid), "--block",
                   str(self.block), *self.options]
        buffers = [f"buffer:{self.buffers[tensor]}" for tensor in self.order]
        for argument in [*self.first, *buffers, *self.arguments]:
            options += ["--arg", argument]
        return options


# The naive kernels: a workgroup of 256 for a plane or row of the result.

def naive_strides(problem):
    """Of x, w and y, in elements, ascending: the groups' channels are a dimension
    of their own."""
    c, k = problem.c // problem.groups, problem.k // problem.groups
    h, w, p, q = problem.h, problem.w, problem.p, problem.q
    y, x = problem.y, problem.x
    if problem.is_nhwc:
        return ([1, c, problem.c, w * problem.c, h * w * problem.c],
                [1, c, x * c, y * x * c, k * y * x * c],
                [1, k, problem.k, q * problem.k, p * q * problem.k])
    return ([1, w, h * w, c * h * w, problem.c * h * w],
            [1, x, y * x, c * y * x, k * c * y * x],
            [1, q, p * q, k * p * q, problem.k * p * q])


def naive_grid(problem):
    if problem.direction == "W":
        return problem.k
    rows, channels = (problem.p, problem.k) if problem.direction == "F" \
        else (problem.h, problem.c)
    if problem.is_nhwc:
        return problem.groups * problem.n * rows
    return problem.n * channels


def naive_launch(problem, has_strides):
    """`has_strides`: the kernels since October 2023, which take three arrays of
    strides."""
    stem = "naive_conv_nonpacked_" if has_strides else "naive_conv_"
    direction = {"F": "fwd", "B": "bwd", "W": "wrw"}[problem.direction]
    element = TYPE_NAMES[problem.type][0]
    layout = "nhwc" if problem.is_nhwc else "nchw"
    arguments = []
    if has_strides:
        for strides in naive_strides(problem):
            data = b"".join(s.to_bytes(8, "little") for s in sorted(strides))
            arguments.append("bytes:" + data.hex())
    groups = problem.groups
    values = (problem.h, problem.w, problem.n, problem.k // groups,
              problem.c // groups, problem.p, problem.q, *problem.strides,
              *problem.dilations, *problem.pads, problem.y, problem.x, groups)
    arguments += [f"i32:{value}" for value in values]
    return Launch(f"{stem}{direction}_{layout}_{element}_double_{element}",
                  naive_grid(problem), 256,
                  [size * problem.element_bytes for size in problem.sizes],
                  arguments, {"F": 2, "B": 0, "W": 1}[problem.direction])


# The implicit GEMM in assembly (forward, NHWC), with the tuning of the database.

GTC_FORWARD = "ConvAsmImplicitGemmGTCDynamicFwdXdlopsNHWC"
GTC_FIELDS = ("direction", "layout", "type", "nxb", "nxe", "m", "n", "k", "wave_m",
              "wave_n", "wave_k", "step_m", "step_n", "repeat_m", "repeat_n",
              "multihead", "vector_store", "splits", "merge_e", "pass_through_a")


@dataclasses.dataclass(frozen=True)
class GtcTuning:
    fields: dict
    a_thread: tuple
    a_cluster: tuple
    b_thread: tuple
    b_cluster: tuple

    @staticmethod
    def parse(text):
        words = text.split("[")[0].split(",")
        if len(words) < 36:
            raise Refused("a tuning of another form")
        fields = {name: word if i < 3 else int(word)
                  for i, (name, word) in enumerate(zip(GTC_FIELDS, words))}
        four = [tuple(int(w) for w in words[i:i + 4]) for i in range(20, 36, 4)]
        return GtcTuning(fields, *four)

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def get_kernel(self, generation):
        """`generation` 2 for gfx90a, 3 for gfx942."""
        def join(*values):
            return "x".join(str(value) for value in values)
        name = "_".join((
            f"igemm_{self.direction}_gtcx{generation}_{self.layout}_{self.type}",
            f"bx{self.nxb}_ex{self.nxe}", "bt" + join(self.m, self.n, self.k),
            "wt" + join(self.wave_m, self.wave_n, self.wave_k),
            "ws" + join(self.step_m, self.step_n),
            "wr" + join(self.repeat_m, self.repeat_n),
            "ta" + join(*self.a_thread), join(*self.a_cluster),
            "tb" + join(*self.b_thread), join(*self.b_cluster)))
        name += "_pta" if self.pass_through_a else ""
        name += "_mh" if self.multihead else ""
        name += "_me" if self.merge_e else ""
        name += f"_vs{self.vector_store}" if self.vector_store else ""
        return name + ("_gkgs" if self.splits else "")


def read_tunings(path):
    """Of a perf database, by solver and problem. As in the find database, "in" is
    dy where the problem is a gradient."""
    columns = ("solver,direction,layout,data_type,in_channels,in_h,in_w,fil_h,"
               "fil_w,out_channels,batchsize,pad_h,pad_w,conv_stride_h,"
               "conv_stride_w,dilation_h,dilation_w,group_count")
    query = (f"select params,{columns} from perf_db join config "
             "on perf_db.config = config.id where spatial_dim = 2")
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        with open(path, "rb") as source:
            data = source.read()
        file.write(bz2.decompress(data) if str(path).endswith(".bz2") else data)
        file.flush()
        return {tuple(row[1:]): row[0]
                for row in sqlite3.connect(file.name).execute(query)}


def find_tuning(tunings, solver, p):
    """The text of a perf database."""
    if tunings is None:
        raise Refused("no perf database for the chip")
    x, y = (p.c, p.h, p.w), (p.k, p.p, p.q)
    source, result = (x, y) if p.direction == "F" else (y, x)
    text = tunings.get((solver, p.direction, "NHWC" if p.is_nhwc else "NCHW",
                        p.type, *source, p.y, p.x, result[0], p.n, *p.pads,
                        *p.strides, *p.dilations, p.groups))
    if text is None:
        raise Refused("no tuning in the perf database")
    return text


def divide_up(value, by):
    return -(-value // by)


def magic(divisor):
    """Multiplier and shift by which the kernel divides."""
    shift = (divisor - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - divisor)) // divisor + 1, shift


def pack_shifts(magics):
    return sum(shift << 8 * i for i, (_, shift) in enumerate(magics))


def gtc_arguments(p, tuning, tiles_m, tiles_n):
    k, c, y, x = p.k // p.groups, p.c // p.groups, p.y, p.x
    first = [magic(d) for d in (tiles_n, p.p * p.q, p.q, tiles_m * tiles_n)]
    rest, rest_shifts = [magic(1), magic(1)], 0
    if tuning.merge_e:
        rest = [magic(x * c), magic(c)]
        rest_shifts = pack_shifts(rest)
        y, x, c = (y | tuning.k // (x * c) % y << 24, x | tuning.k // c % x << 24,
                   c | tuning.k % c << 24)
    values = [p.h, p.w, p.n, k, c, p.p, p.q, *p.strides, *p.dilations, *p.pads, y,
              x, p.groups, *(m for m, _ in first + rest), pack_shifts(first),
              rest_shifts, tuning.splits, 0]
    return [f"u32:{value & 0xffffffff}" for value in values]


def gtc_launch(p, tuning, generation):
    if max(p.sizes) * p.element_bytes >= 1 << 32:
        raise Refused("a tensor of 4 GiB, which is launched in pieces")
    tiles_m = divide_up(p.n * p.p * p.q, tuning.m)
    tiles_n = divide_up(p.k // p.groups, tuning.n)
    block = 1
    for threads in tuning.a_cluster:
        block *= threads
    in_f32 = bool(tuning.splits) and tuning.vector_store == 1
    buffers = [size * p.element_bytes for size in p.sizes]
    if in_f32:
        buffers[2] = p.sizes[2] * 4
    launch = Launch(tuning.get_kernel(generation),
                    p.groups * tiles_m * tiles_n << tuning.splits, block, buffers,
                    gtc_arguments(p, tuning, tiles_m, tiles_n), 2)
    if tuning.splits:  # y is zeroed first
        launch.side_bytes += buffers[2]
        launch.side_launches += 1
    if in_f32 and p.element_bytes == 2:  # and cast afterwards
        launch.side_bytes += buffers[2] + p.sizes[2] * 2
        launch.side_launches += 1
    if not p.is_nhwc:  # x and w to NHWC, y from it
        launch.side_bytes += 2 * p.bytes
        launch.side_launches += 3
    return launch


# Winograd's transforms, in assembly: one kernel of persistent groups, which takes
# a gradient as a forward convolution of other tensors with other strides.

WINOGRAD = {"ConvBinWinogradRxSf2x3g1": "f2x3", "ConvBinWinogradRxSf2x3": "f2x3",
            "ConvBinWinogradRxSf3x2": "f3x2"}
WINOGRAD_TYPES = {"FP32": "fp32", "FP16": "fp16_dot2_edc"}
# Strides are arguments; those of groups too; there is a mode of activation.
WINOGRAD_FLAGS = 1 << 9 | 1 << 10 | 1 << 14
# The filter is walked backwards in both dimensions, and K and C are swapped.
WINOGRAD_BACKWARD = 1 << 0 | 1 << 1 | 1 << 2


def winograd_kernel(p, transform):
    if p.is_nhwc:
        raise Refused("NHWC, for which there is no kernel")
    if p.type not in WINOGRAD_TYPES:
        raise Refused("a type without a kernel")
    if p.dilations != (1, 1) or p.strides not in ((1, 1), (2, 2)) or \
            p.direction == "W" and p.strides != (1, 1):
        raise Refused("strides or dilations without a kernel")
    kind = "stride1"
    if p.strides == (2, 2):
        kind = "dilation2" if p.direction == "B" else "stride2"
    return f"miopenSp3AsmConv_v30_3_1_gfx9_{WINOGRAD_TYPES[p.type]}_{transform}_" + \
        kind


def winograd_roles(p):
    """What the kernel takes for N, C, H, W, K; its filter's and its result's height
    and width with the pads between them; and the strides of its data, filter and
    result: by N or K, by C or K, by rows and columns, by groups."""
    c, k = p.c // p.groups, p.k // p.groups
    image, result, taps = p.h * p.w, p.p * p.q, p.y * p.x
    x = (p.c * image, image, p.w, 1, c * image)
    y = (p.k * result, result, p.q, 1, k * result)
    w = (c * taps, taps, p.x, 1, k * c * taps)

    def swap(strides):
        return (strides[1], strides[0], *strides[2:])
    if p.direction == "F":
        return (p.n, c, p.h, p.w, k), (p.y, p.x, *p.pads, p.p, p.q), (x, w, y)
    if p.direction == "B":
        pads = (p.y - 1 - p.pads[0], p.x - 1 - p.pads[1])
        return (p.n, k, p.p, p.q, c), (p.y, p.x, *pads, p.h, p.w), (y, swap(w), x)
    return ((c, p.n, p.h, p.w, k), (p.p, p.q, *p.pads, p.y, p.x),
            (swap(x), swap(y), swap(w)))


def winograd_launch(p, transform, groups):
    """`groups`: workgroups for each of the convolution's groups."""
    kernel = winograd_kernel(p, transform)
    sizes, window, strides = winograd_roles(p)
    if min(window) < 0:
        raise Refused("pads of more than the filter")
    flags = WINOGRAD_FLAGS | (WINOGRAD_BACKWARD if p.direction == "B" else 0)
    rest = ["u64:0", *(f"i32:{value}" for value in window), "u64:0", "i32:0",
            "i32:0", *["u64:0"] * 4]
    rest += [f"i32:{value}" for tensor in strides for value in tensor[:4]]
    rest += [f"i32:{value}" for value in (p.groups, *(s[4] for s in strides))]
    return Launch(kernel, groups * p.groups, 512,
                  [size * p.element_bytes for size in p.sizes], [*rest, "bytes:00"],
                  {"F": 2, "B": 0, "W": 1}[p.direction],
                  first=[f"i32:{value}" for value in (*sizes, groups, flags, 0)],
                  order={"F": (0, 1, 2), "B": (2, 1, 0), "W": (0, 2, 1)}[p.direction],
                  # They store beyond the end of LDS, where nothing is kept.
                  options=["--lds-overruns-pass"])


@dataclasses.dataclass
class Chip:
    find_db: str
    perf_db: str
    has_strides: bool
    generation: int
    # Chosen on the fit half: bytes a second of the kernels beside (0.7 of what
    # memory gives), milliseconds of each of their launches, and what the naive
    # kernels of the campaign took beyond the device's time.
    side_rate: float
    side_launch_ms: float
    naive_extra_ms: float
    units: int  # compute units of the product that was measured
    is_product: bool = True  # that dnn-emu means by the chip's name


CHIPS = {"gfx942": Chip("gfx942130.HIP.fdb.txt.bz2", "gfx942130.db.bz2", True, 3,
                        0.7 * 3.962e12, 0.005, 0.035, 304),
         "gfx90a": Chip("gfx90a68.HIP.fdb.txt.bz2", "gfx90a68.db.bz2", False, 2,
                        0.7 * 1.165e12, 0.004, 0.0, 104),
         "gfx1030": Chip("gfx1030_36.HIP.fdb.txt.bz2", "gfx1030_36.db.bz2", False, 0,
                         0.7 * 0.512e12, 0.004, 0.0, 72, is_product=False)}
SOLVERS = ("ConvDirectNaiveConvFwd", "ConvDirectNaiveConvBwd",
           "ConvDirectNaiveConvWrw", GTC_FORWARD, *WINOGRAD)


def make_launch(problem: Problem, solver, chip, tunings):
    """Raises Refused with the reason if it cannot be reproduced."""
    facts = CHIPS[chip]
    if solver.startswith("ConvDirectNaiveConv"):
        return naive_launch(problem, facts.has_strides)
    if solver not in (GTC_FORWARD, *WINOGRAD):
        raise Refused("another solver")
    if not facts.generation:
        raise Refused("assembly of another chip")
    if solver in WINOGRAD:
        winograd_kernel(problem, WINOGRAD[solver])
        groups = facts.units if solver.endswith("g1") \
            else int(find_tuning(tunings, solver, problem))
        return winograd_launch(problem, WINOGRAD[solver], groups)
    tuning = GtcTuning.parse(find_tuning(tunings, solver, problem))
    return gtc_launch(problem, tuning, facts.generation)
