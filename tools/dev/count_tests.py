#!/usr/bin/env python3
"""Counts the tests that ctest ran, from its JUnit file.

One test of ctest is a whole GoogleTest executable or the whole lit suite, so
their number says nothing. This reads how many tests each of them ran, from its
output:
  GoogleTest   [  PASSED  ] 12 tests.    3 FAILED TESTS
  lit          Passed: 20                Failed: 1
Tests whose name in ctest begins with Execute run problems on a device and are
counted separately. Any other test counts as one, and a failed one that printed
no number as one failure; one that ctest skipped, because it said that this
machine cannot run it, is no failure. Prints two lines and exits 1 if something
failed or nothing ran.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

KINDS = ("unit", "lit", "execution")


def find(pattern, text):
    """Sum of the numbers that `pattern` captures; None if it does not match.
    """
    numbers = re.findall(pattern, text, re.M)
    return sum(map(int, numbers)) if numbers else None


def get_kind(name):
    return "execution" if name.startswith("Execute") else "unit"


def is_skipped(case):
    """Whether a test said that it cannot run here. The file has a missing
    executable as skipped, too, with another message."""
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message").startswith("SKIP_")


def count_one(name, failed, output):
    """Returns (kind, passed, failed, skipped) of one test of ctest."""
    kind = get_kind(name)
    passed = find(r"^\[  PASSED  \] (\d+) tests?\.", output)
    if passed is not None:
        wrong = find(r"^ *(\d+) FAILED TESTS?$", output) or 0
        skipped = find(r"^\[  SKIPPED \] (\d+) tests?, listed", output) or 0
        return kind, passed, max(wrong, int(failed)), skipped
    total = find(r"^Total Discovered Tests: *(\d+)", output)
    if total is not None:
        passed = find(r"^ *Passed *: *(\d+)", output) or 0
        skipped = find(r"^ *(?:Unsupported|Excluded|Skipped) *: *(\d+)",
                       output) or 0
        return "lit", passed, max(total - passed - skipped, int(failed)), skipped
    return kind, int(not failed), int(failed), 0


def count(path):
    """Returns {kind: [passed, failed, skipped]}."""
    totals = {kind: [0, 0, 0] for kind in KINDS}
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if is_skipped(case):
            totals[get_kind(case.get("name"))][2] += 1
            continue
        failed = case.get("status") != "run"
        output = case.findtext("system-out") or ""
        kind, *numbers = count_one(case.get("name"), failed, output)
        totals[kind] = [a + b for a, b in zip(totals[kind], numbers)]
    return totals


def report(totals):
    """Prints the two lines; returns the exit code."""
    ran = {kind: passed + failed for kind, (passed, failed, _) in totals.items()}
    print(f"unit: {ran['unit']} tests, lit: {ran['lit']} tests, "
          f"execution: {ran['execution']} problems")
    passed, failed, skipped = (sum(column) for column in zip(*totals.values()))
    print(f"{passed} passed, {failed} failed" +
          (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


def self_test():
    """Numbers are read from each kind of output, good and bad."""
    cases = [
        ("ATests", "SKIP_RETURN_CODE=2", "", "unit", 0, 0, 1),
        ("ATests", "Unable to find executable", "", "unit", 0, 1, 0),
        ("ATests", False, "[==========] 5 tests\n[  PASSED  ] 5 tests.\n",
         "unit", 5, 0, 0),
        ("ATests", True, "[  PASSED  ] 82 tests.\n"
         "[  SKIPPED ] 2 tests, listed below:\n\n 3 FAILED TESTS\n",
         "unit", 82, 3, 2),
        ("Execute-gfx942", True, "seed 1\n[  PASSED  ] 99 tests.\n"
         "\n 1 FAILED TEST\n", "execution", 99, 1, 0),
        ("LitTests", False, "\nTotal Discovered Tests: 3\n"
         "  Unsupported: 1 (33.33%)\n  Passed: 2 (66.67%)\n", "lit", 2, 0, 1),
        ("LitTests", True, "\nTotal Discovered Tests: 2\n"
         "  Passed: 1 (50.00%)\n  Failed: 1 (50.00%)\n", "lit", 1, 1, 0),
        ("ATests", True, "Segmentation fault\n", "unit", 0, 1, 0),
        ("Execute-gfx942", True, "", "execution", 0, 1, 0),
        ("Exports", False, "", "unit", 1, 0, 0),
    ]
    for name, fault, output, *wanted in cases:
        suite = xml.etree.ElementTree.Element("testsuite")
        case = xml.etree.ElementTree.SubElement(
            suite, "testcase", name=name,
            status={False: "run", True: "fail"}.get(fault, "notrun"))
        if isinstance(fault, str):
            xml.etree.ElementTree.SubElement(case, "skipped", message=fault)
        xml.etree.ElementTree.SubElement(case, "system-out").text = output
        with tempfile.NamedTemporaryFile() as file:
            xml.etree.ElementTree.ElementTree(suite).write(file.name)
            totals = count(file.name)
        kind, *numbers = wanted
        assert totals[kind] == numbers, (output, totals, wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("junit", type=pathlib.Path, nargs="?")
    parser.add_argument("--self-test", action="store_true",
                        help="test this script instead of reading a file")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        print("count_tests: self-test passed")
        return 0
    if not arguments.junit or not arguments.junit.exists():
        print("count_tests: ctest left no result to count", file=sys.stderr)
        return 1
    return report(count(arguments.junit))


if __name__ == "__main__":
    sys.exit(main())
