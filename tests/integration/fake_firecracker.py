#!/usr/bin/env python3
"""Firecracker's outside, for machines without KVM: its command line, its socket, its order of calls. What it is told is
checked against Firecracker's own API description; then the machine is booted with QEMU, in this same process.

As `jailer` (a link to this file) it does what the jailer promises: a root folder of its own with the devices in it, a
control group, another user, and then Firecracker's program in there.

$FAKE_FC_NOTES: a file to which every call is appended, one JSON object a line.
"""

import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import socketserver
import sys

# The description and the checker of it; a link in a test's folder leads here.
HERE = pathlib.Path(os.path.realpath(__file__)).parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import firecracker_api  # noqa: E402

QEMU = "qemu-system-x86_64"
ID = re.compile(r"^[A-Za-z0-9-]{1,64}$")
BEFORE_START = ("/machine-config", "/boot-source", "/drives/", "/network-interfaces/", "/logger", "/serial")


def counter_khz():
    """The host's own, as its kernel says; a jail has no /proc."""
    if "FAKE_FC_KHZ" in os.environ:
        return os.environ["FAKE_FC_KHZ"]
    found = re.search(r"cpu MHz\s*:\s*([\d.]+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return int(float(found.group(1)) * 1000)


def note(**words):
    if "FAKE_FC_NOTES" in os.environ:
        with open(os.environ["FAKE_FC_NOTES"], "a", encoding="utf-8") as notes:
            notes.write(json.dumps(words) + "\n")


class Machine:
    """What was told so far, and whether that was right."""

    def __init__(self, name):
        self.name = name
        self.parts = {}

    def put(self, path, body):
        """An answer: status and words."""
        wrong = firecracker_api.problems("PUT", path, body)
        if wrong:
            return 400, "; ".join(wrong)
        if path == "/actions":
            return self.start(body)
        if not path.startswith(BEFORE_START):
            return 400, f"this double does not know {path}"
        for field in ("kernel_image_path", "initrd_path", "path_on_host"):
            if field in body and not os.access(body[field], os.R_OK):
                return 400, f"cannot open {field} {body[field]}"
        writes = "path_on_host" in body and not body.get("is_read_only")
        if writes and not os.access(body["path_on_host"], os.W_OK):
            return 400, f"cannot write {body['path_on_host']}"
        key = path.rsplit("/", 1)
        if path.startswith(("/drives/", "/network-interfaces/")) and key[1] not in body.values():
            return 400, f"the id in {path} is not the one in the body"
        # The documented order: how the machine is made comes before what is put into it.
        if path == "/boot-source" and "/machine-config" not in self.parts:
            return 400, "the boot source came before the machine"
        if path.startswith("/drives/") and "/boot-source" not in self.parts:
            return 400, "a drive came before the boot source"
        if path.startswith("/network-interfaces/") and "/boot-source" not in self.parts:
            return 400, "a network interface came before the boot source"
        if path in self.parts:
            return 400, f"{path} came twice"
        self.parts[path] = body
        return 204, ""

    def start(self, body):
        if body["action_type"] != "InstanceStart":
            return 400, "only InstanceStart is known here"
        for needed in ("/machine-config", "/boot-source"):
            if needed not in self.parts:
                return 400, f"the machine was started without {needed}"
        return 204, "start"

    def command(self):
        size, boot = self.parts["/machine-config"], self.parts["/boot-source"]
        out = [QEMU, "-name", f"hodei-double-{self.name}", "-M",
               "microvm,acpi=on,pit=off,pic=off,rtc=on,isa-serial=on,auto-kernel-cmdline=off", "-nodefaults", "-no-user-config",
               "-nographic", "-no-reboot", "-accel", "tcg", "-cpu", "max", "-m", f"{size['mem_size_mib']}M", "-smp",
               str(size["vcpu_count"]), "-kernel", boot["kernel_image_path"], "-initrd", boot["initrd_path"], "-append",
               # QEMU's small machine has no keyboard controller to reset it.
               # QEMU without KVM counts with the host's counter, and a guest cannot measure it reliably.
               boot["boot_args"].replace("reboot=k", f"reboot=t tsc=reliable tsc_early_khz={counter_khz()}"), "-serial", "stdio"]
        for path, part in self.parts.items():
            if path.startswith("/drives/"):
                out += ["-drive", f"if=none,format=raw,id={part['drive_id']},file={part['path_on_host'].replace(',', ',,')},"
                                  f"readonly={'on' if part['is_read_only'] else 'off'}",
                        "-device", f"virtio-blk-device,drive={part['drive_id']}"]
            if path.startswith("/network-interfaces/"):
                out += ["-netdev", f"tap,id={part['iface_id']},script=no,downscript=no,ifname={part['host_dev_name']}",
                        "-device", f"virtio-net-device,netdev={part['iface_id']},mac={part['guest_mac']}"]
        return out


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Firecracker API"

    def answer(self, status, words=""):
        body = json.dumps({"fault_message": words}).encode() if status >= 400 else words.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):  # noqa: N802
        if self.path != "/":
            return self.answer(404, "not found")
        return self.answer(200, json.dumps({"id": self.server.machine.name, "state": "Not started", "vmm_version": "0.0.0",
                                            "app_name": "Firecracker"}))

    def do_PUT(self):  # noqa: N802
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(text)
            status, words = self.server.machine.put(self.path, body)
        except ValueError as error:
            body, status, words = None, 400, f"not JSON: {error}"
        note(machine=self.server.machine.name, path=self.path, body=body, status=status, words=words)
        self.answer(status, words if status >= 400 else "")
        if words == "start":
            self.server.machine_starts = True

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"


