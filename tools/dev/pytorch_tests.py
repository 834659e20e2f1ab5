#!/usr/bin/env python3
"""Runs PyTorch's own tests with tessera.torch under them, and tells which of them end otherwise than without.

  pytorch_tests.py FILE... [-k EXPRESSION] [--seconds 600] [--out FILE] [--together] [--rows]

FILEs are tests of PyTorch's source tree (test/nn/test_convolution.py, test/nn/test_pooling.py, test/test_nn.py), which
its wheel does not have. pytest runs them twice, each time in a process of its own: on PyTorch's kernels, then with
ours for what they take. A test that passes on PyTorch's kernels must pass on ours. FILE gets a line for each test with
both outcomes, and the reason for which PyTorch skips it. Exits 1 if a test fails with ours alone.

With TESSERA_DEVICE=emulated:... tensors of the CPU are answered, else those of the GPU; PyTorch's own variable
PYTORCH_TESTING_DEVICE_ONLY_FOR=cpu or cuda leaves out the tests of other devices.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CALLS = "calls"  # Of our operators, beside the outcomes of tests.


def get_reason(longrepr):
    """Why a test was skipped or has failed: the first line of its error."""
    if isinstance(longrepr, tuple):
        return longrepr[2]
    return next((line[1:].strip() for line in str(longrepr or "").splitlines() if line.startswith("E ")), "")


def run_here(options, result):
    """In the process that runs the tests: all of them, and their outcomes."""
    import pytest
    outcomes = {}

    class Recorder:
        @staticmethod
        def pytest_runtest_logreport(report):
            if report.when == "call" or report.outcome != "passed":
                outcomes[report.nodeid] = [report.outcome, get_reason(report.longrepr)]
                result.write_text(json.dumps(outcomes))

    if options.here == "ours":
        import tessera.torch
        tessera.torch.enable(rows=options.rows)
    arguments = ["-q", "--no-header", "-p", "no:cacheprovider", "--tb=short", *map(str, options.files)]
    pytest.main(arguments + (["-k", options.keyword] if options.keyword else []), plugins=[Recorder()])
    if options.here == "ours":
        report = tessera.torch.report()
        print(report)
        outcomes[CALLS] = [str(sum(report.calls.values())), str(sum(report.fallbacks.values()))]
    result.write_text(json.dumps(outcomes))


def run(way, options):
    """The outcomes of all tests that a process came to in its time."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder, "result.json")
        command = [sys.executable, __file__, *sys.argv[1:], "--here", way, "--result", str(result)]
        print(f"== {way}", flush=True)
        try:
            subprocess.run(command, timeout=options.seconds, check=False)
        except subprocess.TimeoutExpired:
            print(f"{way}: cut off after {options.seconds:.0f} s", flush=True)
        return json.loads(result.read_text()) if result.exists() else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("-k", dest="keyword", help="which tests, in pytest's words")
    parser.add_argument("--seconds", type=float, default=600, help="for each of the two runs")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--together", action="store_true", help="both at once, if a GPU's memory serves both")
    parser.add_argument("--rows", action="store_true", help="softmax, layer and group normalisation as well")
    parser.add_argument("--here", choices=("pytorch", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--result", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(options, options.result)
        return 0
    with concurrent.futures.ThreadPoolExecutor(2 if options.together else 1) as pool:
        theirs, ours = pool.map(lambda way: run(way, options), ("pytorch", "ours"))
    calls, fallbacks = ours.pop(CALLS, ["?", "?"])
    nothing = ["not run", ""]
    rows = [(test, *theirs.get(test, nothing), *ours.get(test, nothing)) for test in {**theirs, **ours}]
    if options.out:
        options.out.write_text("".join("\t".join(part.replace("\t", " ") for part in row) + "\n" for row in rows))
    for (before, after), count in sorted(collections.Counter((row[1], row[3]) for row in rows).items()):
        print(f"{count} tests: {before} on PyTorch's kernels, {after} on ours")
    print(f"{calls} calls were ours, {fallbacks} were given back to PyTorch")
    wrong = [row for row in rows if row[1] == "passed" and row[3] == "failed"]
    for test, _, _, _, reason in wrong:
        print(f"fails on ours alone: {test}: {reason}")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
