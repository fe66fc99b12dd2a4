"""scripts/kubernetes/build-images: images from local files alone, that work for a user without any rights."""

import os
import subprocess

import harness
from dockerd import Dockerd
from harness import ROOT, check, same

NOBODY = ("run", "--rm", "--network", "host", "--user", "65532:65532", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")


def test_the_images_work_without_a_registry_and_without_rights():
    with Dockerd() as engine:
        done = subprocess.run(
            [str(ROOT / "scripts/kubernetes/build-images"), "--build", str(harness.HODEI.parent), "--tag", "t", "--save",
             str(engine.folder / "images")],
            env=dict(os.environ, DOCKER_HOST=f"unix://{engine.socket}"), capture_output=True, text=True, timeout=300, check=False)
        same(done.returncode, 0, f"build-images: {done.stderr}")
        for name in ("hodei-server.tar", "hodei-worker.tar"):
            check((engine.folder / "images" / name).stat().st_size > 1 << 20, f"{name} was not saved")
        # The server with all of its libraries, on a root that nobody can write to.
        version = engine.docker(*NOBODY, "--read-only", "hodei-server:t", "--version")
        same(version, subprocess.run([str(harness.HODEI), "--version"], capture_output=True, text=True, check=True).stdout.strip(),
             "the version that the image tells")
        # What the first container of a pod does: the worker copies itself into a volume.
        engine.docker(*NOBODY, "--tmpfs", "/hodei:mode=777", "hodei-worker:t", "install", "/hodei/hodei-worker")
