"""Workers on demand with nothing but this machine: the provider `process`, programs of a user's own, pools, and what must
never be left behind."""

import json
import os
import pathlib
import signal
import stat
import urllib.request

import harness
from harness import Apart, Dev, Process, check, contains, items, number, same, until

ROUNDS = int(os.environ.get("HODEI_PROVISION_ROUNDS", "3"))   # of killing the server; the whole run has 20
SETTINGS = {"HODEI_PROCESS_ENABLED": "1", "HODEI_LOG_LEVEL": "debug"}

# A user's own program that makes nothing, and says so in different ways.
FAILING = """#!/bin/sh
cat > /dev/null
case "$1" in
  health) echo '{"state": "healthy"}' ;;
  list) echo '{"workers": []}' ;;
  create) echo "create" >> "$0.calls"; echo '{"error": {"code": "unavailable", "message": "the machine room is closed"}}' ;;
  *) echo '{}' ;;
esac
"""


class OnDemand(Apart):
    """A server without a worker, whose providers make them."""

    def __init__(self, **settings):
        super().__init__(**{**SETTINGS, **settings})

    def start(self, worker=False):
        super().start(worker)
        until(lambda: self.provider("process")["state"] == "Active", lambda: f"provider process: {self.provider('process')}")
        return self

    def provider(self, name):
        return self.ok("provider", "get", name, "-o", "json").json()

    def made(self):
        """Worker processes of this installation: every process whose environment carries its folder."""
        return processes_of(self.data / "providers")

    def folders(self):
        root = self.data / "providers"
        return [path for path in root.glob("*/*") if path.is_dir()] if root.exists() else []

    def nothing_left(self, patience):
        until(lambda: not self.made() and not self.folders(),
              lambda: f"nothing of any worker to be left: processes {self.made()}, folders {self.folders()}\n{self.tail()}", patience)

    def stop(self):
        left = super().stop()
        for process in self.made():
            process.send(signal.SIGKILL)
        return left


