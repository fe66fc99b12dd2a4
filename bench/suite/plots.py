"""The plots of docs/performance.md, drawn from the results of a run."""

import collections
import json
import sys

from suite import svg
from suite.processes import ROOT

FOLDER = ROOT / "docs/plots"


def throughput(rows):
    series = collections.defaultdict(dict)
    for row in rows:
        x = row["more"].get("in_flight")
        if row["value"]:
            series["Hodei (durable)"][x] = row["value"]
        if row["against_value"] and row["against"] != "bare unary echo":
            series[row["against"]][x] = row["against_value"]
    return svg.lines("No-op jobs end to end", "jobs in flight", "jobs per second",
                     {name: list(points.items()) for name, points in series.items()}, log_x=True)


def placements(rows):
    series = collections.defaultdict(list)
    for row in rows:
        more = row["more"]
        if more["shapes"] == 100 and not more["keys"] and "us_each" in more:
            series[f"{more['workers']:,} workers"].append((more["waiting"], more["us_each"]))
    return svg.lines("Cost of a placement", "waiting jobs", "µs per placement", series, log_x=True)


def latency(rows):
    series = {}
    for row in rows:
        if not row["name"].endswith("p50"):
            continue
        name = row["name"].removesuffix(", p50").removeprefix("submission to ")
        for label, curve in ((f"Hodei: {name}", "curve_ms"), (f"{row['against']}: {name}", "against_curve_ms")):
            if row["more"].get(curve):
                series.setdefault(label, [(ms, percent) for percent, ms in enumerate(row["more"][curve])])
    # Long names: the same four kinds, shorter.
    for long, short in (("receipt by the worker, idle", "no spawn"), ("the running child, idle", "spawn")):
        series = {name.replace(long, short): points for name, points in series.items()}
    half = [name for name in series if "the same at half load" in name]
    for name, short in zip(half, ("Hodei: no spawn, half load", "Hodei: spawn, half load")):
        series[short] = series.pop(name)
    return svg.lines("From the call to the start of the job", "milliseconds", "% of jobs", series, log_x=True, dots=False)


def aged(rows):
    groups = {}
    for row in rows:
        if row["unit"] == "jobs/s" and row["value"]:
            label = row["more"]["name"].replace("submissions", "submit").replace(" in flight", "").replace("batches of", "batch")
            label = label.replace("no-op jobs", "no-op").replace("one at a time", "1").replace("exec of ", "exec, ")
            groups[label] = (100, 100 * row["ratio"])
    return svg.bars("Before and after a million jobs", "% of a fresh server", groups, ("fresh", "after a million"))


PLOTS = {"in_flight": ("throughput.svg", throughput), "placement": ("placement.svg", placements),
         "latency": ("latency.svg", latency), "aged": ("aged.svg", aged)}


TITLES = {"throughput.svg": "No-op jobs a second by jobs in flight, Hodei and its peers",
          "placement.svg": "Cost of a placement by length of the queue",
          "latency.svg": "Distribution of the time from the call to the start of the job",
          "aged.svg": "Rates before and after a million jobs"}


def draw(results):
    """Every plot that the results have rows for; answers with their names."""
    rows = json.loads(results.read_text())["rows"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    drawn = []
    for kind, (name, make) in PLOTS.items():
        found = [row for row in rows if row["more"].get("plot") == kind and row["value"] is not None]
        if found:
            (FOLDER / name).write_text(make(found))
            print(f"drew docs/plots/{name}", file=sys.stderr)
            drawn.append(name)
    return drawn
