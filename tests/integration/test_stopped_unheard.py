"""Workers that are stopped while nobody can hear it, and jobs that try to stop workers: nothing is lost, no attempt is
counted, and no job holds up a stop or brings one about."""

import signal

from harness import Apart, Dev, check, contains, free_port, number, same, until



def log_of(server, name):
    return (server.folder / f"{name}.log").read_text(errors="replace")


def begin(server, mark, work, *flags):
    """A job, once it has begun."""
    at = server.folder / mark
    job = server.submit(*flags, "--name", mark, "--", "sh", "-c", f"echo $$ > {at}; {work}")
    until(lambda: at.exists() and at.read_text().endswith("\n"), f"{mark} to begin")
    server.wait_for(job, "Running")
    return job


def end_server(server, how):
    server.process.send_signal(how)
    server.process.wait(timeout=30)


def stopped_while_the_server_is_away(how):
    with Apart(HODEI_STOP_GRACE="1s").start(worker=False) as server:
        agent = server.join("w", "--slots", "2")
        go = server.folder / "go"
        runs_on = begin(server, "runs-on", "exec sleep 600")
        finishes = begin(server, "finishes", f"echo printed; while [ ! -e {go} ]; do sleep 0.02; done; echo unsent")
        waits = server.submit("--", "sleep", "600")
        end_server(server, how)
        agent.terminate()
        until(lambda: "may finish within 1 s" in log_of(server, "w"), lambda: log_of(server, "w"))
        go.touch()
        same(agent.wait(timeout=60), 0, "exit code of the agent")
        contains(log_of(server, "w"), "the next start reports them", "what it says")
        server.start(worker=False)
        server.agent("", "w", "--slots", "2")
        got = server.wait_for(finishes, "Succeeded", "Failed")
        same((got["state"], len(got["executions"]), number(got["exit_code"]) if "exit_code" in got else 0), ("Succeeded", 1, 0),
             "the job that ended in the grace time")
        logs = server.cli("job", "logs", finishes)
        same((logs.code, logs.out, logs.err), (0, "printed\nunsent\n", ""), "its output, also what it printed while nobody heard it")
        until(lambda: len(server.get(runs_on)["executions"]) == 2, lambda: f"it to run again: {server.get(runs_on)}")
        got = server.wait_for(runs_on, "Running", "Failed")
        same((got["state"], number(got["attempts"]), number(got["max_attempts"])), ("Running", 1, 1), "the job that was interrupted")
        contains(got["executions"][0]["reason"], "interrupted: worker w was stopped", "its history")
        until(lambda: not (server.folder / "w" / "last_words").exists(), "the last words to be told")
        check(server.state(waits) in ("Pending", "Running"), "the job that waited")
        for job in (runs_on, waits):
            server.ok("job", "cancel", job)
            server.wait_for(job, "Cancelled")


def test_a_worker_that_is_stopped_after_its_server_was_killed():
    stopped_while_the_server_is_away(signal.SIGKILL)


def test_a_worker_that_is_stopped_after_its_server_was():
    stopped_while_the_server_is_away(signal.SIGTERM)


def test_a_dev_server_that_was_killed_and_comes_back_on_another_port():
    with Dev(HODEI_SLOTS=1, HODEI_STOP_GRACE="1s").start() as dev:
        job = begin(dev, "runs-on", "exec sleep 600")
        end_server(dev, signal.SIGKILL)
        dev.port = free_port()
        dev.start()
        until(lambda: len(dev.get(job)["executions"]) == 2, lambda: f"it to run again: {dev.get(job)}")
        got = dev.wait_for(job, "Running", "Failed")
        same((got["state"], number(got["attempts"])), ("Running", 1), "the job")
        dev.ok("job", "cancel", job)
        dev.wait_for(job, "Cancelled")


def test_a_job_cannot_stop_the_worker_that_runs_it():
    with Apart(HODEI_STOP_GRACE="30s").start(worker=False) as server:
        agent = server.join("w", "--slots", "2")
        neighbour = begin(server, "neighbour", "exec sleep 600")
        job = server.submit("--attempts", "1", "--", "sh", "-c", "kill -TERM $PPID; kill -INT $PPID; echo told")
        same(number(server.wait_for(job, "Succeeded")["attempts"]), 1, "attempts")
        until(lambda: "sent this worker a stop signal" in log_of(server, "w"), lambda: "it to be said: " + log_of(server, "w"))
        server.wait_for(server.submit("--", "true"), "Succeeded")
        check(agent.poll() is None, "the worker goes on")
        same(server.state(neighbour), "Running", "its neighbour")
        server.ok("job", "cancel", neighbour)
        server.wait_for(neighbour, "Cancelled")


def test_no_job_holds_up_a_stop():
    with Apart(HODEI_STOP_GRACE="0s").start(worker=False) as server:
        agent = server.join("w", "--slots", "1")
        job = begin(server, "stubborn", "trap '' TERM; while :; do sleep 0.1; done", "--kill-grace", "1h")
        agent.terminate()
        same(agent.wait(timeout=30), 0, "exit code of the agent")
        got = server.wait_for(job, "Pending")
        same(number(got.get("attempts")), 0, "attempts")


def test_ctrl_c_of_dev_gives_the_workers_that_it_made_their_time():
    with Dev(HODEI_SLOTS=1, HODEI_STOP_GRACE="20s", HODEI_PROCESS_ENABLED="1").start() as dev:
        go = dev.folder / "go"
        job = begin(dev, "made", f"while [ ! -e {go} ]; do sleep 0.05; done", "--provider", "process")
        check(dev.get(job)["worker_id"].startswith("process-"), "a worker of the provider runs it")
        dev.process.send_signal(signal.SIGINT)
        until(lambda: "1 job may finish within 20 s" in dev.tail(), lambda: "the message: " + dev.tail())
        go.touch()
        same(dev.process.wait(timeout=60), 0, "exit code")
        dev.start()
        got = dev.wait_for(job, "Succeeded")
        same(len(got["executions"]), 1, "executions")


def test_a_second_ctrl_c_of_dev_puts_back_what_runs_on_workers_that_it_made():
    with Dev(HODEI_SLOTS=1, HODEI_STOP_GRACE="10m", HODEI_PROCESS_ENABLED="1").start() as dev:
        job = begin(dev, "made", "exec sleep 600", "--provider", "process")
        dev.process.send_signal(signal.SIGINT)
        until(lambda: "may finish within 600 s" in dev.tail(), lambda: "the message: " + dev.tail())
        dev.process.send_signal(signal.SIGINT)
        same(dev.process.wait(timeout=60), 0, "exit code")
        dev.start()
        until(lambda: len(dev.get(job)["executions"]) == 2, lambda: f"it to run again: {dev.get(job)}", 60)
        got = dev.wait_for(job, "Running", "Failed")
        same((got["state"], number(got["attempts"])), ("Running", 1), "the job")
        contains(got["executions"][0]["reason"], "interrupted", "its history")
        dev.ok("job", "cancel", job)
        dev.wait_for(job, "Cancelled")
