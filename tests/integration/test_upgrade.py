"""A data folder that an older version left behind opens, shows everything, and goes on."""

import pathlib
import subprocess
import tarfile

from harness import HODEI, Dev, check, contains, items, same

DATA = pathlib.Path(__file__).resolve().parent / "data"
# The folders get older with every day; what is in them must not expire. Ten years is the longest.
KEPT = {f"HODEI_{what}_RETENTION_AGE": "3650d" for what in ("JOB", "LOG", "ARTIFACT", "AUDIT")}


def unpacked(dev, name):
    dev.data.mkdir(parents=True)
    with tarfile.open(DATA / name) as archive:
        archive.extractall(dev.data)
    return dev


def by_name(dev):
    jobs = items(dev.ok("job", "list", "--all", "-o", "json").json(), "jobs")
    return {job["name"]: job for job in jobs}


def check_finished(dev):
    jobs = by_name(dev)
    same({name: jobs[name]["state"] for name in ("succeeded", "failed", "cancelled", "with-secret", "keyed")},
         {"succeeded": "Succeeded", "failed": "Failed", "cancelled": "Cancelled", "with-secret": "Succeeded",
          "keyed": "Succeeded"}, "states of finished jobs")
    good = dev.get(jobs["succeeded"]["short_id"])
    same(good["outputs"], {"answer": "42"}, "outputs")
    contains(dev.ok("job", "logs", good["short_id"]).out, "printed before", "its output")
    bad = dev.get(jobs["failed"]["short_id"])
    same([e["number"] for e in bad["executions"]], [1, 2, 3], "executions of the failed job")
    same([e["outputs"]["n"] for e in bad["executions"]], ["1", "2", "3"], "what each reported")
    same(bad["history"][0]["reason"], "submitted", "the first step")
    same(bad["exit_code"], 7, "exit code")
    same(bad["progress"]["message"], "thirty", "progress")
    # The ways to find them, some of which are new.
    for flags, names in ((("--label", "team=red"), {"failed"}), (("--name", "cancel"), {"cancelled"}),
                         (("--state", "Failed"), {"failed"}), (("-n", "red"), {"reddish"})):
        found = items(dev.ok("job", "list", *flags, "-o", "json").json(), "jobs")
        same({job["name"] for job in found}, names, f"jobs with {flags}")


def check_settings(dev, schema):
    contains(dev.ok("secret", "list").out, "api_token", "secrets")
    contains(dev.ok("template", "list").out, "greet", "templates")
    contains(dev.ok("tenant", "list").out, "red", "tenants")
    contains(dev.ok("limit", "list").out, "deploy", "limits")
    contains(dev.ok("pool", "list").out, "builders", "pools")
    if schema >= 5:
        limits = items(dev.ok("-n", "red", "limit", "list", "-o", "json").json(), "limits")
        same([(limit["key"], limit["rate"], limit["burst"]) for limit in limits], [("api/v1", 5, 1)], "a limit with a rate")
        contains(dev.ok("provider", "list").out, "boxes", "providers")
    contains(dev.ok("audit", "list").out, "secret.delivered", "audit trail")
    same(dev.ok("artifact", "get", "before.txt", "-").out, "stored before\n", "artifact")
    contains(dev.ok("run", "--secret", "api_token", "--", "sh", "-c", "echo masked").out, "masked", "a job with the old secret")


def check_folder(schema):
    with Dev(HODEI_LEASE="3s", **KEPT) as dev:
        unpacked(dev, f"schema{schema}.tar.xz").start()
        contains(dev.tail(), f"from schema {schema} to 6", "the server's log")
        check_finished(dev)
        check_settings(dev, schema)
        again = dev.ok("job", "submit", "-o", "json", "--name", "keyed", "--idempotency-key", "once", "--", "true").json()
        same(again["short_id"], by_name(dev)["keyed"]["short_id"], "the idempotency key still counts")
        jobs = by_name(dev)
        patient = dev.wait_for(jobs["patient"]["short_id"], "Succeeded", patience=90)
        numbers = [e["number"] for e in patient["executions"]]
        same(numbers, list(range(1, len(numbers) + 1)), "executions, those before the upgrade too")
        check(len(numbers) >= 6, f"six attempts at least, not {numbers}")
        dev.wait_for(jobs["running"]["short_id"], "Succeeded", patience=90)
        same(dev.state(jobs["waiting"]["short_id"]), "Pending", "a job that fits no worker")

        dev.kill("server")
        dev.start()
        check_finished(dev)
        check_settings(dev, schema)
        same([e["number"] for e in dev.get(jobs["patient"]["short_id"])["executions"]], numbers, "after another restart")
        contains(dev.ok("job", "delete", jobs["failed"]["short_id"], "--reason", "tidy").out, "1 job deleted", "delete")
        same(dev.cli("job", "get", jobs["failed"]["short_id"]).code != 0, True, "a deleted job is not there")
        contains(dev.ok("audit", "list", "--action", "job.delete").out, "tidy", "audit trail")
        waiting = jobs["waiting"]["short_id"]
        refused = dev.cli("job", "delete", waiting)
        check(refused.code != 0, "a waiting job must not be deleted")
        contains(refused.err, "hodei job cancel", "what to do instead")
        run_at_last(dev, waiting)


def run_at_last(dev, job):
    """The worker that the job waited for comes: it runs with the command it was submitted with."""
    token = dev.ok("otp", "create", "-o", "json").json()["token"]
    env = dev.environment(HODEI_TOKEN=token)
    agent = subprocess.Popen([str(HODEI), "agent", "--state-dir", str(dev.folder / "there"), "--label", "zone=there"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    dev.clients.append(agent)
    dev.remember(agent.pid)
    dev.wait_for(job, "Succeeded")
    same(dev.ok("job", "logs", job).out, "at last\n", "what it printed")


def test_a_folder_of_schema_3_opens_and_its_jobs_go_on():
    check_folder(3)


def test_a_folder_of_schema_4_opens_and_its_jobs_go_on():
    check_folder(4)


def test_a_folder_of_schema_5_opens_and_its_jobs_go_on():
    check_folder(5)
