"""Section f: the output of a job to a subscriber, against two pipes."""

import subprocess
import tempfile
import time

from suite import processes
from suite.hodei import Hodei
from suite.processes import PROGRAMS
from suite.report import Row, Target, compare
from suite.rounds import Rounds

LINE = 80   # bytes, newline included
CAT = "cat file | cat | wc"


def f_logs(settings):
    lines = settings.log_bytes // LINE
    with tempfile.NamedTemporaryFile(dir=processes.WORK) as file, Hodei(worker=True) as server:
        subprocess.run([PROGRAMS / "bench-lines", str(lines)], stdout=file, check=True)
        rounds = Rounds({
            "cat": lambda: cat_and_count(file.name, lines),
            "pipes": lambda: processes.measure(PROGRAMS / "bench-machine", "pipes", "--program", PROGRAMS / "bench-lines",
                                               "--lines", lines),
            "hodei": lambda: through_hodei(server, lines),
        }, settings.rounds, f"{settings.log_bytes // 1_000_000} MB of output")
        what = f"output of a job to a subscriber, {settings.log_bytes // 1_000_000} MB in lines of {LINE} bytes"
        rows = [compare("f", what, "lines/s", rounds, "lines_per_s", "cat", CAT),
                compare("f", what, "MB/s", rounds, "mb_per_s", "cat", CAT),
                compare("f", what, "MB/s", rounds, "mb_per_s", "pipes", "two pipes"),
                compare("f", "  batches of output per line", "%", rounds, "batches_per_line",
                        target=Target("value", at_most=1.1))]
        for role, pid in (server.pids() or {}).items():
            rows.append(Row("f", f"  memory of the {role}, at most", "MB", processes.memory_mb(pid)))
    return rows


def through_hodei(server, lines):
    """The job's output at a subscriber, and in how many batches the worker sent it."""
    before = server.status()
    facts = checked(server.load("logs", program=PROGRAMS / "bench-lines", lines=lines), lines)
    after = server.status()
    stored = {name: int(after.get(name, 0)) - int(before.get(name, 0)) for name in ("log_batches", "log_lines")}
    if stored["log_lines"] != lines:
        raise processes.Trouble(f"{lines} lines were printed, the server counted {stored['log_lines']}")
    return {**facts, "batches": stored["log_batches"], "batches_per_line": 100 * stored["log_batches"] / lines}


def cat_and_count(path, lines):
    """The shell's way through two pipes. The file is in the page cache: it was just written."""
    began = time.monotonic()
    counted = subprocess.run(["sh", "-c", 'cat "$0" | cat | wc', path], capture_output=True, text=True, check=True).stdout
    seconds = time.monotonic() - began
    found, _, size = (int(word) for word in counted.split())
    if (found, size) != (lines, lines * LINE):
        raise processes.Trouble(f"wc counted {counted.strip()}")
    return {"lines_per_s": found / seconds, "mb_per_s": size / seconds / 1e6, "seconds": seconds}


def checked(facts, lines):
    """A figure counts only when every byte came."""
    if facts["lines"] != lines or facts["bytes"] != lines * LINE or facts["gaps"]:
        raise processes.Trouble(f"{lines} lines of {LINE} bytes were printed; {facts['lines']} lines, {facts['bytes']} bytes and "
                                f"{facts['gaps']} gaps came")
    return facts
