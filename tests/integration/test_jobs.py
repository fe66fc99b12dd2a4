"""Kinds of jobs and their lives: states, history, executions, times and reasons in `job get -o json`."""

import json

from harness import Dev, check, contains, items, number, path_of, same, until

ONE_LIFE = ["Pending", "Scheduled", "Running", "Succeeded"]


def check_times(job):
    """Times of a finished job are there and in order."""
    at = [step["at"] for step in job["history"]]
    same(at, sorted(at), "times of the history")
    check(job["created_at"] <= job["started_at"] <= job["ended_at"], lambda: f"times of the job: {job}")
    for execution in job["executions"]:
        check(execution["scheduled_at"] <= execution["started_at"] <= execution["ended_at"],
              lambda: f"times of the execution: {execution}")


def test_a_shell_job_tells_its_life():
    with Dev().start() as dev:
        job = dev.wait_for(dev.submit("--name", "greet", "--label", "team=a", "--", "sh", "-c", "echo hello"), "Succeeded")
        same(path_of(job), ONE_LIFE, "history")
        check_times(job)
        same(job["name"], "greet", "name")
        same(job["labels"], {"team": "a"}, "labels")
        same(number(job.get("attempts")), 1, "attempts")
        same(number(job.get("exit_code")), 0, "exit code")
        execution = job["executions"][0]
        same(len(job["executions"]), 1, "number of executions")
        same(execution["id"], job["short_id"] + ".1", "id of the execution")
        same(execution["state"], "Succeeded", "state of the execution")
        same(number(execution["log_bytes"]), len("hello\n"), "bytes of output")
        check(execution["worker_id"], "the execution names its worker")
        same(job["spec"]["command"]["shell"]["cmd"], "sh", "command")
        same(dev.get(job["id"])["short_id"], job["short_id"], "the long id names the same job")


def test_a_failed_job_says_why():
    with Dev().start() as dev:
        job = dev.wait_for(dev.submit("--", "sh", "-c", "exit 3"), "Failed")
        same(path_of(job), ["Pending", "Scheduled", "Running", "Failed"], "history")
        same(number(job["exit_code"]), 3, "exit code")
        same(job["failure"], "non_zero_exit", "failure")
        contains(job["reason"], "3", "reason")


def test_a_script_runs_behind_its_safety_header():
    with Dev().start() as dev:
        good = dev.write("good.sh", "#!/bin/bash\nnames=(a b c)\necho ${#names[@]} $BASH_VERSION | cut -d' ' -f1\n")
        same(dev.ok("run", "--script", good).out, "3\n", "stdout")
        careless = dev.write("careless.sh", "#!/bin/bash\nfalse\necho went on\n")
        result = dev.cli("run", "--script", careless)
        check(result.code != 0 and "went on" not in result.out, lambda: f"a failing line ends the script: {result!r}")
        unset = dev.write("unset.sh", "echo $NOT_SET\n")
        check(dev.cli("run", "--script", unset).code != 0, "an unset variable ends the script")
        job = dev.get(dev.jobs()[0]["id"])
        check("script" in job["spec"]["command"], "the spec holds the script")


def test_a_template_with_parameters():
    with Dev().start() as dev:
        file = dev.write("greet.yaml", """
name: greet
description: Greets somebody.
parameters:
  - name: who
  - name: greeting
    default_value: Hello
spec:
  name: greet-${who}
  command:
    shell: {cmd: echo, args: ["${greeting}, ${who}!", "$${literal}"]}
""")
        dev.ok("template", "put", "--file", file)
        same([t["name"] for t in items(dev.ok("template", "list", "-o", "json").json(), "templates")], ["greet"], "templates")
        result = dev.ok("run", "--template", "greet", "--param", "who=World")
        same(result.out, "Hello, World! ${literal}\n", "stdout")
        job = dev.get(dev.jobs()[0]["id"])
        same((job["name"], job["template"], job["state"]), ("greet-World", "greet", "Succeeded"), "job")
        again = dev.ok("run", "--template", "greet", "--param", "who=you", "--param", "greeting=Bye")
        same(again.out, "Bye, you! ${literal}\n", "stdout")
        dev.ok("template", "delete", "greet")
        check(dev.cli("run", "--template", "greet", "--param", "who=x").code != 0, "a deleted template is gone")


def test_a_job_from_yaml_and_from_json():
    with Dev().start() as dev:
        file = dev.write("job.yaml", """
name: nightly
command:
  script:
    interpreter: sh
    content: |
      echo "from $SOURCE"
env: {SOURCE: yaml}
timeout_ms: 20000
max_attempts: 2
labels: {kind: report}
preferences: {priority: high}
""")
        same(dev.ok("run", "--file", file).out, "from yaml\n", "stdout")
        job = dev.get(dev.jobs()[0]["id"])
        same((job["name"], job["state"], number(job["max_attempts"])), ("nightly", "Succeeded", 2), "job")
        same(job["spec"]["preferences"]["priority"], "high", "priority")
        same(number(job["spec"]["timeout_ms"]), 20000, "timeout")
        file = dev.write("job.json", json.dumps({"command": {"shell": {"cmd": "echo", "args": ["from json"]}}}))
        same(dev.ok("run", "--file", file).out, "from json\n", "stdout")


