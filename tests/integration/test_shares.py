"""Shares and quotas of tenants, limits and rates of concurrency keys: set while it runs, kept by a restart."""

from harness import Dev, check, contains, items, number, same, until

# Runs until the file that it is given is there.
UNTIL_FILE = 'while [ ! -e "$0" ]; do sleep 0.02; done'


def waiting_job(dev, *flags):
    return dev.submit(*flags, "--", "sh", "-c", UNTIL_FILE, str(dev.folder / "go"))


def states(dev, jobs):
    return sorted(dev.state(job) for job in jobs)


def tenant(dev, name):
    tenants = items(dev.ok("tenant", "list", "-o", "json").json(), "tenants")
    return next((t for t in tenants if t["namespace"] == name), {})


def limit(dev, key):
    limits = items(dev.ok("limit", "list", "-o", "json").json(), "limits")
    return next((entry for entry in limits if entry["key"] == key), {})


def test_a_quota_holds_jobs_back_is_explained_and_survives_a_restart():
    with Dev().start() as dev:
        dev.ok("tenant", "set", "team", "--weight", "2", "--max-running", "1", "--max-pending", "2")
        jobs = [waiting_job(dev, "-n", "team") for _ in range(3)]
        until(lambda: states(dev, jobs) == ["Pending", "Pending", "Running"], lambda: f"one to run: {states(dev, jobs)}")
        refused = dev.cli("job", "submit", "-n", "team", "--", "true")
        check(refused.code != 0, f"a third waiting job must be refused: {refused!r}")
        contains(refused.err, "max_pending", "the refusal")
        contains(refused.err, "hodei tenant set team --max-pending", "the refusal")
        waits = next(job for job in jobs if dev.state(job) == "Pending")
        contains(dev.ok("job", "explain", waits).out, "max_running", "why it waits")
        dev.kill("server")
        dev.start()
        same(number(tenant(dev, "team").get("max_running")), 1, "max_running after a restart")
        until(lambda: number(tenant(dev, "team").get("running")) == 1, lambda: f"what runs counts: {tenant(dev, 'team')}")
        dev.ok("tenant", "set", "team", "--max-running", "0")
        dev.write("go", "")
        for job in jobs:
            dev.wait_for(job, "Succeeded")


def test_a_limit_set_by_a_person_wins_over_jobs_until_it_is_removed():
    with Dev().start() as dev:
        dev.ok("limit", "set", "db", "--limit", "1")
        jobs = [waiting_job(dev, "--concurrency-key", "db", "--concurrency-limit", "2") for _ in range(2)]
        until(lambda: states(dev, jobs) == ["Pending", "Running"], lambda: f"one to run: {states(dev, jobs)}")
        entry = limit(dev, "db")
        same((number(entry.get("limit")), number(entry.get("held")), number(entry.get("waiting"))), (1, 1, 1), "the key")
        dev.ok("limit", "rm", "db")
        until(lambda: states(dev, jobs) == ["Running", "Running"], lambda: f"both to run: {states(dev, jobs)}")
        dev.write("go", "")
        for job in jobs:
            dev.wait_for(job, "Succeeded")


def test_a_rate_spreads_starts_and_says_until_when_a_job_waits():
    with Dev().start() as dev:
        shown = dev.ok("limit", "set", "api", "--limit", "0", "--rate", "1/h", "--burst", "2").out
        contains(shown, "api", "what was set")
        jobs = [dev.submit("--concurrency-key", "api", "--", "true") for _ in range(3)]
        for job in jobs[:2]:
            dev.wait_for(job, "Succeeded")
        same(dev.state(jobs[2]), "Pending", "the third is over the rate")
        contains(dev.ok("job", "explain", jobs[2]).out, "over its rate", "why it waits")
        dev.ok("limit", "set", "api", "--rate", "1000000/s")
        dev.wait_for(jobs[2], "Succeeded")
