#!/usr/bin/env python3
"""Judges the inner loop of one AMDGPU kernel without running it.

Machines on which kernels are written often have no GPU, so the loop is judged
by what can be counted: its instructions, the share of the issue clocks that
goes to the matrix unit, and the registers and LDS of the kernel. These are
models, good enough to rank two kernels and to stop a change that makes one
worse; docs/performance.md says what each figure means and what it leaves out.

Reads assembly (dnn-opt --stop-after isa), a disassembly of llvm-objdump, or a
code object; "-" is stdin. The --require options make it a test: exit status 1
and one sentence for each requirement that is not met.
"""

import argparse
import collections
import dataclasses
import json
import math
import re
import sys
import tempfile

import isa_chips
import isa_text
from isa_text import KernelError

# The rules are in the order of the report; the first one that matches decides.
_CLASSES = [
    ("matrix", r"v_(s?mfma|smfmac|s?wmma|swmmac)"),
    ("LDS read", r"ds_(read|load|bpermute|permute|swizzle)"),
    ("LDS write", r"ds_"),
    ("VMEM", r"(buffer|global|flat|scratch|tbuffer|image)_"),
    ("VALU", r"v_"),
    ("wait", r"s_wait"),
    ("barrier", r"s_barrier"),
    ("misc", r"s_(nop|delay_alu|setprio|sleep|clause|set_inst_prefetch"
             r"|inst_prefetch|sched)"),
    ("SALU", r""),  # Branches and scalar loads are included.
]
_RULES = [(name, re.compile(rule)) for name, rule in _CLASSES]
_ORDER = ["matrix", "VALU", "LDS read", "LDS write", "VMEM", "SALU", "wait",
          "barrier", "misc"]
_FMA = re.compile(r"\bv_(pk_|dual_)?((fma|mad|mac)[a-z]*(_mix(lo|hi)?|_legacy)?_f"
                  r"|dot2(c|acc)?_f32)")


def classify(instruction):
    return next(name for name, rule in _RULES
                if rule.match(instruction.mnemonic))


# -- the inner loop ---------------------------------------------------------

@dataclasses.dataclass
class Loop:
    first: int  # Indexes into the kernel's instructions, both inclusive.
    last: int


def find_loops(kernel):
    """One loop for each label that is the target of a backward branch, up to
    the last such branch. Block placement may put a cold block outside; LLVM
    does not do so with the loops that matter here."""
    loops = {}
    for index, instruction in enumerate(kernel.instructions):
        start = kernel.labels.get(instruction.target)
        if start is not None and start <= index:
            loops[start] = max(index, loops.get(start, 0))
    return [Loop(start, last) for start, last in loops.items()]


def find_inner_loop(kernel):
    """(instructions, unit): the innermost loop with most matrix instructions,
    or, if the kernel has none, with most fused multiply-adds. A kernel without
    such a loop is judged as a whole."""
    has_matrix = any(classify(i) == "matrix" for i in kernel.instructions)

    def counts(instruction):
        return (classify(instruction) == "matrix" if has_matrix
                else _FMA.search(instruction.text) is not None)

    def weight(loop):
        return sum(map(counts, kernel.instructions[loop.first:loop.last + 1]))

    working = [loop for loop in find_loops(kernel) if weight(loop)]
    innermost = [loop for loop in working
                 if not any(loop.first <= other.first and other.last <= loop.last
                            and other != loop for other in working)]
    unit = "matrix" if has_matrix else "FMA"
    if not innermost:
        return kernel.instructions, unit, False
    best = max(innermost, key=weight)
    return kernel.instructions[best.first:best.last + 1], unit, True


# -- clocks -----------------------------------------------------------------

_WIDTHS = [("x4", 16), ("x3", 12), ("x2", 8), ("b128", 16), ("b96", 12),
           ("b64", 8), ("u16", 2), ("i16", 2), ("b16", 2), ("short", 2),
           ("byte", 1), ("u8", 1), ("i8", 1), ("b8", 1)]


