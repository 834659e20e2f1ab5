"""A launch for unknown sizes becomes that of one problem, as
runtime/Engine/GenericKernel.cpp does it."""

import re


def evaluate(text, shapes):
    """A postfix expression of runtime/Base/SizeExpr.h; `shapes` has the lengths
    of each tensor in the order of its memref."""
    operators = {"+": lambda a, b: a + b, "-": lambda a, b: max(a - b, 0),
                 "*": lambda a, b: a * b, "/": lambda a, b: a // b,
                 "^": lambda a, b: -(-a // b)}
    stack = []
    for word in text.split("."):
        if word in operators:
            right, left = stack.pop(), stack.pop()
            stack.append(operators[word](left, right))
        elif size := re.fullmatch(r"([a-z]\w*)d(\d+)", word):
            stack.append(shapes[size[1]][int(size[2])])
        else:
            stack.append(int(word))
    value, = stack
    return value


def make_divisor(divisor):
    """The multiplier and, in the high half, the shift of a division."""
    shift = (divisor - 1).bit_length()
    return shift << 32 | -(-(1 << (31 + shift)) // divisor)


def bind_offset(name, shapes):
    """The offset of "workspace+EXPRESSION", a tensor's name, as a number."""
    tensor, plus, offset = name.partition("+")
    return f"{tensor}+{evaluate(offset, shapes)}" if plus else name


def bind_map(text, shapes):
    head, lists = re.match(r"([^:]*:[^:]*:[^:]*)(.*)", text).groups()
    tensor, _, rest = head.partition(":")
    head = f"{bind_offset(tensor, shapes)}:{rest}"

    def bind(match):
        added, _, subtracted = match[0].partition("~")
        return str(evaluate(added, shapes) - evaluate(subtracted or "0", shapes))
    return head + re.sub(r"[^:,]*[a-z][^:,]*", bind, lists)


def bind_argument(argument, shapes):
    kind, _, text = argument["name"].partition("=")
    if not text:
        return argument | {"name": bind_offset(kind, shapes)}
    value = evaluate(text, shapes)
    return argument | {"value": make_divisor(value) if kind == "divisor"
                       else value}


def bind_launch(launch, shapes):
    bound = launch | {
        "maps": [bind_map(text, shapes) for text in launch["maps"]],
        "arguments": [bind_argument(argument, shapes)
                      for argument in launch["arguments"]]}
    if launch["workgroups"]:
        bound["grid"] = evaluate(launch["workgroups"], shapes)
    return bound
