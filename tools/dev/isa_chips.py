"""The numbers of each AMD chip for the static analyser.

The numbers and their sources are in runtime/Emulator/Measure/ChipCosts.def,
which the emulated device's statistics use too; this reads them. A new chip is
a new row there.
"""

import dataclasses
import pathlib
import re

_TABLE = (pathlib.Path(__file__).resolve().parents[2]
          / "runtime/Emulator/Measure/ChipCosts.def")


def _read_rows(macro):
    """The arguments of each use of a macro of the table, with numbers
    converted.
    """
    uses = re.findall(rf"^{macro}\((.*)\)$", _TABLE.read_text(), re.MULTILINE)
    return [[int(word) if word.isdigit() else word
             for word in use.split(", ")] for use in uses]


@dataclasses.dataclass(frozen=True)
class Chip:
    """One row of TESSERA_CHIP_COSTS, with the chip's matrix rates."""
    name: str
    wave: int            # Lanes of a wave in our code.
    issue_clocks: int    # Per instruction of one wave.
    vgprs: int           # Registers of a SIMD per lane.
    vgpr_granule: int    # Registers are allocated in multiples of this.
    max_waves: int       # Per SIMD.
    simds: int           # Per unit.
    lds_bytes: int       # Per unit.
    lds_clock_bytes: int     # LDS bytes per clock, all lanes of a unit.
    memory_clock_bytes: int  # L1 bytes per clock of a unit.
    line_bytes: int          # Of the L1.
    double_factor: int       # How many times slower f64 operations are.
    rates: dict

    @property
    def is_cdna(self):
        return self.wave == 64

    @property
    def compute_units(self):
        """Of a unit."""
        return 1 if self.is_cdna else 2


def _read_chips():
    rates = {}
    for chip, kind, rate in _read_rows("TESSERA_MATRIX_RATE"):
        rates.setdefault(chip, {})[kind] = rate
    return {row[0]: Chip(*row, rates.get(row[0], {}))
            for row in _read_rows("TESSERA_CHIP_COSTS")}


CHIPS = _read_chips()
(_ADDRESS_LANES,), = _read_rows("TESSERA_ADDRESS_LANES")
_BLOCK_RATES = dict(_read_rows("TESSERA_BLOCK_RATE"))
_OLD_LANE_ELEMENTS = dict(_read_rows("TESSERA_OLD_LANE_ELEMENTS"))

_SHAPE = re.compile(
    r"v_(?P<family>s?mfma|smfmac|s?wmma|swmmac)_(?:scale_)?[a-z0-9]+?_"
    r"(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?P<blocks>_\d+b)?(?P<sep>_?)"
    r"(?P<type>xf32|bf16_1k|bf16|f16|f32|f64|iu8|iu4|i8|fp8|bf8|f8f6f4)")


def address_clocks(chip, lane_bytes):
    """(least, most) clocks of the address units of a unit for an instruction
    of one wave on each SIMD: what coalesces, if it is a dword or less, and what
    does not.
    """
    lanes = chip.wave * chip.simds / chip.compute_units
    most = lanes / _ADDRESS_LANES
    coalesced = chip.memory_clock_bytes / chip.compute_units / 4
    return (lanes / coalesced if lane_bytes <= 4 else most), most


def matrix_clocks(chip, text):
    """Clocks during which one matrix instruction occupies the matrix unit."""
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
    # Half of the products of a sparse instruction are known to be zero and
    # cost nothing.
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
