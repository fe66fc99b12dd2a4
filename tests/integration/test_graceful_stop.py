"""A worker that is stopped loses nothing: what it never started waits on, what it runs may end or is put back, no attempt
is counted, and it comes back with its session. And two starts of one worker never run a job at the same time."""

import os
import shutil
import signal

from harness import PATIENCE, Apart, Dev, check, contains, items, number, path_of, same, until

# Writes a line when it begins and one when it ends, the way an outsider sees whether copies overlap. SIGTERM ends it.
NOTED = 'echo "begin $HODEI_EXECUTION_ID $HODEI_ATTEMPT" >> {ledger}; {work}; echo "end $HODEI_EXECUTION_ID $HODEI_ATTEMPT" >> {ledger}'


def noted(server, work, *flags):
    ledger = server.folder / "ledger"
    return server.submit(*flags, "--", "sh", "-c", NOTED.format(ledger=ledger, work=work))


def lines(server):
    ledger = server.folder / "ledger"
    return ledger.read_text().splitlines() if ledger.exists() else []


def begun(server, count=1):
    until(lambda: sum(line.startswith("begin") for line in lines(server)) >= count, f"{count} executions to begin")


def log_of(server, name):
    return (server.folder / f"{name}.log").read_text(errors="replace")


def stop(process, patience=30):
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=patience)


def test_ctrl_c_of_dev_loses_none_of_five_jobs():
    with Dev(HODEI_SLOTS=1).start() as dev:
        go = dev.folder / "go"
        jobs = [noted(dev, f"while [ ! -e {go} ]; do sleep 0.05; done") for _ in range(5)]
        begun(dev)
        dev.process.send_signal(signal.SIGINT)
        same(dev.process.wait(timeout=30), 0, "exit code after Ctrl-C")
        contains(dev.tail(), "stopping: 1 job may finish within 0 s", "what is said at the terminal")
        dev.start()
        same([j["state"] for j in map(dev.get, jobs) if j["state"] in ("Failed", "Cancelled", "Timeout")], [], "ended jobs")
        go.touch()
        for job in jobs:
            dev.wait_for(job, "Succeeded")
        first = dev.get(jobs[0])
        same(number(first["attempts"]), 1, "attempts of the job that was interrupted")
        same(len(first["executions"]), 2, "its executions")
        contains(first["executions"][0]["reason"], "interrupted: worker dev was stopped", "the reason in its history")
        for job in jobs[1:]:
            same(number(dev.get(job)["attempts"]), 1, "attempts of a job that waited")
        # Beside those that the process provider made for the jobs that waited.
        by_hand = [w for w in items(dev.ok("worker", "list", "-o", "json").json(), "workers") if not w["info"]["id"].startswith("process-")]
        same([w["info"]["id"] for w in by_hand], ["dev"], "workers that nobody made")


def test_a_second_ctrl_c_does_not_wait():
    with Dev(HODEI_STOP_GRACE="10m").start() as dev:
        job = noted(dev, "sleep 600")
        begun(dev)
        dev.process.send_signal(signal.SIGINT)
        until(lambda: "may finish within 600 s" in dev.tail(), lambda: "the message: " + dev.tail())
        check(dev.process.poll() is None, "it waits for the job")
        same(dev.state(job), "Running", "state while it waits")
        dev.process.send_signal(signal.SIGINT)
        same(dev.process.wait(timeout=30), 0, "exit code")
        dev.start()
        dev.wait_for(job, "Running")
        same(number(dev.get(job)["attempts"]), 1, "attempts")
        dev.ok("job", "cancel", job)   # or the end of this test would wait for it
        dev.wait_for(job, "Cancelled")


def test_a_drained_worker_of_dev_is_not_started_again():
    with Dev().start() as dev:
        supervisor = dev.role("supervisor")
        dev.ok("worker", "drain", "dev", "--reason", "maintenance")
        until(lambda: not supervisor.alive(), "the worker to leave")
        until(lambda: "worker dev has left: drained: maintenance" in dev.tail(), lambda: "the message: " + dev.tail())
        workers = items(dev.ok("worker", "list", "--all", "-o", "json").json(), "workers")
        same([w["state"] for w in workers if w["info"]["id"] == "dev"], ["Terminated"], "state of the worker")
        same(number(dev.status().get("supervisor_pid")), 0, "supervisor")
        dev.process.send_signal(signal.SIGTERM)
        same(dev.process.wait(timeout=PATIENCE), 0, "exit code of dev")
        dev.start()
        same(dev.cli("run", "--no-stdin", "--", "true").code, 0, "a job after the next start")


def test_a_worker_of_dev_that_dies_is_started_again():
    with Dev().start() as dev:
        dev.kill("supervisor")
        until(lambda: number(dev.status().get("supervisor_pid")), "another supervisor")
        same(dev.cli("run", "--no-stdin", "--", "true").code, 0, "a job")


