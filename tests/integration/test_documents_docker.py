"""The documents whose commands need a Docker engine."""

import contextlib

import docker_images
from dockerd import Dockerd
from documents import read


@contextlib.contextmanager
def an_engine():
    with Dockerd() as engine:
        docker_images.small_image(engine, engine.folder, "debian:12")
        yield {"DOCKER_HOST": f"unix://{engine.socket}"}


def test_providers_docker():
    with an_engine() as settings:
        read("docs/providers/docker.md", start=False, **settings)


def test_workers_on_demand():
    with an_engine() as settings:
        read("docs/workers-on-demand.md", **settings)