def lane_bytes(mnemonic):
    """Bytes that one lane moves."""
    width = next((size for text, size in _WIDTHS if text in mnemonic), 4)
    return width * 2 if re.search(r"(read|write)2|_2addr", mnemonic) else width


def issue_clocks(chip, instruction):
    """Issue clocks of an instruction that is no matrix instruction."""
    nop = re.match(r"s_nop\s+(\w+)", instruction.text)
    return chip.issue_clocks * (1 + int(nop[1], 0) if nop else 1)


def count_clocks(chip, body, unit):
    """(share of issue clocks, {resource: clocks}, clocks of the unit).

    Resources are counted for one wave's loop body, as its SIMD sees them: what
    all SIMDs share is charged for a wave on each of them.
    """
    busy = collections.Counter()
    issue = unit_clocks = 0
    for instruction in body:
        kind = classify(instruction)
        if kind == "matrix":
            clocks = isa_chips.matrix_clocks(chip, instruction.text)
            busy["matrix unit"] += clocks
            issue += clocks
            unit_clocks += clocks
            continue
        clocks = issue_clocks(chip, instruction)
        issue += clocks
        moved = chip.wave * chip.simds * lane_bytes(instruction.mnemonic)
        if kind == "VALU":
            busy["VALU"] += clocks
            if unit == "FMA" and _FMA.search(instruction.text):
                unit_clocks += clocks
        elif kind in ("LDS read", "LDS write"):
            busy["LDS"] += moved / chip.lds_clock_bytes
        elif kind == "VMEM":
            least, _ = isa_chips.address_clocks(
                chip, lane_bytes(instruction.mnemonic))
            busy["vector memory"] += max(moved / chip.memory_clock_bytes, least)
            if re.search(r"_lds_|\blds\b", instruction.text):
                busy["LDS"] += moved / chip.lds_clock_bytes
        elif kind == "SALU":
            busy["SALU"] += clocks
    return unit_clocks / issue if issue else 0.0, busy, unit_clocks


def count_address_clocks(chip, body):
    """(least, most) clocks of an address unit for the body's loads and stores,
    with a wave on each of its SIMDs. The text of an instruction does not say
    whether its lanes coalesce; the emulated device counts what they do."""
    pairs = [isa_chips.address_clocks(chip, lane_bytes(i.mnemonic))
             for i in body if classify(i) == "VMEM"]
    return sum(least for least, _ in pairs), sum(most for _, most in pairs)


def estimate_mca(chip, body):
    """Clocks of one wave's body by llvm-mca: (unchanged, without barriers).
    llvm-mca does not model the other waves that fill a stall."""
    if not chip.is_cdna:
        raise KernelError(f"llvm-mca has no model of {chip.name}")
    clocks = []
    for dropped in (r"s_c?branch", r"s_c?branch|s_barrier"):
        text = "\n".join(i.text for i in body
                         if not re.match(dropped, i.mnemonic)) + "\n"
        with tempfile.NamedTemporaryFile("w", suffix=".s") as file:
            file.write(text)
            file.flush()
            rounds = 40
            output = isa_text.run_tool(
                "llvm-mca", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip.name}",
                f"-iterations={rounds}", file.name)
        total = re.search(r"Total Cycles:\s+(\d+)", output)
        clocks.append(chip.issue_clocks * int(total[1]) / rounds)
    return clocks


# -- resources and occupancy ------------------------------------------------

def read_resources(metadata):
    names = {"vgprs": "vgpr_count", "agprs": "agpr_count",
             "sgprs": "sgpr_count", "vgpr_spills": "vgpr_spill_count",
             "sgpr_spills": "sgpr_spill_count",
             "lds_bytes": "group_segment_fixed_size",
             "scratch_bytes": "private_segment_fixed_size",
             "threads": "max_flat_workgroup_size"}
    return {name: metadata.get(key, 0) for name, key in names.items()}


