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
    output: int  # which of the buffers is written
    side_bytes: int = 0
    side_launches: int = 0

    def get_options(self):
        options = ["--kernel", self.kernel, "--grid", str(self.grid), "--block",
                   str(self.block)]
        for size in self.buffers:
            options += ["--arg", f"buffer:{size}"]
        for argument in self.arguments:
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
    """Of a perf database, by problem."""
    columns = ("in_channels,in_h,in_w,fil_h,fil_w,out_channels,batchsize,pad_h,"
               "pad_w,conv_stride_h,conv_stride_w,dilation_h,dilation_w,"
               "group_count")
    query = (f"select params,layout,data_type,{columns} from perf_db join config "
             "on perf_db.config = config.id where solver = ?")
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        with open(path, "rb") as source:
            data = source.read()
        file.write(bz2.decompress(data) if str(path).endswith(".bz2") else data)
        file.flush()
        rows = sqlite3.connect(file.name).execute(query, (GTC_FORWARD,))
        return {tuple(row[1:]): row[0] for row in rows}


def find_tuning(tunings, p):
    text = tunings.get(("NHWC" if p.is_nhwc else "NCHW", p.type, p.c, p.h, p.w,
                        p.y, p.x, p.k, p.n, *p.pads, *p.strides, *p.dilations,
                        p.groups))
    if text is None:
        raise Refused("no tuning in the perf database")
    return GtcTuning.parse(text)


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
    compute_units: int = 0  # of the product that was measured, if another


CHIPS = {"gfx942": Chip("gfx942130.HIP.fdb.txt.bz2", "gfx942130.db.bz2", True, 3,
                        0.7 * 3.962e12, 0.005, 0.035),
         "gfx90a": Chip("gfx90a68.HIP.fdb.txt.bz2", "gfx90a68.db.bz2", False, 2,
                        0.7 * 1.165e12, 0.004, 0.0),
         "gfx1030": Chip("gfx1030_36.HIP.fdb.txt.bz2", "gfx1030_36.db.bz2", False, 0,
                         0.7 * 0.512e12, 0.004, 0.0, compute_units=72)}
SOLVERS = ("ConvDirectNaiveConvFwd", "ConvDirectNaiveConvBwd",
           "ConvDirectNaiveConvWrw", GTC_FORWARD)


def make_launch(problem: Problem, solver, chip, tunings):
    """Raises Refused with the reason if it cannot be reproduced."""
    facts = CHIPS[chip]
    if solver.startswith("ConvDirectNaiveConv"):
        return naive_launch(problem, facts.has_strides)
    if solver != GTC_FORWARD:
        raise Refused("another solver")
    if tunings is None or not facts.generation:
        raise Refused("no perf database for the chip")
    return gtc_launch(problem, find_tuning(tunings, problem), facts.generation)
