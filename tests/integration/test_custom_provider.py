"""The programs of deploy/providers: they keep to the protocol, and ssh really makes workers on a machine with sshd."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import harness
from harness import ROOT, Apart, Process, check, contains, same, until
from sshd import Sshd

PROGRAMS = ROOT / "deploy/providers"
FAKE = ROOT / "tests/providers/fake_vendor.py"
KILL_ROUNDS = int(os.environ.get("HODEI_TEST_KILL_ROUNDS", "2"))
PROVIDER_CHECK = harness.HODEI.parent / "tests/providers/provider-check"
WORKER = harness.HODEI.parent / "hodei-worker"
STEM = "one-time"
TOKEN = STEM + "-'token'-7c1e"   # quotes, because shells read it; the stem is found however it is quoted

CLOUDS = {
    "ec2": ("aws", {"image_id": "ami-1", "region": "eu-central-1", "worker_url": "https://files.example/hodei-worker"}),
    "azure-vm": ("az", {"resource_group": "workers", "worker_url": "https://files.example/hodei-worker"}),
    "cloud-run": ("gcloud", {"project": "p1", "region": "europe-west1", "image": "registry.example/hodei-worker"}),
    "lambda": ("aws", {"image": "registry.example/hodei-worker", "role": "arn:aws:iam::1:role/worker", "region": "eu-central-1"}),
}


class Program:
    """One of the programs, as the server calls it."""

    def __init__(self, name, config, installation="ours", **more):
        self.name, self.config, self.installation, self.more = name, config, installation, more
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("HODEI_")}

    def ask(self, verb, worker="", **more):
        request = {"protocol": 1, "verb": verb, "installation": self.installation, "provider": "cloud", "type": "custom",
                   "config": self.config, "folder": "/nowhere", "worker_binary": "", **self.more, **more}
        if worker:
            request.setdefault("worker_id", worker)
            request.setdefault("id", "")
        if verb == "create":
            request.setdefault("spec", spec(worker))
        done = subprocess.run([str(PROGRAMS / self.name), verb], input=json.dumps(request), capture_output=True, text=True,
                              timeout=60, check=False, env=self.environment, cwd="/")
        same(done.returncode, 0, f"exit code of {self.name} {verb} ({done.stderr})")
        answer = json.loads(done.stdout)
        check(isinstance(answer, dict), f"{self.name} {verb} answered {answer!r}, expected an object")
        check(STEM not in done.stdout + done.stderr, f"{self.name} {verb} tells the token: {done.stdout} {done.stderr}")
        return answer

    def good(self, verb, *arguments, **more):
        answer = self.ask(verb, *arguments, **more)
        check("error" not in answer, f"{self.name} {verb} refused: {answer}")
        return answer

    def listed(self):
        return {one["worker_id"]: one for one in self.good("list")["workers"]}


def spec(worker, **more):
    return {"pool": "", "image": "", "server_address": "10.0.0.1:50051", "cpu_milli": 0, "memory_mb": 0, "storage_mb": 0, "gpus": 0,
            "architecture": "", "slots": 1, "labels": {},
            "environment": {"HODEI_SERVER": "10.0.0.1:50051", "HODEI_TOKEN": TOKEN, "HODEI_WORKER_ID": worker}, **more}


@contextlib.contextmanager
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="hodei-test-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def vendor(name, installation="ours", **more):
    """A program with the tool that it calls replaced; and what was called."""
    tool, config = CLOUDS[name]
    with folder() as home:
        (home / "bin").mkdir()
        (home / "bin" / tool).symlink_to(FAKE)
        program = Program(name, {**config, **more}, installation)
        program.environment.update(PATH=f"{home}/bin:{os.environ['PATH']}", FAKE_VENDOR=str(home))
        yield program, home


def calls(home):
    return [json.loads(line) for line in (home / "calls").read_text().splitlines()]


def test_cloud_programs_keep_to_the_protocol():
    for name in CLOUDS:
        with vendor(name) as (program, home):
            same(program.good("health")["state"], "healthy", f"{name}: health")
            same(program.good("status", "w1")["phase"], "gone", f"{name}: a worker that never was")
            same(program.listed(), {}, f"{name}: list of nothing")
            made = program.good("create", "w1")["id"]
            check(made, f"{name}: an id")
            same(program.good("create", "w1")["id"], made, f"{name}: the id of the same worker again")
            until(lambda p=program, i=made: p.good("status", "w1", id=i)["phase"] == "running", f"{name}: the worker to run")
            same(program.good("status", "w1")["phase"], "running", f"{name}: by its worker id alone")
            same({w: (one["id"], one["phase"]) for w, one in program.listed().items()}, {"w1": (made, "running")}, f"{name}: list")
            contains(program.good("logs", "w1", id=made, tail=1)["text"], "up", f"{name}: logs")

            stranger = Program(name, program.config, "theirs")
            stranger.environment = program.environment
            same(stranger.listed(), {}, f"{name}: what another installation sees")
            stranger.good("destroy", "w1")
            same(program.good("status", "w1")["phase"], "running", f"{name}: after another installation's destroy")

            program.good("destroy", "w1", id=made)
            same(program.good("status", "w1", id=made)["phase"], "gone", f"{name}: after destroy")
            same(program.listed(), {}, f"{name}: list after destroy")
            program.good("destroy", "w1", id=made)
            program.good("destroy", "w1")


def test_cloud_programs_never_put_the_token_on_a_command_line():
    for name in CLOUDS:
        with vendor(name) as (program, home):
            program.good("create", "w1")
            told = []
            for call in calls(home):
                check(STEM not in " ".join(call["words"]), f"{name}: the token is an argument of {call}")
                for file, content in call["files"].items():
                    if STEM in content["text"]:
                        same(content["mode"], 0o600, f"{name}: mode of the file with the token")
                        check(not pathlib.Path(file.removeprefix("file://")).exists(), f"{name}: {file} is still there")
                        told.append(content["text"])
            same(len(told), 1, f"{name}: files with the token")
            contains(told[0], "HODEI_WORKER_ID", f"{name}: who the worker is")


def test_the_script_of_a_first_boot_is_one_that_a_shell_understands():
    with vendor("ec2", worker_path="/tmp/the worker") as (program, home):
        program.good("create", "w1")
        (script,) = [f["text"] for call in calls(home) for f in call["files"].values()]
        shown = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
        same((shown.returncode, shown.stderr), (0, ""), "sh -n")
        exports = "".join(line + "\n" for line in script.splitlines() if line.startswith("export "))
        said = subprocess.run(["sh", "-c", exports + 'printf %s "$HODEI_TOKEN"'], text=True, capture_output=True, check=True).stdout
        same(said, TOKEN, "the token as the machine reads it")
        contains(script, "curl --fail", "fetching the worker")
        contains(script, "'/tmp/the worker'", "a path with a blank")
        contains(script, "shutdown -h now", "the end of the machine")


def test_what_a_vendor_refuses_becomes_a_named_error():
    refusals = {"ec2": ("An error occurred (VcpuLimitExceeded)", "resource_exhausted"),
                "azure-vm": ("(QuotaExceeded) Operation could not be completed", "resource_exhausted"),
                "cloud-run": ("PERMISSION_DENIED: Permission 'run.jobs.create' denied", "permission_denied"),
                "lambda": ("An error occurred (InvalidParameterValueException)", "invalid_argument")}
    for name, (text, code) in refusals.items():
        with vendor(name) as (program, home):
            (home / "refuse").write_text(text)
            error = program.ask("create", "w1")["error"]
            same(error["code"], code, f"{name}: code of {error}")
            contains(error["message"], text.split()[0].strip("()"), f"{name}: what the vendor said")
            same(program.listed(), {}, f"{name}: what is left")


def test_a_missing_tool_or_setting_is_said():
    for name, (tool, config) in CLOUDS.items():
        program = Program(name, config)
        program.environment["PATH"] = "/nowhere:" + str(pathlib.Path(shutil.which("python3")).parent)
        if shutil.which(tool, path=program.environment["PATH"]):
            continue
        error = program.ask("health")["error"]
        same((error["code"], tool in error["message"]), ("failed_precondition", True), f"{name}: {error}")
    error = Program("ssh", {}).ask("list")["error"]
    same((error["code"], "config.host" in error["message"]), ("failed_precondition", True), f"ssh: {error}")


DRY = {
    ("ec2", "create"): "aws --region eu-central-1 ec2 run-instances --count 1 --image-id ami-1 --instance-type t3.small --client-token "
                       "hodei-w1-",
    ("ec2", "destroy"): "aws --region eu-central-1 ec2 terminate-instances --instance-ids i-1 --output json",
    ("azure-vm", "create"): "az vm create --resource-group workers --name hodei-w1-",
    ("azure-vm", "destroy"): "az vm delete --yes --no-wait --force-deletion true --resource-group workers --name i-1 ",
    ("cloud-run", "create"): "gcloud run jobs execute hodei-w1-",
    ("cloud-run", "destroy"): "gcloud run jobs delete i-1 --region europe-west1 --format json --project p1 --quiet",
    ("lambda", "create"): "aws --region eu-central-1 lambda create-function --cli-input-json file:///",
    ("lambda", "destroy"): "aws --region eu-central-1 lambda delete-function --function-name i-1 --output json",
    ("ssh", "create"): "ssh -o BatchMode=yes -o ConnectTimeout=10 -T -p 2222 -l me -- there.example 'sh -s'",
    ("ssh", "destroy"): "ssh -o BatchMode=yes -o ConnectTimeout=10 -T -p 2222 -l me -- there.example 'sh -s'",
}


def test_a_dry_run_shows_the_commands_and_calls_nothing():
    for (name, verb), beginning in DRY.items():
        config = CLOUDS[name][1] if name in CLOUDS else {"host": "there.example", "port": "2222", "user": "me", "worker": "/w"}
        program = Program(name, config)
        program.environment.update(HODEI_DRY_RUN="1")
        commands = program.good(verb, "w1", **({"id": "i-1"} if verb == "destroy" else {}))["commands"]
        check(any(c.startswith(beginning) for c in commands), f"{name} {verb}: no command begins with {beginning!r}: {commands}")
        check(not any(STEM in c for c in commands), f"{name} {verb}: the token is in {commands}")
        for other in ("status", "list", "health"):
            check("commands" in program.good(other, "w1" if other == "status" else ""), f"{name} {other}: commands")


# A worker that shows what can be seen of it from elsewhere, and starts something that must end with it.
STUB = """#!/bin/sh
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' > "$HODEI_STATE_DIR/seen"
mkdir -p "$HODEI_STATE_DIR"; echo stub-mark-$$ > "$HODEI_STATE_DIR/mark"
env -i PATH="$PATH" HODEI_WORKER_MARK=stub-mark-$$ setsid sleep 1000 &
echo $! > "$HODEI_STATE_DIR/job"
echo "up $HODEI_TOKEN" | wc -c
exec sleep 1000
"""


@contextlib.contextmanager
def over_ssh(**more):
    with folder() as home, Sshd(home / "sshd") as daemon:
        stub = home / "stub"
        stub.write_text(STUB)
        stub.chmod(0o755)
        program = Program("ssh", {**daemon.options(), "folder": str(home / "remote"), **more}, worker_binary=str(stub))
        try:
            yield program, home, daemon
        finally:   # of a test that failed; without a daemon there is nothing to list
            for one in program.ask("list").get("workers", []):
                program.ask("destroy", one["worker_id"])


def test_ssh_makes_finds_and_ends_workers():
    with over_ssh() as (program, home, _):
        same(program.good("health")["state"], "healthy", "health")
        made = program.good("create", "w1")["id"]
        same(program.good("create", "w1")["id"], made, "the id of the same worker again")
        there = home / "remote/ours.cloud/w1"
        until(lambda: (there / "worker.log").read_text(), "the worker to speak")
        processes = [Process(made), Process((there / "state/job").read_text())]
        check(all(p.alive() for p in processes), f"{processes} live")
        check(STEM not in (there / "state/seen").read_text(), "the token is seen in the list of processes")
        contains((there / "state/seen").read_text(), "ssh", "the list of processes")
        same(program.listed()["w1"]["phase"], "running", "phase in the list")
        same(program.good("logs", "w1", tail=10)["text"].strip(), str(len(TOKEN) + 4), "logs")
        same(len(list((home / "remote/bin").iterdir())), 1, "copies of the worker")
        same(Program("ssh", program.config, "theirs").listed(), {}, "what another installation sees")

        program.good("destroy", "w1")
        check(not any(p.alive() for p in processes), f"{processes} are gone")
        same(program.good("status", "w1")["phase"], "gone", "phase after destroy")
        check(not there.exists(), "its folder is gone")
        program.good("destroy", "w1")


def test_ssh_tells_how_a_worker_ended():
    with over_ssh() as (program, home, _):
        made = program.good("create", "w1")["id"]
        until(lambda: (home / "remote/ours.cloud/w1/state/job").exists(), "the worker to be up")
        Process(made).send(signal.SIGKILL)
        until(lambda: program.good("status", "w1")["phase"] == "ended", "the end to be seen")
        job = Process((home / "remote/ours.cloud/w1/state/job").read_text())
        check(job.alive(), "what it started lives on")
        program.good("destroy", "w1")
        check(not job.alive(), "what it started is gone")


def test_ssh_finds_a_worker_that_was_never_written_down():
    with over_ssh() as (program, home, _):
        made = Process(program.good("create", "w1")["id"])
        (home / "remote/ours.cloud/w1/record").unlink()
        same(program.listed()["w1"]["phase"], "ended", "phase without a record")
        program.good("destroy", "w1")
        check(not made.alive(), "it is gone")


def test_ssh_says_what_is_wrong_with_the_other_side():
    with over_ssh() as (program, home, daemon):
        (home / "stub").unlink()
        same(program.ask("create", "w1")["error"]["code"], "failed_precondition", "without a worker to copy")
        program.config = {**program.config, "worker": "/not/there"}
        error = program.ask("create", "w1")["error"]
        same(error["code"], "failed_precondition", f"with a worker that is not there: {error}")
        contains(error["message"], "/not/there cannot be executed here", "message")
        same(program.listed(), {}, "what is left")
        same(program.ask("create", "w1", spec=spec("w1", image="x"))["error"]["code"], "invalid_argument", "with an image")
        daemon.__exit__(None, None, None)
        error = program.ask("list")["error"]
        same(error["code"], "unavailable", f"without a daemon: {error}")
        contains(error["message"], "Connection refused", "message")


def test_the_providers_of_processes_and_ssh_keep_all_promises():
    check(PROVIDER_CHECK.exists(), f"{PROVIDER_CHECK} is not there; build it: tools/dev build release")
    done = subprocess.run([str(PROVIDER_CHECK), "--type", "process", "--room", "3", "--worker", str(WORKER)], capture_output=True,
                          text=True, timeout=300, check=False)
    same(done.returncode, 0, f"process: {done.stdout} {done.stderr}")
    with folder() as home, Sshd(home / "sshd") as daemon:
        options = {"program": str(PROGRAMS / "ssh"), "config.folder": str(home / "remote"),
                   **{f"config.{name}": value for name, value in daemon.options().items()}}
        words = [word for name, value in options.items() for word in ("--option", f"{name}={value}")]
        done = subprocess.run([str(PROVIDER_CHECK), "--type", "custom", "--room", "2", "--worker", str(WORKER), *words],
                              capture_output=True, text=True, timeout=600, check=False)
        same(done.returncode, 0, f"ssh: {done.stdout} {done.stderr}")


def folders_below(root):
    """Also while some of them vanish."""
    return [pathlib.Path(at) / name for at, names, _ in os.walk(root) for name in names]


def left_of(home):
    return [path for path in folders_below(home / "remote") if path.parent.name.endswith(".there")]


def test_a_job_runs_on_a_worker_made_over_ssh_and_nothing_is_left():
    with Apart().start(worker=False) as server, folder() as home, Sshd(home / "sshd") as daemon:
        options = [f"program={PROGRAMS / 'ssh'}", f"config.folder={home / 'remote'}"]
        options += [f"config.{name}={value}" for name, value in daemon.options().items()]
        server.ok("provider", "add", "there", "--type", "custom", *(w for option in options for w in ("--option", option)))
        same(server.ok("run", "--provider", "there", "--", "echo", "over ssh", timeout=120).out, "over ssh\n", "output")
        until(lambda: not left_of(home), lambda: f"nothing to be left: {left_of(home)}", patience=60)


def test_a_server_killed_between_create_and_registration_leaves_nothing():
    with Apart().start(worker=False) as server, folder() as home, Sshd(home / "sshd") as daemon:
        options = [f"program={PROGRAMS / 'ssh'}", f"config.folder={home / 'remote'}"]
        options += [f"config.{name}={value}" for name, value in daemon.options().items()]
        server.ok("provider", "add", "there", "--type", "custom", *(w for option in options for w in ("--option", option)))
        for number in range(KILL_ROUNDS):
            job = server.submit("--provider", "there", "--", "true")
            # As soon as it is asked for, and when there is something of it on the other side, in turn.
            if number % 2:
                until(lambda: left_of(home), f"round {number}: a worker on the other side", patience=60)
            server.kill("server", signal.SIGKILL)
            server.start(worker=False)
            server.cli("job", "cancel", job)
            until(lambda: not left_of(home), lambda: f"round {number}: nothing to be left: {left_of(home)}", patience=120)
        same(server.ok("run", "--provider", "there", "--", "echo", "after", timeout=120).out, "after\n", "after all of it")
        until(lambda: not left_of(home), lambda: f"nothing to be left: {left_of(home)}", patience=60)


def test_a_job_runs_on_a_worker_made_as_a_process_and_nothing_is_left():
    with Apart().start(worker=False) as server:
        server.ok("provider", "add", "here", "--type", "process")
        wanted = pathlib.Path("/etc/os-release").read_text()
        same(server.ok("run", "--provider", "here", "--", "cat", "/etc/os-release", timeout=120).out, wanted, "output")

        def left():
            return [path for path in folders_below(server.data) if path.parent.name == "here"]
        until(lambda: not left(), lambda: f"nothing to be left: {left()}", patience=60)
