"""The docker provider against a real engine: what it asks for, makes and leaves, and its words when it fails."""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

import docker_images
import harness
import openapi
from dockerd import Dockerd
from harness import Apart, check, contains, resource_name, ROOT, same, until
from recorder import Recorder
from registry import registry

BUILD = harness.HODEI.parent
WORKER = pathlib.Path(os.environ.get("HODEI_WORKER_BINARY", BUILD / "hodei-worker"))
CHECK = BUILD / "tests/providers/provider-check"
CALL = BUILD / "tests/providers/provider-call"
NOWHERE = "127.0.0.1:1"   # workers that need not register


class Docker:
    """The provider, one call after the other, on an engine of the test's own."""

    def __init__(self, engine, **words):
        self.engine = engine
        self.words = {"worker": WORKER, "installation": "ours", "server": NOWHERE, "token": "t0ken",
                      "option.host": f"unix://{engine.socket}", "option.pull": "never"} | words

    def try_call(self, verb, **words):
        arguments = [f"{key}={value}" for key, value in (self.words | words).items()]
        return subprocess.run([str(CALL), "docker", verb, *arguments], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.engine.folder)})

    def call(self, verb, **words):
        done = self.try_call(verb, **words)
        check(done.returncode == 0, f"{verb} {words}: {done.stderr}")
        return dict(line.partition("=")[::2] for line in done.stdout.splitlines())

    def joins(self, server, worker):
        until(lambda: server.sees(worker), lambda: f"{worker} to join: " + self.try_call("logs", worker_id=worker).stdout)

    def refused(self, verb, *expected, **words):
        """The words of an error; each of `expected` must be among them."""
        done = self.try_call(verb, **words)
        same(done.returncode, 1, f"exit code of {verb} {words}: {done.stdout}{done.stderr}")
        for word in expected:
            contains(done.stderr, word, f"{verb} {words}")
        check("t0ken" not in done.stderr, f"the token is in an error: {done.stderr}")
        return done.stderr


@contextlib.contextmanager
def an_engine(**words):
    with Dockerd() as engine:
        docker_images.small_image(engine, engine.folder)
        yield engine, Docker(engine, **words)