def test_sigterm_of_an_agent_with_another_standing_by():
    with Apart().start(worker=False) as server:
        first = server.join("first", "--slots", "2")
        jobs = [noted(server, "sleep 600" if n < 2 else "true") for n in range(20)]
        begun(server, 2)
        running = [job for job in jobs if server.state(job) == "Running"]
        same(len(running), 2, "jobs on the first worker")
        server.join("second", "--slots", "4")
        # The second takes what waits while the first is being stopped.
        same(stop(first), 0, "exit code of the agent")
        for job in jobs[2:]:
            same(number(server.wait_for(job, "Succeeded")["attempts"]), 1, "attempts")
        for job in running:
            got = server.wait_for(job, "Running")
            same(got["worker_id"], "second", "where an interrupted job runs again")
            same(number(got["attempts"]), 1, "its attempts")
        same([j["state"] for j in server.jobs() if j["state"] in ("Failed", "Timeout")], [], "failed jobs")


def test_what_runs_may_end_within_the_grace_time():
    with Apart(HODEI_STOP_GRACE="60s").start(worker=False) as server:
        agent = server.join("one", "--slots", "1")
        go = server.folder / "go"
        running = noted(server, f"while [ ! -e {go} ]; do sleep 0.05; done")
        begun(server)
        waiting = server.submit("--", "true")
        agent.send_signal(signal.SIGTERM)
        until(lambda: [w["state"] for w in server.workers()] == ["Draining"], "the worker to be shown as Draining")
        contains(log_of(server, "one"), "1 execution may finish within 60 s", "what the agent says")
        contains(server.ok("job", "explain", waiting).out, "being stopped", "explanation of a job that waits")
        same(server.state(running), "Running", "state in the grace time")
        go.touch()
        same(agent.wait(timeout=30), 0, "exit code")
        job = server.wait_for(running, "Succeeded")
        same(len(job["executions"]), 1, "executions")
        same(server.state(waiting), "Pending", "state of the job that never started")
        contains(server.ok("worker", "list").out, "stopped", "the list of workers")


def test_what_runs_longer_is_interrupted_and_run_again_by_the_same_worker_without_a_token():
    with Apart(HODEI_STOP_GRACE="200ms").start(worker=False) as server:
        agent = server.join("one", "--slots", "1")
        go = server.folder / "go"
        job = noted(server, f"trap 'exit 0' TERM; while [ ! -e {go} ]; do sleep 0.05; done", "--attempts", "1")
        begun(server)
        same(stop(agent), 0, "exit code")
        got = server.wait_for(job, "Pending")
        same(number(got.get("attempts")), 0, "attempts")
        contains(got["executions"][0]["reason"], "interrupted", "its history")
        server.agent("", "one")                       # no token: the session is in its state folder
        until(lambda: server.sees("one"), lambda: "the worker to come back: " + log_of(server, "one"))
        begun(server, 2)
        same([w["state"] for w in server.workers()], ["Busy"], "state of the worker that is back")
        go.touch()
        got = server.wait_for(job, "Succeeded")
        same(number(got["attempts"]), 1, "attempts")
        same(path_of(got), ["Pending", "Scheduled", "Running", "Pending", "Scheduled", "Running", "Succeeded"], "history")
        same(lines(server)[0].split()[2], "1", "HODEI_ATTEMPT of the interrupted execution")
        same(lines(server)[-1].split()[2], "1", "HODEI_ATTEMPT of the one that counts")


def alive(pid):
    return os.path.exists(f"/proc/{pid}")


def second_start_waits(start_other):
    """Another start of a worker that runs a job appears by `start_other`: it waits until the lease proves that job dead."""
    with Apart(HODEI_LEASE="3s").start(worker=False) as server:
        server.join("w1", "--slots", "1")
        pids = server.folder / "pids"
        job = server.submit("--attempts", "5", "--", "sh", "-c", f"echo $$ >> {pids}; exec sleep 600")
        until(lambda: pids.exists() and pids.read_text().endswith("\n"), "the job to start")
        original = server.remember(int(pids.read_text().split()[0]))
        start_other(server)
        until(lambda: "must wait until it is gone" in log_of(server, "other"), lambda: "the second to be told: " + log_of(server, "other"))
        asked = log_of(server, "other").count("must wait")
        until(lambda: log_of(server, "other").count("must wait") >= asked + 3, "it to ask again")
        same(len(pids.read_text().split()), 1, "starts while the first is alive")
        check(original.alive(), "the first copy goes on")
        # The agent of the first falls silent. Its supervisor ends the job when the lease is over, the server gives it to the
        # second half a lease later.
        agent = server.remember(int((server.folder / "w1" / "agent.pid").read_text()))
        agent.send(signal.SIGSTOP)
        until(lambda: len(pids.read_text().split()) == 2, "the second to run the job", patience=60)
        check(not original.alive(), "the first copy is dead before the second starts")
        agent.send(signal.SIGCONT)
        got = server.wait_for(job, "Running")
        same(number(got["attempts"]), 2, "attempts")
        server.ok("job", "cancel", job)
        server.wait_for(job, "Cancelled")
        same(len(pids.read_text().split()), 2, "starts")


def test_a_second_agent_with_a_new_token_waits_until_the_first_is_gone():
    def start(server):
        token = server.token("--worker-id", "w1")["token"]
        server.agent(token, "other", "--worker-id", "w1", "--slots", "1")
    second_start_waits(start)


def test_a_copy_of_a_state_folder_waits_until_the_original_is_gone():
    def start(server):
        shutil.copytree(server.folder / "w1", server.folder / "other", ignore=shutil.ignore_patterns("work", "stage"))
        server.agent("", "other", "--slots", "1")
    second_start_waits(start)
