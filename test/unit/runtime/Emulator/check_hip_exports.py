#!/usr/bin/env python3
"""Every function of HIP 5.2 is there, under the version that AMD's library has.

usage: check_hip_exports.py NM LIBRARY HEADER REFERENCE

Names come from the declarations of HEADER (hip_runtime_api.h) and from what
REFERENCE (Debian's libamdhip64.so) exports; the versions from the latter.
"""

import re
import subprocess
import sys

# Run-time compilation is a separate library; the others are not part of HIP.
LEFT_OUT = re.compile(r"hiprtc|amd_dbgapi|__gnu_|_ZN8hip_impl")


def read_exports(nm, library):
    text = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                          capture_output=True, text=True).stdout
    exports = {}
    for line in text.splitlines():
        kind, symbol = line.split()[1:3]
        name, _, version = symbol.partition("@@")
        if kind in "TWi" and "hip" in name and not LEFT_OUT.match(name):
            exports[name] = version
    return exports


def read_declarations(header):
    with open(header, encoding="utf-8", errors="replace") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    pattern = r"\b(?:hipError_t|const char\s*\*|int)\s+(_*hip\w+)\s*\([^;{]*\)\s*;"
    return set(re.findall(pattern, text)) - {"hip_init",
                                             "hipCreateSurfaceObject",
                                             "hipDestroySurfaceObject"}


def main():
    nm, library, header, reference = sys.argv[1:]
    ours, theirs = read_exports(nm, library), read_exports(nm, reference)
    declared = read_declarations(header)
    errors = [f"{name} is declared and not exported"
              for name in sorted(declared - ours.keys())]
    for name, version in sorted(theirs.items()):
        if ours.get(name) != version:
            errors.append(f"{name} has the version {ours.get(name)}, "
                          f"but programs ask for {version}")
    if len(declared) < 300 or len(theirs) < 300:
        errors.append("the header or the reference could not be read")
    print("\n".join(errors) or
          f"{len(declared)} declarations, {len(theirs)} versions: all there")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
