"""Real binaries under test: a server with its worker in a folder of its own, and the words to talk about it.

Every test starts what it needs and ends it by pid. Nothing waits for a fixed time: `until` asks again and again for a
condition, up to a deadline.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HODEI = pathlib.Path(os.environ.get("HODEI_BINARY", ROOT / "build/release/hodei"))
TERMINAL = {"Succeeded", "Failed", "Cancelled", "Timeout"}
PATIENCE = 30.0   # seconds; generous, because the machine may be busy: a wait ends as soon as its condition holds


# Settings of the person at the terminal that a test must not see.
FOREIGN = {"GRPC_PORT", "HTTP_PORT", "DATABASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "TRACEPARENT"}


class Failure(AssertionError):
    """What a test expected and did not get."""


def check(condition, what):
    if not condition:
        raise Failure(what() if callable(what) else what)


def shown(value):
    """A value as a message shows it: its beginning and its end."""
    text = repr(value)
    return text if len(text) <= 1000 else f"{text[:300]} … ({len(text)} characters) … {text[-300:]}"


def same(actual, expected, what):
    check(actual == expected, f"{what}: expected {shown(expected)}, got {shown(actual)}")


def contains(text, word, what):
    check(word.lower() in text.lower(), f"{what}: expected the word {word!r} in {text!r}")


def until(condition, what, patience=PATIENCE):
    """The first true answer of `condition`; fails when there is none in time."""
    deadline = time.monotonic() + patience
    while True:
        answer = condition()
        if answer:
            return answer
        check(time.monotonic() < deadline, lambda: f"waited {patience:.0f} s in vain: {what() if callable(what) else what}")
        time.sleep(0.02)


def resource_name(worker, installation="ours"):
    """What a provider calls a worker's container or pod: it carries a mark of the installation."""
    return f"hodei-{hashlib.sha256(installation.encode()).hexdigest()[:8]}-{worker}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_time(pid):
    """When a process started, in ticks since boot; None when it is gone or only its remains are left."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


class Process:
    """A process by pid and start time, so that a pid that was given away again is never mistaken for it."""

    def __init__(self, pid):
        self.pid = int(pid)
        self.started = start_time(self.pid)

    def __repr__(self):
        return f"pid {self.pid}"

    def alive(self):
        return self.started is not None and start_time(self.pid) == self.started

    def send(self, number):
        if self.alive():
            os.kill(self.pid, number)


class Result:
    """How a command ended."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    def __repr__(self):
        return f"`hodei {' '.join(self.arguments)}` → {self.code}\n  stdout: {self.out!r}\n  stderr: {self.err!r}"

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Failure(f"not JSON ({error}): {self!r}") from None


def number(value):
    """A whole number of JSON output; 64-bit ones may come as text, zeros may be left out."""
    return int(value or 0)


def items(answer, *names):
    """The list in an answer of `-o json`, with or without a name around it."""
    if isinstance(answer, list):
        return answer
    for name in names:
        if name in answer:
            return answer[name]
    return []


