"""The tables of a suite's figures, in Markdown."""

import math
import statistics

TARGETS_LEGEND = """Medians over interleaved runs; `ratio` is fix/none. Targets hold for fix: a plain
number bounds the ratio; `flat` bounds the growth since the family's first row, divided by the
growth without preload where that is above 1; `added` bounds fix - none; a unit bounds the value."""
RATIOS_LEGEND = """Medians over interleaved runs, in ns of a processor of constant clock. Then the
ratio to `none`, the median over the rounds (and the least and the largest of them), against the
target."""
WORKERS_LEGEND = """Medians over interleaved runs of a thread's step, in us. Then the ratio to
`none`, the median over the rounds (and the least and the largest of them), against the target."""
LLAMA_LEGEND = """Medians over interleaved runs of what a token takes, in us: `pp512` of a prompt,
`tg128` generated. Then the ratio to `none`, the median over the rounds (and the least and the
largest of them), against the target. 1.18 times as long is 0.85 times as many tokens a second."""
PROGRAMS_LEGEND = """Medians over interleaved runs of what a step takes when nothing disturbs it (the
lower decile of a run), in us. Then the ratio to `none`, the median over the rounds (and the least
and the largest of them), against the target."""
GPUS_LEGEND = """`none`: what a step of all GPUs takes when nothing disturbs it (the lower decile of a
run, the median of the runs), in us. Then ratios of the median steps of two runs where a spin loop
beside them took as long: the median over the rounds (and the least and the largest of them). `again`
is a second run without the library against the first one. `fix` is the library against both of its
round, and whether that lies within what two runs without the library differ by."""
IN_TURN_LEGEND = """How many times as long a step takes as by the driver's own functions, in turn with
them in one process; the median over the rounds. The driver's own are of the first way, in ns. Targets
are of mode=fix with non-blocking streams, and by 16 threads. The last ways are mode=fix, too: by
blocking streams, on the legacy stream, with a cold cache, by 16 threads."""
CURVES_LEGEND = """Medians over interleaved runs. `grew by` is the figure against the first of its
family, divided by the growth without the library where that is above 1; ten marks are 1."""
PARTS_LEGEND = """Medians over interleaved runs, in ns of a processor of constant clock: `none` in
all, then what each part adds to those before it."""


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio(above, below):
    return above / below if above is not None and below else None


def in_columns(rows):
    """The first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
            for row in rows]


# --- mode=fix against its targets -----------------------------------------------------------------


def growth(results, figure, way):
    """How the figure compares with the first of its family, `copy_streams_` for example."""
    family = figure.rsplit("_", 1)[0]
    first = next(other for other in results.values if other.rsplit("_", 1)[0] == family)
    return ratio(results.median(figure, way), results.median(first, way))


def measured(results, figure, kind):
    """What is held against the target's limit, or None where a way is missing."""
    none, fix = (results.median(figure, way) for way in ("none", "fix"))
    if fix is None or (none is None and kind != "value"):
        return None
    if kind == "ratio":
        return ratio(fix, none)
    if kind == "flat":
        own, driver = (growth(results, figure, way) for way in ("fix", "none"))
        return own / max(1, driver) if own and driver else None
    return fix - none if kind == "added" else fix


def target_of(suite, figure):
    return next((target for target in suite.targets if figure == target[0] or
                 (target[0].endswith("_") and figure.startswith(target[0]))), None)


def verdict(suite, results, figure, simulated):
    """(target, met or missed) as words."""
    target = target_of(suite, figure)
    if target is None:
        return "", ""
    _, kind, limit = target
    unit = results.units[figure]
    said = {"ratio": f"{limit:.2f}", "flat": f"flat {limit}", "added": f"added {limit} {unit}",
            "value": f"{limit} {unit}"}[kind]
    found = measured(results, figure, kind)
    if found is None:
        return said, ""
    if simulated and kind == "ratio" and not figure.startswith("malloc"):
        return said, "not judged"  # the simulated driver's calls take a tenth of the real one's
    shown = f" ({found:.3g})" if kind in ("flat", "added") else ""
    return said, ("met" if found <= limit else "missed") + shown


def target_rows(suite, results, simulated):
    yield ["benchmark", "unit", *suite.ways, "ratio", "target", ""]
    for figure in results.values:
        medians = [results.median(figure, way) for way in suite.ways]
        by_none = ratio(results.median(figure, "fix"), medians[0])
        yield [figure, results.units[figure], *map(number, medians),
               f"{by_none:.2f}" if by_none else "", *verdict(suite, results, figure, simulated)]


def where_it_goes(suite, results, simulated):
    """For each missed ratio: what standing in the way costs, and what the library adds."""
    for figure in results.values:
        _, result = verdict(suite, results, figure, simulated)
        none, nop, fix = (results.median(figure, way) for way in ("none", "nop", "fix"))
        if result.startswith("missed") and nop is not None:
            unit = results.units[figure]
            yield (f"- {figure}: {number(fix - none)} {unit} more than none, of which "
                   f"interposition {number(nop - none)}, the library itself {number(fix - nop)}.")


# --- each way's ratio to none ---------------------------------------------------------------------


def ratios_by_round(results, figure, way):
    pairs = zip(results.values[figure].get(way, []), results.values[figure].get("none", []))
    return [above / below for above, below in pairs if below]


def median_ratio(results, figure, way):
    ratios = ratios_by_round(results, figure, way)
    return statistics.median(ratios) if ratios else None


def limit_of(suite, results, figure, way):
    limit = suite.limits.get(figure, {}).get(way)
    if not isinstance(limit, tuple):
        return limit
    other, times = limit
    found = median_ratio(results, figure, other)
    return found * times if found else None


