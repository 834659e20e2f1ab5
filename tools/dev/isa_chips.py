"""What the static analyser knows of each AMD chip.

Numbers of the hardware, each with its source, so that analyze_kernel.py and
check_lds_layout.py hold none. A new chip is a new row.
"""

import dataclasses
import re

# Dense FLOP a clock of one SIMD, by type of the factors: the peak rates that
# AMD publishes, over compute units, SIMDs and the boost clock.
#   gfx90a   MI250X  220 CU at 1.70 GHz: f16 383, f32 and f64 95.7 TFLOPS
#   gfx942   MI300X  304 CU at 2.10 GHz: f16 1307, xf32 654, f32 and f64 163,
#            fp8 and i8 2615
#   gfx950   MI355X  256 CU at 2.40 GHz: f16 2517, fp8 5033, fp6 and fp4 10066,
#            f32 157, f64 79
#   gfx1100  7900XTX  96 CU at 2.50 GHz: f16 123; gfx1201 9070XT 64 CU at
#            2.97 GHz: f16 195, fp8 and i8 389
# test/lit/Tools/matrix-clocks.test holds them against LLVM's scheduling model.
_GFX90A = {"f64": 64, "f32": 64, "bf16": 128, "bf16_1k": 256, "f16": 256,
           "i8": 256}
_GFX942 = {"f64": 64, "f32": 64, "xf32": 256, "bf16": 512, "f16": 512,
           "i8": 1024, "fp8": 1024}
_GFX950 = {"f64": 32, "f32": 64, "bf16": 1024, "f16": 1024, "i8": 2048,
           "fp8": 1024, "f8f6f4": 2048}
_GFX1100 = {"bf16": 256, "f16": 256, "iu8": 256, "iu4": 512}
_GFX1201 = {"bf16": 512, "f16": 512, "fp8": 1024, "iu8": 1024, "iu4": 2048}


@dataclasses.dataclass(frozen=True)
class Chip:
    """One row. Occupancy rules: LLVM's AMDGPUBaseInfo. A "unit" is what shares
    LDS: a compute unit on gfx9, a workgroup processor (two of them) on RDNA,
    where kernels run in WGP mode unless they ask otherwise."""
    name: str
    wave: int            # Lanes of a wave as we compile.
    issue_clocks: int    # Of one instruction of one wave.
    vgprs: int           # Registers of a SIMD for one lane.
    vgpr_granule: int    # Registers are given in multiples of this.
    max_waves: int       # Of a SIMD.
    simds: int           # Of a unit.
    lds_bytes: int       # Of a unit.
    lds_clock_bytes: int     # LDS bytes a clock, all lanes of a unit.
    memory_clock_bytes: int  # First-level cache bytes a clock of a unit.
    rates: dict

    @property
    def is_cdna(self):
        return self.wave == 64


_CHIPS = [
    Chip("gfx90a", 64, 4, 512, 8, 8, 4, 65536, 128, 64, _GFX90A),
    Chip("gfx942", 64, 4, 512, 8, 8, 4, 65536, 128, 64, _GFX942),
    Chip("gfx950", 64, 4, 512, 8, 8, 4, 163840, 256, 64, _GFX950),
    Chip("gfx1030", 32, 1, 1024, 16, 16, 4, 131072, 256, 256, {}),
    Chip("gfx1100", 32, 1, 1536, 24, 16, 4, 131072, 256, 256, _GFX1100),
    Chip("gfx1201", 32, 1, 1536, 24, 16, 4, 131072, 256, 256, _GFX1201),
]
CHIPS = {chip.name: chip for chip in _CHIPS}

# Instructions that multiply several blocks have not become faster since gfx90a.
_BLOCK_RATES = {"f64": 32, "bf16": 256, "f16": 256, "i8": 256}

# Elements of one factor that a lane gives to an instruction of the old
# spelling (v_mfma_f32_32x32x4f16), which does not name its blocks.
_OLD_LANE_ELEMENTS = {"f64": 1, "f32": 1, "bf16": 2, "f16": 4, "bf16_1k": 4,
                      "i8": 4}
_SHAPE = re.compile(
    r"v_(?P<family>s?mfma|smfmac|s?wmma|swmmac)_(?:scale_)?[a-z0-9]+?_"
    r"(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?P<blocks>_\d+b)?(?P<sep>_?)"
    r"(?P<type>xf32|bf16_1k|bf16|f16|f32|f64|iu8|iu4|i8|fp8|bf8|f8f6f4)")


def matrix_clocks(chip, text):
    """Clocks for which one matrix instruction holds the matrix unit."""
    shape = _SHAPE.match(text)
    kind = shape and shape["type"].replace("bf8", "fp8")
    if not shape or kind not in chip.rates:
        raise ValueError(f"no rate of {text.split()[0]} is known on {chip.name}")
    m, n, k = (int(shape[name]) for name in "mnk")
    if shape["blocks"]:
        blocks = int(shape["blocks"].strip("_b"))
    elif shape["sep"] or not chip.is_cdna:
        blocks = 1
    else:
        blocks = _OLD_LANE_ELEMENTS[kind] * 64 // (m * k)
    rate = chip.rates[kind]
    if blocks > 1:
        rate = min(rate, _BLOCK_RATES.get(kind, rate))
    sparse = shape["family"] in ("smfmac", "swmmac")
    if chip.name == "gfx950" and blocks == 1 and not sparse:
        rate *= _gfx950_factor(kind, m * k * blocks // 64, text)
    # Half of a sparse product is known to be zero and costs nothing.
    return 2 * m * n * k * blocks / rate / (2 if sparse else 1)


def _gfx950_factor(kind, lane_elements, text):
    """gfx950 runs the shapes of gfx942 at the speed of gfx942, and the formats
    of less than 8 bits at twice the speed of fp8."""
    if kind in ("f16", "bf16"):
        return 1 if lane_elements >= 8 else 0.5
    if kind == "i8":
        return 1 if lane_elements >= 16 else 0.5
    if kind == "f8f6f4":
        formats = [re.search(rf"{name}:(\d)", text) for name in ("cbsz", "blgp")]
        if all(found and int(found[1]) >= 2 for found in formats):
            return 2
    return 1