def find_occupancy(chip, resources):
    """Waves per SIMD, and the resource that limits them."""
    granules = math.ceil(max(resources["vgprs"], 1) / chip.vgpr_granule)
    by_registers = min(chip.max_waves,
                       chip.vgprs // (granules * chip.vgpr_granule))
    waves = max(1, math.ceil(resources["threads"] / chip.wave))
    groups = {"registers": by_registers * chip.simds // waves}
    if resources["lds_bytes"]:
        groups["LDS"] = chip.lds_bytes // resources["lds_bytes"]
    limit = min(groups, key=groups.get)
    if limit == "registers" and by_registers == chip.max_waves:
        limit = "waves of a SIMD"
    return {"waves_per_simd": groups.get(limit, groups["registers"]) * waves
            / chip.simds, "limit": limit, "waves_per_workgroup": waves}


# -- LDS bank conflicts, as the emulated device counted them ----------------

def read_conflicts(path, name):
    """Sums of the statistics in the file that TESSERA_EMULATOR_STATS names,
    over all launches of the kernel."""
    total = {"launches": 0, "read_cycles": 0, "write_cycles": 0}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                launch = json.loads(line)
                if launch["kernel"] != name:
                    continue
                total["read_cycles"] += launch["lds_read_conflict_cycles"]
                total["write_cycles"] += launch["lds_write_conflict_cycles"]
                total["launches"] += 1
            except (KeyError, TypeError, json.JSONDecodeError) as error:
                raise KernelError(f"{path}:{number} is no line of the emulated "
                                  f"device's statistics: {error!r}") from error
    if not total["launches"]:
        raise KernelError(f"{path} holds no launch of kernel {name}")
    return total


# -- the report -------------------------------------------------------------

def analyze(kernel, chip, with_mca=False):
    """Everything that was found, as plain data: what --json prints."""
    body, unit, is_loop = find_inner_loop(kernel)
    share, busy, unit_clocks = count_clocks(chip, body, unit)
    mix = collections.Counter(map(classify, body))
    resource, clocks = max(busy.items(), key=lambda item: item[1],
                           default=("none", 0))
    report = {
        "kernel": kernel.name, "target": chip.name, "unit": unit,
        "region": "inner loop" if is_loop else "whole kernel",
        "instructions": len(body),
        "mix": {name: mix[name] for name in _ORDER},
        "accvgpr_copies": sum(i.mnemonic.startswith("v_accvgpr") for i in body),
        "unit_clocks": unit_clocks, "issue_share": share,
        "busiest": resource,
        "busiest_share": unit_clocks / clocks if clocks else 0.0,
        "address_clocks": count_address_clocks(chip, body),
        "resources": None, "occupancy": None,
        "object_bytes": kernel.object_bytes,
    }
    if with_mca:
        whole, free = estimate_mca(chip, body)
        report["mca"] = {"clocks": whole, "clocks_without_barriers": free,
                         "share": unit_clocks / whole,
                         "share_without_barriers": unit_clocks / free}
    if kernel.metadata:
        report["resources"] = read_resources(kernel.metadata)
        report["occupancy"] = find_occupancy(chip, report["resources"])
    return report


def format_range(least, most):
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def format_report(report):
    unit = report["unit"]
    rows = [("kernel", report["kernel"]), ("target", report["target"]),
            (report["region"], f"{report['instructions']} instructions, "
             f"{report['unit_clocks']:g} {unit} clocks")]
    rows += [(f"  {name}", str(count)) for name, count in report["mix"].items()]
    if report["accvgpr_copies"]:
        rows.append(("  VGPR-AGPR copies", str(report["accvgpr_copies"])))
    rows += [(f"{unit} share of issue clocks", f"{report['issue_share']:.3f}"),
             (f"{unit} share of the busiest", f"{report['busiest_share']:.2f} "
              f"({report['busiest']})"),
             ("clocks of the address unit", format_range(
                 *report["address_clocks"]))]
    if "mca" in report:
        mca = report["mca"]
        rows.append((f"{unit} share by llvm-mca", f"{mca['share']:.2f}, without "
                     f"barriers {mca['share_without_barriers']:.2f}"))
    used = report["resources"]
    if used:
        occupancy = report["occupancy"]
        rows += [
            ("registers", f"{used['vgprs']} VGPR ({used['agprs']} of them "
             f"AGPR), {used['sgprs']} SGPR"),
            ("spills", f"{used['vgpr_spills']} VGPR, {used['sgpr_spills']} "
             f"SGPR, {used['scratch_bytes']} bytes of scratch"),
            ("LDS", f"{used['lds_bytes']} bytes"),
            ("occupancy", f"{occupancy['waves_per_simd']:g} waves a SIMD, "
             f"limited by {occupancy['limit']}; "
             f"{occupancy['waves_per_workgroup']} waves a workgroup")]
    else:
        rows.append(("registers", "unknown: no metadata in the input"))
    if "conflicts" in report:
        found = report["conflicts"]
        rows.append(("LDS bank conflicts", f"{found['read_cycles']} clocks of "
                     f"reads, {found['write_cycles']} of writes in "
                     f"{found['launches']} launches"))
    if report["object_bytes"] is not None:
        rows.append(("code object", f"{report['object_bytes']} bytes"))
    return "\n".join(f"{name:<30} {text}" for name, text in rows)


def find_faults(report, arguments):
    """One sentence for each requirement that is not met."""
    faults = []
    share, wanted = report["issue_share"], arguments.require_share
    if wanted is not None and share < wanted:
        faults.append(f"the {report['unit']} share of issue clocks is "
                      f"{share:.3f}, below the required {wanted:g}")
    if arguments.require_no_spills:
        used = report["resources"]
        if used is None:
            faults.append("without metadata nothing is known of spills")
        elif used["vgpr_spills"] or used["sgpr_spills"] or used["scratch_bytes"]:
            faults.append(f"the kernel spills: {used['vgpr_spills']} VGPRs, "
                          f"{used['sgpr_spills']} SGPRs, "
                          f"{used['scratch_bytes']} bytes of scratch")
        if report["accvgpr_copies"]:
            faults.append(f"{report['accvgpr_copies']} copies between VGPRs and "
                          f"AGPRs in the {report['region']}")
    if arguments.require_no_conflicts:
        found = report.get("conflicts")
        if found is None:
            faults.append("bank conflicts are known only with --conflicts FILE")
        elif found["read_cycles"] or found["write_cycles"]:
            faults.append(f"LDS bank conflicts cost {found['read_cycles']} "
                          f"clocks of reads and {found['write_cycles']} of "
                          "writes")
    return faults


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="targets: " + ", ".join(isa_chips.CHIPS))
    parser.add_argument("input", nargs="?", default="-",
                        help="assembly, disassembly or code object; - is stdin")
    parser.add_argument("--kernel", help="which, if the input holds several")
    parser.add_argument("--target", help="chip, if the input does not say")
    parser.add_argument("--mca", action="store_true",
                        help="add the estimate of llvm-mca")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--conflicts", metavar="FILE",
                        help="statistics of the emulated device "
                        "(TESSERA_EMULATOR_STATS) to report beside")
    parser.add_argument("--require-share", type=float, metavar="SHARE",
                        help="fail below this share of issue clocks")
    parser.add_argument("--require-no-spills", action="store_true",
                        help="fail on spills, scratch, and VGPR-AGPR copies in "
                        "the loop")
    parser.add_argument("--require-no-conflicts", action="store_true",
                        help="fail on LDS bank conflicts")
    return parser.parse_args()


def run(arguments):
    kernel = isa_text.read_kernel(arguments.input, arguments.kernel)
    name = arguments.target or kernel.chip
    if name not in isa_chips.CHIPS:
        raise KernelError(f"target {name} is not known; there are "
                          + ", ".join(isa_chips.CHIPS) if name else
                          "the input does not say its target; use --target")
    report = analyze(kernel, isa_chips.CHIPS[name], arguments.mca)
    if arguments.conflicts:
        report["conflicts"] = read_conflicts(arguments.conflicts, kernel.name)
    print(json.dumps(report, indent=2) if arguments.json
          else format_report(report))
    faults = find_faults(report, arguments)
    for fault in faults:
        print(f"analyze_kernel: {fault}", file=sys.stderr)
    return 1 if faults else 0


def main():
    try:
        return run(parse_arguments())
    except (KernelError, OSError, ValueError) as error:
        print(f"analyze_kernel: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
