"""Workers that are killed without a word: what they ran is ended before it runs again."""

import os
import signal
import subprocess

import test_hostile_jobs as hostile
from harness import Apart, check, same, until


def kill_and_start_again(server, worker, state, start):
    agent = int((state / "agent.pid").read_text())
    worker.kill()
    os.kill(agent, signal.SIGKILL)
    worker.wait()
    start()


def run_twice(server, state, start, script):
    """A job whose worker is killed while it runs, until its second copy has begun; what then lives of the first."""
    with hostile.sleepers() as mark:
        worker = start(first=True)
        ledger = state.parent / "ledger"
        job = server.submit("--attempts", "3", "--", "sh", "-c",
                            f"echo begun >> {ledger}; " + script.replace("MARK", mark))
        server.wait_for(job, "Running")
        until(lambda: hostile.runaways(mark), "the first copy to run")
        first = hostile.runaways(mark)
        kill_and_start_again(server, worker, state, start)
        until(lambda: len(ledger.read_text().split()) >= 2, "the second copy to begin", 60)
        same([p for p in first if p.alive()], [], "what lives of the first copy when the second one begins")
        server.cli("job", "cancel", job)
        server.wait_for(job)
        same(hostile.runaways(mark), [], "what is left at the end")


def as_root(cgroups, script):
    with Apart(HODEI_CGROUPS=cgroups, HODEI_LEASE="5s").start(worker=False) as server:
        def start(first=False):
            return server.join("w") if first else server.agent("", "w")
        run_twice(server, server.folder / "w", start, script)


def test_what_wiped_its_environment_does_not_outlive_a_killed_worker():
    as_root("off", "env -i sleep MARK; true")


def test_what_left_its_cgroup_and_its_environment_does_not_outlive_a_killed_worker():
    as_root("on", hostile.leave_cgroup() + "env -i sleep MARK; true")


def test_what_left_its_session_too_is_known_by_the_output_that_it_holds():
    as_root("off", "env -i setsid sleep MARK & wait")


def test_nothing_outlives_a_killed_worker_of_a_plain_user():
    if not hostile.AS_ROOT:
        return
    with hostile.PlainUser(HODEI_LEASE="5s").start(worker=False) as server:
        state = server.folder / "w" / "state"

        def start(first=False):
            if first:
                return server.join("w")
            with open(server.folder / "w.log", "ab") as log:
                process = subprocess.Popen(
                    [*hostile.AS_NOBODY, str(server.binary), "agent", "--state-dir", str(state)],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=server.folder, env=server.environment(),
                    start_new_session=True)
            server.remember(process.pid)
            server.clients.append(process)
            return process
        lineage = []

        def start_and_note(first=False):
            process = start(first)
            lineage.append((state / "lineage").read_text().split()[0] if first else "")
            return process
        run_twice(server, state, start_and_note, "env -i sleep MARK; true")
        # Without cgroups nobody can swear that all was found, so the server waited until the lease had ended.
        check((state / "lineage").read_text().split()[0] != lineage[0], "the worker that came back speaks for itself alone")
