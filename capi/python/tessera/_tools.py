"""The tools of the package as commands (`dnn-opt` and others): each is started in place of Python."""

import os
import sys

from tessera._library import Error
from tessera.problem import find_tool


def main() -> int:
    """Starts the tool by whose name this was called."""
    try:
        program = find_tool(os.path.basename(sys.argv[0]))
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    os.execv(program, [program, *sys.argv[1:]])
