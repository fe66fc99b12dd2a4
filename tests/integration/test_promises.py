"""What the specification promises, seen from outside: status of workers, keys, ids, health, the audit trail, providers."""

import json
import pathlib
import time

from harness import Apart, Dev, check, contains, items, number, same, until
from raw_grpc import OK, call


def test_a_worker_that_reports_itself_unfit_gets_no_work():
    with Apart(HODEI_LEASE="3s") as server:    # heartbeats come every second
        server.start(worker=False)
        server.join("w1")
        mark = server.folder / "w1" / "unfit"
        mark.write_text("the gpu fell off the bus\n")
        worker = until(lambda: next((w for w in server.workers() if w.get("status")), None), "the worker to say so")
        same(worker["status"], "the gpu fell off the bus", "status of the worker")
        check(worker.get("unhealthy"), lambda: f"the worker is not shown as unhealthy: {worker}")
        check(server.status()["state"] in ("Degraded", "Critical"), lambda: f"state of the system: {server.status()}")
        job = server.submit("--", "true")
        contains(server.ok("job", "explain", job).out, "the gpu fell off the bus", "explanation")
        same(server.state(job), "Pending", "state of the job")
        mark.unlink()
        server.wait_for(job, "Succeeded")
        contains((server.folder / "w1.log").read_text(), "it gets no jobs while", "the server's words in the worker's log")


def test_a_job_without_limits_shows_its_own_memory():
    with Dev().start() as dev:
        small = dev.wait_for(dev.submit("--", "sleep", "0.4"), "Succeeded")
        kilobytes = number(small["executions"][0].get("usage", {}).get("max_memory_kb"))
        check(0 < kilobytes < 8 << 10, f"`sleep` used {kilobytes} KB")
        quick = dev.wait_for(dev.submit("--", "true"), "Succeeded")
        kilobytes = number(quick["executions"][0].get("usage", {}).get("max_memory_kb"))
        check(kilobytes < 8 << 10, f"`true` used {kilobytes} KB")
        large = dev.wait_for(dev.submit("--", "python3", "-c", "x = 'x' * (200 << 20)"), "Succeeded")
        kilobytes = number(large["executions"][0]["usage"]["max_memory_kb"])
        check(200 << 10 <= kilobytes < 260 << 10, f"200 MiB of text took {kilobytes} KB")


def test_time_is_run_time_also_after_an_outage():
    with Dev().start() as dev:
        job = dev.submit("--", "sleep", "1")
        dev.wait_for(job, "Running")
        dev.kill("server")
        # Long enough for the job to end while nobody hears of it.
        until(lambda: not sleeping(), "the job to end while the server is away")
        until_later(2)
        dev.start()
        ended = dev.wait_for(job, "Succeeded")
        ran = number(ended["run_ms"])
        check(900 <= ran < 2500, f"it ran for {ran} ms")


def sleeping():
    """Whether a `sleep 1` of a job runs."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"sleep\x001\x00":
                if b"HODEI_JOB_ID=" in (entry / "environ").read_bytes():
                    return True
        except OSError:
            continue
    return False


def until_later(seconds):
    """Time that passes is what this is about: the end is reported late."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, "time to pass")


def test_an_idempotency_key_stands_for_one_request():
    with Dev().start() as dev:
        first = dev.submit("--idempotency-key", "order-1", "--", "echo", "then")
        same(dev.submit("--idempotency-key", "order-1", "--", "echo", "then"), first, "the same again")
        other = dev.cli("job", "submit", "--idempotency-key", "order-1", "--", "echo", "now")
        check(other.code != 0, lambda: f"another spec was taken: {other!r}")
        for word in (first, "then", "now"):
            contains(other.err, word, "the error")
        same(dev.submit("--allow-other-spec", "--idempotency-key", "order-1", "--", "echo", "now"), first, "allowed")
        dev.wait_for(first, "Succeeded")
        dev.ok("job", "delete", first)
        again = dev.submit("--idempotency-key", "order-1", "--", "echo", "then")
        check(again != first, "the key of a deleted job is free")


def test_a_pool_that_nobody_knows_is_told():
    with Dev().start() as dev:
        for flag in ("--pool", "--provider"):
            result = dev.ok("job", "submit", flag, "nowhere", "--", "true")
            contains(result.err, f"{flag[2:]} 'nowhere' does not exist", "the note")


def test_preferred_labels_decide_where_a_job_goes():
    with Apart() as server:
        server.start(worker=False)
        server.join("plain")
        server.join("fast", "--label", "disk=ssd")
        job = server.wait_for(server.submit("--prefer", "80: disk=ssd", "--", "true"), "Succeeded")
        same(job["worker_id"], "fast", "where it went")
        explained = json.loads(server.ok("job", "explain", job["short_id"], "-o", "json").out)
        same(explained["score"]["affinity"], 20, "points for affinity")
        plain = server.wait_for(server.submit("--", "true"), "Succeeded")
        explained = json.loads(server.ok("job", "explain", plain["short_id"], "-o", "json").out)
        same(explained["score"].get("affinity", 0), 0, "points for a preference that is not there")


