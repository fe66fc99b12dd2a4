"""Processes that the benchmarks start, each ended by its pid, and programs that print one line of JSON."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build/release/bench"
WORK = ROOT / "build/bench"
LONGEST = 900   # seconds for any one measurement


class Trouble(Exception):
    """A measurement that could not be made, and why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, what, patience=60.0):
    """The first true answer of `condition`."""
    deadline = time.monotonic() + patience
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Trouble(f"waited {patience:.0f} s in vain for {what}")
        time.sleep(0.02)


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def memory_mb(pid, field="VmHWM"):
    """What a process has used at most (VmHWM) or uses now (VmRSS)."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+)", text).group(1)) / 1024


def start_time(pid):
    """When a process started, in ticks since boot, so that a pid that was given away again is never mistaken for it; None
    when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


class Started:
    """A context manager for what `begin` starts and `__exit__` ends, also when it began only in part."""

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self


class Daemon:
    """A process that runs until it is stopped; its output goes to a file."""

    def __init__(self, words, log, env=None, cwd=None):
        self.log = pathlib.Path(log)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env={**os.environ, **(env or {})}, cwd=cwd)
        self.pid = self.process.pid

    def check(self):
        if self.process.poll() is not None:
            raise Trouble(f"{self.process.args[0]} ended with {self.process.returncode}: {self.tail()}")

    def tail(self):
        return self.log.read_text(errors="replace")[-800:]

    def stop(self, number=signal.SIGTERM, patience=30):
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def measure(*words, env=None, cwd=None, timeout=LONGEST):
    """Runs a program that prints its facts as JSON on its last line."""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, cwd=cwd, timeout=timeout, check=False)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(str(word) for word in words)} → {done.returncode}: {(done.stdout + done.stderr)[-800:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])
