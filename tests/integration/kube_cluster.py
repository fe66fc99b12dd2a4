"""The kubernetes provider, one call after the other (provider-call), on a small cluster of the test's own."""

import contextlib
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading

import harness
from harness import check, contains, same, until
from kube_api import TOKEN, KubeApi

BUILD = harness.HODEI.parent
WORKER = pathlib.Path(os.environ.get("HODEI_WORKER_BINARY", BUILD / "hodei-worker"))
CHECK = BUILD / "tests/providers/provider-check"
CALL = BUILD / "tests/providers/provider-call"
NOWHERE = "127.0.0.1:1"       # workers that need not register
SECRET = "t0ken-of-one-time"
IMAGE = "host:1"              # the host itself
PATH = {"PATH": os.environ["PATH"]}


class Kubernetes:
    """The provider, one call after the other, on a cluster of the test's own."""

    def __init__(self, api, **words):
        self.api = api
        self.words = {"installation": "ours", "server": NOWHERE, "token": SECRET, "image": IMAGE,
                      "option.kubeconfig": api.kubeconfig()} | words

    def arguments(self, verb, words):
        return [str(CALL), "kubernetes", verb, *(f"{k}={v}" for k, v in (self.words | words).items() if v is not None)]

    def try_call(self, verb, env=None, **words):
        return subprocess.run(self.arguments(verb, words), capture_output=True, text=True, timeout=120, check=False,
                              stdin=subprocess.DEVNULL, env=PATH | (env or {}))

    def call(self, verb, env=None, **words):
        done = self.try_call(verb, env, **words)
        check(done.returncode == 0, f"{verb} {words}: {done.stderr}")
        return dict(line.partition("=")[::2] for line in done.stdout.splitlines())

    def refused(self, verb, *expected, env=None, **words):
        """The words of an error; each of `expected` must be among them."""
        done = self.try_call(verb, env, **words)
        same(done.returncode, 1, f"exit code of {verb} {words}: {done.stdout}{done.stderr}")
        for word in expected:
            contains(done.stderr, word, f"{verb} {words}")
        check(SECRET not in done.stderr and TOKEN not in done.stderr, f"a token is in an error: {done.stderr}")
        return done.stderr

    def status_until(self, worker, condition, what):
        seen = {}
        def there():
            seen.update(self.call("status", worker_id=worker))
            return condition(seen)
        until(there, lambda: f"{worker} {what}; its status is {seen}")
        return seen

    def runs(self, worker):
        return self.status_until(worker, lambda s: s["phase"] == "Running", "to run")


class Watch:
    """`provider-call watch`: the workers that changed, as they come."""

    def __init__(self, cluster):
        self.process = subprocess.Popen(cluster.arguments("watch", {}), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=PATH)
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout], daemon=True).start()

    def __enter__(self):
        return self

    def tells(self, worker):
        while True:
            try:
                line = self.lines.get(timeout=harness.PATIENCE)
            except queue.Empty:
                raise harness.Failure(f"waited in vain for a change of {worker}") from None
            if line.strip() == f"changed={worker}":
                return

    def forget(self):
        with contextlib.suppress(queue.Empty):
            while True:
                self.lines.get_nowait()

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=harness.PATIENCE)


def worker_of(api):
    """/proc of the only worker, once it is the worker's program that runs in its pod."""
    def there():
        for container in list(api.kubelet.processes.values()):
            pid = container.first_pid()
            with contextlib.suppress(OSError):
                place = pathlib.Path(f"/proc/{pid}")
                if pid and (place / "comm").read_text().startswith("hodei-worker"):
                    return place
        return None
    return until(there, "the worker's program to run")


@contextlib.contextmanager
def a_cluster(capacity=None, images=None, **words):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-kube-", dir="/tmp"))
    try:
        with KubeApi(folder, WORKER, images or {IMAGE: ""}, capacity) as api:
            yield api, Kubernetes(api, **words)
        same(api.problems, [], "requests that are not as the official description says")
        same(api.errors, [], "errors of the API server")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
