"""`hodei dev` when its parts are killed with -9: jobs keep running and are taken back; SIGTERM ends everything."""

import os
import signal

from harness import Dev, check, number, path_of, same, until

# Writes one line per start, then lives until a file appears.
WAITER = "echo start $$ $HODEI_EXECUTION_ID >> {ledger}; echo begun; while [ ! -e {go} ]; do sleep 0.05; done; echo done"


def start_waiter(dev):
    """A job that runs until `go` is touched; answers with (id, go, ledger, its process)."""
    go, ledger = dev.folder / "go", dev.folder / "ledger"
    id = dev.submit("--", "sh", "-c", WAITER.format(ledger=ledger, go=go))
    until(lambda: ledger.exists() and ledger.read_text().endswith("\n"), "the job to start")
    return id, go, ledger, dev.remember(int(ledger.read_text().split()[1]))


def finish_waiter(dev, id, go, ledger, process):
    """The job is still the same process; it ends well, having started once."""
    check(process.alive(), f"the job's process ({process}) lives")
    go.touch()
    job = dev.wait_for(id, "Succeeded", patience=60)
    same(len(ledger.read_text().splitlines()), 1, "starts in the ledger")
    same(path_of(job), ["Pending", "Scheduled", "Running", "Succeeded"], "history")
    same(len(job["executions"]), 1, "executions")
    same(dev.ok("job", "logs", id).out, "begun\ndone\n", "output, without loss or repetition")


def test_the_worker_is_taken_back_after_the_server_was_killed():
    with Dev().start() as dev:
        supervisor, agent = dev.role("supervisor"), dev.role("agent")
        dev.kill("server")
        check(supervisor.alive() and agent.alive(), "supervisor and agent outlive the server")
        dev.start()
        same(dev.role("supervisor").pid, supervisor.pid, "supervisor")
        same(dev.role("agent").pid, agent.pid, "agent")
        same(len(dev.ok("worker", "list", "-o", "name").out.split()), 1, "number of workers")
        same(dev.ok("run", "--", "echo", "back").out, "back\n", "a job after that")


def test_a_job_outlives_the_server_and_then_the_agent():
    with Dev().start() as dev:
        waiter = start_waiter(dev)
        dev.kill("server")
        dev.start()
        agent = dev.kill("agent")
        until(lambda: number((dev.status() or {}).get("agent_pid")) not in (0, agent.pid), "a new agent")
        dev.wait_until_up()
        finish_waiter(dev, *waiter)


def test_a_job_that_ends_while_the_server_is_away_is_reported_later():
    with Dev().start() as dev:
        id, go, ledger, process = start_waiter(dev)
        dev.kill("server")
        go.touch()
        until(lambda: not process.alive(), "the job to end")
        dev.start()
        job = dev.wait_for(id, "Succeeded")
        same(dev.ok("job", "logs", id).out, "begun\ndone\n", "output")
        same(number(job["attempts"]), 1, "attempts")
        same(len(ledger.read_text().splitlines()), 1, "starts")


def test_the_agent_is_started_again():
    with Dev().start() as dev:
        supervisor = dev.role("supervisor")
        waiter = start_waiter(dev)
        agent = dev.kill("agent")
        until(lambda: number((dev.status() or {}).get("agent_pid")) not in (0, agent.pid), "a new agent")
        same(dev.role("supervisor").pid, supervisor.pid, "supervisor")
        finish_waiter(dev, *waiter)


def test_a_killed_supervisor_loses_its_jobs_and_they_are_retried():
    with Dev().start() as dev:
        go, ledger = dev.folder / "go", dev.folder / "ledger"
        id = dev.submit("--attempts", "3", "--", "sh", "-c", WAITER.format(ledger=ledger, go=go))
        until(lambda: ledger.exists() and ledger.read_text().endswith("\n"), "the job to start")
        first = dev.remember(int(ledger.read_text().split()[1]))
        dev.kill("supervisor")
        until(lambda: len(ledger.read_text().splitlines()) == 2, "the job to be started again", patience=90)
        check(not first.alive(), f"the first copy ({first}) is dead before the second starts")
        go.touch()
        job = dev.wait_for(id, "Succeeded", patience=90)
        same(len(job["executions"]), 2, "executions")
        check(job["executions"][0]["reason"], "the lost execution says why")


def test_what_was_acknowledged_is_there_after_a_kill():
    with Dev().start(worker=False) as dev:
        ids = [dev.submit("--provider", "nobody", "--name", f"job-{n}", "--", "true") for n in range(10)]
        dev.kill("server")
        dev.start(worker=False)
        same({job["short_id"] for job in dev.jobs()} | {job["id"] for job in dev.jobs()} >= set(ids), True, "all are there")
        same({dev.state(id) for id in ids}, {"Pending"}, "states")


def test_a_client_that_follows_a_job_comes_back_by_itself():
    with Dev().start() as dev:
        go = dev.folder / "go"
        client = dev.background("run", "--", "sh", "-c", f"echo begun; while [ ! -e {go} ]; do sleep 0.05; done; echo done; exit 5")
        same(client.stdout.readline(), "begun\n", "first line")
        dev.kill("server")
        dev.start()
        go.touch()
        out, err = client.communicate(timeout=60)
        same((out, client.returncode), ("done\n", 5), f"the rest of the output and the exit code (stderr {err!r})")


def end_with(signal_number):
    with Dev().start() as dev:
        _, _, _, process = start_waiter(dev)
        everything = [dev.role(name) for name in ("server", "supervisor", "agent")] + [process]
        os.kill(dev.process.pid, signal_number)
        dev.process.wait(timeout=30)
        until(lambda: not any(p.alive() for p in everything), lambda: f"to be gone: {[p for p in everything if p.alive()]}")


def test_sigterm_ends_server_worker_and_jobs():
    end_with(signal.SIGTERM)


def test_ctrl_c_ends_server_worker_and_jobs():
    end_with(signal.SIGINT)


def test_dev_starts_again_after_a_clean_end():
    with Dev().start() as dev:
        dev.ok("run", "--", "true")
        dev.process.terminate()
        dev.process.wait(timeout=30)
        dev.start()
        same(dev.ok("run", "--", "echo", "again").out, "again\n", "stdout")
        same(len(dev.jobs()), 2, "jobs")
