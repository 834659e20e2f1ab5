"""The command line that the checks of the tree (check_*.py) share.

    check_X.py [--root FOLDER]   prints faults; exits 1 if there is any
    check_X.py --self-test       tests the script instead of the tree
"""

import argparse
import pathlib
import sys


def main(check, self_test, what):
    """Runs the script's check, or its test, and returns the process's status.

    check(root) returns the number of things that it checked, which `what`
    names, and the faults, one line each; self_test() raises if the check is
    wrong. A number of 0 is a failure, too: then the check does not fit the
    tree.
    """
    script = sys.modules["__main__"]
    name = pathlib.Path(script.__file__).stem
    parser = argparse.ArgumentParser(description=script.__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true",
                        help="test this script instead of the tree")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        print(f"{name}: self-test passed")
        return 0
    count, faults = check(arguments.root)
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
    print(f"{name}: {count} {what}, {len(faults)} faults")
    return 1 if faults or not count else 0
