"""Errors of predictions, and how well they rank: by chip, solver and decade."""

import statistics


def kendall(pairs):
    """Tau-b of pairs of numbers: 1 if both orders agree, -1 if they are opposite;
    ties in either count for neither."""
    agree = first_ties = second_ties = 0
    count = len(pairs)
    for i in range(count):
        for j in range(i):
            a = pairs[i][0] - pairs[j][0]
            b = pairs[i][1] - pairs[j][1]
            first_ties += a == 0
            second_ties += b == 0
            agree += (a > 0) == (b > 0) if a and b else 0
            agree -= (a > 0) != (b > 0) if a and b else 0
    total = count * (count - 1) // 2
    scale = ((total - first_ties) * (total - second_ties)) ** 0.5
    return agree / scale if scale else float("nan")


def median_error(pairs):
    """Of the prediction against the measured time, as a share of the latter."""
    return statistics.median(abs(p / m - 1) for m, p in pairs)


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


DECADES = ((0, 0.01, "< 0.01 ms"), (0.01, 0.1, "0.01..0.1 ms"),
           (0.1, 1, "0.1..1 ms"), (1, 10, "1..10 ms"), (10, 100, "10..100 ms"),
           (100, 1e9, ">= 100 ms"), (0.1, 1e9, ">= 0.1 ms"))


def short(solver):
    for long, name in (("ConvDirect", ""), ("ConvAsmImplicitGemm", ""),
                       ("DynamicFwdXdlopsNHWC", "Fwd"),
                       ("ConvBinWinogradRxSf", "Winograd")):
        solver = solver.replace(long, name)
    return solver


# Solvers that are looked at together, by what their short names begin with.
FAMILIES = ("Naive", "Winograd", "")


def summarise(rows):
    """Yields a line for each chip, half, solver and decade."""
    cells = sorted({(row["chip"], row["half"]) for row in rows})
    for chip, half in cells:
        of_chip = [r for r in rows if (r["chip"], r["half"]) == (chip, half)]
        kinds = [(name, name) for name in sorted({short(r["solver"])
                                                  for r in of_chip})]
        kinds += [(f"all {family}".strip(), family) for family in FAMILIES]
        for kind, start in kinds:
            for low, high, name in DECADES:
                pairs = [(r["ms"], r["predicted_ms"]) for r in of_chip
                         if "error" not in r and low <= r["ms"] < high and
                         (short(r["solver"]) == kind if start == kind else
                          short(r["solver"]).startswith(start))]
                if len(pairs) < 2:
                    continue
                ratios = [m / p for m, p in pairs]
                yield (chip, half, kind, name, len(pairs),
                       f"{100 * median_error(pairs):.0f}",
                       f"{kendall(pairs):.2f}",
                       f"{quantile(ratios, .1):.2f}",
                       f"{quantile(ratios, .5):.2f}",
                       f"{quantile(ratios, .9):.2f}")


def report(rows):
    print("chip", "half", "solver", "measured", "records", "median error %", "tau",
          "measured/predicted: 10 %", "50 %", "90 %", sep="\t")
    for line in summarise(rows):
        print(*line, sep="\t")
    errors = [row for row in rows if "error" in row]
    for text in sorted({row["error"][:80] for row in errors}):
        count = sum(row["error"][:80] == text for row in errors)
        print(f"not predicted: {count} x {text}")
