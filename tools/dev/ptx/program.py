"""PTX text as kernels: their registers, their shared memory, and instructions
whose branches know where they lead."""

import dataclasses
import re

from .fault import Fault


@dataclasses.dataclass
class Instruction:
    """`parts` are the words of the opcode, for example ["add", "s32"].
    `predicate` is (register, value that it must have), or None."""
    parts: list
    operands: list
    predicate: tuple
    text: str
    target: int = -1  # Of a branch: the index of the next instruction.


@dataclasses.dataclass
class Kernel:
    """`registers` has types by names, `shared` (name, alignment, bytes), and
    `dynamic` the names of shared memory whose size a launch gives."""
    name: str
    threads: int
    dynamic: list
    cluster: int = 1  # Its blocks.
    instructions: list = dataclasses.field(default_factory=list)
    registers: dict = dataclasses.field(default_factory=dict)
    shared: list = dataclasses.field(default_factory=list)


def split_operands(text):
    """Splits at the commas that are in no brackets."""
    return [part.strip() for part in
            re.findall(r"(?:[^,\[{]|\{[^}]*\}|\[[^\]]*\])+", text)]


def split_list(text):
    """The elements of "{a, b}"; a single operand is a list of one."""
    return split_operands(text[1:-1]) if text.startswith("{") else [text]


def read_instruction(text):
    guard, negated, predicate, rest = re.fullmatch(
        r"(@(!?)(\S+) )?(.*)", text).groups()
    opcode, _, operands = rest.partition(" ")
    # Colons may stand inside of a word: "shared::cluster".
    return Instruction(opcode.split("."), split_operands(operands),
                       (predicate, negated == "") if guard else None, text)


def declare_registers(kernel, text):
    kind, names = re.fullmatch(r"\.reg \.(\w+) (.*)", text).groups()
    for name in split_operands(names):
        family = re.fullmatch(r"(.*)<(\d+)>", name)
        members = [f"{family[1]}{i}" for i in range(int(family[2]))] \
            if family else [name]
        for member in members:
            kernel.registers[member] = kind


def declare_shared(kernel, text):
    match = re.fullmatch(r"\.shared \.align (\d+) \.b8 ([\w$]+)\[(\d+)\]", text)
    kernel.shared.append((match[2], int(match[1]), int(match[3])))


def find_label(labels, scopes, name):
    """The instruction behind a label, of the innermost scope that has it."""
    return next(labels[scope, name] for scope in reversed(scopes)
                if (scope, name) in labels)


def read_body(kernel, body):
    """Fills `kernel`. Inline assembly in braces may have labels of its own,
    which are known by the number of their scope."""
    labels, scopes, count = {}, [0], 0
    enclosing = []  # Of each instruction: the scopes that enclose it.
    for text in body.split(";"):
        text = " ".join(text.split())
        while match := re.match(r"(\{|\}|[$\w]+:(?!:)) ?", text):
            if match[1] == "{":
                count += 1
                scopes = scopes + [count]
            elif match[1] == "}":
                scopes = scopes[:-1]
            else:
                labels[scopes[-1], match[1][:-1]] = len(kernel.instructions)
            text = text[match.end():]
        if text.startswith(".reg"):
            declare_registers(kernel, text)
        elif text.startswith(".shared"):
            declare_shared(kernel, text)
        elif text and not text.startswith(".pragma"):
            kernel.instructions.append(read_instruction(text))
            enclosing.append(scopes)
    for instruction, scopes in zip(kernel.instructions, enclosing):
        if instruction.parts[0] == "bra":
            instruction.target = find_label(labels, scopes,
                                            instruction.operands[0])


def read_program(text):
    """The kernels of a module, by name."""
    text = re.sub(r"//[^\n]*", "", text)
    dynamic = re.findall(r"\.extern \.shared [^;]*?([\w$]+)\[\]", text)
    kernels = {}
    for entry in re.split(r"\.visible \.entry ", text)[1:]:
        head, _, rest = entry.partition("{")
        threads = re.search(r"\.maxntid (\d+)", head)
        if not threads:
            raise Fault(f"no .maxntid in '{head.strip()}'")
        cluster = re.search(r"\.reqnctapercluster (\d+)", head)
        kernel = Kernel(re.match(r"\w+", head)[0], int(threads[1]), dynamic,
                        int(cluster[1]) if cluster else 1)
        read_body(kernel, rest[:rest.rindex("}")])
        kernels[kernel.name] = kernel
    return kernels
