#!/usr/bin/env python3
"""Draws predicted against measured times of rows that amd_clock.py run wrote.

  plot.py ROWS.jsonl... > clock.svg

Both axes are logarithmic, one picture for each chip. The lines are equality and a
factor of two either way; a solver has a colour.
"""

import json
import math
import sys

from statistic import short

SIDE, MARGIN, GAP = 300, 46, 40
LOW, HIGH = -3, 5  # decades of milliseconds
COLOURS = {"NaiveConvFwd": "#1b6ca8", "NaiveConvBwd": "#3a9a5b",
           "NaiveConvWrw": "#c4622d", "GTCFwd": "#7a4fa3", "Winograd2x3": "#b8860b",
           "Winograd2x3g1": "#8c8c1c", "Winograd3x2": "#c2185b"}


def scale(ms):
    return (math.log10(min(max(ms, 10 ** LOW), 10 ** HIGH)) - LOW) / (HIGH - LOW)


class Panel:
    def __init__(self, chip, left):
        self.chip, self.left = chip, left

    def x(self, ms):
        return round(self.left + scale(ms) * SIDE, 1)

    def y(self, ms):
        return round(MARGIN + (1 - scale(ms)) * SIDE, 1)

    def line(self, a, b, style):
        (ax, ay), (bx, by) = a, b
        return (f'<path d="M{self.x(ax)} {self.y(ay)}L{self.x(bx)} {self.y(by)}" '
                f'{style}/>')

    def draw(self, rows):
        low, high = 10.0 ** LOW, 10.0 ** HIGH
        yield (f'<rect x="{self.left}" y="{MARGIN}" width="{SIDE}" height="{SIDE}" '
               'fill="#fff" stroke="#444"/>')
        for decade in range(LOW + 1, HIGH):
            ms = 10.0 ** decade
            yield self.line((ms, low), (ms, high), 'stroke="#ddd"')
            yield self.line((low, ms), (high, ms), 'stroke="#ddd"')
        for decade in range(LOW, HIGH + 1, 2):
            ms, name = 10.0 ** decade, f"{10.0 ** decade:g}"
            yield (f'<text x="{self.x(ms)}" y="{MARGIN + SIDE + 14}" '
                   f'text-anchor="middle">{name}</text>')
            yield (f'<text x="{self.left - 4}" y="{self.y(ms) + 3}" '
                   f'text-anchor="end">{name}</text>')
        yield self.line((low, low), (high, high), 'stroke="#444"')
        for a, b in (((low, 2 * low), (high / 2, high)),
                     ((2 * low, low), (high, high / 2))):
            yield self.line(a, b, 'stroke="#444" stroke-dasharray="3 3"')
        for solver, colour in COLOURS.items():
            dots = "".join(f"M{self.x(row['ms'])} {self.y(row['predicted_ms'])}h0"
                           for row in rows if short(row["solver"]) == solver)
            if dots:
                yield (f'<path d="{dots}" stroke="{colour}" stroke-width="2.4" '
                       'stroke-linecap="round" stroke-opacity="0.6"/>')
        yield (f'<text x="{self.left}" y="{MARGIN - 8}">{self.chip}: {len(rows)} '
               'records, ms: measured by AMD across, predicted up</text>')


def main():
    rows = []
    for path in sys.argv[1:]:
        with open(path) as file:
            rows += [row for row in map(json.loads, file) if "error" not in row]
    chips = sorted({row["chip"] for row in rows})
    width = MARGIN + len(chips) * (SIDE + GAP)
    height = SIDE + 2 * MARGIN + 10
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
          f'height="{height}" font-family="sans-serif" font-size="10" fill="none">')
    print(f'<rect width="{width}" height="{height}" fill="#fff"/><g fill="#222">')
    for i, chip in enumerate(chips):
        panel = Panel(chip, MARGIN + i * (SIDE + GAP))
        print("\n".join(panel.draw([r for r in rows if r["chip"] == chip])))
    for i, (solver, colour) in enumerate(COLOURS.items()):
        print(f'<text x="{MARGIN + 90 * i}" y="{height - 8}" fill="{colour}">'
              f'{solver}</text>')
    print("</g></svg>")


if __name__ == "__main__":
    main()