def ratio_cell(suite, results, figure, way, simulated):
    """`1.52 (1.50-1.55), 1.20 missed`"""
    ratios = ratios_by_round(results, figure, way)
    if not ratios:
        return ""
    found, limit = statistics.median(ratios), limit_of(suite, results, figure, way)
    said = f"{found:.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    if limit is None or simulated:
        return said
    return f"{said}, {limit:.2f} {'met' if found <= limit else 'missed'}"


def ratio_rows(suite, results, simulated):
    none, *others = suite.ways
    yield ["pattern", none, *others]
    for figure in results.values:
        yield [figure, number(results.median(figure, none)),
               *(ratio_cell(suite, results, figure, way, simulated) for way in others)]


# --- in turn with the driver's own functions ------------------------------------------------------


def own_ns(results, step):
    """Of the first way that says it, in ns."""
    said = [remark for figure, remark in results.remarks if figure == step]
    return said[0].split()[-2] if said else ""


def in_turn_cell(suite, results, step, way, simulated):
    """`1.27, 1.20 missed`; a way's figures have its name behind the step's."""
    figure = f"{step}_{way}" if way in results.values.get(f"{step}_{way}", {}) else step
    found = results.median(figure, way)
    limit = suite.limits.get(figure, {}).get("fix") if way in ("fix", "threads") else None
    if found is None or limit is None or simulated:
        return f"{found:.2f}" if found is not None else ""
    return f"{found:.2f}, {limit:.2f} {'met' if found <= limit else 'missed'}"


def in_turn_rows(suite, results, simulated):
    yield ["step", "the driver's own, ns", *suite.ways]
    steps = [figure for figure, ways in results.values.items() if "fix" in ways]
    for step in steps:
        yield [step, own_ns(results, step),
               *(in_turn_cell(suite, results, step, way, simulated) for way in suite.ways)]


# --- against the spread of the runs without the library -------------------------------------------


LEAST_SHARED = 0.1  # of a run's steps: with fewer at speeds that both runs had there is no ratio


def matched_ratio(above, below):
    """How much longer steps take in one run than in the other, where the spin loop beside them took
    as long. None: too few of them are such steps."""
    shared = {speed: min(above[speed][1], below[speed][1]) for speed in above.keys() & below.keys()}
    steps = min(sum(count for _, count in run.values()) for run in (above, below))
    if sum(shared.values()) < max(1, LEAST_SHARED * steps):
        return None
    return math.exp(sum(count * math.log(above[speed][0] / below[speed][0])
                        for speed, count in shared.items()) / sum(shared.values()))


def matched_ratios(results, figure, way, to):
    """By round; to each of the ways `to`."""
    of = results.speeds.get(figure, {})
    found = [matched_ratio(above, below) for other in to
             for above, below in zip(of.get(way, []), of.get(other, []))]
    return [one for one in found if one]


def of_all(ratios):
    return (f"{statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f})"
            if ratios else "")


def spread_rows(_, results, _simulated):
    yield ["step", "none", "again", "fix", ""]
    for figure in results.values:
        again = matched_ratios(results, figure, "again", ["none"])
        fix = matched_ratios(results, figure, "fix", ["none", "again"])
        verdict = ("within" if statistics.median(fix) <= max(again) else "above") if again and fix else ""
        yield [figure, number(results.median(figure, "none")), of_all(again), of_all(fix), verdict]


# --- what each part adds --------------------------------------------------------------------------


def part_rows(suite, results, _simulated):
    ways = list(suite.ways)
    yield ["pattern", ways[0], *(f"+ {way}" for way in ways[1:])]
    for figure in results.values:
        medians = [results.median(figure, way) for way in ways]
        added = [after - before if before is not None and after is not None else None
                 for before, after in zip(medians, medians[1:])]
        yield [figure, number(medians[0]), *map(number, added)]


# --- how a figure grows ---------------------------------------------------------------------------


BAR_PER_RATIO = 10  # marks for each time that a copy takes as long as the family's first


def growth_cells(suite, results, figure, way):
    """`1.07 ##########.`: how the figure has grown, the driver's own growth taken out."""
    own, driver = growth(results, figure, way), growth(results, figure, "none")
    if not own or not driver:
        return ["", ""]
    found = own / max(1, driver)
    return [f"{found:.2f}", "`" + "#" * round(min(found, 6) * BAR_PER_RATIO) + "`"]


def curve_rows(suite, results, simulated):
    none, *others = suite.ways
    yield ["with", "unit", *suite.ways,
           *(text for way in others for text in (f"{way} grew by", "")), "target of fix", ""]
    for figure in results.values:
        yield [figure.removeprefix(suite.only), results.units[figure],
               *(number(results.median(figure, way)) for way in suite.ways),
               *(cell for way in others for cell in growth_cells(suite, results, figure, way)),
               *verdict(suite, results, figure, simulated)]


# --- all --------------------------------------------------------------------------------------------


KINDS = {
    "targets": (target_rows, TARGETS_LEGEND),
    "ratios": (ratio_rows, RATIOS_LEGEND),
    "programs": (ratio_rows, PROGRAMS_LEGEND),
    "gpus": (spread_rows, GPUS_LEGEND),
    "in_turn": (in_turn_rows, IN_TURN_LEGEND),
    "workers": (ratio_rows, WORKERS_LEGEND),
    "llama": (ratio_rows, LLAMA_LEGEND),
    "curves": (curve_rows, CURVES_LEGEND),
    "parts": (part_rows, PARTS_LEGEND),
}


def legend(suite):
    return KINDS[suite.table][1]


def table(suite, results, simulated):
    return in_columns(list(KINDS[suite.table][0](suite, results, simulated)))
