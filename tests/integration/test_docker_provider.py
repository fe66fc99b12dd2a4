"""`hodei run --provider docker`: from no worker at all to an image's file, and nothing left behind, whatever dies."""

import contextlib
import os
import re
import signal

import docker_images
from dockerd import Dockerd
from harness import Apart, Dev, check, contains, same, until

GONE_WITHIN = 30.0      # seconds after the job
SWEPT_WITHIN = 120.0    # seconds after the server came back
ROUNDS = int(os.environ.get("HODEI_TEST_KILL_ROUNDS", "3"))   # 20 for the whole proof


@contextlib.contextmanager
def docker_in_a_server(*options):
    """An engine with an image, and a server without workers that knows the engine."""
    with Dockerd() as engine, Apart(DOCKER_HOST=f"unix://{engine.socket}") as server:
        image = docker_images.small_image(engine, engine.folder)
        server.start(worker=False)
        add(server, engine, *options)
        yield server, engine, image


def add(server, engine, *options):
    """Enters the provider, or puts it right where the server has one by that name already."""
    # This engine has no network of its own to give.
    all_options = (f"host=unix://{engine.socket}", "pull=never", "network=host", *options)
    flags = [flag for option in all_options for flag in ("--option", option)]
    server.cli("provider", "rm", "docker")
    server.ok("provider", "add", "docker", "--type", "docker", *flags)
    until(lambda: re.search(r"\bhealthy\b", server.cli("provider", "health", "docker").out.lower()), "it to be healthy")


def test_it_works_in_dev_with_nothing_configured():
    with Dockerd() as engine, Dev(DOCKER_HOST=f"unix://{engine.socket}").start() as dev:
        image = docker_images.small_image(engine, engine.folder)
        done = dev.ok("run", "--provider", "docker", "--image", image, "--", "cat", "/etc/os-release", timeout=120)
        same(done.out, docker_images.OS_RELEASE, "the image's file")
        until(lambda: not engine.containers(), lambda: f"the container to be gone: {engine.containers()}", GONE_WITHIN)


def test_a_job_runs_in_an_image_with_no_worker_there_before():
    with docker_in_a_server() as (server, engine, image):
        same(server.workers(), [], "workers before")
        done = server.ok("run", "--provider", "docker", "--image", image, "--", "cat", "/etc/os-release", timeout=120)
        same(done.out, docker_images.OS_RELEASE, "the image's file")
        until(lambda: not engine.containers(), lambda: f"the container to be gone: {engine.containers()}", GONE_WITHIN)
        same(engine.docker("volume", "ls", "--quiet"), "", "volumes that are left")


def test_an_image_that_is_not_there_is_named_in_the_explanation():
    with docker_in_a_server() as (server, engine, _):
        job = server.submit("--provider", "docker", "--image", "not-there:1", "--", "cat", "/etc/os-release")
        until(lambda: "not-there:1" in server.cli("job", "explain", job).out,
              lambda: "the image in the explanation: " + repr(server.cli("job", "explain", job)))
        contains(server.ok("job", "explain", job).out, "pull", "the explanation")
        server.cli("job", "cancel", job)
        same(engine.containers(), [], "containers that are left")


def test_never_more_workers_than_the_provider_may_have():
    with docker_in_a_server("max_workers=2") as (server, engine, image):
        jobs = [server.submit("--provider", "docker", "--image", image, "--", "say", str(i)) for i in range(6)]
        most = 0

        def all_done():
            nonlocal most
            most = max(most, len(engine.containers()))
            return all(server.state(job) == "Succeeded" for job in jobs)
        until(all_done, lambda: f"all jobs to be done: {[server.state(job) for job in jobs]}", 300)
        check(1 <= most <= 2, f"{most} containers at once, 2 are allowed")
        until(lambda: not engine.containers(), "the containers to be gone", GONE_WITHIN)


def test_a_server_killed_between_create_and_registration_leaves_nothing():
    with docker_in_a_server() as (server, engine, image):
        for number in range(ROUNDS):
            # The window opens with the container's name and ends when its worker joins. Round by round it is hit
            # elsewhere: as soon as it is there, when it runs, and a little later each time.
            client = server.background("run", "--provider", "docker", "--image", image, "--", "say", "hello")
            wanted = "running" if number % 2 else "created|running"
            until(lambda: in_state(engine, wanted), lambda: f"round {number}: a container to be {wanted}", 60)
            server.kill("server", signal.SIGKILL)
            client.kill()
            client.wait()
            server.start(worker=False)
            for job in server.jobs():
                server.cli("job", "cancel", job["id"])
            until(lambda: not engine.containers(),
                  lambda: f"round {number}: all to be swept; there are {engine.docker('ps', '--all')}", SWEPT_WITHIN)
        done = server.ok("run", "--provider", "docker", "--image", image, "--", "cat", "/etc/os-release", timeout=120)
        same(done.out, docker_images.OS_RELEASE, "the image's file, after all of it")


def in_state(engine, wanted):
    states = engine.docker("ps", "--all", "--format", "{{.State}}").split()
    return any(state in wanted.split("|") for state in states)


def test_containers_of_others_survive_the_sweep():
    with docker_in_a_server() as (server, engine, image):
        engine.docker("create", "--name", "hodei-w1", "--label", "hodei.installation=somebody-else", "--label",
                      "hodei.provider=docker", "--label", "hodei.worker=w1", "--network", "host", image)
        server.kill("server", signal.SIGKILL)
        server.start(worker=False)
        done = server.ok("run", "--provider", "docker", "--image", image, "--", "say", "hello", timeout=120)
        same(done.out, "hello\n", "output")
        until(lambda: engine.containers() == ["hodei-w1"],
              lambda: f"only the other's to be there: {engine.containers()}", GONE_WITHIN)
