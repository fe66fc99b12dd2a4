"""The audit trail holds every act that opens or closes a way in, or changes how the installation behaves: all acts that the
documents name, done one after another, and what `hodei audit list` says of them."""

import re
import signal

from harness import ROOT, Apart, check, contains, items, number, same, until
from raw_grpc import OK, call, field

GREETING = "name: greet\nspec: {command: {shell: {cmd: echo, args: [hello]}}}\n"


class Trail:
    """What was done, beside what the audit trail says of it."""

    def __init__(self, server):
        self.server, self.done = server, []

    def entries(self):
        """From the oldest to the newest."""
        found = items(self.server.ok("audit", "list", "--limit", "1000", "-o", "json").json(), "entries")
        return sorted(found, key=lambda entry: number(entry["number"]))

    def acts(self):
        return [(entry["action"], entry.get("subject", "")) for entry in self.entries()]

    def expect(self, *acts):
        """These are the newest entries, and there is no other since the last time. Some are written beside the call."""
        self.done += acts
        until(lambda: len(self.acts()) >= len(self.done), lambda: f"{acts} to be recorded; there are {self.acts()[-5:]}")
        same(self.acts()[-len(acts) - 1:], self.done[-len(acts) - 1:], "the newest entries")

    def act(self, *words, text=None, expect):
        result = self.server.ok(*words, text=text)
        self.expect(*expect)
        return result


def documented():
    """The actions in the table of docs/secrets.md."""
    text = (ROOT / "docs/secrets.md").read_text(encoding="utf-8").split("## The audit trail")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {action for row in rows for action in re.findall(r"`([a-z.]+)`", row)}


def workers_come_and_go(trail):
    server = trail.server
    token = trail.act("otp", "create", "--worker-id", "w1", "-o", "json", expect=[("otp.created", "w1")]).json()["token"]
    server.agent(token, "w1", "--worker-id", "w1", "--slots", "2")
    until(lambda: server.sees("w1"), "the worker to join")
    trail.expect(("worker.registered", "w1"))
    same(server.agent("guessed", "intruder", "--worker-id", "intruder").wait(timeout=30), 3, "exit code of the intruder")
    trail.expect(("worker.refused", "intruder"))
    trail.act("worker", "taint", "w1", "disk=bad:PreferNoSchedule", expect=[("worker.tainted", "w1")])
    trail.act("worker", "taint", "w1", "--clear", expect=[("worker.tainted", "w1")])
    busy = server.submit("--", "sleep", "1000")
    server.wait_for(busy, "Running")
    trail.act("worker", "drain", "w1", "--reason", "new disk", expect=[("worker.drained", "w1")])
    trail.act("worker", "undrain", "w1", expect=[("worker.undrained", "w1")])
    server.ok("job", "cancel", busy)
    server.wait_for(busy, "Cancelled")
    agents = {}
    for name in ("w2", "w3"):
        agents[name] = server.join(name)
        trail.expect(("otp.created", ""), ("worker.registered", name))
    # A worker that was drained unregisters itself.
    trail.act("worker", "drain", "w2", expect=[("worker.drained", "w2"), ("worker.unregistered", "w2")])
    # One that is stopped stays registered: it could come back.
    agents["w3"].terminate()
    same(agents["w3"].wait(timeout=30), 0, "exit code of an agent that is stopped")
    trail.act("worker", "unregister", "w3", "--reason", "sold", expect=[("worker.removed", "w3")])


def settings_change(trail):
    server = trail.server
    trail.act("provider", "add", "rack", "--type", "baremetal", expect=[("provider.added", "rack")])
    trail.act("provider", "set", "rack", "--max-jobs", "3", expect=[("provider.changed", "rack")])
    trail.act("provider", "disable", "rack", expect=[("provider.changed", "rack")])
    trail.act("pool", "set", "builders", "--max", "2", expect=[("pool.set", "builders")])
    trail.act("pool", "rm", "builders", expect=[("pool.removed", "builders")])
    trail.act("provider", "rm", "rack", expect=[("provider.removed", "rack")])
    trail.act("tenant", "set", "red", "--weight", "2", expect=[("tenant.set", "red")])
    trail.act("limit", "set", "deploy", "--limit", "2", expect=[("limit.set", "deploy")])
    trail.act("limit", "rm", "deploy", expect=[("limit.removed", "deploy")])
    trail.act("template", "put", "-f", server.write("greet.yaml", GREETING), expect=[("template.set", "greet")])
    trail.act("template", "rm", "greet", expect=[("template.removed", "greet")])


