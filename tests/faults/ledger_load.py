"""Ledger jobs in a running system, and the checker afterwards."""

import collections
import json
import subprocess

import ledger as checker
from fault import LEDGER_JOB, PROGRAMS, processes_with, say
from harness import PATIENCE, check, items, number, same, until

SAMPLE = 100   # jobs whose output is compared byte by byte


class LedgerLoad:
    """What is submitted to one server, in its folder: the ledger, what was acknowledged, what the system says of it."""

    def __init__(self, server, random, patience=600):
        self.server, self.random, self.patience = server, random, patience
        self.ledger, self.acked, self.dumped = (server.folder / name for name in ("ledger", "acked", "jobs.jsonl"))
        self.seen, self.read_up_to = 0, 0

    @property
    def target(self):
        return f"127.0.0.1:{self.server.port}"

    def submit_many(self, count, rate=1000, attempts=1, work_ms=5):
        """A client that submits until all are acknowledged."""
        client = subprocess.Popen(
            [PROGRAMS / "hodei-load", "submit", self.target, self.acked, str(count), str(rate), str(attempts), LEDGER_JOB,
             self.ledger, str(work_ms)],
            stdin=subprocess.DEVNULL, cwd=self.server.folder)
        self.server.clients.append(client)
        return client

    def submit_gated(self, gate, *flags):
        """One job that runs until the file GATE.first appears, or GATE.later once it is tried again."""
        job = self.server.submit(*flags, "--", LEDGER_JOB, self.ledger, "0", gate)
        count = len(self.acked.read_text().splitlines()) if self.acked.exists() else 0
        with open(self.acked, "a", encoding="utf-8") as file:
            file.write(f"{count} {job} {self.server.get(job)['id']}\n")
        return job

    def lines(self):
        return checker.parse_ledger(self.ledger.read_text()) if self.ledger.exists() else []

    def has(self, what, *executions):
        """Do all these executions have a line `start` or `end`?"""
        return set(executions) <= {line.execution for line in self.lines() if line.what == what}

    def starts(self):
        """How many starts the ledger has; reads only what is new."""
        if self.ledger.exists():
            with open(self.ledger, "rb") as file:
                file.seek(self.read_up_to)
                new = file.read()
            whole = new[:new.rfind(b"\n") + 1]
            self.read_up_to += len(whole)
            self.seen += whole.count(b" start ")
        return self.seen

    def wait_for_starts(self, mark, client):
        def reached():
            check(client.poll() in (None, 0), f"the client gave up with {client.returncode}")
            return self.starts() >= mark
        until(reached, lambda: f"{mark} starts; there are {self.seen}; the server's log ends with {self.server.tail()}",
              self.patience)

    def wait_for_the_end(self):
        def idle():
            result = self.server.cli("queue", "-o", "json")
            if result.code != 0:
                return False
            queue = result.json()
            return not any(number(queue.get(name)) for name in ("pending", "scheduled", "running"))
        until(idle, lambda: f"the queue to be empty: {self.server.cli('queue').out}; log: {self.server.tail()}", self.patience)

    def judge(self, once=False, thawed=None):
        """I1 to I6. `once`, `thawed`: as the checker has them."""
        dump = subprocess.run([PROGRAMS / "hodei-load", "dump", self.target, self.acked, self.dumped],
                              cwd=self.server.folder, timeout=self.patience, check=False)
        same(dump.returncode, 0, "reading the jobs back")
        jobs = [json.loads(line) for line in self.dumped.read_text().splitlines()]
        acked = checker.parse_acked(self.acked.read_text())
        wrong = checker.check(self.lines(), acked, jobs, once, thawed)
        check(not wrong, lambda: f"{len(wrong)} invariants broken:\n    " + "\n    ".join(wrong[:50]))
        states = collections.Counter(job["state"] for job in jobs)
        say(f"{dict(states)}, {self.starts()} starts, no invariant broken")
        same(dict(states), {"Succeeded": len(acked)}, "states")
        return jobs

    def judge_list(self, jobs):
        """`hodei job list` tells the same as the jobs one by one."""
        listed = items(self.server.ok("job", "list", "-o", "json", "--all").json(), "jobs")
        same({job["id"]: job["state"] for job in listed}, {job["id"]: job["state"] for job in jobs}, "`hodei job list`")

    def judge_output(self, jobs):
        """I6, on a sample: each execution that came to its end printed exactly its own id."""
        for job in self.random.sample(jobs, min(SAMPLE, len(jobs))):
            newest = job["executions"][-1]
            out = self.server.ok("job", "logs", job["short_id"]).out
            check(out.endswith(newest["id"] + "\n"), f"output of {job['short_id']} is {out!r}, expected {newest['id']}")
            same(number(newest["log_bytes"]), len(newest["id"]) + 1, f"bytes of output of {newest['id']}")

    def judge_leftovers(self):
        """I5: no process of a finished job is alive."""
        until(lambda: not processes_with(self.ledger), lambda: f"I5: still alive: {processes_with(self.ledger)}", PATIENCE)
