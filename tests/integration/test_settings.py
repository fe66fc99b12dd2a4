"""Settings that change what workers and the server do: batches of output, the time to register, the life of tokens."""

import datetime

from harness import Apart, check, number, same, until

LINES = 20
# One line after the other, slowly enough that each could be a batch of its own.
PRINTS = f"i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo line $i; sleep 0.1; done"


def batches(server):
    return number(server.status().get("log_batches"))


def test_output_is_sent_in_batches_of_the_size_and_interval_that_the_worker_is_told():
    # What the server itself is told is meant for the workers that its provider `process` makes.
    with Apart(HODEI_PROCESS_ENABLED="1", HODEI_LOG_BATCH_LINES="1", HODEI_LOG_BATCH_INTERVAL="10s") as server:
        server.start(worker=False)
        server.join("by-line", "--label", "kind=by-line")
        server.join("by-five", "--label", "kind=by-five", HODEI_LOG_BATCH_LINES="5", HODEI_LOG_BATCH_INTERVAL="10s")
        server.join("often", "--label", "kind=often", HODEI_LOG_BATCH_LINES="10000", HODEI_LOG_BATCH_INTERVAL="1ms")
        server.join("patient", "--label", "kind=patient", HODEI_LOG_BATCH_LINES="10000", HODEI_LOG_BATCH_INTERVAL="10s")
        sent = {}
        for worker in ("by-line", "by-five", "often", "patient", "made"):
            before = batches(server)
            where = ("--provider", "process") if worker == "made" else ("--constraint", f"kind={worker}")
            job = server.submit(*where, "--", "sh", "-c", PRINTS)
            server.wait_for(job, "Succeeded")
            until(lambda: server.ok("job", "logs", job).out.count("\n") == LINES, "all of its output")
            sent[worker] = batches(server) - before
        # A busy machine may put lines together, and take so long that the interval ends meanwhile.
        for worker in ("by-line", "often", "made"):
            check(sent[worker] >= LINES / 2, f"a batch for each line of {worker}: {sent}")
        check(4 <= sent["by-five"] < LINES / 2, f"the first line, then five at a time: {sent}")
        check(sent["patient"] <= 4, f"the first line, and the rest with the end: {sent}")


def test_a_worker_that_runs_and_does_not_register_is_given_up_after_the_limit():
    with Apart(HODEI_REGISTRATION_LIMIT="1s") as server:
        silent = server.write("worker", "#!/bin/sh\nexec sleep 1000\n")
        silent.chmod(0o755)
        server.start(worker=False)
        server.ok("provider", "add", "silent", "--type", "process", "--option", f"binary={silent}")
        job = server.submit("--provider", "silent", "--", "true")

        def words():
            return server.ok("job", "explain", job).out
        until(lambda: "did not register within 1 s" in words(), lambda: f"the worker to be given up: {words()}\n{server.tail()}")
        server.ok("job", "cancel", job)
        until(lambda: server.cli("provider", "rm", "silent").code == 0, "the last of its workers to be gone")


def test_a_token_says_that_it_lives_as_long_as_the_setting_says():
    for life, seconds in (("90s", 90), ("2h", 7200)):
        with Apart(HODEI_OTP_LIFE=life) as server:
            server.start(worker=False)
            before = datetime.datetime.now(datetime.timezone.utc)
            ends = datetime.datetime.fromisoformat(server.token()["expires_at"].replace("Z", "+00:00"))
            left = (ends - before).total_seconds()
            check(seconds <= left < seconds + 30, f"a token of {life} lives for {left} s")
