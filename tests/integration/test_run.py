"""`hodei run`: streams, exit codes, and what Ctrl-C does."""

import random
import signal
import subprocess
import time

from harness import HODEI, Dev, check, contains, new_job, number, same, until


def test_streams_and_exit_code_are_the_jobs_own():
    with Dev().start() as dev:
        result = dev.cli("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        same(result.code, 7, "exit code")
        same(result.out, "out\n", "stdout")
        check("err\n" in result.err and "out\n" not in result.err, lambda: f"stderr holds the job's errors: {result!r}")


def test_order_and_bytes_of_output_are_kept():
    with Dev().start() as dev:
        result = dev.cli("run", "--", "sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done; printf end")
        same(result.code, 0, "exit code")
        same(result.out, "".join(f"line {i}\n" for i in range(2000)) + "end", "stdout")


def test_exit_codes_of_the_platform():
    with Dev().start() as dev:
        same(dev.cli("run", "--", "true").code, 0, "a job that succeeds")
        same(dev.cli("run", "--", "/no/such/program").code, 127, "a program that is not there")
        not_executable = dev.write("plain.txt", "text")
        same(dev.cli("run", "--", not_executable).code, 126, "a file that is not executable")
        same(dev.cli("run", "--", "sh", "-c", "kill -9 $$").code, 128 + 9, "a job killed by a signal")
        same(dev.cli("run", "--timeout", "300ms", "--", "sleep", "30").code, 124, "a job that timed out")


def test_ctrl_c_cancels_the_job():
    with Dev().start() as dev:
        client = dev.background("run", "--", "sh", "-c", "echo ready; exec sleep 300")
        same(client.stdout.readline(), "ready\n", "first line")
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=30)
        same(client.returncode, 130, "exit code")
        job = dev.jobs()[0]
        same(job["state"], "Cancelled", "state")


def test_detach_answers_with_the_id_at_once():
    with Dev().start() as dev:
        result = dev.ok("run", "--detach", "--", "sh", "-c", "echo later")
        job = dev.wait_for(new_job(result.out), "Succeeded")
        same(dev.ok("job", "logs", job["short_id"]).out, "later\n", "logs")


def test_the_environment_of_an_execution():
    with Dev().start() as dev:
        result = dev.ok("run", "--env", "COLOUR=blue", "--workdir", "/tmp", "--", "sh", "-c",
                        "echo $COLOUR $PWD $HODEI_ATTEMPT; echo $HODEI_JOB_ID; echo $HODEI_EXECUTION_ID; echo $HODEI_EPOCH")
        lines = result.out.splitlines()
        same(lines[0], "blue /tmp 1", "variables and folder")
        job = dev.jobs()[0]
        check(lines[1] in (job["id"], job["short_id"]), f"HODEI_JOB_ID is {lines[1]}, the job is {job['id']}")
        check(lines[2].endswith(".1"), f"HODEI_EXECUTION_ID is {lines[2]}")
        check(int(lines[3]) >= 1, f"HODEI_EPOCH is {lines[3]}")


def test_standard_input_is_empty_and_closed():
    with Dev().start() as dev:
        same(dev.ok("run", "--", "sh", "-c", "cat; echo end").out, "end\n", "stdout")


def test_nothing_of_the_tree_survives_a_time_out():
    with Dev().start() as dev:
        mark = dev.folder / "child.pid"
        # The grandchild leaves its process group and ignores SIGTERM.
        script = f"setsid sh -c 'trap \"\" TERM; echo $$ > {mark}; sleep 300 & wait; sleep 300' & wait"
        same(dev.cli("run", "--timeout", "1s", "--", "sh", "-c", script).code, 124, "exit code")
        child = dev.remember(int(mark.read_text()))
        until(lambda: not child.alive(), f"the grandchild ({child}) to be gone")


def test_a_job_that_ignores_the_request_ends_when_its_grace_does():
    with Dev().start() as dev:
        began = time.monotonic()
        script = "trap '' TERM; while :; do sleep 0.05; done"
        same(dev.cli("run", "--timeout", "300ms", "--kill-grace", "300ms", "--", "sh", "-c", script).code, 124, "exit code")
        # Nobody may wait for the next heartbeat, which comes every ten seconds.
        check(time.monotonic() - began < 7, f"it took {time.monotonic() - began:.1f} s")


def test_a_killed_tree_does_not_harm_the_jobs_after_it():
    with Dev(HODEI_SLOTS=1).start() as dev:
        # What held the killed tree is used again for the next job.
        for script in ("sleep 300 & exit 0", "setsid sleep 300 & exit 0", "(sleep 300 &) ; exec sleep 0.01"):
            same(dev.cli("run", "--", "sh", "-c", script).code, 0, f"exit code of {script!r}")
            same(dev.cli("run", "--", "echo", "next").out, "next\n", "the job after it")
        same(dev.cli("run", "--timeout", "200ms", "--", "sh", "-c", "sleep 300 & sleep 300").code, 124, "a time-out")
        same(dev.cli("run", "--", "echo", "next").out, "next\n", "the job after it")


def test_two_installations_on_one_machine_leave_each_other_alone():
    with Dev().start() as one, Dev() as two:
        client = one.background("run", "--", "sh", "-c", "echo ready; exec sleep 300")
        same(client.stdout.readline(), "ready\n", "first line")
        two.start()
        same(two.ok("run", "--", "echo", "other").out, "other\n", "stdout of the other installation")
        same(number(one.status()["jobs_running"]), 1, "running jobs of the first")
        check(client.poll() is None, "the job of the first goes on")


def test_binary_output_arrives_byte_by_byte():
    with Dev().start() as dev:
        data = random.Random(7).randbytes(3_000_000)
        (dev.folder / "bytes").write_bytes(data)
        done = subprocess.run([str(HODEI), "run", "--", "cat", str(dev.folder / "bytes")], capture_output=True, timeout=60,
                              env=dev.environment(), check=False)
        same((done.returncode, done.stdout == data), (0, True), "exit code and bytes")


def test_bytes_that_are_not_text_are_refused_as_arguments():
    with Dev().start() as dev:
        done = subprocess.run([HODEI, "run", "--", "echo", b"\xff\xfe"], capture_output=True, env=dev.environment(), check=False)
        same(done.returncode, 2, "exit code")
        contains(done.stderr.decode(), "command.shell.args", "message")
        contains(done.stderr.decode(), "UTF-8", "message")


def test_arguments_arrive_as_they_were_typed():
    with Dev().start() as dev:
        for n in range(5):
            result = dev.ok("run", "--", "printf", "%s|", "a b", "$HOME", "*", str(n))
            same(result.out, f"a b|$HOME|*|{n}|", "stdout")


def test_an_unknown_command_gets_a_proposal():
    with Dev() as dev:
        result = dev.cli("jbo", "list")
        check(result.code != 0, "an unknown command is refused")
        contains(result.err, "job", "proposal")
