"""Section i: how long a job waits for a worker that is made for it. Everything that can be warm is: the programs and images
are there, nothing is fetched; but every job gets a worker of its own, made from nothing."""

import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from suite import hodei, processes
from suite.processes import ROOT, Trouble
from suite.report import Row, Target
from suite.rounds import say

IMAGE = "hodei-bench-provision"
PROCESS_LIMIT_MS = 100
DOCKER_LIMIT_MS = 1000


class OnDemand(hodei.Hodei):
    """A server without a worker, with a pool of one-job workers for each provider that works here."""

    def __init__(self, docker_host=None):
        super().__init__()
        self.docker_host = docker_host
        self.env = {"HODEI_CONFIG": os.devnull, "HODEI_SERVER": "http://" + self.address, "HODEI_HTTP_LISTEN": "off"}

    def start(self):
        words = [hodei.HODEI[0], "server", "--data-dir", self.folder + "/data", "--listen", self.address, "--log-level", "info"]
        switches = {"HODEI_PROCESS_ENABLED": "1", "HODEI_HTTP_LISTEN": "off"}
        self.daemon = processes.Daemon(words, self.folder + "/log", cwd=self.folder, env=switches)
        processes.until(self.ready, f"Hodei on {self.address}: {self.daemon.tail()}", 120)

    def cli(self, *words):
        done = subprocess.run([str(hodei.HODEI[0]), *(str(word) for word in words)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env={**os.environ, **self.env}, timeout=120, check=False)
        if done.returncode != 0:
            raise Trouble(f"hodei {' '.join(str(word) for word in words)} → {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def await_active(self, provider):
        def active():
            found = json.loads(self.cli("provider", "get", provider, "-o", "json"))
            return found["state"] == "Active"
        processes.until(active, f"provider {provider}: {self.daemon.tail()}")

    def waited_ms(self, *words):
        """From the submission to the start of the job, by the clocks of server and worker, which are one machine's."""
        name = self.cli("job", "submit", "-o", "name", *words).strip()
        found = {}

        def over():
            found.update(json.loads(self.cli("job", "get", name, "-o", "json")))
            return found["state"] in ("Succeeded", "Failed", "Cancelled", "Timeout")
        processes.until(over, f"job {name}: {found.get('reason')}\n{self.daemon.tail()}", 120)
        if found["state"] != "Succeeded":
            raise Trouble(f"job {name} is {found['state']}: {found.get('reason')}")
        return (moment(found["started_at"]) - moment(found["created_at"])) * 1000

    def await_none(self):
        processes.until(lambda: not json.loads(self.cli("worker", "list", "-o", "json")), "the worker to go")


def moment(text):
    """Seconds; JSON has nanoseconds, which Python does not read."""
    whole, _, rest = text.rstrip("Z").partition(".")
    begun = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return begun + float("0." + (rest or "0"))


def quantile(values, share):
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def rows_of(name, values, limit, against="", against_values=()):
    more = {"p90_ms": quantile(values, 0.9), "count": len(values)}
    row = Row("i", f"warm start of a worker by `{name}`, submission to start, median", "ms", quantile(values, 0.5), rounds=values,
              target=Target("value", at_most=limit), more=more)
    if against_values:
        row.against, row.against_value = against, quantile(against_values, 0.5)
        row.ratio = row.value / row.against_value
    return [row, Row("i", "  the same, p90", "ms", more["p90_ms"],
                     against=against, against_value=quantile(against_values, 0.9) if against_values else None)]


def process_rows(settings):
    with OnDemand() as server:
        server.await_active("process")
        server.cli("pool", "set", "fresh", "--provider", "process", "--one-job")
        values = []
        for _ in range(settings.starts):
            values.append(server.waited_ms("--pool", "fresh", "--", "/bin/true"))
            server.await_none()
        say(f"  process: {', '.join(f'{value:.0f}' for value in values)} ms")
        return rows_of("process", values, PROCESS_LIMIT_MS)


def docker_run_ms(engine):
    """`docker run` of the same image, from the start of the command to the first byte of the program's output."""
    began = time.monotonic()
    with subprocess.Popen(["docker", "--host", f"unix://{engine.socket}", "run", "--rm", "--network", "host", IMAGE, "/program", "x"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        first = running.stdout.read(1)
        took = (time.monotonic() - began) * 1000
        errors = running.communicate()[1]
    if not first:
        raise Trouble(f"docker run printed nothing: {errors.decode()[-300:]}")
    return took


def docker_rows(settings):
    if not shutil.which("dockerd") or os.geteuid() != 0:
        say("  docker is left out: dockerd is not there, or this is not root")
        return [Row("i", "warm start of a worker by `docker`", "ms", note="left out: dockerd is not there, or this is not root")]
    sys.path.insert(0, str(ROOT / "tests/integration"))
    from dockerd import Dockerd   # an engine of our own, as the tests have it
    with tempfile.TemporaryDirectory() as folder, Dockerd() as engine:
        program = pathlib.Path(folder) / "program"
        source = pathlib.Path(folder) / "program.c"
        source.write_text('#include <stdio.h>\nint main(void) { puts("x"); return 0; }\n')
        subprocess.run(["gcc", "-static", "-O1", "-o", str(program), str(source)], check=True)
        engine.image_from_scratch(IMAGE, {"/program": program}, [])
        with OnDemand() as server:
            server.cli("provider", "add", "docker", "--type", "docker", "--option", f"host=unix://{engine.socket}")
            server.await_active("docker")
            server.cli("pool", "set", "boxed", "--provider", "docker", "--image", IMAGE, "--one-job")
            ours, theirs = [], []
            for _ in range(settings.starts):
                ours.append(server.waited_ms("--pool", "boxed", "--image", IMAGE, "--", "/program", "x"))
                server.await_none()
                theirs.append(docker_run_ms(engine))
            say(f"  docker: {', '.join(f'{value:.0f}' for value in ours)} ms; docker run: {', '.join(f'{value:.0f}' for value in theirs)} ms")
            return rows_of("docker", ours, DOCKER_LIMIT_MS, "docker run", theirs)


def i_provision(settings):
    if not (hodei.HODEI[0].parent / "hodei-worker").exists():
        raise Trouble(f"{hodei.HODEI[0].parent}/hodei-worker is not there: providers start it")
    return process_rows(settings) + docker_rows(settings)
