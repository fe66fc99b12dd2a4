"""Standard input of `hodei run`: streamed to the job, through restarts of everything, and never taken for whole when it is not."""

import hashlib
import os
import random
import signal
import subprocess

from harness import HODEI, PATIENCE, Apart, Dev, check, contains, number, same, until


def sending(dev, *arguments, **options):
    """A `hodei run` whose standard input is a pipe in our hands."""
    client = subprocess.Popen([str(HODEI), "run", *(str(a) for a in arguments)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=dev.folder, env=dev.environment(),
                              start_new_session=True, **options)
    dev.clients.append(client)
    return client


def spools(dev):
    return sorted(path.name for path in (dev.data / "stdin").iterdir())


def test_what_is_piped_in_reaches_the_job_byte_by_byte():
    with Dev().start() as dev:
        same(dev.ok("run", "--", "cat", text="hi\n").out, "hi\n", "stdout")
        same(dev.ok("run", "--", "sh", "-c", "cat; echo end", text="").out, "end\n", "stdout of an empty input")
        data = random.Random(3).randbytes(5_000_000)
        done = subprocess.run([str(HODEI), "run", "--", "sha256sum"], input=data, capture_output=True, timeout=PATIENCE,
                              env=dev.environment(), check=False)
        contains(done.stdout.decode(), hashlib.sha256(data).hexdigest(), "checksum of what the job read")
        until(lambda: not spools(dev), "inputs of finished jobs to be gone")


def test_lines_arrive_as_they_are_written():
    with Dev().start() as dev:
        client = sending(dev, "--", "cat")
        for line in (b"one\n", b"two\n"):
            client.stdin.write(line)
            client.stdin.flush()
            same(client.stdout.readline(), line, "the line")
        client.stdin.close()
        same(client.wait(timeout=PATIENCE), 0, "exit code")


def test_a_closed_input_and_dev_null_are_empty():
    with Dev().start() as dev:
        same(dev.ok("run", "--", "sh", "-c", "cat; echo end").out, "end\n", "stdout with /dev/null")
        done = subprocess.run([str(HODEI), "run", "--", "sh", "-c", "cat; echo end"], capture_output=True, text=True,
                              timeout=PATIENCE, env=dev.environment(), check=False, preexec_fn=lambda: os.close(0))
        same((done.returncode, done.stdout), (0, "end\n"), "with a closed one")
        same(dev.ok("run", "--no-stdin", "--", "sh", "-c", "cat; echo end", text="unread").out, "end\n", "--no-stdin")


def test_submit_and_detach_read_nothing():
    with Dev().start() as dev:
        for words in (["job", "submit"], ["run", "--detach"]):
            job = dev.ok(*words, "-o", "name", "--", "sh", "-c", "cat; echo end", text="unread").out.strip().split("/")[-1]
            dev.wait_for(job, "Succeeded")
            same(dev.ok("job", "logs", job).out, "end\n", f"what the job of `{words}` read")


def test_secrets_take_standard_input_and_that_is_said():
    with Dev().start() as dev:
        dev.ok("secret", "set", "token", "--value-stdin", text="s3cretvalue")
        result = dev.ok("run", "--secret", "token", "--", "sh", "-c", "wc -c", text="mine")
        contains(result.err, "standard input is not sent", "note")
        same(result.out.strip(), str(len('{"token":"s3cretvalue"}')), "what the job read")


def test_a_job_that_reads_nothing_holds_nobody_up():
    with Dev().start() as dev:
        client = sending(dev, "--", "sh", "-c", "sleep 1; echo done")
        try:
            client.stdin.write(b"x" * 4_000_000)
        except BrokenPipeError:
            pass
        same(client.stdout.read(), b"done\n", "stdout")
        same(client.wait(timeout=PATIENCE), 0, "exit code")


def test_a_job_that_ends_early_ends_the_command():
    with Dev().start() as dev:
        yes = subprocess.Popen(["yes"], stdout=subprocess.PIPE)
        done = subprocess.run([str(HODEI), "run", "--", "head", "-1"], stdin=yes.stdout, capture_output=True, timeout=PATIENCE,
                              env=dev.environment(), check=False)
        yes.kill()
        yes.wait()
        same((done.returncode, done.stdout), (0, b"y\n"), "exit code and stdout")


def test_an_input_larger_than_what_is_kept_passes_through():
    with Dev(HODEI_STDIN_SIZE="1MiB").start() as dev:
        data = random.Random(4).randbytes(8_000_000)
        done = subprocess.run([str(HODEI), "run", "--", "sha256sum"], input=data, capture_output=True, timeout=PATIENCE,
                              env=dev.environment(), check=False)
        contains(done.stdout.decode(), hashlib.sha256(data).hexdigest(), "checksum of what the job read")


def test_restarts_of_server_and_agent_lose_and_double_nothing():
    with Dev().start() as dev:
        data = random.Random(5).randbytes(3_000_000)
        client = sending(dev, "--", "sh", "-c", "while [ ! -e GO ]; do sleep 0.05; done; sha256sum".replace(
            "GO", str(dev.folder / "go")))
        client.stdin.write(data[:1_000_000])
        client.stdin.flush()
        until(lambda: any(s.endswith(".open") for s in spools(dev)), "some of it to be stored")
        dev.kill("agent")
        dev.kill("server")
        dev.start()
        (dev.folder / "go").touch()
        client.stdin.write(data[1_000_000:])
        client.stdin.close()
        contains(client.stdout.read().decode(), hashlib.sha256(data).hexdigest(), "checksum of what the job read")
        same(client.wait(timeout=PATIENCE), 0, "exit code")


def test_a_second_attempt_reads_all_of_it_again():
    with Dev().start() as dev:
        result = dev.cli("run", "--attempts", "2", "--", "sh", "-c", "cat; [ $HODEI_ATTEMPT = 2 ]", text="all of it\n")
        same((result.code, result.out), (0, "all of it\n" * 2), "exit code and stdout of both attempts")


def test_a_second_attempt_is_not_started_without_the_whole_input():
    with Dev(HODEI_STDIN_SIZE="64KiB").start() as dev:
        mark = dev.folder / "starts"
        result = dev.cli("run", "--attempts", "2", "--", "sh", "-c", f"echo x >> {mark}; cat > /dev/null; exit 1",
                         text="x" * 1_000_000)
        check(result.code != 0, f"it must fail: {result!r}")
        same(mark.read_text(), "x\n", "starts of the program")
        job = dev.jobs()[0]
        same(job["failure"], "input_error", "failure")
        contains(job["reason"], "stdin_size", "reason")


def test_an_input_whose_client_vanishes_does_not_pass_for_a_whole_one():
    with Dev(HODEI_STDIN_WAIT="1s").start() as dev:
        client = sending(dev, "--", "sh", "-c", "cat > /dev/null; echo read")
        client.stdin.write(b"half")
        client.stdin.flush()
        job = until(lambda: [j for j in dev.jobs() if j["state"] == "Running"], "the job to run")[0]["short_id"]
        until(lambda: spools(dev), "some of it to be stored")
        client.send_signal(signal.SIGKILL)
        client.wait()
        ended = dev.wait_for(job, "Failed")
        same(ended["failure"], "input_error", "failure")
        contains(ended["reason"], "broke off after 4 bytes", "reason")


def test_a_job_that_never_read_outlives_its_client():
    with Dev(HODEI_STDIN_WAIT="1s").start() as dev:
        client = sending(dev, "--", "sh", "-c", f"while [ ! -e {dev.folder}/go ]; do sleep 0.05; done")
        job = until(lambda: [j for j in dev.jobs() if j["state"] == "Running"], "the job to run")[0]["short_id"]
        client.send_signal(signal.SIGKILL)
        client.wait()
        (dev.folder / "go").touch()
        dev.wait_for(job, "Succeeded")


def test_an_input_waits_for_a_worker_as_its_job_does():
    with Apart().start(worker=False) as dev:
        client = sending(dev, "--", "cat")
        job = until(lambda: dev.jobs(), "the job to be queued")[0]["short_id"]
        contains(dev.ok("job", "explain", job).out, "there are no workers", "explanation")
        same(dev.get(job)["spec"]["takes_stdin"], True, "the spec")
        dev.join("w1")
        client.stdin.write(b"late\n")
        client.stdin.close()
        same(client.stdout.read(), b"late\n", "stdout")
        same(client.wait(timeout=PATIENCE), 0, "exit code")


def test_a_person_cannot_retry_what_only_a_client_had():
    with Dev().start() as dev:
        dev.ok("run", "--", "cat", text="x")
        refused = dev.cli("job", "retry", dev.jobs()[0]["short_id"])
        check(refused.code != 0, "it is refused")
        contains(refused.err, "hodei run", "what to do")
        same(number(len(dev.jobs())), 1, "jobs")


def test_a_job_with_an_idle_pipe_is_retried_with_an_empty_input():
    with Dev().start() as dev:
        client = sending(dev, "--", "false")   # as a script or a CI runner leaves it: open, and nothing comes
        same(client.wait(timeout=PATIENCE), 1, "exit code")
        job = dev.jobs()[0]["short_id"]
        contains(dev.cli("job", "retry", job).err, f"hodei job retry --no-stdin {job}", "what to do")
        again = dev.ok("job", "retry", "--no-stdin", job).out.strip()
        ended = dev.wait_for(again, "Failed")
        same((ended["failure"], "takes_stdin" in ended["spec"]), ("non_zero_exit", False), "how the new job ended, and its input")


def test_a_waiting_job_whose_input_broke_off_says_so():
    with Apart(HODEI_STDIN_WAIT="1s").start(worker=False) as dev:
        client = sending(dev, "--", "cat")
        client.stdin.write(b"half")
        client.stdin.flush()
        job = until(lambda: dev.jobs(), "the job to be queued")[0]["short_id"]
        until(lambda: spools(dev), "some of the input to be stored")
        client.kill()
        client.wait()
        broken = "its standard input broke off after 4 bytes"
        until(lambda: broken in dev.get(job).get("reason", ""), lambda: f"the reason of the job: {dev.get(job)}")
        contains(dev.ok("job", "list").out, broken, "list")
        contains(dev.ok("job", "explain", job).out, broken, "explanation")
        same(dev.state(job), "Pending", "state")
        dev.join("w1")
        same(dev.wait_for(job, "Failed")["failure"], "input_error", "failure once there is a worker")
