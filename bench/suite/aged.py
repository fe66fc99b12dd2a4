"""Section h: b, c and d again on a server that has a million finished jobs behind it, in turn with a fresh one."""

from suite.hodei import Hodei
from suite.report import Row, Target, note_pause
from suite.rounds import Rounds, say

MOST_WAITING = 100_000


def half_load(settings):
    if not settings.kept.get("noop_per_s"):
        settings.kept["noop_per_s"] = on_fresh(lambda server: server.load("noop", in_flight=64, seconds=settings.seconds), False)["per_s"]
    return settings.kept["noop_per_s"] / 2


def measurements(settings):
    """(name, unit, key, how to measure a server)"""
    def drained(command, **options):
        def run(server):
            facts = server.load(command, seconds=settings.seconds, most=MOST_WAITING, **options)
            server.drain()
            return facts
        return run

    def plain(command, **options):
        return lambda server: server.load(command, seconds=settings.seconds, **options)
    rate = half_load(settings)
    return [
        ("no-op jobs, 64 in flight", "jobs/s", "per_s", plain("noop", in_flight=64)),
        ("no-op jobs, 256 in flight", "jobs/s", "per_s", plain("noop", in_flight=256)),
        ("no-op jobs, batches of 100", "jobs/s", "per_s", plain("noop", in_flight=2000, batch=100, most=300_000)),
        ("submissions, one at a time", "jobs/s", "per_s", drained("submit", in_flight=1)),
        ("submissions, 32 in flight", "jobs/s", "per_s", drained("submit", in_flight=32)),
        ("submissions, 256 in flight", "jobs/s", "per_s", drained("submit", in_flight=256)),
        ("submissions, batches of 1000", "jobs/s", "per_s", drained("batch", size=1000)),
        ("latency without spawn, idle, p50", "ms", "p50_ms", plain("noop-latency", rate=0, most=1000)),
        (f"latency without spawn, {rate:,.0f} jobs/s, p50", "ms", "p50_ms", plain("noop-latency", rate=rate)),
    ]


def with_worker(settings):
    """The same with real jobs, on servers that have a worker."""
    return [
        ("exec of /bin/true", "jobs/s", "per_s", lambda server: server.load("exec", in_flight=64, seconds=settings.seconds)),
        ("latency to the running child, idle, p50", "ms", "p50_ms",
         lambda server: server.stamps(rate=0, seconds=settings.seconds, most=1000)),
    ]


def h_aged(settings):
    with Hodei() as aged:
        say(f"  {settings.million:,} jobs are run first")
        done = 0
        while done < settings.million:
            done += aged.load("noop", in_flight=2000, batch=100, seconds=120, most=settings.million - done)["count"]
        memory = aged.memory_mb("VmRSS")
        rows = [compared(settings, aged, done, *case) for case in measurements(settings)]
        aged.come_back_with_worker()
        rows += [compared(settings, aged, done, *case) for case in with_worker(settings)]
        return rows + [Row("h", f"  memory of the server after {done:,} jobs", "MB", memory)]


def compared(settings, aged, done, name, unit, key, run):
    rounds = Rounds({"fresh": lambda: on_fresh(run, aged.worker), "hodei": lambda: run(aged)}, settings.rounds,
                    f"{name}: fresh and after {done:,} jobs")
    row = Row("h", f"{name}, after {done:,} jobs", unit, against="a fresh server", more={"plot": "aged", "name": name})
    if not rounds.has("hodei") or not rounds.has("fresh"):
        row.note = "failed: " + "; ".join(rounds.trouble.values())[:200]
        return row
    row.value, row.against_value = rounds.median("hodei", key), rounds.median("fresh", key)
    row.ratio, row.rounds = rounds.ratio("hodei", "fresh", key), rounds.values("hodei", key)
    note_pause(row, rounds)
    row.target = Target("ratio", at_least=0.9) if unit == "jobs/s" else Target("ratio", at_most=1.1)
    return row


def on_fresh(run, worker):
    with Hodei(worker=worker) as fresh:
        # Warm, but not old.
        fresh.load("exec" if worker else "noop", in_flight=64, seconds=0.3)
        return run(fresh)
