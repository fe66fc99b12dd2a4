"""Section f: the output of a job to a subscriber, against two pipes."""

from suite import processes
from suite.hodei import Hodei
from suite.processes import PROGRAMS
from suite.report import Row, compare
from suite.rounds import Rounds

LINE = 80   # bytes, newline included


def f_logs(settings):
    lines = settings.log_bytes // LINE
    with Hodei(worker=True) as server:
        rounds = Rounds({
            "pipes": lambda: processes.measure(PROGRAMS / "bench-machine", "pipes", "--program", PROGRAMS / "bench-lines",
                                               "--lines", lines),
            "hodei": lambda: checked(server.load("logs", program=PROGRAMS / "bench-lines", lines=lines), lines),
        }, settings.rounds, f"{settings.log_bytes // 1_000_000} MB of output")
        what = f"output of a job to a subscriber, {settings.log_bytes // 1_000_000} MB in lines of {LINE} bytes"
        rows = [compare("f", what, "lines/s", rounds, "lines_per_s", "pipes", "two pipes"),
                compare("f", what, "MB/s", rounds, "mb_per_s", "pipes", "two pipes")]
        for role, pid in (server.pids() or {}).items():
            rows.append(Row("f", f"  memory of the {role}, at most", "MB", processes.memory_mb(pid)))
    return rows


def checked(facts, lines):
    """A figure counts only when every byte came."""
    if facts["lines"] != lines or facts["bytes"] != lines * LINE or facts["gaps"]:
        raise processes.Trouble(f"{lines} lines of {LINE} bytes were printed; {facts['lines']} lines, {facts['bytes']} bytes and "
                                f"{facts['gaps']} gaps came")
    return facts