class Dev:
    """`hodei dev` in a folder of its own on a free port."""

    def __init__(self, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-test-"))
        self.data = self.folder / "data"
        self.log = self.folder / "dev.log"
        self.port = free_port()
        self.settings = settings
        self.process = None
        self.known = {}       # pid → Process of everything this test has started
        self.clients = []

    # The server.

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("HODEI_") and k not in FOREIGN}
        kept.update(HOME=str(self.folder), HODEI_SERVER=self.address, HODEI_DATA_DIR=str(self.data), NO_COLOR="1",
                    HODEI_HTTP_LISTEN="off",    # many servers run at once
                    HODEI_STOP_GRACE="0s")      # the end of a test waits for no job
        kept.update({k: str(v) for k, v in {**self.settings, **more}.items()})
        return kept

    def launch(self, **more):
        """Starts the process without waiting for anything; `more`: of its environment."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(HODEI), "dev"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=self.environment(GRPC_PORT=self.port, **more), start_new_session=True)
        self.remember(self.process.pid)

    def start(self, worker=True):
        self.launch()
        self.wait_until_up(worker)
        return self

    def wait_until_up(self, worker=True):
        def up():
            check(self.process.poll() is None, lambda: f"`hodei dev` ended with {self.process.returncode}: {self.tail()}")
            status = self.status()
            if not status or (worker and not (number(status.get("agent_pid")) and self.connected())):
                return False
            for role in ("server_pid", "supervisor_pid", "agent_pid"):
                if number(status.get(role)):
                    self.remember(number(status[role]))
            return True
        until(up, lambda: f"`hodei dev` to be up; its log ends with: {self.tail()}")

    def connected(self):
        workers = self.cli("worker", "list", "-o", "json")
        return workers.code == 0 and any(w.get("connected") for w in items(workers.json(), "workers"))

    def remember(self, pid):
        self.known.setdefault(pid, Process(pid))
        return self.known[pid]

    def status(self):
        """What `hodei status` says; None while no server answers."""
        result = self.cli("status", "-o", "json", "--retry-for", "0")
        return result.json() if result.code == 0 else None

    def role(self, name):
        """The server, supervisor or agent process."""
        # A server that has just come back does not know its worker's processes yet.
        pid = until(lambda: number((self.status() or {}).get(name + "_pid")), f"`hodei status -o json` to give {name}_pid")
        return self.remember(pid)

    def kill(self, name, number_of_signal=signal.SIGKILL):
        """Kills the server, supervisor or agent and waits until it is gone."""
        process = self.role(name)
        process.send(number_of_signal)
        if process.pid == self.process.pid:
            self.process.wait(timeout=PATIENCE)
        until(lambda: not process.alive(), f"{name} ({process}) to be gone")
        return process

    def tail(self):
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""

    def stop(self):
        """Ends everything this test has started: kindly, then by pid."""
        for client in self.clients:
            if client.poll() is None:
                client.kill()
                client.wait()
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        left = [p for p in self.known.values() if p.alive()]
        for process in left:
            process.send(signal.SIGKILL)
        return left

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and self.log.exists():
            error.server_log = self.tail()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The command line.

    def cli(self, *arguments, text=None, timeout=60, env=None, cwd=None):
        """Runs one command to its end."""
        arguments = [str(a) for a in arguments]
        try:
            done = subprocess.run(
                [str(HODEI), *arguments], input=text, capture_output=True, timeout=timeout, cwd=cwd or self.folder,
                env=self.environment(**(env or {})), text=True, errors="replace", check=False,
                **({} if text is not None else {"stdin": subprocess.DEVNULL}))
        except subprocess.TimeoutExpired as late:
            raise Failure(f"`hodei {' '.join(arguments)}` did not end within {timeout} s; stdout {late.stdout!r}, "
                          f"stderr {late.stderr!r}") from None
        return Result(arguments, done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments, **options):
        result = self.cli(*arguments, **options)
        check(result.code == 0, lambda: f"expected exit code 0: {result!r}")
        return result

    def background(self, *arguments, **options):
        """Starts a command and leaves it running."""
        client = subprocess.Popen(
            [str(HODEI), *(str(a) for a in arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=self.folder, env=self.environment(), text=True, start_new_session=True, **options)
        self.clients.append(client)
        return client

    # Jobs.

    def submit(self, *arguments):
        """Submits a job and answers with its id."""
        result = self.ok("job", "submit", "-o", "name", *arguments)
        return result.out.strip().split("/")[-1]

    def get(self, job):
        return self.ok("job", "get", job, "-o", "json").json()

    def state(self, job):
        return self.get(job)["state"]

    def jobs(self):
        return items(self.ok("job", "list", "-o", "json").json(), "jobs")

    def wait_for(self, job, *states, patience=PATIENCE):
        """The job once it is in one of the states (none named: in a terminal one)."""
        wanted = set(states) or TERMINAL
        last = {}

        def there():
            nonlocal last
            last = self.get(job)
            check(last["state"] in wanted or last["state"] not in TERMINAL,
                  lambda: f"{job} ended as {last['state']} ({last.get('reason')}), expected {sorted(wanted)}")
            return last["state"] in wanted
        until(there, lambda: f"{job} to be {sorted(wanted)}; it is {last.get('state')}: {last.get('reason')}", patience)
        return last

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


class Apart(Dev):
    """A server without a worker, and agents started by hand."""

    def launch(self, **more):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(HODEI), "server"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=self.environment(GRPC_PORT=self.port, **more), start_new_session=True)
        self.remember(self.process.pid)

    def agent(self, token, name, *flags, **more):
        """Starts an agent; what it is told in the environment comes as named arguments."""
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [str(HODEI), "agent", "--state-dir", str(self.folder / name), *flags], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=self.folder, env=self.environment(HODEI_TOKEN=token, **more), start_new_session=True)
        self.remember(process.pid)
        self.clients.append(process)
        return process

    def join(self, name, *flags, **more):
        """An agent that calls itself `name`, once the server sees it."""
        process = self.agent(self.token()["token"], name, "--worker-id", name, *flags, **more)
        until(lambda: self.sees(name), lambda: f"agent {name} to join: " + (self.folder / f"{name}.log").read_text()[-1000:])
        return process

    def sees(self, name):
        return any(w["info"]["id"] == name and w.get("connected") for w in self.workers())

    def token(self, *arguments):
        return self.ok("otp", "create", "-o", "json", *arguments).json()

    def workers(self):
        return items(self.ok("worker", "list", "-o", "json").json(), "workers")


def path_of(job):
    """The states a job went through, as its history tells: ['Pending', 'Scheduled', …]."""
    return [step["to"] for step in job.get("history", [])]


def new_job(listing):
    """The id in the output of a submission."""
    found = re.search(r"\bj[0-9a-z]+\b", listing)
    check(found, f"no job id in {listing!r}")
    return found.group(0)