def test_what_get_prints_is_a_job_file_again():
    with Dev().start() as dev:
        spec = dev.wait_for(dev.submit("--timeout", "20s", "--attempts", "2", "--", "echo", "again"))["spec"]
        file = dev.write("again.json", json.dumps(spec))
        same(dev.ok("run", "--file", file).out, "again\n", "stdout")


def test_a_retried_job_keeps_both_executions():
    with Dev().start() as dev:
        mark = dev.folder / "mark"
        file = dev.write("retry.yaml", f"""
command:
  shell: {{cmd: sh, args: ["-c", "test -e {mark} || {{ touch {mark}; echo first; exit 9; }}; echo second"]}}
max_attempts: 3
backoff: {{initial_ms: 100}}
""")
        job = dev.wait_for(dev.submit("--file", file), "Succeeded")
        same(path_of(job), ["Pending", "Scheduled", "Running", "Failed", "Pending", "Scheduled", "Running", "Succeeded"],
             "history")
        check_times(job)
        same(number(job["attempts"]), 2, "attempts")
        same([e["state"] for e in job["executions"]], ["Failed", "Succeeded"], "executions")
        same([number(e.get("exit_code")) for e in job["executions"]], [9, 0], "exit codes")
        same(dev.ok("job", "logs", job["short_id"]).out, "first\nsecond\n", "logs of both executions")


def test_attempts_run_out():
    with Dev().start() as dev:
        file = dev.write("fail.yaml", """
command: {shell: {cmd: "false"}}
max_attempts: 2
backoff: {initial_ms: 50}
""")
        job = dev.wait_for(dev.submit("--file", file), "Failed")
        same((number(job["attempts"]), len(job["executions"])), (2, 2), "attempts and executions")


def test_a_timed_out_job():
    with Dev().start() as dev:
        job = dev.wait_for(dev.submit("--timeout", "500ms", "--", "sleep", "300"), "Timeout")
        same(path_of(job), ["Pending", "Scheduled", "Running", "Timeout"], "history")
        check_times(job)
        same(job["executions"][0]["state"], "Timeout", "state of the execution")
        contains(job["reason"] + job["failure"], "time", "reason")


def test_a_running_job_is_cancelled():
    with Dev().start() as dev:
        id = dev.submit("--", "sleep", "300")
        dev.wait_for(id, "Running")
        dev.ok("job", "cancel", id, "--reason", "not needed")
        job = dev.wait_for(id, "Cancelled")
        same(path_of(job), ["Pending", "Scheduled", "Running", "Cancelled"], "history")
        contains(json.dumps(job["history"]), "not needed", "reason")
        again = dev.cli("job", "cancel", id)
        check(again.code != 0, "a finished job cannot be cancelled")
        contains(again.err, "Cancelled", "the message names the state")


def test_a_waiting_job_is_cancelled_and_explained():
    with Dev().start() as dev:
        id = dev.submit("--image", "debian:12", "--", "true")
        job = dev.wait_for(id, "Pending")
        same(path_of(job), ["Pending"], "history")
        why = dev.ok("job", "explain", id)
        contains(why.out, "image", "explanation")
        dev.ok("job", "cancel", id)
        job = dev.wait_for(id, "Cancelled")
        same(path_of(job), ["Pending", "Cancelled"], "history")
        same(job.get("executions", []), [], "executions")


def test_a_provider_that_no_worker_has_keeps_the_job_waiting():
    with Dev().start() as dev:
        id = dev.submit("--provider", "kubernetes", "--", "true")
        dev.wait_for(id, "Pending")
        contains(dev.ok("job", "explain", id).out, "provider", "explanation")


def test_retry_makes_a_new_job():
    with Dev().start() as dev:
        first = dev.wait_for(dev.submit("--", "sh", "-c", "exit 4"), "Failed")
        result = dev.ok("job", "retry", first["short_id"], "-o", "name")
        second = dev.wait_for(result.out.strip().split("/")[-1], "Failed")
        check(second["id"] != first["id"], "it is another job")
        check(second["retry_of"] in (first["id"], first["short_id"]), f"retry_of is {second['retry_of']}")


def test_the_same_key_gives_the_same_job():
    with Dev().start() as dev:
        ids = {dev.submit("--idempotency-key", "once", "--", "echo", "x") for _ in range(3)}
        same(len(ids), 1, "number of ids")
        same(len(dev.jobs()), 1, "number of jobs")


def test_logs_and_watch_follow_a_running_job():
    with Dev().start() as dev:
        go = dev.folder / "go"
        id = dev.submit("--", "sh", "-c", f"echo before; while [ ! -e {go} ]; do sleep 0.05; done; echo after")
        client = dev.background("job", "logs", "--follow", id)
        same(client.stdout.readline(), "before\n", "what was there already")
        go.touch()
        out, _ = client.communicate(timeout=30)
        same((out, client.returncode), ("after\n", 0), "what came later, and the end")
        same(dev.ok("job", "watch", id, timeout=30).code, 0, "`job watch` of a finished job ends")


def test_lists_show_every_format():
    with Dev().start() as dev:
        dev.wait_for(dev.submit("--name", "listed", "--", "true"))
        for output in ("table", "wide", "json", "yaml"):
            contains(dev.ok("job", "list", "-o", output).out, "listed", f"-o {output}")
        for arguments in (["worker", "list"], ["template", "list"], ["queue"], ["status"]):
            for output in ("table", "json", "yaml"):
                dev.ok(*arguments, "-o", output)
        until(lambda: number(dev.ok("queue", "-o", "json").json().get("running")) == 0, "the queue to be empty")
