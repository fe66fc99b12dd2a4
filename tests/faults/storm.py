"""Many ledger jobs while parts of the system are killed at random moments; then the checker."""

import collections
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "integration"))
sys.dont_write_bytecode = True
import ledger as checker  # noqa: E402
from harness import HODEI, PATIENCE, Dev, Failure, Process, check, items, number, same, until  # noqa: E402

PROGRAMS = HODEI.parent / "tests" / "faults"
COMEBACK = 120.0   # seconds until a killed part is there again; a lost lease alone takes 45
SAMPLE = 100       # jobs whose output is compared byte by byte


class Storm(Dev):
    """A server under load. `victims`: what is killed, drawn at random each time."""

    def __init__(self, jobs, kills, victims, seed, rate, attempts, work_ms, patience):
        super().__init__(HODEI_SLOTS=8)
        self.count, self.kills, self.victims = jobs, kills, victims
        self.rate, self.attempts, self.work_ms, self.patience = rate, attempts, work_ms, patience
        self.random = random.Random(seed)
        self.ledger, self.acked, self.dumped = (self.folder / name for name in ("ledger", "acked", "jobs.jsonl"))
        self.seen, self.read_up_to = 0, 0
        self.killed = collections.Counter()

    def run(self):
        began = time.monotonic()
        self.start()
        client = self.submit_all()
        # Kills are spread over the jobs, not over time, so that each of them hits a system at work.
        for mark in sorted(self.random.randint(self.count // 50, self.count * 9 // 10) for _ in range(self.kills)):
            self.wait_for_starts(mark, client)
            time.sleep(self.random.uniform(0, 0.05))   # not to wait for something: to hit any point of a turn
            self.strike(self.random.choice(self.victims))
        check(client.wait(timeout=self.patience) == 0, "the client was told of every job")
        print(f"  all {self.count} acknowledged, {dict(self.killed)} killed", flush=True)
        self.wait_for_the_end()
        self.judge()
        print(f"  {self.count} jobs in {time.monotonic() - began:.1f} s")

    def submit_all(self):
        client = subprocess.Popen(
            [PROGRAMS / "hodei-load", "submit", f"127.0.0.1:{self.port}", self.acked, str(self.count), str(self.rate),
             str(self.attempts), PROGRAMS / "hodei-ledger-job", self.ledger, str(self.work_ms)],
            stdin=subprocess.DEVNULL, cwd=self.folder)
        self.clients.append(client)
        return client

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
        until(reached, lambda: f"{mark} starts; there are {self.seen}; the server's log ends with {self.tail()}", self.patience)

    def strike(self, victim):
        killed = self.kill(victim, signal.SIGKILL)
        self.killed[victim] += 1
        print(f"  killed the {victim} ({killed}) after {self.starts()} starts", flush=True)
        if victim == "server":
            if self.process.poll() is not None:
                self.launch()
            self.wait_until_up(worker=False)
            return
        until(lambda: number((self.status() or {}).get(victim + "_pid")) not in (0, killed.pid), f"a new {victim}", COMEBACK)
        self.role(victim)

    def wait_for_the_end(self):
        def idle():
            result = self.cli("queue", "-o", "json")
            if result.code != 0:
                return False
            queue = result.json()
            return not any(number(queue.get(name)) for name in ("pending", "scheduled", "running"))
        until(idle, lambda: f"the queue to be empty: {self.cli('queue').out}; log: {self.tail()}", self.patience)

    def judge(self):
        dump = subprocess.run([PROGRAMS / "hodei-load", "dump", f"127.0.0.1:{self.port}", self.acked, self.dumped],
                              cwd=self.folder, timeout=self.patience, check=False)
        same(dump.returncode, 0, "reading the jobs back")
        jobs = [checker.json.loads(line) for line in self.dumped.read_text().splitlines()]
        acked = checker.parse_acked(self.acked.read_text())
        same(len(acked), self.count, "jobs acknowledged")
        wrong = checker.check(checker.parse_ledger(self.ledger.read_text()), acked, jobs, once=self.victims == ["server"])
        check(not wrong, lambda: f"{len(wrong)} invariants broken:\n    " + "\n    ".join(wrong[:50]))
        states = collections.Counter(job["state"] for job in jobs)
        print(f"  {dict(states)}, {self.starts()} starts, no invariant broken")
        same(dict(states), {"Succeeded": self.count}, "states")
        self.judge_list(jobs)
        self.judge_output(jobs)
        self.judge_leftovers()

    def judge_list(self, jobs):
        """`hodei job list` tells the same as the jobs one by one."""
        listed = items(self.ok("job", "list", "-o", "json", "--all").json(), "jobs")
        same({job["id"]: job["state"] for job in listed}, {job["id"]: job["state"] for job in jobs}, "`hodei job list`")

    def judge_output(self, jobs):
        """I6, on a sample: each execution that came to its end printed exactly its own id."""
        for job in self.random.sample(jobs, min(SAMPLE, len(jobs))):
            newest = job["executions"][-1]
            out = self.ok("job", "logs", job["short_id"]).out
            check(out.endswith(newest["id"] + "\n"), f"output of {job['short_id']} is {out!r}, expected {newest['id']}")
            same(number(newest["log_bytes"]), len(newest["id"]) + 1, f"bytes of output of {newest['id']}")

    def judge_leftovers(self):
        """I5: no process of a finished job is alive."""
        mark = str(self.ledger).encode()
        left = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "cmdline").read_bytes().split(b"\0"):
                    left.append(Process(int(folder.name)))
            except OSError:
                continue   # it has ended meanwhile
        until(lambda: not any(p.alive() for p in left), lambda: f"I5: still alive: {[p for p in left if p.alive()]}", PATIENCE)


def main(parser, victims):
    """Runs a storm with the arguments of a script; answers with its exit code."""
    parser.add_argument("--seed", type=int, default=None, help="of the moments and victims; drawn and printed when not given")
    parser.add_argument("--rate", type=float, default=1000, help="submissions per second")
    parser.add_argument("--work-ms", type=int, default=5, help="how long each job runs")
    parser.add_argument("--patience", type=float, default=600, help="seconds after which a wait is given up")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    name = pathlib.Path(sys.argv[0]).name
    print(f"{name}: {arguments.jobs} jobs, {arguments.kills} kills, seed {seed}", flush=True)
    for program in (HODEI, PROGRAMS / "hodei-load", PROGRAMS / "hodei-ledger-job"):
        if not program.exists():
            sys.exit(f"{program} is not there; build it first: tools/dev build release")
    try:
        with Storm(arguments.jobs, arguments.kills, victims, seed, arguments.rate, getattr(arguments, "attempts", 1),
                   arguments.work_ms, arguments.patience) as storm:
            storm.run()
    except Failure as failure:
        print(f"FAILED {name}: {failure}\n  again: {name} --jobs {arguments.jobs} --kills {arguments.kills} --seed {seed}")
        if getattr(failure, "server_log", ""):
            print("  the server's log ends with:\n  " + failure.server_log.replace("\n", "\n  "))
        return 1
    print(f"ok     {name}")
    return 0
