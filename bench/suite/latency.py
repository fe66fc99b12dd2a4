"""Section d: from the client's call to the job's start, idle and at half of what the system can do."""

import contextlib
import functools
import os
import tempfile

from suite import processes
from suite.hodei import Hodei
from suite.processes import PROGRAMS
from suite.report import Target, compare
from suite.rounds import Rounds
from suite.throughput import SLOTS

MOST_IDLE = 1000       # jobs, one at a time
MOST_LOADED = 500_000


def d_latency(settings):
    rows = []
    with contextlib.ExitStack() as stack:
        peers = settings.enter_peers(stack)
        with Hodei() as server:
            rows += without_spawn(settings, server, peers)
        with Hodei(worker=True, flags=SLOTS) as server:
            rows += with_spawn(settings, server, peers)
    return rows


def half_of(settings, key, measure):
    """Half of the rate that an earlier section found, or that a short run finds now."""
    if not settings.kept.get(key):
        settings.kept[key] = measure()["per_s"]
    return settings.kept[key] / 2


def percentiles(rounds, what, others, targets=None):
    """Two rows per contender, p50 and p99; Hodei's distribution goes with the first."""
    rows = []
    for other, label in others:
        for key in ("p50_ms", "p99_ms"):
            more = {}
            if rounds.has("hodei"):
                more = {"plot": "latency", "curve_ms": rounds.middle("hodei", "p50_ms")["curve_ms"]}
            if other and rounds.has(other):
                more["against_curve_ms"] = rounds.middle(other, "p50_ms")["curve_ms"]
            target = Target("value", at_most=targets[key]) if targets else None
            rows.append(compare("d", f"{what}, {key[:3]}", "ms", rounds, key, other, label, target, **more))
    return rows


def without_spawn(settings, server, peers):
    """To the receipt by a worker that starts no process."""
    idle = {"hodei": lambda: server.load("noop-latency", rate=0, seconds=settings.seconds, most=MOST_IDLE)}
    for peer in peers:
        idle[peer.name] = functools.partial(peer.latency, settings.seconds, MOST_IDLE)
    rounds = Rounds(idle, settings.rounds, "latency without spawn, idle")
    others = [(peer.name, peer.name) for peer in peers] or [(None, "")]
    rows = percentiles(rounds, "submission to receipt by the worker, idle", others, {"p50_ms": 0.7, "p99_ms": 2})
    rate = half_of(settings, "noop_per_s", lambda: server.load("noop", in_flight=64, seconds=settings.seconds))
    rounds = Rounds({"hodei": lambda: server.load("noop-latency", rate=rate, seconds=settings.seconds, most=MOST_LOADED)},
                    settings.rounds, f"latency without spawn, {rate:,.0f} jobs/s")
    return rows + percentiles(rounds, f"the same at half load ({rate:,.0f} jobs/s)", [(None, "")])


def with_spawn(settings, server, peers):
    """To the first line of the child's main()."""
    spawners = [peer for peer in peers if hasattr(peer, "exec_latency")]
    idle = {"limit": functools.partial(spawn_latency, settings.seconds),
            "hodei": lambda: server.stamps(rate=0, seconds=settings.seconds, most=MOST_IDLE)}
    for peer in spawners:
        idle[peer.name] = functools.partial(peer.exec_latency, settings.seconds, MOST_IDLE)
    rounds = Rounds(idle, settings.rounds, "latency to the running child, idle")
    others = [("limit", "posix_spawn")] + [(peer.name, peer.name) for peer in spawners]
    rows = percentiles(rounds, "submission to the running child, idle", others, {"p50_ms": 1.5, "p99_ms": 4})
    rate = half_of(settings, "exec_per_s", lambda: server.load("exec", in_flight=64, seconds=settings.seconds))
    rounds = Rounds({"hodei": lambda: server.stamps(rate=rate, seconds=settings.seconds, most=MOST_LOADED)},
                    settings.rounds, f"latency to the running child, {rate:,.0f} jobs/s")
    return rows + percentiles(rounds, f"the same at half load ({rate:,.0f} jobs/s)", [(None, "")])


def spawn_latency(seconds):
    handle, file = tempfile.mkstemp(prefix="hodei-bench-stamps-")
    os.close(handle)
    try:
        return processes.measure(PROGRAMS / "bench-machine", "spawn-latency", "--program", PROGRAMS / "bench-stamp", "--file",
                                 file, "--most", MOST_IDLE, "--seconds", seconds)
    finally:
        os.unlink(file)
