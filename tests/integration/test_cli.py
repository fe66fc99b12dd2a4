"""The command line, used the way people of docker, kubectl, Slurm and gh would use it."""

import json
import os
import pty
import select
import subprocess
import time

from harness import HODEI, Apart, Dev, check, contains, items, same, until


def names(result):
    return result.out.split()


def test_sizes_follow_one_rule_in_flags_and_files():
    with Dev().start() as dev:
        refused = dev.cli("job", "submit", "--memory", "512", "--", "true")
        same(refused.code, 2, "exit code of a size that is too small to be meant")
        contains(refused.err, "512Mi", "message")
        file = dev.write("job.yaml", "command: {shell: {cmd: 'true'}}\ntimeout: 5m\nmemory: 64Mi\nresources: {cpu: 250m}\n")
        spec = dev.get(dev.submit("--file", file))["spec"]
        same((spec["timeout_ms"], spec["resources"]["memory_mb"], spec["resources"]["cpu_cores"]), (300000, 64, 0.25), "spec")
        flags = dev.get(dev.submit("--memory", "64Mi", "--cpu", "250m", "--timeout", "1w", "--", "true"))["spec"]
        same((flags["timeout_ms"], flags["resources"]), (7 * 24 * 3600 * 1000, spec["resources"]), "flags")


def test_a_printed_job_can_be_submitted_again():
    with Dev().start() as dev:
        id = dev.submit("--name", "again", "--label", "a=b", "--timeout", "30s", "-n", "team", "--", "echo", "a: b")
        first = dev.wait_for(id)
        for form in ("yaml", "json"):
            printed = dev.ok("job", "get", id, "-o", form).out
            second = dev.wait_for(names(dev.ok("job", "submit", "-f", "-", text=printed))[0])
            check(second["short_id"] != id, "another job")
            without_key = lambda spec: {k: v for k, v in spec.items() if k != "idempotency_key"}
            same(without_key(second["spec"]), without_key(first["spec"]), "spec")
            same((second["namespace"], second["state"]), ("team", "Succeeded"), "job")


def test_files_of_many_jobs_selectors_and_bulk_changes():
    with Dev(HODEI_SLOTS=1).start() as dev:
        lines = [json.dumps({"name": f"n{i}", "command": {"shell": {"cmd": "sleep", "args": ["60"]}},
                             "labels": {"batch": "7", "parity": str(i % 2)}}) for i in range(6)]
        ids = names(dev.ok("job", "submit", "--file", dev.write("jobs.jsonl", "\n".join(lines) + "\n")))
        same(len(ids), 6, "jobs")
        multi = dev.write("multi.yaml", "name: other\ncommand: {shell: {cmd: 'true'}}\nlabels: {batch: '8'}\n---\n"
                                        "name: third\ncommand: {shell: {cmd: 'true'}}\n")
        same(len(names(dev.ok("job", "submit", "--file", multi))), 2, "jobs of a YAML file with two documents")
        select_by = lambda *flags: set(names(dev.ok("job", "list", "-o", "name", *flags)))
        same(select_by("-l", "batch=7,parity!=1"), set(ids[0::2]), "a=b,c!=d")
        same(select_by("-l", "parity in (1,2)"), set(ids[1::2]), "in")
        same(len(select_by("-l", "batch notin (7)")), 2, "notin, also of jobs without the label")
        same(len(select_by("-l", "!batch")), 1, "!a")
        same(select_by("--name", "n3"), {ids[3]}, "name")
        same(names(dev.ok("job", "list", "-o", "name", "--sort", "created", "--limit", "2")), ids[:2], "oldest first")
        same(select_by("--since", "1h"), select_by(), "since")
        same(select_by("--until", "1h"), set(), "until")
        bare = dev.ok("job", "list", "--no-headers", "-l", "batch=7").out
        check("STATE" not in bare and len(bare.splitlines()) == 6, f"without headers: {bare!r}")

        asked = dev.cli("job", "cancel", "-l", "batch=7")
        check(asked.code != 0 and "6 jobs" in asked.err and "--yes" in asked.err, lambda: f"no terminal: {asked!r}")
        dev.ok("job", "cancel", "-l", "batch=7", "--yes", "--wait")
        same(select_by("-l", "batch=7", "--state", "Cancelled"), set(ids), "cancelled")
        again = names(dev.ok("job", "retry", "-l", "batch=7,parity=0", "--state", "Cancelled", "--yes"))
        same(len(again), 3, "retried")
        dev.ok("job", "cancel", *again)
        same(dev.cli("job", "wait", *again).code, 1, "cancelled jobs did not succeed")
        same(dev.cli("job", "wait", "other").code, 0, "by name")
        same(dev.ok("job", "get", "n3", "-o", "name").out.strip(), ids[3], "lookup by name")


