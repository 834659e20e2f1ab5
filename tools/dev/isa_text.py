"""Reads one AMDGPU kernel: assembly, a disassembly, or a code object.

All three become the same Kernel: a list of instructions in order, each with
its label and, for a branch, the label that it jumps to; and the metadata, if
the source has it (a disassembly alone has none).
"""

import dataclasses
import pathlib
import re
import shutil
import subprocess


class KernelError(Exception):
    """A failure with a sentence for the user."""


@dataclasses.dataclass
class Instruction:
    text: str
    mnemonic: str
    target: str | None = None  # Label that a branch jumps to.


@dataclasses.dataclass
class Kernel:
    name: str
    chip: str | None
    instructions: list
    labels: dict   # Label -> index of the instruction that follows it.
    metadata: dict  # Empty if the source has none.
    object_bytes: int | None = None


def find_tool(name):
    """An LLVM 22 tool, as Debian installs it."""
    found = shutil.which(f"{name}-22") or shutil.which(
        name, path="/usr/lib/llvm-22/bin")
    if not found:
        raise KernelError(f"{name}-22 is not installed (package llvm-22)")
    return found


def run_tool(name, *arguments):
    done = subprocess.run([find_tool(name), *arguments], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise KernelError(f"{name} failed: {lines[0]}")
    return done.stdout


# -- metadata ---------------------------------------------------------------

# Keys of a kernel are indented by four columns; those of its arguments, which
# have names too, by more.
_KEY = re.compile(r"^(?:  - |    )\.(\w+):[ ]+(\S+)\s*$", re.M)


def parse_metadata(text):
    """The YAML of the AMDGPU note: (target, {kernel name: {key: value}})."""
    target = re.search(r"^\s*amdhsa\.target:\s+'?amdgcn-amd-amdhsa-+([\w]+)",
                       text, re.M)
    start = text.find("amdhsa.kernels:")
    kernels = {}
    if start >= 0:
        for entry in re.split(r"^(?=  - )", text[start:], flags=re.M)[1:]:
            entry = re.split(r"^\S", entry, maxsplit=1, flags=re.M)[0]
            keys = {key: int(value) if value.isdigit() else value.strip("'")
                    for key, value in _KEY.findall(entry)}
            if "name" in keys:
                kernels[keys["name"]] = keys
    return target and target[1], kernels


# -- instructions -----------------------------------------------------------

_LABEL = re.compile(r"^(?:[0-9a-f]{16} <(?P<dis>[^>]+)>|(?P<asm>[.\w$]+)):")
_ADDRESS = re.compile(r"//\s*([0-9A-F]{8,16}):")
_RELATIVE = re.compile(r"<([\w.$]+)(?:\+0x([0-9a-f]+))?>\s*$")
_MNEMONIC = re.compile(r"^(?:[sv]_|ds_|buffer_|global_|flat_|scratch_|tbuffer_"
                       r"|image_|exp\b|lds_)")


def parse_instructions(text, name):
    """The body of function `name`: ([Instruction], {label: index})."""
    instructions, labels, addresses, relative = [], {}, {}, {}
    inside, found, start = False, False, None
    for line in text.splitlines():
        label = _LABEL.match(line)
        if label:
            word = label["dis"] or label["asm"]
            is_local = re.match(r"\.?L(?!func)[\w$]*\d", word) is not None
            if word == name:
                inside = found = True
                start = int(line.split()[0], 16) if label["dis"] else None
            elif not is_local:
                inside = False  # Ended by .Lfunc_end0 or the next function.
            elif inside:
                labels[word] = len(instructions)
            continue
        code = re.split(r";|//", line, maxsplit=1)[0].strip()
        if not inside or not _MNEMONIC.match(code):
            continue
        instruction = Instruction(code, code.split()[0])
        address = _ADDRESS.search(line)
        if address:
            addresses[int(address[1], 16)] = len(instructions)
        if re.match(r"s_c?branch", instruction.mnemonic):
            instruction.target = code.split()[-1]
            match = _RELATIVE.search(line)
            if match and start is not None:
                relative[len(instructions)] = start + int(match[2] or "0", 16)
        instructions.append(instruction)
    if not found:
        raise KernelError(f"there is no function '{name}'")
    # A plain disassembly names the target of a branch by its address.
    for index, goal in relative.items():
        instructions[index].target = f"@{goal:x}"
        if goal in addresses:
            labels[f"@{goal:x}"] = addresses[goal]
    return instructions, labels


def _pick_name(text, kernels, wanted):
    names = list(kernels) or re.findall(r"^\s*\.amdhsa_kernel\s+(\S+)", text,
                                        re.M)
    if not names:
        names = [label for label in re.findall(r"^[0-9a-f]{16} <([\w.$]+)>:",
                                               text, re.M)
                 if not re.fullmatch(r"L\d+", label)]
    if wanted:
        return wanted
    if len(names) != 1:
        raise KernelError("choose one of these kernels with --kernel: "
                          + ", ".join(names) if names else
                          "the input holds no AMDGPU kernel")
    return names[0]


def parse_kernel(text, wanted=None, notes=None):
    """A Kernel from assembly or disassembly. `notes` is the output of
    llvm-readelf for the code object of the disassembly."""
    chip, kernels = parse_metadata(notes if notes is not None else text)
    if not chip:
        found = re.search(r'\.amdgcn_target\s+"amdgcn-amd-amdhsa-+(\w+)', text)
        chip = found and found[1]
    name = _pick_name(text, kernels, wanted)
    instructions, labels = parse_instructions(text, name)
    if not instructions:
        raise KernelError(f"function '{name}' holds no instruction")
    return Kernel(name, chip, instructions, labels, kernels.get(name, {}))


def read_kernel(path, wanted=None):
    """A Kernel from a file of any of the three forms; "-" is stdin's text."""
    if str(path) == "-":
        return parse_kernel(pathlib.Path("/dev/stdin").read_text(), wanted)
    data = pathlib.Path(path).read_bytes()
    if data[:4] != b"\x7fELF":
        return parse_kernel(data.decode(errors="replace"), wanted)
    text = run_tool("llvm-objdump", "-d", "--symbolize-operands", str(path))
    kernel = parse_kernel(text, wanted,
                          run_tool("llvm-readelf", "--notes", str(path)))
    kernel.object_bytes = len(data)
    return kernel
