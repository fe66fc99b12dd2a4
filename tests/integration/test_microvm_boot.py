"""microVMs that do not boot, with programs that stand for Firecracker and QEMU: a machine is stopped at its limit, the verdict
of a probe is kept, and `auto` says why it did not take Firecracker. The booting of real ones is in test_firecracker_provider.py."""

import os

import microvm
from harness import Apart, check, contains, same, until

# What the real one writes to its log where there is no KVM; each start is noted beside it.
NO_KVM = """#!/bin/sh
echo start >> "$0.starts"
echo '[anonymous-instance:main:ERROR] Cannot create the VM: KVM is of no use here' >> firecracker.log
exit 1
"""
# A machine without KVM whose kernel prints a line and hangs; what is left of it would be busy for ever.
HANGS = """#!/bin/sh
echo start >> "$0.starts"
case "$*" in *'-accel kvm'*) exit 1 ;; esac
echo 'Booting the kernel.'
while :; do sleep 1; done
"""


class Machines(Apart):
    """A server with a provider of microVMs, `vm`, whose engines are the given scripts."""

    def __init__(self, **scripts):
        super().__init__()
        check(os.geteuid() == 0, "microVMs need TAP devices: run these tests as root")
        self.programs = {}
        for name, text in scripts.items():
            # Named so that microvm.machines() knows it for what it stands for.
            self.programs[name] = self.write({"qemu": "qemu-system-double"}.get(name, name), text)
            self.programs[name].chmod(0o755)
        self.write("vmlinux", "a kernel")

    def add(self, **options):
        options = {"kernel": self.folder / "vmlinux", **{f"{name}_binary": path for name, path in self.programs.items()}, **options}
        self.ok("provider", "add", "vm", "--type", "firecracker", *[w for k, v in options.items() for w in ("--option", f"{k}={v}")])

    def starts(self, name):
        notes = self.programs[name].with_name(self.programs[name].name + ".starts")
        return notes.read_text().count("start") if notes.exists() else 0

    def health(self):
        return self.ok("provider", "get", "vm", "-o", "json").json().get("health", {}).get("reason", "")

    def machines(self):
        return microvm.machines(self.data)


def test_auto_says_why_it_did_not_take_firecracker_and_remembers_it():
    with Machines(firecracker=NO_KVM, qemu=HANGS) as server:
        server.start(worker=False)
        server.add(engine="auto")
        until(lambda: "not by firecracker" in server.health(), lambda: f"the provider to be looked at: {server.health()}")
        words = server.health()
        for part in ("microVMs are booted by qemu with software emulation", "not by firecracker", "needs a working KVM",
                     "KVM is of no use here"):
            contains(words, part, "what the provider says of itself")
            contains(server.tail(), part, "the server's log")
        contains(server.ok("provider", "health", "vm").out, "KVM is of no use here", "`provider health`")
        probes = {name: server.starts(name) for name in server.programs}
        same(probes, {"firecracker": 1, "qemu": 1}, "probes")
        server.kill("server")
        server.start(worker=False)
        until(lambda: server.health() == words, lambda: f"the same words after a restart, not: {server.health()}")
        same({name: server.starts(name) for name in server.programs}, probes, "probes after a restart")


def test_a_guest_that_never_boots_is_stopped_and_its_console_quoted():
    with Machines(qemu=HANGS) as server:
        before = microvm.devices()
        server.start(worker=False)
        server.add(engine="qemu", boot_seconds=1)
        job = server.submit("--provider", "vm", "--", "true")
        pid = until(server.machines, lambda: f"a machine to be started: {server.tail()}")[0]
        until(lambda: pid not in server.machines(), "the machine to be stopped")

        def words():
            return server.ok("job", "explain", job).out
        until(lambda: "did not boot in time (boot_seconds)" in words(), lambda: f"the reason to be told: {words()}")
        contains(words(), "Booting the kernel.", "what its console printed")
        server.ok("job", "cancel", job)
        until(lambda: not server.machines() and not microvm.devices() - before,
              lambda: f"nothing to be left: {server.machines()}, {microvm.devices() - before}")


def test_a_guest_that_never_boots_ends_with_its_job():
    with Machines(qemu=HANGS) as server:
        server.start(worker=False)
        server.add(engine="qemu", boot_seconds=3600)
        job = server.submit("--provider", "vm", "--", "true")
        until(server.machines, lambda: f"a machine to be started: {server.tail()}")
        server.ok("job", "cancel", job)
        until(lambda: not server.machines(), lambda: f"the machine to be stopped: {server.tail()}")