class Socket(socketserver.UnixStreamServer):
    machine_starts = False


def firecracker(arguments):
    parser = argparse.ArgumentParser(prog="firecracker")
    parser.add_argument("--id", default="anonymous-instance")
    parser.add_argument("--api-sock", default="/run/firecracker.socket")
    given = parser.parse_args(arguments)
    if not ID.match(given.id):
        sys.exit(f"firecracker: invalid instance id {given.id}")
    server = Socket(given.api_sock, Handler)
    server.machine = Machine(given.id)
    while not server.machine_starts:
        server.handle_request()
    server.socket.close()
    os.execvp(QEMU, server.machine.command())


# What QEMU and Python need to run in a root folder of their own: a real Firecracker is one static file.
SHARED = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


def groups_of(given):
    version2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
    if str(2 if version2 else 1) != given.cgroup_version:
        sys.exit("jailer: this host has the other version of control groups")
    for limit in given.cgroup or ():
        name, value = limit.split("=", 1)
        base = pathlib.Path("/sys/fs/cgroup") if version2 else pathlib.Path("/sys/fs/cgroup") / name.split(".", 1)[0]
        yield base / (given.parent_cgroup or pathlib.Path(given.exec_file).name) / given.id, name, value


def enter_group(group, name, value):
    """As the real one: makes the group, sets the limit, moves in. Where none may be made it is only noted."""
    try:
        group.mkdir(parents=True, exist_ok=True)
        (group / name).write_text(value, encoding="utf-8")
        (group / "cgroup.procs").write_text(str(os.getpid()), encoding="utf-8")
    except OSError as error:
        note(group=str(group), name=name, value=value, error=str(error))
    else:
        note(group=str(group), name=name, value=value)


def jailer(arguments):
    cut = arguments.index("--")
    parser = argparse.ArgumentParser(prog="jailer")
    for flag in ("--id", "--exec-file", "--uid", "--gid", "--chroot-base-dir", "--cgroup-version"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--cgroup", action="append")
    parser.add_argument("--parent-cgroup")
    given = parser.parse_args(arguments[:cut])
    if not ID.match(given.id):
        sys.exit(f"jailer: invalid id {given.id}")
    root = pathlib.Path(given.chroot_base_dir) / pathlib.Path(given.exec_file).name / given.id / "root"
    note(jailer=vars(given), root=sorted(str(p.relative_to(root)) for p in root.iterdir()))
    for group, name, value in groups_of(given):
        enter_group(group, name, value)
    # The mounts go with this process; nothing of them is seen outside.
    libc = firecracker_api.libc()
    if libc.unshare(0x20000) != 0 or libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None) != 0:
        sys.exit("jailer: cannot have mounts of its own")
    for shared in (*SHARED, str(HERE), str(firecracker_api.DESCRIPTION.parent)):
        inside = pathlib.Path(str(root) + shared)
        if not os.path.exists(shared):
            continue
        if os.path.isdir(shared):
            inside.mkdir(parents=True, exist_ok=True)
        else:
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.touch()
        if libc.mount(os.path.realpath(shared).encode(), str(inside).encode(), None, 0x1000 | 0x4000, None) != 0:
            sys.exit(f"jailer: cannot share {shared}")
    (root / "dev/net").mkdir(parents=True, exist_ok=True)
    for device in ("dev/net/tun", "dev/null", "dev/urandom"):
        number = os.stat("/" + device).st_rdev
        os.mknod(root / device, 0o600 | 0o020000, number)
        os.chown(root / device, int(given.uid), int(given.gid))
    os.chown(root, int(given.uid), int(given.gid))
    os.environ["FAKE_FC_KHZ"] = str(counter_khz())
    os.environ["FAKE_FC_DATA"] = str(firecracker_api.DESCRIPTION.parents[1])
    notes = os.environ.get("FAKE_FC_NOTES")
    if notes:
        os.environ["FAKE_FC_NOTES"] = "/notes"
        (root / "notes").touch()
        libc.mount(notes.encode(), str(root / "notes").encode(), None, 0x1000, None)
    os.chroot(root)
    os.chdir("/")
    os.setgroups([])
    os.setgid(int(given.gid))
    os.setuid(int(given.uid))
    python = "/usr/bin/python3"   # ours may be anywhere
    os.execv(python, [python, given.exec_file, "--id", given.id, *arguments[cut + 1:]])


if __name__ == "__main__":
    if pathlib.Path(sys.argv[0]).name == "jailer":
        jailer(sys.argv[1:])
    else:
        firecracker(sys.argv[1:])
