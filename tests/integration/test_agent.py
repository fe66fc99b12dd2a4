"""Server and agent started by hand, one-time tokens."""

import signal

from harness import Apart, check, contains, same, until


def end(process):
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=30)


def test_an_agent_joins_with_a_one_time_token():
    with Apart().start(worker=False) as server:
        agent = server.agent(server.token()["token"], "one", "--slots", "3", "--label", "zone=a")
        until(server.connected, lambda: "the agent to join: " + (server.folder / "one.log").read_text()[-1000:])
        worker = server.workers()[0]
        same(int(worker["info"]["slots"]), 3, "slots")
        same(worker["info"]["labels"].get("zone"), "a", "labels")
        same(server.ok("run", "--", "echo", "hello").out, "hello\n", "stdout")
        end(agent)


def test_a_used_or_wrong_token_is_refused():
    with Apart().start(worker=False) as server:
        made = server.token()
        first = server.agent(made["token"], "one")
        until(server.connected, "the first agent to join")
        for name, token in (("two", made["token"]), ("three", "00000000-0000-4000-8000-000000000000"), ("four", "nonsense")):
            late = server.agent(token, name)
            until(lambda: late.poll() is not None, f"agent {name} to give up")
            check(late.returncode != 0, f"agent {name} is refused")
            contains((server.folder / f"{name}.log").read_text(), "token", "message")
        same(len(server.workers()), 1, "workers")
        end(first)


def test_a_worker_that_may_not_join_says_what_to_do_at_every_level():
    with Apart().start(worker=False) as server:
        lost = server.agent("", "no-token", HODEI_LOG_LEVEL="error")
        until(lambda: lost.poll() is not None, "the agent without a token to give up")
        check(lost.returncode != 0, "an agent without a token is a failure")
        said = (server.folder / "no-token.log").read_text()
        contains(said, "it has no token", "what is missing")
        contains(said, "hodei otp create", "what to do")
        contains(said, "HODEI_TOKEN", "where it goes")
        lost = server.agent("nonsense", "bad-token", HODEI_LOG_LEVEL="error")
        until(lambda: lost.poll() is not None, "the agent with a bad token to give up")
        check(lost.returncode != 0, "an agent with a bad token is a failure")
        said = (server.folder / "bad-token.log").read_text()
        contains(said, " error worker[", "the level")
        contains(said, "hodei otp create", "what to do")
        contains(said, "HODEI_TOKEN", "where it goes")
        # One whose server has forgotten it: its session is of no use any more.
        first = server.join("w1")
        end(first)
        server.ok("worker", "unregister", "w1")
        lost = server.agent("", "w1", "--worker-id", "w1", HODEI_LOG_LEVEL="error")
        until(lambda: lost.poll() is not None, "the agent with an old session to give up")
        check(lost.returncode != 0, "an agent with an old session is a failure")
        contains((server.folder / "w1.log").read_text(), "hodei otp create", "what to do")


def test_two_agents_share_the_work_and_one_can_be_unregistered():
    with Apart().start(worker=False) as server:
        agents = [server.agent(server.token()["token"], name, "--slots", "1", "--label", f"name={name}") for name in ("a", "b")]
        until(lambda: sum(bool(w.get("connected")) for w in server.workers()) == 2, "both agents to join")
        go = server.folder / "go"
        jobs = [server.submit("--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done") for _ in range(2)]
        for job in jobs:
            server.wait_for(job, "Running")
        same(len({server.get(job)["worker_id"] for job in jobs}), 2, "workers that run something")
        go.touch()
        for job in jobs:
            server.wait_for(job, "Succeeded")
        gone = server.workers()[0]["info"]["id"]
        server.ok("worker", "unregister", gone)
        until(lambda: gone not in [w["info"]["id"] for w in server.workers() if w["state"] != "Terminated"], "it to leave")
        for agent in agents:
            if agent.poll() is None:
                end(agent)


def test_a_drained_worker_finishes_its_job_takes_nothing_new_and_leaves():
    with Apart().start(worker=False) as server:
        agent = server.agent(server.token()["token"], "one", "--slots", "2")
        until(server.connected, "the agent to join")
        go = server.folder / "go"
        running = server.submit("--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
        server.wait_for(running, "Running")
        server.ok("worker", "drain", server.workers()[0]["info"]["id"])
        waiting = server.submit("--", "true")
        contains(server.ok("job", "explain", waiting).out, "draining", "explanation")
        same(server.state(waiting), "Pending", "state of the job behind the drain")
        go.touch()
        server.wait_for(running, "Succeeded")
        same(agent.wait(timeout=30), 0, "exit code of the agent, which leaves by itself")
        same(server.state(waiting), "Pending", "state of the job behind the drain")


def test_an_agent_comes_back_with_its_session():
    with Apart().start(worker=False) as server:
        made = server.token("--worker-id", "fixed")
        same(made["worker_id"], "fixed", "worker id")
        first = server.agent(made["token"], "one", "--worker-id", "fixed")
        until(server.connected, "the agent to join")
        supervisor = server.remember(first.pid)
        supervisor.send(signal.SIGKILL)
        first.wait(timeout=30)
        server.agent("", "one")
        same(server.ok("run", "--", "echo", "back").out, "back\n", "stdout")
        same([w["info"]["id"] for w in server.workers()], ["fixed"], "workers")


def test_shutdown_of_the_server_is_clean():
    with Apart().start(worker=False) as server:
        server.submit("--", "true")
        server.process.terminate()
        same(server.process.wait(timeout=30), 0, "exit code after SIGTERM")
