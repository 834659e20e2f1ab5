"""Kernels as files, for a machine with an NVIDIA GPU and no compiler.

A problem is one file, NAME.json: its name, its network config and its tiles. A
tile has the launches of its kernel in order (symbol, tensor maps, arguments,
whether it waits by itself for the one in front, bytes of dynamic shared
memory, threads, grid), the bytes of its workspace, and its code, which is
machine code in base64 or PTX. dnn-opt prints all of this at its stages gpu and
isa. gpu_device.py loads the files.
"""

import argparse
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def make_parser(doc):
    """The command line that all scripts with `pack` and `run` share."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--dnn-opt", default="build/dev/bin/dnn-opt")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=20)
    return parser


def read_argument(kind, attributes):
    name = re.search(r'dnn\.arg = "([^"]*)"', attributes)
    offset = re.search(r'dnn\.offset = "([^"]*)"', attributes)
    return {"kind": kind, "name": name[1] + (f"+{offset[1]}" if offset else "")}


def read_launch(symbol, signature, attributes):
    """The parameters of a kernel's launch, from its function at stage gpu."""
    def number(pattern):
        match = re.search(pattern, attributes)
        return int(match[1]) if match else 0
    maps = re.search(r"tensor_maps = \[(.*?)\]", attributes)
    workgroups = re.search(r'dnn\.workgroups = "(.*?)"', attributes)
    return {"symbol": symbol,
            "maps": re.findall(r'"([^"]*)"', maps[1]) if maps else [],
            "arguments": [read_argument(*argument) for argument in re.findall(
                r"%\w+: ([^\s,{]+) \{(.*?)\}", signature)],
            "dependent": "dnn.dependent" in attributes,
            "shared": number(r"shared_bytes = (\d+)"),
            "threads": number(r"block_size = array<i32: (\d+)"),
            "workgroups": workgroups[1] if workgroups else "",
            "grid": number(r"grid_size = array<i32: (\d+)")}


def read_launches(text):
    pattern = (r"gpu\.func @(\w+)\((.*?)\)[^\n]*? kernel[^\n]*?"
               r"attributes \{(.*?)\} \{\n")
    return [read_launch(*kernel) for kernel in re.findall(pattern, text, re.S)]


def assemble(ptxas, ptx):
    """Machine code in base64; warnings of ptxas are printed."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k")
        source.write_text(ptx)
        done = subprocess.run([ptxas, "-arch=sm_90a", source, "-o", cubin],
                              capture_output=True, text=True, check=True)
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        return base64.b64encode(cubin.read_bytes()).decode()


def run_compiler(options, config, *arguments):
    command = [options.dnn_opt, "--problem", config, "--target", options.target,
               *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def compile_tile(options, config, tile):
    """A tile as the file has it, or None if it does not fit the problem. "" is
    the compiler's own tile, which must fit."""
    choice = ["--tile", tile] if tile else []
    gpu = run_compiler(options, config, *choice, "--stop-after", "gpu")
    if gpu.returncode:
        if not tile:
            sys.exit(f"{config}: {gpu.stderr}")
        return None
    ptx = run_compiler(options, config, *choice, "--stop-after", "isa").stdout
    code = {"cubin": assemble(options.ptxas, ptx)} if options.ptxas \
        else {"ptx": ptx}
    workspaces = re.findall(r"dnn\.bytes = (\d+)", gpu.stdout)
    return {"launches": read_launches(gpu.stdout), **code,
            "workspace": max(map(int, workspaces), default=0),
            "open_workspaces": sorted(set(
                re.findall(r'dnn\.bytes = "([^"]+)"', gpu.stdout)))}


def list_best(options, config, count):
    """The tiles that the compiler's model ranks best."""
    ranked = run_compiler(options, config, "--list-tiles", str(count)).stdout
    return [line.split()[0] for line in ranked.splitlines()]


def pack(options, problems, list_tiles):
    """Writes the files of those (name, config) that --only selects, with the
    tiles of list_tiles(name, config) that fit; "" is named "own"."""
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)

    def pack_problem(name, config):
        tiles = {}
        for tile in list_tiles(name, config):
            if found := compile_tile(options, config, tile):
                tiles[tile or "own"] = found
        if tiles:
            (folder / f"{name}.json").write_text(json.dumps(
                {"name": name, "config": config, "tiles": tiles}))
        print(f"{name}: {' '.join(tiles) or 'no tile fits'}", file=sys.stderr)

    with ThreadPoolExecutor(options.jobs) as pool:
        done = [pool.submit(pack_problem, *problem) for problem in problems
                if re.search(options.only, problem[0])]
        for job in done:
            job.result()
    return 0