def processes_of(folder):
    """Processes that keep their state below `folder`, by their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(b"HODEI_STATE_DIR=" + str(folder).encode()) for word in words):
            process = Process(entry.name)
            if process.alive():
                found.append(process)
    return found


def program(server, name, text):
    path = server.write(name, text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def os_release():
    return pathlib.Path("/etc/os-release").read_text()


def test_a_job_that_fits_nowhere_gets_a_worker_and_the_worker_goes():
    with OnDemand().start() as server:
        same(server.workers(), [], "workers before")
        same(server.ok("run", "--provider", "process", "--", "cat", "/etc/os-release").out, os_release(), "output")
        worker = server.workers()[0]
        same(worker["info"]["provider"], "process", "provider of the worker")
        check(worker.get("provider_ref"), f"the provider's own id of it: {worker}")
        contains(server.ok("worker", "list").out, "process", "worker list")
        check(server.ok("worker", "logs", worker["info"]["id"]).out, "the worker printed something")
        until(lambda: server.workers() == [], "the idle worker to go")
        server.nothing_left(30)
        contains(server.log.read_text(), "destroyed worker=" + worker["info"]["id"], "journal")


def test_a_part_of_a_core_runs_on_the_one_worker_that_is_made_for_it():
    with OnDemand().start() as server:
        for cores in ("0.25", "0.035", "1.005"):
            job = server.submit("--provider", "process", "--cpu", cores, "--", "true")
            server.wait_for(job, "Succeeded")
        made = server.log.read_text().count(" made worker=")
        check(1 <= made <= 3, f"{made} workers were made for three jobs")


def test_without_a_provider_of_its_choice_any_that_can_makes_it():
    with OnDemand().start() as server:
        same(server.ok("run", "--", "echo", "hello").out, "hello\n", "output")


def test_a_second_job_takes_the_worker_that_is_there():
    with OnDemand().start() as server:
        first = server.submit("--provider", "process", "--", "true")
        worker = server.wait_for(first, "Succeeded")["worker_id"]
        second = server.submit("--provider", "process", "--", "true")
        same(server.wait_for(second, "Succeeded")["worker_id"], worker, "worker of the second job")
        same(number(server.provider("process").get("created")), 1, "workers made")


def test_in_dev_plain_jobs_stay_with_the_worker_that_is_there():
    with Dev().start() as dev:
        names = dev.ok("provider", "list", "-o", "name").out.split()
        check("process" in names, f"providers of `hodei dev`: {names}")
        dev.ok("run", "--", "true")
        same(number(dev.ok("provider", "get", "process", "-o", "json").json().get("created")), 0, "workers made for a plain job")
        same(dev.ok("run", "--provider", "process", "--", "cat", "/etc/os-release").out, os_release(), "output with a provider")


def test_a_killed_server_leaves_nothing():
    with OnDemand() as server:
        server.start()
        for round_number in range(ROUNDS):
            job = server.submit("--provider", "process", "--attempts", "5", "--", "true")
            # At another moment of its making in every round: asked for, started, registered.
            moment = round_number % 3
            if moment > 0:
                until(lambda: server.made() or server.get(job)["state"] in harness.TERMINAL, "a worker process")
            if moment > 1:
                until(lambda: server.get(job)["state"] != "Pending", "the job to be placed")
            server.kill("server")
            server.launch()
            server.wait_until_up(worker=False)
            server.wait_for(job, "Succeeded", patience=120)
        until(lambda: server.workers() == [], "all workers to go", 60)
        server.nothing_left(120)


def test_an_orphan_is_destroyed_and_a_foreign_worker_is_not():
    with OnDemand().start() as server, OnDemand().start() as other:
        other.ok("pool", "set", "kept", "--provider", "process", "--min", "1")
        until(lambda: any(w.get("connected") for w in other.workers()), "the other server's worker to join")
        foreign = other.made()
        # A store from before the worker was made: the same installation, that knows nothing of it.
        server.kill("server", signal.SIGTERM)
        older = {file.name: file.read_bytes() for file in server.data.glob("hodei.db*")}
        server.launch()
        server.wait_until_up(worker=False)
        job = server.submit("--provider", "process", "--", "sleep", "1000")
        server.wait_for(job, "Running")
        orphans = server.made()
        check(orphans, "a worker is there")
        server.kill("server")
        for file in server.data.glob("hodei.db*"):
            file.unlink()
        for name, content in older.items():
            (server.data / name).write_bytes(content)
        server.launch()
        server.wait_until_up(worker=False)
        until(lambda: not any(process.alive() for process in orphans), "the orphan to be ended")
        server.nothing_left(30)
        check(all(process.alive() for process in foreign), "a worker of another installation was ended")
        check(any(w.get("connected") for w in other.workers()), "the other server's worker is still connected")


def test_pools_keep_their_minimum_and_their_maximum():
    with OnDemand().start() as server:
        server.ok("pool", "set", "warm", "--provider", "process", "--min", "2", "--max", "3", "--idle", "1s")
        until(lambda: len(server.workers()) == 2, lambda: f"two workers: {server.workers()}")
        jobs = [server.submit("--pool", "warm", "--", "sleep", "1000") for _ in range(5)]
        until(lambda: sum(server.state(job) == "Running" for job in jobs) == 3, "three jobs to run")
        pool = items(server.ok("pool", "list", "-o", "json").json(), "pools")[0]
        same((number(pool["workers"]), number(pool["busy"]), number(pool["waiting_jobs"])), (3, 3, 2), "workers, busy, waiting")
        for job in jobs:
            server.ok("job", "cancel", job)
        until(lambda: len(server.workers()) == 2, lambda: f"back to two: {server.workers()}", 60)
        server.ok("pool", "rm", "warm")
        until(lambda: server.workers() == [], "the workers of the pool to go", 60)
        server.nothing_left(30)


def test_a_spare_worker_is_kept_warm():
    with OnDemand().start() as server:
        server.ok("pool", "set", "warm", "--provider", "process", "--spare", "1", "--idle", "1h")
        until(lambda: any(w["state"] == "Ready" for w in server.workers()), "a spare worker")
        job = server.submit("--pool", "warm", "--", "sleep", "1000")
        server.wait_for(job, "Running")
        until(lambda: sum(w["state"] == "Ready" for w in server.workers()) == 1, lambda: f"another spare: {server.workers()}")


def test_one_job_workers_are_used_once():
    with OnDemand().start() as server:
        server.ok("pool", "set", "fresh", "--provider", "process", "--one-job")
        jobs = [server.submit("--pool", "fresh", "--", "true") for _ in range(3)]
        used = {server.wait_for(job, "Succeeded")["worker_id"] for job in jobs}
        same(len(used), 3, f"workers of three jobs: {used}")
        until(lambda: server.workers() == [], "the used workers to go")
        server.nothing_left(30)


def test_a_failing_provider_is_left_for_another():
    with OnDemand().start() as server:
        broken = program(server, "broken", FAILING)
        server.ok("provider", "add", "broken", "--type", "custom", "--option", f"program={broken}", "--preference", "10")
        until(lambda: server.provider("broken")["state"] == "Active", lambda: f"{server.provider('broken')}")
        same(server.ok("run", "--", "echo", "at last").out, "at last\n", "output")
        view = server.provider("broken")
        check(number(view.get("failed")) >= 1, f"failures are counted: {view}")
        contains(view["last_failure"], "machine room", "last failure")
        check(pathlib.Path(f"{broken}.calls").exists(), "the preferred one was asked first")
        contains(server.ok("provider", "list").out, "broken", "provider list")


def test_a_disabled_provider_makes_nothing_and_an_enabled_one_does():
    with OnDemand().start() as server:
        server.ok("provider", "maintenance", "process")
        same(server.provider("process")["state"], "Maintenance", "state")
        server.ok("provider", "disable", "process")
        job = server.submit("--provider", "process", "--", "true")
        contains(server.ok("job", "explain", job).out, "disabled", "explanation")
        same(server.workers(), [], "workers")
        server.ok("provider", "enable", "process")
        server.wait_for(job, "Succeeded")


def test_bad_words_are_refused_with_what_to_do():
    with OnDemand().start() as server:
        for words, expected in ((("add", "x", "--type", "dockr"), "--type (type): 'dockr' is not one of"),
                                (("add", "x", "--type", "process", "--option", "binry=/x"), "binry"),
                                (("add", "process", "--type", "process"), "already exists"),
                                (("add", "bad name", "--type", "process"), "name:"),
                                (("add", "x", "--type", "process", "--max-workers", "100000"), "--max-workers"),
                                (("get", "nobody"), "hodei provider list"),
                                (("set", "process", "--option", "grace=long"), "grace"),
                                (("rm", "nobody"), "does not exist")):
            result = server.cli("provider", *words)
            same(result.code != 0, True, f"`provider {' '.join(words)}` is refused")
            contains(result.err, expected, f"words of `provider {' '.join(words)}`")
        for words, expected in ((("set", "p", "--provider", "nobody"), "provider 'nobody' does not exist"),
                                (("set", "p", "--min", "3", "--max", "2"), "more than max"),
                                (("set", "p", "--one-job", "--slots", "4"), "one-job"),
                                (("rm", "p"), "hodei pool list")):
            result = server.cli("pool", *words)
            same(result.code, 1, f"exit code of `pool {' '.join(words)}`")
            contains(result.err, expected, f"words of `pool {' '.join(words)}`")
        server.ok("pool", "set", "p", "--provider", "process")
        contains(server.cli("provider", "rm", "process").err, "pool 'p' uses provider 'process'", "a provider in use")
        result = server.cli("worker", "logs", "nobody")
        contains(result.err, "does not exist", "logs of no worker")


def test_providers_and_pools_are_there_after_a_restart():
    with OnDemand().start() as server:
        server.ok("provider", "add", "second", "--type", "process", "--max-workers", "3", "--label", "zone=b")
        server.ok("pool", "set", "p", "--provider", "second", "--max", "2")
        server.kill("server")
        server.launch()
        server.wait_until_up(worker=False)
        view = server.provider("second")
        same((number(view["config"]["max_workers"]), view["config"]["labels"]), (3, {"zone": "b"}), "what was set")
        until(lambda: server.provider("second")["state"] == "Active", "it to be active again")
        job = server.submit("--pool", "p", "--constraint", "zone=b", "--", "true")
        check(server.wait_for(job, "Succeeded")["worker_id"].startswith("second-"), "made by the second provider")


def test_the_events_of_making_are_counted():
    port = harness.free_port()
    with OnDemand(HODEI_HTTP_LISTEN=f"127.0.0.1:{port}").start() as server:
        server.ok("run", "--provider", "process", "--", "true")
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20).read().decode()
        contains(text, 'hodei_provider_workers_made_total{provider="process"} 1', "metrics")
        contains(text, 'hodei_provider_startup_seconds_count{provider="process"} 1', "metrics")


def test_secrets_in_options_are_not_shown():
    with OnDemand().start() as server:
        broken = program(server, "broken", FAILING)
        server.ok("provider", "add", "mine", "--type", "custom", "--option", f"program={broken}", "--option", "config.api_token=hunter2")
        for form in ("table", "wide", "json", "yaml"):
            shown = server.ok("provider", "get", "mine", "-o", form).out + server.ok("provider", "list", "-o", form).out
            check("hunter2" not in shown, f"a secret is shown in -o {form}: {shown}")
        check("hunter2" not in json.dumps(server.provider("mine")), "a secret is shown")
        check("hunter2" not in server.log.read_text(), "a secret is in the log")
