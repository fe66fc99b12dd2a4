"""Many ledger jobs while parts of the system are killed at random moments; then the checker."""

import collections
import signal
import time

import fault
from fault import say
from harness import Dev, check, number, same, until
from ledger_load import LedgerLoad

COMEBACK = 120.0   # seconds until a killed part is there again; a lost lease alone takes 45


class Storm(Dev):
    """A server under load. `victims`: what is killed, drawn at random each time, by which signal."""

    def __init__(self, arguments, random, victims, by, **settings):
        super().__init__(HODEI_SLOTS=8, **settings)
        self.arguments, self.random, self.victims, self.by = arguments, random, victims, by
        self.load = LedgerLoad(self, random, arguments.patience)
        self.killed = collections.Counter()

    def run(self):
        wanted = self.arguments
        self.start()
        client = self.load.submit_many(wanted.jobs, wanted.rate, getattr(wanted, "attempts", 1), wanted.work_ms)
        # Kills are spread over the jobs, not over time, so that each of them hits a system at work.
        for mark in sorted(self.random.randint(wanted.jobs // 50, wanted.jobs * 9 // 10) for _ in range(wanted.kills)):
            self.load.wait_for_starts(mark, client)
            time.sleep(self.random.uniform(0, 0.05))   # not to wait for something: to hit any point of a turn
            self.strike(self.random.choice(self.victims))
        check(client.wait(timeout=wanted.patience) == 0, "the client was told of every job")
        say(f"all {wanted.jobs} acknowledged, {dict(self.killed)} killed")
        self.load.wait_for_the_end()
        jobs = self.load.judge(once=self.victims == ["server"])
        same(len(jobs), wanted.jobs, "jobs acknowledged")
        self.load.judge_list(jobs)
        self.load.judge_output(jobs)
        self.load.judge_leftovers()

    def strike(self, victim):
        killed = self.kill(victim, self.by)
        self.killed[victim] += 1
        say(f"killed the {victim} ({killed}) after {self.load.starts()} starts")
        if victim == "server":
            if self.process.poll() is not None:
                self.launch()
            self.wait_until_up(worker=False)
            return
        until(lambda: number((self.status() or {}).get(victim + "_pid")) not in (0, killed.pid), f"a new {victim}", COMEBACK)
        self.role(victim)


def main(parser, victims, by=signal.SIGKILL, **settings):
    """Runs a storm with the arguments of a script; answers with its exit code."""
    parser.add_argument("--rate", type=float, default=1000, help="submissions per second")
    parser.add_argument("--work-ms", type=int, default=parser.get_default("work_ms") or 5, help="how long each job runs")
    parser.add_argument("--patience", type=float, default=600, help="seconds after which a wait is given up")

    def test(arguments, random):
        with Storm(arguments, random, victims, by, **settings) as storm:
            storm.run()
    return fault.main(parser, test)
