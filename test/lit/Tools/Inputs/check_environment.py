"""Gives every variable of docs/guides/environment.md a malformed value.

A run of dnn-driver must report each exactly once, with its value and what is
allowed; an error that ends the run may repeat it. A variable that the guide has
and the tables below lack is an error, so that no new one is left untested.
"""

import os
import pathlib
import re
import subprocess
import sys

SWITCH = "1, on, yes"
ALL_AT_ONCE = {
    # name: (value, what the message says is allowed)
    "TESSERA_TILE": ("nonsense", "a tile such as 'igemm-"),
    "TESSERA_SYSTEM_DB": ("/nowhere/a", "a package of kernels"),
    "MIOPEN_SYSTEM_DB_PATH": ("/nowhere/b", "a package of kernels"),
    "MIOPEN_DISABLE_CACHE": ("maybe", SWITCH),
    "MIOPEN_DEBUG_COMPILE_ONLY": ("2", SWITCH),
    "MIOPEN_TF32_OVERRIDE": ("maybe", SWITCH),
    "MIOPEN_DEBUG_CONV_WINOGRAD": ("maybe", SWITCH),
    "NVIDIA_TF32_OVERRIDE": ("maybe", SWITCH),
    "TESSERA_GENERIC_KERNELS": ("often", "KEEP (1)"),
    "TESSERA_GENERIC_AFTER": ("-1", "from 0 to 1000000"),
    "TESSERA_GENERIC_USES": ("0", "from 1 to 1000000"),
    "MIOPEN_FIND_ENFORCE": ("9", "SEARCH (3)"),
    "MIOPEN_TUNING_TIME_MS_MAX": ("soon", "of at least 1"),
    "MIOPEN_DEBUG_TUNING_ITERATIONS_MAX": ("0", "of at least 1"),
    "TESSERA_BACKGROUND_TUNING": ("maybe", SWITCH),
    "MIOPEN_FIND_MODE": ("4", "FAST (2)"),
    "TESSERA_COMPILE_WORKER": ("/nowhere/c", "a program that can be run"),
    "TESSERA_COMPILE_JOBS": ("many", "from 1 to 1024"),
    "TESSERA_COMPILE_TIMEOUT": ("-5", "from 1 to 1000000"),
    "TESSERA_COMPILE_MEMORY": ("4G", "from 1 to "),
    "TESSERA_COMPILE_NICE": ("20", "from 0 to 19"),
    "TESSERA_CLAIM_TIMEOUT": ("0", "from 1 to 1000000"),
    "MIOPEN_LOG_LEVEL": ("banana", "from 0 to 7"),
    "MIOPEN_ENABLE_LOGGING": ("maybe", SWITCH),
    "MIOPEN_ENABLE_LOGGING_CMD": ("maybe", SWITCH),
    "MIOPEN_ENABLE_LOGGING_MPMT": ("maybe", SWITCH),
    "MIOPEN_ENABLE_LOGGING_ELAPSED_TIME": ("maybe", SWITCH),
    "TESSERA_EMULATOR_THREADS": ("1000", "from 1 to 256"),
    "TESSERA_EMULATOR_MAX_INSTRUCTIONS": ("0x100", "of at least 1"),
    "TESSERA_EMULATOR_GROUPS": ("-1", "of at least 0"),
    "TESSERA_EMULATOR_CHECK": ("wait", "barrier-pairs, barriers, waits"),
    "TESSERA_EMULATOR_AVX512": ("2", SWITCH),
    "TESSERA_EMULATOR_STATS": ("/nowhere/d", "a file that can be written"),
    "TESSERA_EMULATOR_STATS_ADDRESSES": ("2", SWITCH),
    "TESSERA_EMULATOR_LOG": ("2", SWITCH),
    "MIOPEN_DEBUG_DRIVER_PRNG_SEED": ("0x1", "a whole number"),
    "MIOPEN_DRIVER_USE_GPU_REFERENCE": ("2", SWITCH),
}
# Each of these needs a run of its own: (variables, texts of the line that reports
# them, whether it is an error).
ALONE = [
    ({"TESSERA_DEVICE": "nonsense"},
     ["TESSERA_DEVICE is 'nonsense', but must be amd, nvidia, emulated or"],
     True),
    ({"TESSERA_DEVICE": "emulated:gfx1"},
     ["TESSERA_DEVICE is 'emulated:gfx1': 'gfx1' is no target; there are gfx"],
     True),
    ({"TESSERA_COMPILER_LIBRARY": "/nowhere/e"},
     ["TESSERA_COMPILER_LIBRARY is '/nowhere/e', which cannot be loaded"],
     True),
    ({"MIOPEN_CUSTOM_CACHE_DIR": "/proc/nowhere"},
     ["Warning kernels are not cached on disk", "/proc/nowhere"], False),
    ({"TESSERA_WORKER_FAULT": "hiccup", "MIOPEN_LOG_LEVEL": "5"},
     ["TESSERA_WORKER_FAULT is 'hiccup', but must be one of abort, segfault"],
     False),
]
ELSEWHERE = {
    "XDG_CACHE_HOME", "HOME",  # Not ours, and any text is a directory's name.
    "TESSERA_TORCH_EXTENSION",  # The Python package reads it, and warns in the same words.
    # Only tests read them, in the same way as the driver's seed.
    "TESSERA_TEST_SEED", "TESSERA_RNN_NETWORKS",
}


def documented_variables(guide):
    """Names in the first column of the guide's tables."""
    names = set()
    for line in pathlib.Path(guide).read_text().splitlines():
        if line.startswith("| `"):
            names.update(re.findall(r"`([A-Z0-9_]+)`", line.split("|")[1]))
    return names


def run_driver(variables):
    """What is said on stderr, by line."""
    command = ("dnn-driver conv -n 1 -c 4 -H 5 -W 5 -k 4 -y 1 -x 1 -F 1 -i 1"
               " -V 1").split()
    environment = {"TESSERA_DEVICE": "emulated:gfx942",
                   "MIOPEN_DISABLE_CACHE": "1"}
    if "MIOPEN_CUSTOM_CACHE_DIR" in variables:
        del environment["MIOPEN_DISABLE_CACHE"]
    result = subprocess.run(command, env=os.environ | environment | variables,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True, check=False)
    return result.stderr.splitlines()


def check_told(lines, name, words, problems, is_error=False):
    told = [line for line in lines if all(word in line for word in words)]
    if len(told) != 1 and not (told and is_error):
        problems.append(f"{name} was told {len(told)} times, not once")


def main(guide):
    problems = []
    known = set(ALL_AT_ONCE) | ELSEWHERE | {
        name for variables, _, _ in ALONE for name in variables}
    for name in sorted(documented_variables(guide) ^ known):
        problems.append(f"{name} is in the guide or in this test, not in both")
    lines = run_driver({name: value
                        for name, (value, _) in ALL_AT_ONCE.items()})
    for name, (value, allowed) in ALL_AT_ONCE.items():
        check_told(lines, name,
                   [f"{name} is '{value}', but must be ", allowed], problems)
    for variables, words, is_error in ALONE:
        found = run_driver(variables)
        check_told(found, " ".join(variables), words, problems, is_error)
        lines += found
    print("\n".join(problems + (lines if problems else [])))
    return 1 if problems else 0


sys.exit(main(sys.argv[1]))
