"""Section e: placements a second of the engine alone, by workers, waiting jobs, shapes and concurrency keys."""

from suite import processes
from suite.processes import PROGRAMS
from suite.report import compare
from suite.rounds import Rounds


def cases(quick):
    """(workers, waiting, shapes, keys)"""
    longest = 100_000 if quick else 1_000_000
    lengths = [1_000, longest] if quick else [1_000, 10_000, 100_000, 1_000_000]
    found = [(workers, waiting, 100, 0) for workers in (100, 1_000, 10_000) for waiting in lengths]
    found += [(workers, longest, 100_000, 0) for workers in (100, 1_000, 10_000)]
    found += [(workers, longest, 100, 100_000) for workers in (100, 1_000, 10_000)]
    return found


def e_engine(settings):
    rows = []
    first = {}   # workers → the placements with the shortest queue, which the longer ones are held against
    for workers, waiting, shapes, keys in cases(settings.quick):
        what = f"placements, {workers:,} workers, {waiting:,} waiting, {shapes:,} shapes" + (f", {keys:,} keys" if keys else "")
        run = lambda: processes.measure(PROGRAMS / "bench-engine", "place", "--workers", workers, "--waiting", waiting,
                                        "--shapes", shapes, "--keys", keys, "--seconds", settings.seconds)
        rounds = Rounds({"hodei": run}, 1 if waiting >= 1_000_000 else settings.rounds, what)
        row = compare("e", what, "per s", rounds, "per_s", plot="placement", workers=workers, waiting=waiting, shapes=shapes,
                      keys=keys)
        if row.value is not None:
            facts = rounds.middle("hodei", "per_s")
            row.more |= {"us_each": facts["us_each"], "memory_mb": facts["memory_mb"]}
            row.note = f"{facts['memory_mb']:,.0f} MB ({facts['bytes_per_job']:,.0f} bytes a job), filled at {facts['submitted_per_s']:,.0f} jobs/s"
            base = first.setdefault(workers, row)
            if base is not row:
                row.against, row.against_value = f"{base.more['waiting']:,} waiting", base.value
                row.ratio = row.value / base.value
        rows.append(row)
    return rows