def jobs_are_handled(trail):
    server = trail.server
    # So high that nothing is placed: then somebody may hand it out.
    trail.act("scheduler", "set", "--threshold", "1000", expect=[("scheduler.set", "scheduler")])
    job = server.submit("--", "echo", "printed")
    same(call(server.port, "/hodei.v1.JobExecutionService/AssignJob", field(1, job) + field(2, "w1")), OK, "AssignJob")
    trail.expect(("job.assigned", job))
    trail.act("scheduler", "set", "--threshold", "0", expect=[("scheduler.set", "scheduler")])
    server.wait_for(job, "Succeeded")
    same(call(server.port, "/hodei.v1.LogStreamService/ClearLogs", field(1, job)), OK, "ClearLogs")
    trail.expect(("logs.cleared", job))
    trail.act("job", "delete", job, "--reason", "tidy", expect=[("job.delete", job)])


def secrets_are_used(trail):
    server = trail.server
    trail.act("secret", "set", "token", "--value-stdin", text="t0ken-value", expect=[("secret.set", "token")])
    job = server.submit("--secret", "token", "--", "true")
    server.wait_for(job, "Succeeded")
    trail.expect(("secret.delivered", f"{job}.1"))
    server.kill("server", signal.SIGTERM)
    server.launch(HODEI_SECRET_KEY="11" * 32)
    server.wait_until_up(worker=False)
    until(lambda: server.sees("w1"), "the worker to come back")
    job = server.submit("--secret", "token", "--attempts", "1", "--", "true")
    server.wait_for(job, "Failed")
    trail.expect(("secret.delivered", f"{job}.1"), ("secret.failed", f"{job}.1"))
    trail.act("secret", "rm", "token", expect=[("secret.deleted", "token")])


def test_every_act_that_the_documents_name_is_recorded_once_with_who_did_it():
    with Apart() as server:
        server.start(worker=False)
        trail = Trail(server)
        same(trail.acts(), [], "a server that nobody has asked for anything")
        workers_come_and_go(trail)
        settings_change(trail)
        jobs_are_handled(trail)
        secrets_are_used(trail)
        same(trail.acts(), trail.done, "the whole trail")
        same({action for action, _ in trail.done}, documented(), "what was done here, and the table in docs/secrets.md")
        for entry in trail.entries():
            who = {"secret.delivered": "worker w1", "secret.failed": "server"}.get(entry["action"], "127.0.0.1")
            contains(entry.get("principal", ""), who, f"who did {entry['action']}")
        details = {entry["action"]: entry.get("detail", "") for entry in trail.entries()}
        for action, word in {"worker.removed": "sold", "job.delete": "tidy", "worker.refused": "token",
                             "scheduler.set": "threshold 0", "secret.failed": "different key"}.items():
            contains(details[action], word, f"detail of {action}")
        check("t0ken-value" not in str(trail.entries()), "a secret is in the audit trail")


def test_what_was_refused_or_changes_nothing_is_not_recorded():
    with Apart() as server:
        server.start(worker=False)
        for words in (("worker", "drain", "nobody"), ("worker", "undrain", "nobody"), ("worker", "taint", "nobody", "x:NoSchedule"),
                      ("secret", "rm", "nothing"), ("template", "rm", "nothing"), ("provider", "rm", "nothing"),
                      ("pool", "rm", "nothing"), ("provider", "add", "p", "--type", "nonsense")):
            check(server.cli(*words).code != 0, f"{words} was not refused")
        server.ok("limit", "set", "db", "--limit", "3")
        server.ok("limit", "set", "db", "--limit", "3")
        same(Trail(server).acts(), [("limit.set", "db")], "the trail")
