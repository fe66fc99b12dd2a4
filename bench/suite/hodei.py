"""Hodei under load: a server alone or with its worker, in a temporary folder, over plaintext loopback."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from suite import processes
from suite.processes import PROGRAMS, Trouble

HODEI = [processes.ROOT / "build/release/hodei"]   # a list, so that --hodei can replace it


def load(address, command, **options):
    """One measurement with bench-load."""
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]
    return processes.measure(PROGRAMS / "bench-load", command, "--server", address, *words)


class Hodei(processes.Started):
    """`hodei server`, or with `worker` `hodei dev`. A context manager: what it starts is gone afterwards."""

    def __init__(self, worker=False, flags=()):
        self.worker, self.flags = worker, flags
        self.folder = tempfile.mkdtemp(prefix="hodei-bench-")
        self.address = f"127.0.0.1:{processes.free_port()}"
        self.daemon = None
        self.others = {}   # supervisor and agent: pid → start time

    def begin(self):
        self.start()

    def __exit__(self, *_):
        if self.daemon:
            self.daemon.stop()
        # `hodei dev` ends its worker; if it had to be killed, its worker is still ours to end.
        for pid, started in self.others.items():
            if processes.start_time(pid) == started:
                os.kill(pid, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        words = [HODEI[0], "dev" if self.worker else "server", "--data-dir", self.folder + "/data", "--listen", self.address,
                 "--log-level", "warn", *self.flags]
        self.daemon = processes.Daemon(words, self.folder + "/log", cwd=self.folder)
        processes.until(self.ready, f"Hodei on {self.address}: {self.daemon.tail()}", 120)
        if self.worker:
            self.others |= {pid: processes.start_time(pid) for role, pid in self.pids().items() if role != "server"}

    def status(self):
        """What `hodei status` tells, or None while it does not answer."""
        done = subprocess.run([HODEI[0], "status", "-o", "json", "--server", "http://" + self.address, "--retry-for", "0s"],
                              capture_output=True, text=True, check=False, env={**os.environ, "HODEI_CONFIG": os.devnull})
        return json.loads(done.stdout) if done.returncode == 0 else None

    def ready(self):
        self.daemon.check()
        status = self.status()
        return status is not None and (not self.worker or int(status.get("workers", 0)) > 0 and self.pids())

    def load(self, command, **options):
        return load(self.address, command, **options)

    def pids(self):
        """Of server, supervisor and agent."""
        status = self.status() or {}
        found = {role: int(status.get(role + "_pid", 0)) for role in ("server", "supervisor", "agent")}
        return found if all(found.values()) or not self.worker else None

    def memory_mb(self, field="VmHWM"):
        return processes.memory_mb(self.daemon.pid, field)

    def drain(self):
        """Ends what waits, so that the next measurement finds an empty queue."""
        return self.load("drain", seconds=300)

    def kill_and_restart(self):
        """Seconds from the start of the new process until it answers, after SIGKILL of the old one."""
        self.daemon.stop(signal.SIGKILL)
        began = time.monotonic()
        self.start()
        return time.monotonic() - began

    def come_back_with_worker(self):
        """The same data, served by `hodei dev`."""
        self.daemon.stop()
        self.worker = True
        self.start()

    def stamps(self, **options):
        """Latencies of real jobs; each measurement has a file of its own."""
        handle, file = tempfile.mkstemp(dir=self.folder)
        os.close(handle)
        facts = self.load("exec-latency", stamp=PROGRAMS / "bench-stamp", file=file, **options)
        if not facts["count"]:
            raise Trouble("no job wrote its start")
        return facts
