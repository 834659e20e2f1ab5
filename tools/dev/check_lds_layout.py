#!/usr/bin/env python3
"""Proves that the compiler's LDS layout has no bank conflicts.

A conflict costs time and changes no result, so no execution test would notice
one. This check reads the swizzles from compiler/Conversion/Cooperative/LdsTile.h and
counts the conflicts of every access that the main loop makes with them:
128-bit writes and reads of chunks, and the 64-bit writes of tiles that are
written by blocks, which have a layout of their own. It is not published which
lanes of a wave share a clock when they read. Two maps are known (consecutive
lanes; the mixed one that composable_kernel's swizzles are made for), and the
layout must be free of conflicts under both.

With --row-bytes, --shift and --mask it counts for another layout instead.
"""

import argparse
import collections
import dataclasses
import itertools
import math
import pathlib
import re
import sys

CHUNK_BYTES = 16
SOURCE = "compiler/Conversion/Cooperative/LdsTile.h"


@dataclasses.dataclass(frozen=True)
class Layout:
    """Rows of `chunks` chunks; chunk c of row r is in slot
    c ^ (((r >> shift) & mask) + ((r >> 3 ^ r >> 4) & 1) * fold), and `pad`
    bytes follow each row."""
    chunks: int
    shift: int
    mask: int
    fold: int = 0
    pad: int = 0

    def address(self, row, chunk):
        slot = chunk ^ (((row >> self.shift) & self.mask)
                         + ((row >> 3 ^ row >> 4) & 1) * self.fold)
        return row * (self.chunks * CHUNK_BYTES + self.pad) + slot * CHUNK_BYTES


@dataclasses.dataclass(frozen=True)
class BlockedLayout:
    """Chunk c of row r is in slot c ^ ((r ^ ((r >> shift) & upper)) & mask) of
    row r. With four chunks the lowest bit of the masked value replaces that of
    the row, and the next two apply to the chunk."""
    chunks: int
    shift: int
    upper: int
    mask: int

    def address(self, row, chunk):
        mixed = row ^ ((row >> self.shift) & self.upper)
        if self.chunks == 4:
            row = row & ~1 | mixed & 1
            mixed >>= 1
        slot = chunk ^ (mixed & self.mask)
        return (row * self.chunks + slot) * CHUNK_BYTES


# -- which lanes share a clock ----------------------------------------------

def consecutive_phases(wave, lanes):
    return [range(first, first + lanes) for first in range(0, wave, lanes)]


