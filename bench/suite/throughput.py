"""Sections a, b and c: real jobs, no-op jobs and submissions a second."""

import contextlib
import functools
import re
import shutil
import subprocess
import tempfile

from suite import hodei, processes
from suite.hodei import Hodei
from suite.processes import PROGRAMS, Trouble
from suite.report import Row, Target, compare
from suite.rounds import Rounds

EXEC_IN_FLIGHT = 64
MOST_WAITING = 300_000          # submissions that nobody takes, per measurement
BATCH, BATCHED_IN_FLIGHT = 100, 2000
SLOTS = ["--slots", "64"]       # as many as are in flight
NOOP_TARGETS = {64: 18_000, 256: 30_000, "batched": 70_000}
SUBMIT_TARGETS = {1: Target("ratio", at_least=0.4), 32: Target("value", at_least=18_000), 256: Target("value", at_least=40_000)}


def a_exec(settings):
    """/bin/true through the real server, supervisor and agent, durable; against starting it without anything around."""
    rows = []
    with contextlib.ExitStack() as stack:
        peers = settings.enter_peers(stack)
        server = stack.enter_context(Hodei(worker=True, flags=[*SLOTS, "--job-processes", "0"]))
        seconds = settings.seconds
        contenders = {
            "limit": lambda: processes.measure(PROGRAMS / "bench-machine", "spawn", "--threads", 2, "--seconds", seconds),
            "hodei": lambda: server.load("exec", in_flight=EXEC_IN_FLIGHT, seconds=seconds),
        }
        for peer in peers:
            contenders[peer.name] = functools.partial(peer.exec, EXEC_IN_FLIGHT, seconds)
        rounds = Rounds(contenders, settings.rounds, "exec of /bin/true")
        settings.kept["exec_per_s"] = rounds.median("hodei", "per_s") if rounds.has("hodei") else None
        what = f"exec of /bin/true, durable, {EXEC_IN_FLIGHT} in flight"
        rows.append(compare("a", what, "jobs/s", rounds, "per_s", "limit", "posix_spawn + wait, 2 threads",
                            Target("ratio", at_least=0.82)))
        rows += [compare("a", what, "jobs/s", rounds, "per_s", peer.name, target=Target("ratio", at_least=1)) for peer in peers]
        for role, pid in (server.pids() or {}).items():
            rows.append(Row("a", f"  memory of the {role}, at most", "MB", processes.memory_mb(pid)))
    rows.append(exec_with_limits(settings))
    return rows


def exec_with_limits(settings):
    what = "exec of /bin/true with limits of cpu, memory and pids"
    with Hodei(worker=True, flags=SLOTS) as server:
        rounds = Rounds({
            "limit": lambda: processes.measure(PROGRAMS / "bench-machine", "spawn", "--threads", 2, "--seconds", settings.seconds),
            "hodei": lambda: server.load("exec", in_flight=EXEC_IN_FLIGHT, seconds=settings.seconds, limits=1),
        }, settings.rounds, what)
        return compare("a", what, "jobs/s", rounds, "per_s", "limit", "posix_spawn + wait, 2 threads", Target("ratio", at_least=0.7))


def b_noop(settings):
    """Jobs through a worker that starts no process, each with its own id and its three durable transitions."""
    rows = []
    with contextlib.ExitStack() as stack:
        peers = settings.enter_peers(stack)
        for in_flight in settings.in_flight:
            with Hodei() as server:
                rows += noop_at(settings, server, peers, in_flight)
        rows += noop_batched(settings)
    return rows


def noop_at(settings, server, peers, in_flight):
    contenders = {
        "echo": lambda: server.load("echo", in_flight=in_flight, seconds=settings.seconds),
        "hodei": lambda: server.load("noop", in_flight=in_flight, seconds=settings.seconds),
    }
    for peer in peers:
        contenders[peer.name] = functools.partial(peer.noop, in_flight, settings.seconds)
    what = f"no-op jobs end to end, {in_flight} in flight"
    rounds = Rounds(contenders, settings.rounds, what)
    if in_flight == 64 and rounds.has("hodei"):
        settings.kept["noop_per_s"] = rounds.median("hodei", "per_s")
    more = {"plot": "in_flight", "in_flight": in_flight}
    at_least = NOOP_TARGETS.get(in_flight)
    rows = [compare("b", what, "jobs/s", rounds, "per_s", "echo", "bare unary echo",
                    Target("value", at_least=at_least) if at_least else None, **more)]
    rows += [compare("b", what, "jobs/s", rounds, "per_s", peer.name,
                     target=Target("ratio", at_least=2 if peer.name == "bullmq" else 1), **more)
             for peer in peers]
    return rows


def noop_batched(settings):
    with Hodei() as server:
        what = f"no-op jobs, batches of {BATCH}, {BATCHED_IN_FLIGHT} in flight"
        rounds = Rounds({
            "store": lambda: store_lives(settings.lives),
            "hodei": lambda: server.load("noop", in_flight=BATCHED_IN_FLIGHT, batch=BATCH, seconds=settings.seconds),
        }, settings.rounds, what)
        return [compare("b", what, "jobs/s", rounds, "per_s", "store", "job lives in the store alone",
                        Target("value", at_least=NOOP_TARGETS["batched"])),
                Row("b", "  memory of the server, at most", "MB", server.memory_mb())]


def store_lives(jobs):
    """bench-store: a spec, a live row, a start and an end per job, in batches of 500, without server or engine."""
    folder = tempfile.mkdtemp(prefix="hodei-bench-store-")
    try:
        done = subprocess.run([PROGRAMS / "bench-store", folder, str(jobs), "500"], capture_output=True, text=True, check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = [float(value) for value in re.findall(r"(\d+) lives/s", done.stdout)]
    if done.returncode != 0 or not found:
        raise Trouble(f"bench-store: {done.stderr[-300:]}")
    return {"per_s": len(found) / sum(1 / value for value in found)}


def c_submissions(settings):
    """Durable submissions that nobody takes yet, beside a call that nothing is done for."""
    rows = []
    for in_flight, target in SUBMIT_TARGETS.items():
        with Hodei() as server:
            what = "durable submissions, " + ("one at a time" if in_flight == 1 else f"{in_flight} in flight")
            rounds = Rounds({
                "echo": lambda: server.load("echo", in_flight=in_flight, seconds=settings.seconds),
                "hodei": lambda: server.load("submit", in_flight=in_flight, seconds=settings.seconds, most=MOST_WAITING),
            }, settings.rounds, what)
            rows.append(compare("c", what, "jobs/s", rounds, "per_s", "echo", "bare unary echo", target))
    with Hodei() as server:
        rounds = Rounds({
            "echo": lambda: server.load("echo", in_flight=32, seconds=settings.seconds),
            "hodei": lambda: server.load("batch", size=1000, seconds=settings.seconds, most=MOST_WAITING),
        }, settings.rounds, "durable submissions, batches of 1000")
        rows.append(compare("c", "durable submissions, batches of 1000", "jobs/s", rounds, "per_s", "echo",
                            "bare unary echo, 32 in flight", Target("value", at_least=250_000)))
        rows.append(Row("c", "  memory of the server with these waiting", "MB", server.memory_mb("VmRSS")))
    return rows
