"""The systems that Hodei is compared to, each installed, started and stopped here, on loopback with ports of their own."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from suite import processes
from suite.processes import PROGRAMS, ROOT, WORK, Trouble

HERE = ROOT / "bench/peers"
MOST = 2_000_000   # jobs in any one measurement
PYTHON = "/usr/bin/python3"   # Debian's, which has its packages


def need_packages(*names):
    """Debian packages, through the same road as everything else."""
    script = 'source scripts/lib/say.sh; source scripts/lib/packages.sh; need_packages "$@"'
    if subprocess.run(["bash", "-c", script, "bench", *names], cwd=ROOT, check=False).returncode != 0:
        raise Trouble(f"cannot install {' '.join(names)}")


class Peer(processes.Started):
    """A context manager: entering it installs and starts the peer. Measurements are those of Hodei, where it has them."""

    name = ""
    durable = False
    in_flight_of_exec = 64

    def __init__(self):
        self.folder = None
        self.daemons = []

    def begin(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"bench-{self.name}-"))
        self.install()
        self.start()

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.stop()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def launch(self, *words, log="log", **more):
        self.daemons.append(processes.Daemon(words, self.folder / log, cwd=self.folder, **more))
        return self.daemons[-1]

    def listen(self, port, daemon):
        processes.until(lambda: daemon.check() or processes.answers(port), f"{self.name}: {daemon.tail()}")

    def start_redis(self, *settings):
        port = processes.free_port()
        redis = self.launch("redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", self.folder, *settings)
        self.listen(port, redis)
        return port


class Gearman(Peer):
    name = "gearman"
    threads = 8   # of the worker, as many as Hodei's has slots on two cores; of 2, 4, 8 and 64 none was faster

    def install(self):
        need_packages("gearman-job-server", "libgearman-dev", "gcc")
        self.built = WORK / "peers/gearman"
        self.built.mkdir(parents=True, exist_ok=True)
        for program, libraries in (("worker", ["-lgearman", "-lpthread"]), ("client", [])):
            source, binary = HERE / f"gearman/{program}.c", self.built / program
            if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
                subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", binary, source, *libraries], check=True)

    def start(self):
        self.port = processes.free_port()
        server = self.launch("/usr/sbin/gearmand", "--listen=127.0.0.1", f"--port={self.port}", "--log-file=stderr")
        self.listen(self.port, server)
        worker = self.launch(self.built / "worker", self.port, self.threads, log="worker")
        processes.until(lambda: worker.check() or "ready" in worker.tail(), "Gearman's worker")

    def client(self, function, in_flight, seconds, most, *payload):
        return processes.measure(self.built / "client", self.port, function, in_flight, seconds, most, *payload)

    def noop(self, in_flight, seconds):
        return self.client("noop", in_flight, seconds, MOST)

    def exec(self, in_flight, seconds):
        return self.client("exec", in_flight, seconds, MOST)

    def latency(self, seconds, most):
        return self.client("receive", 0, seconds, most)

    def exec_latency(self, seconds, most):
        file = self.folder / "stamps"
        file.unlink(missing_ok=True)
        self.client("stamp", 0, seconds, most, f"{PROGRAMS / 'bench-stamp'} {file}")
        pairs = [line.split() for line in file.read_text().splitlines()]
        found = sorted((int(started) - int(asked)) / 1e6 for asked, started in pairs)

        def at(share):
            return found[int(share * (len(found) - 1))]
        return {"count": len(found), "p50_ms": at(0.5), "p99_ms": at(0.99), "curve_ms": [at(n / 100) for n in range(101)]}


class Driven(Peer):
    """A peer with one driving program that is told what to measure: `drive(what, in_flight, seconds, most)`."""

    def noop(self, in_flight, seconds):
        return self.drive("noop", in_flight, seconds)

    def exec(self, in_flight, seconds):
        return self.drive("exec", in_flight, seconds)

    def latency(self, seconds, most):
        return self.drive("latency", 0, seconds, most)


class BullMQ(Driven):
    name = "bullmq"
    durable = True

    def install(self):
        need_packages("redis-server")
        subprocess.run(["bash", "-c", "source scripts/lib/say.sh; source scripts/lib/packages.sh; need_node"], cwd=ROOT, check=True)
        self.modules = WORK / "peers/bullmq"
        lock = HERE / "bullmq/package-lock.json"
        mark = self.modules / "installed"
        if mark.exists() and mark.read_text() == lock.read_text():
            return
        self.modules.mkdir(parents=True, exist_ok=True)
        for file in (lock, HERE / "bullmq/package.json"):
            shutil.copy(file, self.modules)
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=self.modules,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"npm ci: {done.stderr[-500:]}")
        mark.write_text(lock.read_text())

    def start(self):
        self.port = self.start_redis("--appendonly", "yes", "--appendfsync", "always", "--save", "")

    def drive(self, what, in_flight, seconds, most=MOST):
        return processes.measure("node", HERE / "bullmq/drive.mjs", what, in_flight, seconds, most, self.port,
                                 env={"PEER_MODULES": str(self.modules)})


class Celery(Driven):
    name = "celery"

    def install(self):
        need_packages("redis-server", "python3-celery", "python3-redis")

    def start(self):
        port = self.start_redis("--save", "", "--appendonly", "no")
        self.env = {"PEER_PORT": str(port), "PYTHONPATH": str(HERE / "celery"), "PYTHONDONTWRITEBYTECODE": "1"}
        worker = self.launch(PYTHON, "-m", "celery", "-A", "tasks", "worker", "--concurrency", 2 * os.cpu_count(),
                             "--loglevel", "INFO", "--without-gossip", "--without-mingle", log="worker", env=self.env)
        processes.until(lambda: worker.check() or "ready." in worker.log.read_text(), "Celery's worker")

    def drive(self, what, in_flight, seconds, most=MOST):
        return processes.measure(PYTHON, HERE / "celery/drive.py", what, in_flight, seconds, most, env=self.env)


ALL = {peer.name: peer for peer in (Gearman, BullMQ, Celery)}