def mixed_phases(wave, lanes):
    """Groups of four lanes, by eight groups: 0 with 5, 1 with 4, 2 with 7, 3
    with 6. Twice as many banks serve two such pairs."""
    pairs = [[*range(4 * a, 4 * a + 4), *range(4 * b, 4 * b + 4)]
             for base in range(0, wave // 4, 8)
             for a, b in ((base, base + 5), (base + 1, base + 4),
                          (base + 2, base + 7), (base + 3, base + 6))]
    joined = lanes // 8
    return [list(itertools.chain(*pairs[i:i + joined]))
            for i in range(0, len(pairs), joined)]


def count_extra(addresses, phases, banks, width=4):
    """Clocks of all phases beyond those of an even spread over the banks, for
    accesses of `width` dwords. Lanes that access the same dword share it."""
    extra = 0
    for phase in phases:
        dwords = {addresses[lane] // 4 + d for lane in phase
                  for d in range(width)}
        load = collections.Counter(dword % banks for dword in dwords)
        extra += max(load.values()) - -(-len(dwords) // banks)
    return extra


# -- the accesses of the main loop ------------------------------------------

def write_patterns(layout, wave, threads):
    """The writes of TileCopy: neighbouring threads write neighbouring chunks
    of a row, or (the pixels of NCHW) neighbouring rows."""
    rows = threads // layout.chunks
    for first in range(0, threads, wave):
        lanes = range(first, first + wave)
        yield ("write, chunks first",
               [(t // layout.chunks, t % layout.chunks) for t in lanes])
        yield "write, rows first", [(t % rows, t // rows) for t in lanes]


def block_write_patterns(layout, wave, threads, block_rows, rows):
    """The writes of BlockCopy: half a chunk of one row of each block; lanes
    write eight blocks along the rows, the halves, further blocks, the chunks.
    """
    blocks = rows // block_rows
    near = math.gcd(blocks, 8)
    for first in range(0, threads, wave):
        for i in range(block_rows):
            yield [((t // near // 2 % (blocks // near) * near + t % near)
                    * block_rows + i,
                    t // near // 2 // (blocks // near) % layout.chunks,
                    t // near % 2)
                   for t in range(first, first + wave)]


def read_patterns(layout, wave):
    """The reads of TileMma: the same chunk of neighbouring rows; lanes beyond
    the rows read the next chunk, or the same one where a row belongs to one
    lane (gfx11). One pattern for each operand of each instruction."""
    # The instruction "fma" spreads its lanes over a grid of 8 columns.
    grid = wave // 8
    shapes = [("fma, rows", grid, 8, 1), ("fma, columns", 8, 1, 1)]
    shapes += ([("mfma32", 32, 1, 2), ("mfma16", 16, 1, 4)] if wave == 64 else
               [("wmma16 of gfx11", 16, 1, 1), ("wmma16 of gfx12", 16, 1, 2)])
    for name, rows, divisor, step in shapes:
        for first in range(0, layout.chunks - step + 1, step):
            yield f"read, {name}", [
                (lane // divisor % rows,
                 first + (lane // rows if step > 1 else 0))
                for lane in range(wave)]


def count_matrices(layout):
    """{access: extra clocks} of matrix reads for mma.sync: eight rows of one
    chunk each at once, neighbours (Q) or every fourth row (P). Their writes by
    chunks are those of a wave of 32."""
    worst = collections.Counter()

    def add(name, positions, phases):
        addresses = [layout.address(*position) for position in positions]
        worst[name] = max(worst[name], count_extra(addresses, phases, 32))

    for first, chunk in itertools.product(range(4), range(layout.chunks)):
        add("read, matrices of P", [(row * 4 + first, chunk) for row in range(8)],
            [range(8)])
        add("read, matrices of Q", [(first * 8 + row, chunk) for row in range(8)],
            [range(8)])
    for threads in (64, 128, 256):
        for name, positions in write_patterns(layout, 32, threads):
            add(name, positions, consecutive_phases(32, 8))
    return worst


def count_quads(layout):
    """{access: extra clocks} of the reads of mma.sync of f64: four lanes, a
    quad, read four chunks of a row, and the next ones those of the next row."""
    phases = consecutive_phases(32, 8)
    extra = max(count_extra(
        [layout.address(lane // 4, first + lane % 4) for lane in range(32)],
        phases, 32) for first in range(0, layout.chunks, 4))
    return {"read, quads": extra}


def count_blocked(layout, wave, banks):
    """The same for a tile that is written by blocks. Sixteen lanes of 64 bits
    fill 32 banks, which is stricter than two such phases together."""
    worst = collections.Counter()
    for threads, block_rows, rows in itertools.product(
            (128, 256, 512), (2, 4), (32, 64, 128, 256)):
        name = f"write, blocks of {block_rows} rows"
        worst[name] = max(worst[name], 0)
        for positions in block_write_patterns(layout, wave, threads, block_rows,
                                           rows):
            addresses = [layout.address(row, chunk) + 8 * half
                         for row, chunk, half in positions]
            extra = count_extra(addresses,
                                consecutive_phases(wave, banks // 2), banks, 2)
            worst[name] = max(worst[name], extra)
    for name, positions in read_patterns(layout, wave):
        addresses = [layout.address(*position) for position in positions]
        for phases in (consecutive_phases(wave, banks // 4),
                       mixed_phases(wave, banks // 4)):
            worst[name] = max(worst[name],
                              count_extra(addresses, phases, banks))
    return worst


def count_layout(layout, wave, banks):
    """{access: extra clocks}, the worst of the phase maps and lanes."""
    lanes = banks // 4
    worst = collections.Counter()

    def add(name, positions, maps):
        addresses = [layout.address(*position) for position in positions]
        extra = max(count_extra(addresses, phases, banks) for phases in maps)
        worst[name] = max(worst[name], extra)

    for threads in (128, 256, 512):
        for name, positions in write_patterns(layout, wave, threads):
            add(name, positions, [consecutive_phases(wave, lanes)])
    for name, positions in read_patterns(layout, wave):
        add(name, positions, [consecutive_phases(wave, lanes),
                           mixed_phases(wave, lanes)])
    return worst


def count_lines(wave, banks):
    """The same for lines of pixels that taps share (PlaneHalo.h): lanes write
    four chunks of every fourth line, and read neighbours from any line on, in
    the shapes that have a halo. Those outside of an image read zeros in the banks
    of their own line. Not free of conflicts are, under the mixed map, reads of
    gfx12, whose halves of a wave read two chunks (docs/design/0030-nchw-on-amd.md),
    and gfx950's 64 banks."""
    layout = Layout(4, 0, 0, pad=CHUNK_BYTES)
    phases = consecutive_phases(wave, banks // 4)
    worst = collections.Counter()

    def add(name, positions, maps):
        addresses = [layout.address(*position) for position in positions]
        worst[name] = max(worst[name], *(count_extra(addresses, phases, banks)
                                         for phases in maps))

    for pixel in range(4):
        add("write, pixels", [(lane // 4 * 4 + pixel, lane % 4)
                              for lane in range(wave)], [phases])
    for first, (name, positions) in itertools.product(
            range(8), read_patterns(layout, wave)):
        if "fma," in name or "mfma16" in name:
            continue
        maps = [phases]
        if "gfx12" not in name:
            maps.append(mixed_phases(wave, banks // 4))
        add(name, [(first + row, chunk) for row, chunk in positions], maps)
    return worst


# -- the layout of the compiler ---------------------------------------------

def parse_swizzles(text):
    """{(banks, chunks): Layout} from the table in LdsTile.h."""
    table = re.search(r"kSwizzles\[\] = \{(.*?)\};", text, re.S)
    rows = table and re.findall(r"\{(\d+), (\d+), (\d+), (\d+), (\d+)\}",
                                table[1])
    if not rows:
        raise ValueError("cannot read kSwizzles")
    return {(banks, chunks): Layout(chunks, shift, mask, fold)
            for banks, chunks, shift, mask, fold in
            (map(int, row) for row in rows)}


def parse_blocked(text):
    """A function from the chunks of a row to a BlockedLayout."""
    shift = re.search(r"kBlockShift = (\d+);", text)
    upper = re.search(r"kBlockMask = (\d+);", text)
    mask = re.search(r"min<int64_t>\(getChunks\(\), (\d+)\) - 1;", text)
    if not (shift and upper and mask):
        raise ValueError("cannot read kBlockShift and kBlockMask")
    return lambda chunks: BlockedLayout(chunks, int(shift[1]), int(upper[1]),
                                        min(chunks, int(mask[1])) - 1)


def check(text):
    """(number of accesses counted, faults) of the layouts in LdsTile.h, for
    the rows that tiles have: 64 and 128 bytes."""
    try:
        swizzles = parse_swizzles(text)
        make_blocked = parse_blocked(text)
    except ValueError as error:
        return 0, [f"{SOURCE}: {error}"]
    count, faults = 0, []
    for chunks, (wave, banks) in itertools.product(
            (4, 8), ((64, 32), (32, 32), (64, 64))):
        layout = swizzles.get((banks, chunks))
        if layout is None:
            faults.append(f"{SOURCE}: no swizzle for {banks} banks and "
                          f"{chunks} chunks")
            continue
        kinds = [("by chunks", count_layout(layout, wave, banks))]
        if banks == 32:
            kinds.append(("by blocks",
                          count_blocked(make_blocked(chunks), wave, banks)))
        if banks == wave == 32:
            kinds.append(("as matrices",
                          count_matrices(make_blocked(chunks))))
        if banks == wave == 32 and chunks == 4:
            kinds += [("by chunks", count_quads(layout)),
                      ("by blocks", count_quads(make_blocked(chunks)))]
        if chunks == 4 and banks == 32:
            kinds.append(("of pixels", count_lines(wave, banks)))
        for kind, counted in kinds:
            for access, extra in counted.items():
                count += 1
                if extra:
                    faults.append(f"rows of {chunks * CHUNK_BYTES} bytes {kind}"
                                  f", wave of {wave}, {banks} banks: {access}: "
                                  f"{extra} extra clocks")
    return count, faults


def self_test():
    """Layouts that are known to be good and bad are distinguished."""
    good = count_layout(Layout(4, 1, 3), 64, 32)
    assert not any(good.values()), good
    # Without a swizzle eight rows of 64 bytes use only two sets of banks.
    plain = count_layout(Layout(4, 0, 0), 64, 32)
    assert plain["read, mfma32"] > 0, plain
    # Padding by a chunk fixes the reads and costs the writes one more clock.
    padded = count_layout(Layout(4, 0, 0, pad=CHUNK_BYTES), 64, 32)
    assert padded["read, mfma32"] == 0, padded
    assert padded["write, chunks first"] > 0, padded
    # Blocks do not fit the layout of chunks, nor a layout without the upper
    # bits.
    good = count_blocked(BlockedLayout(4, 3, 3, 3), 64, 32)
    assert not any(good.values()), good
    assert count_blocked(Layout(4, 1, 3), 64, 32)["write, blocks of 4 rows"] > 0
    assert count_blocked(BlockedLayout(4, 3, 0, 3), 64,
                         32)["write, blocks of 4 rows"] > 0
    # Every fourth row needs the upper bits; neighbours do not.
    assert not any(count_matrices(BlockedLayout(4, 3, 3, 3)).values())
    counted = count_matrices(Layout(4, 1, 3))
    assert counted["read, matrices of P"] > 0, counted
    assert counted["read, matrices of Q"] == 0, counted
    # Quads find rows of 64 bytes in different banks, and not rows of 128.
    for layout in (Layout(4, 1, 3), BlockedLayout(4, 3, 3, 3)):
        assert not any(count_quads(layout).values())
    assert count_quads(Layout(8, 0, 7))["read, quads"] > 0
    # The mixed map finds conflicts that consecutive lanes hide.
    halves = [lane % 32 // 16 * 64 + lane % 16 * 128 for lane in range(64)]
    assert (count_extra(halves, consecutive_phases(64, 8), 32)
            != count_extra(halves, mixed_phases(64, 8), 32))
    assert all(sorted(itertools.chain(*mixed_phases(64, lanes)))
               == list(range(64)) for lanes in (8, 16))
    assert check("struct LdsTile {};")[1] == [
        f"{SOURCE}: cannot read kSwizzles"]
    assert parse_swizzles("kSwizzles[] = {{32, 4, 1, 3, 0}};") == {
        (32, 4): Layout(4, 1, 3)}
    # 64 banks serve 16 lanes a clock; unlike 32 banks they need the fold.
    assert any(count_layout(Layout(4, 1, 3), 64, 64).values())
    assert not any(count_layout(Layout(4, 1, 2, 1), 64, 64).values())


def print_layout(layout, wave, banks):
    for access, extra in count_layout(layout, wave, banks).items():
        print(f"{access:<22} {extra} extra clocks")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true",
                        help="test this script instead of the tree")
    parser.add_argument("--row-bytes", type=int,
                        help="count for rows of this many bytes")
    parser.add_argument("--shift", type=int, default=0)
    parser.add_argument("--mask", type=int, default=0)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--pad", type=int, default=0, help="bytes behind a row")
    parser.add_argument("--wave", type=int, default=64)
    parser.add_argument("--banks", type=int, default=32)
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        print("check_lds_layout: self-test passed")
        return 0
    if arguments.row_bytes:
        print_layout(Layout(arguments.row_bytes // CHUNK_BYTES, arguments.shift,
                            arguments.mask, arguments.fold, arguments.pad),
                     arguments.wave, arguments.banks)
        return 0
    count, faults = check((arguments.root / SOURCE).read_text())
    for fault in faults:
        print(f"check_lds_layout: {fault}", file=sys.stderr)
    print(f"check_lds_layout: {count} accesses, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