def test_public_ids_differ_between_installations():
    with Dev().start() as one, Dev().start() as two:
        ids = []
        for dev in (one, two):
            job = dev.get(dev.submit("--", "true"))
            same(dev.get(job["id"])["short_id"], job["short_id"], "the long id names the same job")
            ids.append(job["id"])
        same([i.split("-")[-1] for i in ids][0], [i.split("-")[-1] for i in ids][1], "the numbers in them")
        check(ids[0] != ids[1], lambda: f"two installations gave out {ids[0]}")
        foreign = two.cli("job", "get", ids[0])
        check(foreign.code != 0, lambda: f"an id of another installation: {foreign!r}")
        contains(foreign.err, "not a job of this installation", "the error")
        same(one.get(one.submit("--", "sh", "-c", "test ${#HODEI_JOB_ID} = 36"))["spec"]["command"]["shell"]["cmd"], "sh", "job")
        inside = one.ok("run", "--", "sh", "-c", "echo $HODEI_JOB_ID").out.strip()
        check(one.get(inside)["id"] == inside, lambda: f"HODEI_JOB_ID is {inside}")


def test_each_service_has_its_own_health():
    with Dev().start() as dev:
        services = {s["name"]: s for s in dev.status()["services"]}
        for name in ("JobExecutionService", "WorkerAgentService", "SchedulerService", "ProviderManagementService",
                     "MetricsService", "LogStreamService", "ArtifactService", "AdminService"):
            check(services[f"hodei.v1.{name}"].get("serving"), lambda: f"{name} does not serve: {services}")
            full = f"hodei.v1.{name}".encode()
            same(call(dev.port, "/grpc.health.v1.Health/Check", b"\x0a" + bytes([len(full)]) + full), OK, f"health of {name}")
        nobody = b"hodei.v1.NoSuchService"
        same(call(dev.port, "/grpc.health.v1.Health/Check", b"\x0a" + bytes([len(nobody)]) + nobody), 5, "NOT_FOUND")


def test_security_relevant_acts_are_in_the_audit_trail():
    with Apart() as server:
        server.start(worker=False)
        server.join("w1")
        server.join("w2")
        server.ok("worker", "taint", "w1", "broken:NoSchedule")
        server.ok("scheduler", "set", "--threshold", "1")
        server.ok("limit", "set", "db", "--limit", "3")
        server.ok("tenant", "set", "team-a", "--weight", "2")
        server.ok("pool", "set", "p", "--max", "1")
        server.ok("worker", "drain", "w2")
        entries = items(server.ok("audit", "list", "-o", "json").json(), "entries")
        actions = [e["action"] for e in entries]
        for action in ("otp.created", "worker.registered", "worker.tainted", "scheduler.set", "limit.set", "tenant.set",
                       "pool.set", "worker.drained"):
            check(action in actions, lambda: f"{action} is not in {actions}")
        for entry in entries:
            check(entry.get("principal"), lambda: f"an entry without a principal: {entry}")


def test_provider_types_of_any_case_and_bare_metal():
    with Apart() as server:
        server.start(worker=False)
        server.ok("provider", "add", "rack", "--type", "BareMetal", "--max-jobs", "4")
        server.join("w1", HODEI_WORKER_PROVIDER="rack")
        job = server.wait_for(server.submit("--provider", "rack", "--", "sleep", "30"), "Running")
        provider = until(lambda: (lambda p: p if p.get("current_jobs") else None)(
            server.ok("provider", "get", "rack", "-o", "json").json()), "the provider to count its job")
        same(provider["config"]["type"], "baremetal", "type")
        same(provider["workers"], ["w1"], "workers")
        same(number(provider["current_jobs"]), 1, "current_jobs")
        same(number(provider["max_concurrent_jobs"]), 4, "max_concurrent_jobs")
        same(provider["supported_runtimes"], ["shell", "script"], "supported_runtimes")
        server.ok("job", "cancel", job["short_id"])
        wrong = server.cli("provider", "add", "x", "--type", "Dokker")
        check(wrong.code != 0 and "baremetal" in wrong.err, lambda: f"a type that nobody knows: {wrong!r}")


def test_the_end_of_a_made_worker_stays_visible():
    with Dev().start() as dev:
        job = dev.wait_for(dev.submit("--provider", "process", "--", "true"), "Succeeded")
        execution = job["executions"][0]
        check(execution.get("provider_execution_id"), lambda: f"no provider_execution_id: {execution}")

        def ended():
            workers = items(dev.ok("worker", "list", "--all", "-o", "json").json(), "workers")
            return next((w for w in workers if w["info"]["id"] == job["worker_id"] and w["state"] == "Terminated"), None)
        worker = until(ended, "the made worker to be listed as Terminated", patience=60)
        contains(worker["end_reason"], "it was no longer needed", "why it ended")
        check(job["worker_id"] not in [w["info"]["id"] for w in items(
            dev.ok("worker", "list", "-o", "json").json(), "workers")], "it is not among those that are there")


def test_a_token_lives_as_long_as_the_setting_says():
    with Apart(HODEI_OTP_LIFE="1s") as server:
        server.start(worker=False)
        token = server.token()["token"]
        until_later(1.2)
        late = server.agent(token, "late", "--worker-id", "late")
        same(late.wait(timeout=30), 3, "exit code of an agent with an expired token")
