"""What `hodei run` and all other commands do when their output cannot be written, and what `run` says while it waits."""

import os
import signal
import subprocess
import time

from harness import HODEI, PATIENCE, Apart, Dev, check, contains, same, until

# Every command that prints, and what it needs to have something to print.
PRINTING = [
    ["--help"], ["--version"], ["version"], ["help", "job"], ["run", "--help"],
    ["job", "list"], ["job", "list", "-o", "json"], ["job", "get", "JOB"], ["job", "get", "JOB", "-o", "yaml"],
    ["job", "logs", "JOB"], ["job", "logs", "--follow", "JOB"], ["job", "logs", "-o", "json", "JOB"],
    ["job", "watch", "JOB"], ["job", "explain", "JOB"], ["job", "submit", "--", "true"], ["job", "retry", "JOB"],
    ["template", "list", "-o", "json"], ["artifact", "list", "-o", "json"], ["artifact", "get", "file", "-"],
    ["worker", "list"], ["worker", "get", "dev"], ["provider", "list", "-o", "json"], ["pool", "list", "-o", "json"],
    ["scheduler", "get"], ["secret", "list", "-o", "json"], ["audit", "list"], ["tenant", "list"],
    ["limit", "list", "-o", "json"], ["queue"], ["status"], ["top", "--once"], ["otp", "create"],
    ["config", "show"], ["config", "check"], ["completion", "bash"],
    ["run", "--detach", "--", "true"], ["run", "--", "echo", "hello"],
]


def run_to(dev, arguments, out, **options):
    """Exit code and stderr of a command whose stdout is this file or number."""
    done = subprocess.run([str(HODEI), *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                          env=dev.environment(), cwd=dev.folder, timeout=PATIENCE, check=False, text=True, **options)
    return done.returncode, done.stderr


def test_no_command_passes_over_a_full_disk():
    with Dev().start() as dev:
        job = dev.submit("--", "echo", "hello")
        dev.wait_for(job)
        dev.ok("artifact", "put", dev.write("file", "content"))
        with open("/dev/full", "wb") as full:
            for command in PRINTING:
                words = [job if word == "JOB" else word for word in command]
                code, err = run_to(dev, words, full)
                check(code not in (0, 2), f"`hodei {' '.join(words)} > /dev/full` ended with {code}: {err!r}")
                contains(err, "No space left on device", f"message of `hodei {' '.join(words)}`")


def test_a_closed_stdout_is_an_error_and_no_file_of_ours_takes_its_place():
    with Dev().start() as dev:
        code, err = run_to(dev, ["run", "--", "echo", "hello"], None, preexec_fn=lambda: os.close(1))
        same(code, 125, "exit code")
        contains(err, "cannot write", "message")
        code, err = run_to(dev, ["job", "list"], None, preexec_fn=lambda: os.close(1))
        same(code, 1, "exit code of a list")
        contains(err, "cannot write", "message of a list")


def pipe_closed_after_a_line(dev, *flags):
    """`hodei run FLAGS -- … | head -1` with a job that goes on printing; exit code and stderr."""
    client = dev.background("run", *flags, "--", "sh", "-c", "while :; do echo line; sleep 0.1; done")
    same(client.stdout.readline(), "line\n", "first line")
    client.stdout.close()
    client.wait(timeout=PATIENCE)
    return client.returncode, client.stderr.read()


def test_a_reader_that_leaves_does_not_end_the_job():
    with Dev().start() as dev:
        code, err = pipe_closed_after_a_line(dev)
        same(code, 125, "exit code")
        job = dev.jobs()[0]
        same(job["state"], "Running", "state of the job")
        contains(err, f"hodei job logs --follow {job['short_id']}", "how to follow it")
        dev.ok("job", "cancel", job["short_id"])


def test_a_reader_that_leaves_ends_the_job_if_that_is_wanted():
    with Dev().start() as dev:
        code, _ = pipe_closed_after_a_line(dev, "--cancel-on-close")
        same(code, 130, "exit code")
        same(dev.jobs()[0]["state"], "Cancelled", "state of the job")


def test_run_says_that_the_server_is_away_and_that_it_is_back():
    with Dev() as dev:
        dev.start()
        client = dev.background("run", "--", "sh", "-c", "echo begun; while [ ! -e go ]; do sleep 0.1; done; echo done")
        same(client.stdout.readline(), "begun\n", "first line")
        dev.kill("server")
        contains(client.stderr.readline(), "is away", "first note")
        dev.start()
        up = time.monotonic()
        contains(client.stderr.readline(), "the server is back after", "second note")
        check(time.monotonic() - up < 5, f"it was noticed {time.monotonic() - up:.1f} s after the server was up")
        client.send_signal(signal.SIGINT)
        client.wait(timeout=PATIENCE)


def test_run_says_that_a_job_was_interrupted_and_begins_again():
    with Dev().start() as dev:
        go = dev.folder / "go"
        client = dev.background("run", "--", "sh", "-c", f"echo $HODEI_EXECUTION_ID; while [ ! -e {go} ]; do sleep 0.05; done")
        contains(client.stdout.readline(), ".1", "output of the first execution")
        dev.process.send_signal(signal.SIGTERM)   # takes the worker along
        dev.process.wait(timeout=PATIENCE)
        dev.start()
        notes = []
        while not notes or "queued again" not in notes[-1]:
            notes.append(client.stderr.readline())
            check(notes[-1], lambda: f"run ended without the note: {notes}")
        contains(notes[-1], "will start from the beginning: interrupted: worker dev was stopped", "note")
        check(not any("continues" in note for note in notes), lambda: f"the job does not run while the worker is stopped: {notes}")
        contains(client.stdout.readline(), ".2", "output of the second execution")
        go.touch()
        same(client.wait(timeout=PATIENCE), 0, "exit code")


def test_why_a_job_waits_is_told_off_a_terminal_in_the_words_of_explain():
    with Apart().start(worker=False) as dev:
        client = dev.background("run", "--", "true")
        note = client.stderr.readline()
        job = until(lambda: dev.jobs() and dev.jobs()[0]["short_id"], "the job to be queued")
        explained = dev.ok("job", "explain", job).out
        why = note.split("is waiting: ", 1)[-1].strip()
        contains(note, f"hodei: job {job} is waiting: ", "note")
        contains(explained, f"It is waiting: {why}.", "explanation")
        dev.ok("job", "cancel", job)
        client.wait(timeout=PATIENCE)