def test_it_keeps_every_promise_of_a_provider_with_requests_of_the_official_api():
    with an_engine() as (engine, _):
        image = docker_images.small_image(engine, engine.folder, "with-a-volume:1", "VOLUME /data")
        with Recorder(engine.folder / "seen.sock", engine.socket) as seen:
            done = subprocess.run([str(CHECK), "--type", "docker", "--option", f"host=unix://{seen.path}", "--option",
                                   "pull=never", "--image", image, "--room", "3", "--worker", str(WORKER)],
                                  capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
            check(done.returncode == 0, f"provider-check ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        same(engine.containers(), [], "containers that are left")
        same(engine.docker("volume", "ls", "--quiet"), "", "volumes that are left")
        asked = [request for request in seen.requests if request.target != "/version"]
        verbs = {(r.method, r.target.split("?")[0].rsplit("/", 1)[-1]) for r in asked}
        for verb in (("POST", "create"), ("PUT", "archive"), ("POST", "start"), ("GET", "logs"), ("GET", "info")):
            check(verb in verbs, f"the suite never asked for {verb}: {sorted(verbs)}")
        judged_by_the_description(asked)


def judged_by_the_description(requests):
    path = openapi.test_data("docker", "v1.41.yaml")
    if path is None:
        return
    description = openapi.load(path)
    wrong = sorted({what for r in requests for what in description.check(r.method, r.target, r.headers, r.body)})
    check(not wrong, lambda: "not as the description says:\n  " + "\n  ".join(wrong[:20]))
    # The same description must find what is wrong, else the line above says nothing.
    create = next(r for r in requests if "/containers/create" in r.target)
    for spoiled, word in (({"HostConfig": {"NanoCPUs": 1}}, "unknown property 'NanoCPUs'"),
                          ({"Env": "A=b"}, "is no array"),
                          ({"HostConfig": {"RestartPolicy": {"Name": "never"}}}, "is none of")):
        found = description.check(create.method, create.target, create.headers, json.dumps(spoiled).encode())
        check(any(word in what for what in found), f"{spoiled} is not found wrong: {found}")


def test_every_option_and_limit_is_a_request_of_the_official_api():
    with Dockerd() as engine, Recorder(engine.folder / "seen.sock", engine.socket) as seen:
        docker_images.small_image(engine, engine.folder)
        docker = Docker(engine, image="small:1", **{"option.host": f"unix://{seen.path}"})
        docker.call("create", worker_id="full", cpu_milli=500, memory_mb=128, **{
            "label.zone": "a", "env.X": "y", "option.user": "0:0", "option.pids": 99, "option.labels": "team=x,cost=7",
            "option.volumes": f"{engine.folder}:/there:ro", "option.extra_hosts": "server.test:127.0.0.1",
            "option.network": "host", "option.runtime": "runc"})
        made = engine.inspect(resource_name("full"))
        host = made["HostConfig"]
        same((host["NanoCpus"], host["Memory"], host["PidsLimit"]), (500_000_000, 128 << 20, 99), "cpu, memory, pids")
        same(made["Config"]["Labels"]["team"], "x", "a label of the option labels")
        same(made["Config"]["Labels"]["hodei.label.zone"], "a", "a label of the worker")
        policies = (host["AutoRemove"], host["RestartPolicy"]["Name"], host["NetworkMode"])
        same(policies, (False, "no", "host"), "policies")
        token = json.dumps({**made, "Config": {**made["Config"], "Env": []}})
        check("t0ken" not in token, "the token is outside of the container's environment")
        docker.refused("create", "cpus", worker_id="large", cpu_milli=10_000_000)
        docker.refused("create", "nvidia", worker_id="gpu", gpus=1)
        docker.refused("create", "no such user", worker_id="who", **{"option.user": "nobody-here"})
        docker.refused("create", "option network", worker_id="net", **{"option.network": "not-there"})
        docker.refused("create", "option runtime", worker_id="run", **{"option.runtime": "not-there"})
        docker.refused("create", "runs", worker_id="arch", architecture="s390x")
        same(engine.containers(), [resource_name("full")], "containers after the refusals")
        docker.call("destroy", worker_id="full")
        judged_by_the_description([r for r in seen.requests if r.target != "/version"])


def test_a_job_sees_the_image_and_nothing_is_left():
    with Apart().start(worker=False) as server, an_engine(server=f"127.0.0.1:{server.port}") as (engine, docker):
        docker.call("create", worker_id="w1", image="small:1", token=server.token()["token"])
        docker.joins(server, "w1")
        same(server.ok("run", "--", "cat", "/etc/os-release").out, docker_images.OS_RELEASE, "the image's file")
        same(server.ok("run", "--", "whoami").out, "0\n", "the user")
        same(docker.call("status", worker_id="w1")["phase"], "Running", "phase")
        docker.call("destroy", worker_id="w1")
        same(engine.containers(), [], "containers that are left")
        same(docker.call("status", worker_id="w1")["phase"], "Gone", "phase")


def test_a_worker_may_be_another_user_than_root():
    with Apart().start(worker=False) as server, an_engine(server=f"127.0.0.1:{server.port}") as (_, docker):
        docker.call("create", worker_id="w1", image="small:1", token=server.token()["token"], **{"option.user": "1234"})
        docker.joins(server, "w1")
        same(server.ok("run", "--", "whoami").out, "1234\n", "the user")
        docker.call("destroy", worker_id="w1", **{"option.user": "1234"})


def test_the_own_image_is_built_from_scratch_and_needs_no_second_worker():
    with Dockerd() as engine, Recorder(engine.folder / "seen.sock", engine.socket) as seen:
        docker = Docker(engine, **{"option.host": f"unix://{seen.path}"})
        docker.refused("create", "scripts/docker/build-worker", worker_id="w1")
        subprocess.run([str(ROOT / "scripts/docker/build-worker"), "--worker", str(WORKER)], check=True,
                       capture_output=True, env=os.environ | {"DOCKER_HOST": f"unix://{engine.socket}"})
        docker.call("create", worker_id="w1")
        until(lambda: "\n" in docker.try_call("logs", worker_id="w1").stdout, "the worker to say something")
        sizes = [int(r.headers["content-length"]) for r in seen.requests if r.method == "PUT"]
        check(len(sizes) == 1 and sizes[0] < 10_000, f"bytes put into the container: {sizes}, expected only folders")
        # Another worker than the image's own is sent all the same.
        other = engine.folder / "other-worker"
        other.write_bytes(WORKER.read_bytes() + b"\0")
        other.chmod(0o755)
        docker.call("create", worker_id="w2", worker=other)
        last = [int(r.headers["content-length"]) for r in seen.requests if r.method == "PUT"][-1]
        check(last > other.stat().st_size, f"{last} bytes were put into the container, and not the other worker")
        for worker in ("w1", "w2"):
            docker.call("destroy", worker_id=worker)


def test_another_installation_is_left_alone():
    with an_engine() as (engine, docker):
        alone, ours = resource_name("alone"), resource_name("w1")
        engine.docker("create", "--name", alone, "--network", "host", "small:1")
        docker.refused("create", "another installation", worker_id="alone", image="small:1")
        docker.call("create", worker_id="w1", image="small:1")
        docker.refused("create", "another installation", worker_id="w1", image="small:1", name="another")
        container = engine.inspect(ours)["Id"]
        for words in ({"worker_id": "w1"}, {"worker_id": "w1", "id": container}):
            same(docker.call("status", installation="theirs", **words)["phase"], "Gone", "their view of it")
            docker.call("destroy", installation="theirs", **words)
        docker.call("destroy", worker_id="alone")
        same(docker.call("list", installation="theirs"), {}, "their list")
        same(docker.call("list"), {"w1": "Running"}, "our list")
        same(sorted(engine.containers()), sorted([alone, ours]), "all containers")


def test_two_installations_give_the_same_worker_id_to_different_containers():
    with an_engine() as (engine, docker):
        docker.call("create", worker_id="w1", image="small:1")
        docker.call("create", worker_id="w1", image="small:1", installation="theirs")
        both = sorted([resource_name("w1"), resource_name("w1", "theirs")])
        same(sorted(engine.containers()), both, "all containers")
        docker.call("destroy", worker_id="w1")
        same(engine.containers(), [resource_name("w1", "theirs")], "what is left: theirs")
        docker.call("destroy", worker_id="w1", installation="theirs")


def test_a_container_with_the_name_of_an_earlier_version_is_found_as_ours():
    with an_engine() as (engine, docker):
        for owner in ("ours", "theirs"):
            labels = (f"hodei.installation={owner}", "hodei.provider=docker", "hodei.worker=w1")
            flags = [flag for label in labels for flag in ("--label", label)]
            engine.docker("create", "--name", "hodei-w1" if owner == "ours" else "theirs", "--network", "host", *flags, "small:1")
        same(docker.call("list"), {"w1": "Starting"}, "the list")
        docker.call("destroy", worker_id="w1")
        same(engine.containers(), ["theirs"], "what is left: another installation's")


def test_what_a_killed_server_left_before_the_start_is_made_anew():
    with an_engine() as (engine, docker):
        labels = ("hodei.installation=ours", "hodei.provider=docker", "hodei.worker=w1")
        flags = [flag for label in labels for flag in ("--label", label)]
        engine.docker("create", "--name", resource_name("w1"), "--network", "host", *flags, "small:1")
        same(docker.call("list"), {"w1": "Starting"}, "the list")
        docker.call("create", worker_id="w1", image="small:1")
        same(docker.call("status", worker_id="w1")["phase"], "Running", "phase")
        docker.call("destroy", worker_id="w1", id="an-outdated-id")
        same(engine.containers(), [], "containers that are left")


def test_the_end_of_a_worker_is_told_with_its_reason():
    with an_engine() as (engine, docker):
        with tempfile.TemporaryFile("w+") as out:
            watcher = subprocess.Popen([str(CALL), "docker", "watch", *(f"{k}={v}" for k, v in docker.words.items())],
                                       stdin=subprocess.PIPE, stdout=out, env={"PATH": os.environ["PATH"]})

            def told():
                out.seek(0)
                return out.read().count("changed=w1")
            try:
                docker.call("create", worker_id="w1", image="small:1")
                before = until(told, "the watcher to tell of the start")
                engine.docker("kill", resource_name("w1"))
                until(lambda: told() > before, "the watcher to tell of the end")
                status = docker.call("status", worker_id="w1")
                same(status["phase"], "Ended", "phase")
                contains(status["reason"], "137 (signal 9)", "reason")
                before = told()
                docker.call("destroy", worker_id="w1")
                until(lambda: told() > before, "the watcher to tell of the removal")
            finally:
                watcher.stdin.close()
                watcher.wait(timeout=20)


def test_a_worker_of_another_processor_is_called_so():
    with an_engine() as (engine, docker):
        strange = engine.folder / "strange-worker"
        strange.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xf7\x00" + bytes(100))
        done = docker.try_call("create", worker_id="w1", image="small:1", worker=strange)
        words = done.stderr
        if done.returncode == 0:   # engines differ in whether the start fails or the container ends
            until(lambda: docker.call("status", worker_id="w1")["phase"] == "Ended", "it to end")
            words = docker.call("status", worker_id="w1")["reason"]
        contains(words, "a different architecture", "the reason")
        docker.call("destroy", worker_id="w1")
        same(engine.containers(), [], "containers that are left")


def test_images_are_pulled_by_policy_with_credentials_and_failures_are_named():
    with an_engine(**{"option.pull": "missing"}) as (engine, docker):
        content = {path: source.read_bytes() for path, source in docker_images.files(engine.folder).items()}
        machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
        with registry("team/tool", content, machine, "me", "pass:word") as host:
            image = f"{host}/team/tool:1"
            docker.refused("create", "pull is 'never'", worker_id="w1", image=image, **{"option.pull": "never"})
            docker.refused("create", f"pulling the image {image}", "registry_auth", worker_id="w1", image=image)
            login = engine.folder / "login.json"
            login.write_text(json.dumps({"auths": {host: {"auth": base64.b64encode(b"me:pass:word").decode()}}}))
            given = {"option.registry_auth": login}
            docker.refused("create", "manifest unknown", "no such image or tag", worker_id="w1",
                           image=f"{host}/team/tool:2", **given)
            docker.call("create", worker_id="w1", image=image, **given)
            same(docker.call("status", worker_id="w1")["phase"], "Running", "phase")
            docker.call("destroy", worker_id="w1")
        docker.call("create", worker_id="w2", image=image)   # the registry is gone; the image is here
        docker.call("destroy", worker_id="w2")
        docker.refused("create", "connection refused", worker_id="w3", image=image, **{"option.pull": "always"})
        nowhere = {"option.registry_auth": "/nowhere"}
        docker.refused("create", "cannot read", worker_id="w3", image="127.0.0.1:1/x:1", **nowhere)
        same(engine.containers(), [], "containers that are left")


def test_an_engine_that_does_not_answer_is_named_with_what_to_do():
    with an_engine() as (engine, docker):
        health = docker.call("health")
        same(health["state"], "Healthy", f"health ({health['reason']})")
        can = docker.call("capabilities")
        same((can["images"], can["architecture"]), ("true", os.uname().machine), "capabilities")
        same(int(can["max_cpu_milli"]), 1000 * int(engine.docker("info", "--format", "{{.NCPU}}")), "cpu")
        same(docker.call("health", worker="")["state"], "Degraded", "health without a static worker")
    gone = docker.call("health")
    same(gone["state"], "Unhealthy", "health of an engine that is gone")
    contains(gone["reason"], f"unix://{engine.socket}: no such socket", "the reason")
    docker.refused("create", "no such socket", worker_id="w1", image="small:1")
    nobody = docker.call("health", **{"option.host": "tcp://127.0.0.1:1"})
    contains(nobody["reason"], "nothing is listening there", "the reason")
