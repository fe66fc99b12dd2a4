"""Section g: how long a server with a million waiting jobs is away when it is killed and started again."""

import statistics

from suite.hodei import Hodei
from suite.processes import Trouble
from suite.report import Row, Target
from suite.rounds import say


def g_restart(settings):
    jobs = settings.million
    with Hodei() as server:
        server.load("batch", size=1000, seconds=600, most=jobs)
        waiting = int(server.status()["jobs_pending"])
        if waiting != jobs:
            raise Trouble(f"{jobs} jobs were submitted and {waiting} wait")
        before = server.memory_mb("VmRSS")
        times = []
        for number in range(settings.rounds):
            times.append(server.kill_and_restart())
            if int(server.status()["jobs_pending"]) != jobs:
                raise Trouble("jobs are missing after the restart")
            say(f"  restart with {jobs:,} waiting, round {number + 1} of {settings.rounds}: {times[-1]:.2f} s")
        what = f"{jobs:,} waiting jobs"
        return [Row("g", f"restart after SIGKILL with {what}", "s", statistics.median(times), rounds=times,
                    target=Target("value", at_most=5)),
                Row("g", f"  memory of the server with {what}, as filled", "MB", before, target=Target("value", at_most=400)),
                Row("g", "  the same after the restart", "MB", server.memory_mb("VmRSS"), target=Target("value", at_most=400)),
                Row("g", "  the same, at most", "MB", server.memory_mb())]