def test_an_execution_id_is_understood_and_an_attempt_that_is_not_there_is_told():
    with Dev().start() as dev:
        id = dev.submit("--", "echo", "hello")
        dev.wait_for(id)
        same(dev.ok("job", "logs", f"{id}.1").out, "hello\n", "logs of the execution")
        same(dev.ok("job", "get", f"{id}.1", "-o", "name").out.strip(), id, "its job")
        missing = dev.cli("job", "logs", id, "--attempt", "2")
        same(missing.code, 1, "exit code")
        contains(missing.err, "has 1 attempt; there is no attempt 2", "message")


def test_a_dry_run_shows_the_decision_and_queues_nothing():
    with Dev().start() as dev:
        contains(dev.ok("run", "--dry-run", "--", "true").out, "would be placed on worker", "decision")
        contains(dev.ok("job", "submit", "--dry-run", "--constraint", "zone=mars", "--", "true").out, "would wait", "decision")
        same(dev.jobs(), [], "jobs")


def test_a_worker_that_drains_can_be_called_back():
    with Apart().start(worker=False) as dev:
        dev.join("w1", "--slots", "2")
        id = dev.submit("--", "sleep", "60")
        dev.wait_for(id, "Running")
        dev.ok("worker", "drain", "w1")
        waiting = dev.submit("--", "true")
        until(lambda: "Draining" in dev.ok("worker", "get", "w1").out, "the worker to drain")
        same(dev.state(waiting), "Pending", "a job beside a worker that drains")
        contains(dev.ok("worker", "undrain", "w1").out, "takes jobs again", "answer")
        dev.wait_for(waiting, "Succeeded")
        dev.ok("job", "cancel", id, "--wait")
        dev.wait_for(dev.submit("--", "true"), "Succeeded")   # it did not leave when it was empty
        dev.ok("worker", "drain", "w1")
        until(lambda: dev.cli("worker", "undrain", "w1").code != 0, "a worker that has left is not called back")


def test_secret_files_work_with_a_relative_state_folder():
    with Apart().start(worker=False) as dev:
        token = dev.token()["token"]
        process = subprocess.Popen(
            [str(HODEI), "agent", "--state-dir", "relative-state", "--worker-id", "w1"], cwd=dev.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dev.environment(HODEI_TOKEN=token), start_new_session=True)
        dev.remember(process.pid)
        dev.clients.append(process)
        until(lambda: dev.sees("w1"), "the agent to join")
        result = dev.cli("run", "--secret-from", f"token={dev.write('token.txt', 't0k3n-123')}", "--secret-files", "--",
                         "sh", "-c", "wc -c < $HODEI_SECRETS/token")
        same((result.code, result.out.strip()), (0, "9"), f"the secret's file: {result!r}")


def test_the_hint_of_dev_works_as_it_is_printed():
    with Dev().start() as dev:
        line = until(lambda: next((l for l in dev.tail().splitlines() if "try this in another terminal: " in l), None), "the hint")
        command = line.split("try this in another terminal: ")[1].split("   ")[0]
        env = {k: v for k, v in dev.environment().items() if k != "HODEI_SERVER"}
        done = subprocess.run(["sh", "-c", command], env=env, cwd="/", capture_output=True, text=True, timeout=60, check=False)
        same((done.returncode, done.stdout), (0, "hello\n"), f"{command!r}: {done.stderr}")


def on_terminal(command, env, columns, answer=b""):
    """What a command prints on a terminal of so many columns."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(command[0], command, env)
    import fcntl
    import struct
    import termios
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    if answer:
        os.write(fd, answer)
    out = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    os.close(fd)
    return os.waitpid(pid, 0)[1], out.decode()


def test_tables_fit_a_narrow_terminal():
    with Dev().start() as dev:
        dev.wait_for(dev.submit("--name", "日本語の名前 and a rather long name beside it", "--", "sh", "-c", "exit 3"), "Failed")
        env = dev.environment()
        for columns in (40, 60):
            # The shell waits until the size of its terminal is set.
            shell = f"while [ $(stty size | cut -d' ' -f2) != {columns} ]; do :; done; {HODEI} job list"
            code, out = on_terminal(["/bin/sh", "-c", shell], env, columns)
            same(code, 0, "exit code")
            for line in out.splitlines():
                wide = sum(2 if ord(c) > 0x2e80 else 1 for c in line)
                check(wide <= columns, f"{wide} columns on a terminal of {columns}: {line!r}")
