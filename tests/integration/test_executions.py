"""Jobs with many executions, and finished jobs that go for good."""

import pathlib

from harness import Apart, Dev, check, contains, items, same, until

ATTEMPTS = 30
OUTPUT = 60_000   # bytes that each attempt reports

FAILING = f"""
name: failing
max_attempts: {ATTEMPTS}
backoff: {{initial_ms: 1, max_ms: 2, factor: 1}}
command:
  script:
    interpreter: python3
    content: |
      import os, subprocess
      subprocess.run([os.environ["HODEI_WORKER"], "output", "big=" + "x" * {OUTPUT}], check=True)
      raise SystemExit(3)
"""


def written(process):
    """Bytes that a process has handed to the system."""
    lines = pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


def test_many_attempts_with_large_outputs_are_written_once_and_read_page_by_page():
    with Dev().start() as dev:
        server = dev.role("server")
        before = written(server)
        job = dev.submit("-f", dev.write("failing.yaml", FAILING))
        dev.wait_for(job, "Failed", patience=120)
        cost = written(server) - before
        check(cost < 12 * ATTEMPTS * OUTPUT, f"{cost} bytes were written for {ATTEMPTS} attempts with {OUTPUT} bytes each")
        shown = dev.ok("job", "get", job, "-o", "json")
        same(shown.json()["executions_total"], ATTEMPTS, "executions in all")
        contains(shown.err, f"of {ATTEMPTS} executions; see the others with --all-executions", "note")
        check(len(shown.json()["executions"]) <= 20, "the newest ones only")
        same(shown.json()["executions"][-1]["number"], ATTEMPTS, "the newest")
        every = dev.ok("job", "get", job, "--all-executions", "-o", "json").json()
        same([e["number"] for e in every["executions"]], list(range(1, ATTEMPTS + 1)), "all executions")
        check(all(len(e["outputs"]["big"]) == OUTPUT for e in every["executions"]), "with their outputs")
        same(every["history"][0]["reason"], "submitted", "the history begins at its beginning")
        same(len(every["history"]), 4 * ATTEMPTS, "and has every step")
        # A new server reads the same.
        dev.kill("server")
        dev.start()
        same(dev.ok("job", "get", job, "--all-executions", "-o", "json").json(), every, "after a restart")


def test_finished_jobs_are_deleted_with_their_output():
    with Dev().start() as dev:
        dev.ok("run", "--name", "gone", "--", "echo", "secret words")
        dev.ok("run", "--name", "stays", "--", "echo", "kept")
        jobs = {job["name"]: job["short_id"] for job in dev.jobs()}
        running = dev.submit("--", "sleep", "1000")
        dev.wait_for(running, "Running")
        refused = dev.cli("job", "delete", jobs["gone"], running)
        check(refused.code != 0, "a running job is not deleted")
        contains(refused.err, f"{running} is Running", "why")
        contains(refused.err, f"hodei job cancel --wait {running}", "what to do")
        contains(dev.ok("job", "logs", jobs["gone"]).out, "secret words", "nothing was deleted")
        contains(dev.ok("job", "delete", jobs["gone"], "--reason", "private").out, "1 job deleted", "answer")
        check(dev.cli("job", "get", jobs["gone"]).code != 0, "the job is gone")
        check(dev.cli("job", "logs", jobs["gone"]).code != 0, "and its output")
        contains(dev.cli("job", "delete", jobs["gone"]).err, "does not exist", "a second time")
        entry = items(dev.ok("audit", "list", "--action", "job.delete", "-o", "json").json(), "entries")[0]
        same((entry["subject"], entry["detail"]), (jobs["gone"], "private"), "audit trail")
        dev.ok("job", "cancel", running, "--wait")
        same({job["short_id"] for job in dev.jobs()}, {jobs["stays"], running}, "what is left")


def test_a_search_goes_on_page_by_page_and_a_list_finds_by_everything():
    with Apart().start(worker=False) as server:
        names = [f"build-{n}" for n in range(30)]
        for n, name in enumerate(names):
            server.submit("--name", name, "--label", f"parity={n % 2}", "-n", "red" if n % 3 == 0 else "blue", "--", "true")
        for n in range(0, 30, 5):
            server.ok("job", "cancel", server_id(server, f"build-{n}"))

        def found(*flags):
            return {job["name"] for job in items(server.ok("job", "list", "--all", *flags, "-o", "json").json(), "jobs")}
        same(found("--name", "build-2"), {n for n in names if "build-2" in n}, "by name")
        same(found("-l", "parity=1"), set(names[1::2]), "by label")
        same(found("-n", "red"), set(names[0::3]), "by namespace")
        same(found("--state", "Cancelled"), set(names[0::5]), "by state")
        same(found("-n", "red", "--state", "Cancelled", "-l", "parity=0"), {names[0]}, "by all of them")
        until(lambda: server.status(), "the server to answer")


def server_id(server, name):
    return next(job["short_id"] for job in items(server.ok("job", "list", "--all", "--name", name, "-o", "json").json(), "jobs")
                if job["name"] == name)
