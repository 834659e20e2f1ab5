"""Compares isa_chips.matrix_clocks with llvm-mca for each instruction of a file, in
which lines such as "gfx942:" name the chip of those below. Prints one line for
each instruction."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tools" / "dev"))
import isa_chips  # noqa: E402
import isa_text  # noqa: E402

PASS_CLOCKS = 4


def mca_clocks(chip, instructions, scratch):
    """LLVM's clocks: what a second copy adds that waits for the first."""
    regions = [f"# LLVM-MCA-BEGIN r{i}\n{text}\n{text}\n# LLVM-MCA-END"
               for i, text in enumerate(instructions)]
    scratch.write_text("\n".join(regions) + "\n")
    output = isa_text.run_tool(
        "llvm-mca", "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}",
        "-iterations=100", str(scratch))
    totals = [int(total) for total in re.findall(r"Total Cycles:\s+(\d+)",
                                                 output)]
    return [(total - 1) * PASS_CLOCKS / 200 for total in totals]


def main():
    sections = re.split(r"^; (gfx\w+):$",
                        pathlib.Path(sys.argv[2]).read_text(), flags=re.M)
    scratch = pathlib.Path(sys.argv[3])
    for chip, text in zip(sections[1::2], sections[2::2]):
        instructions = [line.strip() for line in text.splitlines()
                        if line.startswith("  v_")]
        for instruction, theirs in zip(
                instructions, mca_clocks(chip, instructions, scratch),
                strict=True):
            ours = isa_chips.matrix_clocks(isa_chips.CHIPS[chip], instruction)
            verdict = "agree" if ours == theirs else "DIFFER"
            print(f"{chip} {instruction.split()[0]}: {ours:g} and {theirs:g} "
                  f"{verdict}")


main()
