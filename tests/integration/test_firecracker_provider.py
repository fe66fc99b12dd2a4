"""The firecracker provider: real microVMs, booted by QEMU, or by QEMU behind a double of Firecracker's socket."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

import harness
import microvm
from harness import Dev, check, contains, same, until

PROVIDER_CHECK = harness.HODEI.parent / "tests/providers/provider-check"
BOOT = 240.0      # seconds: a kernel boots in two without KVM, but this machine may have other work
LONG = os.environ.get("HODEI_TEST_LONG") == "1"


def provider_check(options, environment=None):
    """The conformance suite; afterwards nothing may be left."""
    before, groups = microvm.devices(), microvm.groups()
    with tempfile.TemporaryDirectory(prefix="hodei-vm-check-") as folder:
        words = [word for key, value in {**microvm.options(), **options}.items() for word in ("--option", f"{key}={value}")]
        done = subprocess.run(
            [str(PROVIDER_CHECK), "--type", "firecracker", "--room", "2", "--patience", str(int(BOOT)), "--folder", folder,
             *words], capture_output=True, text=True, check=False, timeout=3600,
            env={k: v for k, v in os.environ.items() if not k.startswith("HODEI_")} | (environment or {}))
        check(done.returncode == 0, lambda: f"provider-check → {done.returncode}\n{done.stdout}\n{done.stderr[-3000:]}")
        same(microvm.machines(folder), [], "machines that are left")
    until(lambda: not microvm.abandoned(before), lambda: f"no device to be left: {microvm.abandoned(before)}")
    same(microvm.groups() - groups, set(), "control groups that are left")
    return done.stdout


# The provider by itself.

def test_it_keeps_every_promise_with_qemu():
    contains(provider_check({"engine": "qemu"}), "0 findings", "the suite")


def test_it_keeps_every_promise_with_firecracker():
    with microvm.Double() as double:
        contains(provider_check(double.options(), double.environment()), "0 findings", "the suite")
        told = double.told()
    check(len(told) > 50, f"only {len(told)} calls: was the double asked at all?")
    wrong = [call for call in told if call["status"] != 204]
    same(wrong, [], "calls that Firecracker would have refused")


def test_it_keeps_every_promise_in_the_jailer():
    with microvm.Double() as double:
        contains(provider_check(double.options(jailer=True), double.environment()), "0 findings", "the suite")
        told = double.told()
    jails = [call for call in told if "jailer" in call]
    check(jails, "the jailer was never asked")
    for jail in jails:
        same(jail["jailer"]["uid"], "65534", "the user in the jail")
        check({"kernel", "initramfs"} <= set(jail["root"]), f"the jail has only {jail['root']}")
        check(any("memory" in limit for limit in jail["jailer"]["cgroup"]), f"no limit of memory: {jail['jailer']}")
    calls = [call for call in told if "path" in call]
    same([call for call in calls if call["status"] != 204], [], "calls that Firecracker would have refused")
    paths = {call["body"]["kernel_image_path"] for call in calls if call["path"] == "/boot-source"}
    same(paths, {"/kernel"}, "the kernel's path, as seen from inside the jail")


# What build-rootfs makes.

def in_image(image, path):
    return subprocess.run(["debugfs", "-R", f"cat {path}", str(image)], capture_output=True, text=True, check=True).stdout


def tar_of(entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tree:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            if isinstance(content, tuple):
                entry.type, entry.linkname = tarfile.SYMTYPE, content[0]
                tree.addfile(entry)
            else:
                entry.size = len(content)
                tree.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_an_image_comes_from_the_layers_of_a_tar_and_is_always_the_same():
    with tempfile.TemporaryDirectory(prefix="hodei-image-") as folder:
        folder = pathlib.Path(folder)
        lower = tar_of([("etc/kept", b"lower"), ("etc/gone", b"x"), ("etc/changed", b"old"), ("tmp/x", b""), ("out", ("/tmp",)),
                        ("opaque/old", b"x")])
        upper = tar_of([("etc/.wh.gone", b""), ("etc/changed", b"new"), ("opaque/.wh..wh..opq", b""), ("opaque/new", b"y"),
                        ("out/escaped-from-a-test-image", b"z")])
        manifest = json.dumps([{"Config": "c.json", "RepoTags": ["x:1"], "Layers": ["a/layer.tar", "b/layer.tar"]}]).encode()
        config = json.dumps({"config": {"Env": ["PATH=/opt/bin:/bin", "COLOR=blue"]}}).encode()
        (folder / "image.tar").write_bytes(tar_of([("a/layer.tar", lower), ("b/layer.tar", upper), ("c.json", config),
                                                   ("manifest.json", manifest)]))
        (folder / "vmlinux").touch()   # no kernel is wanted here
        name = folder / "images/registry_5000_x_1.ext4"
        microvm.build("--folder", folder, "--from-tar", folder / "image.tar", "--image", "registry:5000/x:1")
        same(in_image(name, "/etc/kept"), "lower", "a file of the lower layer")
        same(in_image(name, "/etc/changed"), "new", "a file of both layers")
        same(in_image(name, "/opaque/new"), "y", "a file of an opaque folder")
        same(in_image(name, "/.hodei/environment"), "PATH=/opt/bin:/bin\nCOLOR=blue\n", "the image's environment")
        for gone in ("/etc/gone", "/opaque/old", "/etc/.wh.gone"):
            same(in_image(name, gone), "", f"{gone}, which the upper layer takes away")
        same(in_image(name, "/tmp/escaped-from-a-test-image"), "z", "a file behind a link of the image")
        check(not os.path.exists("/tmp/escaped-from-a-test-image"), "a link of the image led out of it")
        first = name.read_bytes()
        microvm.build("--folder", folder, "--from-tar", folder / "image.tar", "--output", folder / "again.ext4")
        check(first == (folder / "again.ext4").read_bytes(), "the same tar gave other bytes")


# With a server.

@contextlib.contextmanager
def a_server(options=None, **settings):
    """`hodei dev` with microVMs, and nothing left of them when it has ended."""
    before = microvm.devices()
    chosen = microvm.options()
    with Dev(HODEI_FC_KERNEL_PATH=chosen["kernel"], HODEI_FC_ROOTFS_PATH=chosen["rootfs"],
             HODEI_FC_ENGINE="qemu", **settings) as server:
        server.start()
        server.devices_before = before
        if options is not None:
            words = [w for k, v in {**chosen, **options}.items() for w in ("--option", f"{k}={v}")]
            server.ok("provider", "add", "vm", "--type", "firecracker", *words)
        yield server


def left(server):
    """What there is of machines: processes, devices, leases, folders."""
    out = [f"process {pid}" for pid in microvm.machines(server.data)]
    out += [f"device {name}" for name in microvm.abandoned(server.devices_before)]
    for at, names, _ in os.walk(server.data):    # also while some of it vanishes
        if ".leases" in names:
            out += [f"address {name}" for name in os.listdir(os.path.join(at, ".leases"))]
            out += [f"folder {at}/{name}" for name in names if not name.startswith(".")]
    return out


def nothing_is_left(server, patience=120.0):
    until(lambda: not left(server), lambda: f"nothing of microVMs to be left; there is {left(server)}", patience)


def test_a_job_runs_in_a_microvm_and_nothing_is_left():
    with a_server() as server:
        out = server.ok("run", "--provider", "firecracker", "--", "uname", "-a", timeout=BOOT).out
        contains(out, "cloud-amd64", "the guest's kernel")
        check(os.uname().release not in out, f"this is the host's kernel: {out}")
        nothing_is_left(server)


def test_a_job_that_asks_for_hardware_isolation_gets_a_microvm():
    with a_server() as server:
        out = server.ok("run", "--isolation", "hardware", "--", "sh", "-c", "id -u; cat /proc/1/comm; df / | tail -1",
                        timeout=BOOT).out
        contains(out, "hodei-worker", "the first process of the guest")
        contains(out, "overlay", "the guest's root")
        nothing_is_left(server)


def test_an_unknown_image_is_refused_with_the_command_that_makes_it():
    with a_server() as server:
        job = server.submit("--provider", "firecracker", "--image", "no/such:1", "--", "true")
        def words():
            return server.ok("job", "explain", job).out
        until(lambda: "build-rootfs" in words(), lambda: f"the reason to be told: {words()}", 120.0)
        nothing_is_left(server)


def test_the_port_of_microvms_is_for_workers_only():
    with a_server() as server:
        job = server.submit("--provider", "firecracker", "--", "sleep", "1000")
        server.wait_for(job, "Running", patience=BOOT)
        addresses = re.findall(rf"(172\.31\.\d+\.1)\]?:{server.port}\b",
                           subprocess.run(["ss", "-ltn"], capture_output=True, text=True, check=True).stdout)
        check(addresses, "the server does not listen on an address of the microVMs")
        refused = server.cli("job", "list", "--server", f"http://{addresses[0]}:{server.port}", "--retry-for", "0")
        check(refused.code != 0, "a client's call was answered at the port of the workers")
        server.ok("job", "cancel", job)
        nothing_is_left(server)


def test_a_server_killed_between_create_and_registration_leaves_nothing():
    with a_server() as server:
        for _ in range(20 if LONG else 2):
            server.submit("--provider", "firecracker", "--timeout", "5m", "--", "true")
            until(lambda: microvm.machines(server.data), "a machine to be started", 120.0)
            server.kill("server")
            server.launch()
            server.wait_until_up()
            until(lambda: all(job["state"] in harness.TERMINAL for job in server.jobs()), "the job to end", BOOT)
            nothing_is_left(server)


def test_many_jobs_share_the_room_that_there_is():
    jobs, room = (50, 10) if LONG else (6, 2)
    with a_server() as server:
        words = [w for k, v in microvm.options().items() for w in ("--option", f"{k}={v}")]
        server.ok("provider", "add", "vm", "--type", "firecracker", "--max-workers", room, "--option", "engine=qemu", *words)
        all_jobs = [server.submit("--provider", "vm", "--", "true") for _ in range(jobs)]
        most = 0

        def done():
            nonlocal most
            most = max(most, len(microvm.machines(server.data)))
            return all(job["state"] in harness.TERMINAL for job in server.jobs())
        until(done, lambda: f"{jobs} jobs to end: {[j['state'] for j in server.jobs()]}", BOOT * jobs / room)
        check(most <= room, f"{most} machines at once, {room} are allowed")
        same({server.state(job) for job in all_jobs}, {"Succeeded"}, "states")
        nothing_is_left(server)
