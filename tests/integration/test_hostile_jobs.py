"""Jobs that attack their worker: its clean-up, its hold on their processes, its descriptors. As root and as a plain user."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

from harness import HODEI, ROOT, Apart, Dev, Process, check, contains, free_port, same, until

AS_ROOT = os.geteuid() == 0
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
CGROUPS = pathlib.Path("/sys/fs/cgroup")


class PlainUser(Apart):
    """A server whose agents run as a user without privileges."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.folder.chmod(0o755)
        self.binary = self.folder / "hodei"
        shutil.copyfile(HODEI, self.binary)   # where it is built may be out of reach for that user
        self.binary.chmod(0o755)

    def agent(self, token, name, *flags, **more):
        state = self.folder / name
        state.mkdir(mode=0o755)
        os.chown(state, NOBODY, NOBODY)
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [*AS_NOBODY, str(self.binary), "agent", "--state-dir", str(state / "state"), *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env=self.environment(HODEI_TOKEN=token, **more), start_new_session=True)
        self.remember(process.pid)
        self.clients.append(process)
        return process


@contextlib.contextmanager
def worker(plain):
    """A server and one worker `w` with one slot: the next job takes the place of the last."""
    with (PlainUser() if plain else Apart()).start(worker=False) as dev:
        dev.join("w", "--slots", "1")
        yield dev


@contextlib.contextmanager
def home(plain):
    """A folder outside of the worker that a job could harm, and that has to be the same afterwards."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-home-"))
    (folder / "letters").mkdir()
    (folder / "letters" / "one").write_text("dear")
    folder.chmod(0o751)
    if plain:
        for each in (folder, folder / "letters", folder / "letters" / "one"):
            os.chown(each, NOBODY, NOBODY)
    before = picture(folder)
    yield folder
    same(picture(folder), before, "what is outside of the working folder")
    shutil.rmtree(folder)


def picture(folder):
    """Names, modes, owners and contents."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        info = path.lstat()
        found[str(path)] = (oct(info.st_mode), info.st_uid, info.st_gid, path.read_text() if path.is_file() else "")
    return found


def can_sandbox(plain):
    """Whether a plain user may make the namespaces of a sandbox here."""
    if not plain:
        return True
    return subprocess.run([*AS_NOBODY, "unshare", "--user", "--mount", "true"], capture_output=True, check=False).returncode == 0


# Each leaves something in place of its working folder ($d) that leads to the folder given as $1, or keeps the clean-up out.
ATTACKS = {
    "a link in place of the working folder": 'd=$PWD; cd /; rmdir "$d" && ln -s "$1" "$d"',
    "links in the working folder": 'ln -s "$1" link; mkdir -p a/b; ln -s "$1" a/b/link; ln -s "$1/letters/one" file',
    "a link beside the working folder": 'ln -s "$1" ../beside',
    "folders without rights": "mkdir -p a/b/c; touch a/b/c/f; chmod 0 a/b/c; chmod 500 a/b; chmod 0 a",
    "a very deep tree": 'i=0; while [ $i -lt 1200 ]; do mkdir x && cd x || exit 1; i=$((i+1)); done 2>/dev/null; true',
    "a file in place of the working folder": 'd=$PWD; cd /; rmdir "$d"; echo x > "$d"',
}


def attack(plain, sandboxed):
    flags = ["--sandbox"] if sandboxed else []
    if sandboxed and not plain:
        flags += ["--sandbox-user", "root"]
    with worker(plain) as dev, home(plain) as outside:
        for name, script in ATTACKS.items():
            script = "set -eu; cd -P .; " + script
            dev.cli("run", *flags, "--", "sh", "-c", script, "sh", outside)
            # The next job, in the same place, starts in an empty folder that is its own.
            seen = dev.ok("run", *flags, "--", "sh", "-c", 'pwd -P; ls -A; ls -A ..; stat -c "%a %u" .').out.split("\n")
            contains(seen[0], "/work/", f"where the job after '{name}' runs")
            same(seen[1:], ["cwd", f"700 {NOBODY if plain else 0}", ""], f"what the job after '{name}' finds")


def test_a_job_cannot_lead_the_clean_up_out_of_its_folder_as_root():
    if AS_ROOT:
        attack(plain=False, sandboxed=False)


def test_a_sandboxed_job_cannot_lead_the_clean_up_out_of_its_folder_as_root():
    if AS_ROOT:
        attack(plain=False, sandboxed=True)


def test_a_job_cannot_lead_the_clean_up_out_of_its_folder_as_a_plain_user():
    if AS_ROOT:
        attack(plain=True, sandboxed=False)


def test_a_sandboxed_job_cannot_lead_the_clean_up_out_of_its_folder_as_a_plain_user():
    if AS_ROOT and can_sandbox(plain=True):
        attack(plain=True, sandboxed=True)


@contextlib.contextmanager
def unmounted(folder):
    """Whatever happens: nothing is mounted there when the folder is removed."""
    try:
        yield
    finally:
        for line in reversed(pathlib.Path("/proc/self/mounts").read_text().split("\n")):
            if str(folder) in line:
                subprocess.run(["umount", "--lazy", line.split()[1]], check=False)


def test_mounts_that_a_job_left_are_detached_and_not_emptied():
    if not AS_ROOT:
        return
    with worker(plain=False) as dev, home(plain=False) as outside, unmounted(dev.folder):
        mounted = dev.cli("run", "--", "sh", "-c", 'mkdir m && mount --bind "$1" m && mount --bind "$1" "$PWD" && echo yes', "sh", outside)
        if "yes" not in mounted.out:
            return   # this machine lets nobody mount
        seen = dev.ok("run", "--", "sh", "-c", "ls -A; ls -A ..").out
        same(seen, "cwd\n", "what the next job finds")
        same([line for line in pathlib.Path("/proc/self/mounts").read_text().split("\n") if str(dev.folder) in line], [],
             "mounts that are left")


def test_outputs_are_not_taken_through_a_link_in_place_of_the_working_folder():
    if not AS_ROOT:
        return
    with worker(plain=False) as dev, home(plain=False) as outside:
        job = dev.wait_for(dev.submit("--output", "letters/one=hodei:stolen", "--", "sh", "-c",
                                      'd=$PWD; cd /; rm -rf "$d"; ln -s "$1" "$d"', "sh", outside))
        same((job["state"], job["failure"]), ("Failed", "artifact_error"), "how the job ended")
        check("stolen" not in dev.ok("artifact", "list").out, "nothing of it was stored")
        until(lambda: not list((dev.folder / "w" / "stage").iterdir()), "the job's folder to be removed")


# Processes that flee.

def leave_cgroup():
    for root in (CGROUPS, CGROUPS / "unified", CGROUPS / "freezer"):
        if (root / "cgroup.procs").exists() and (root == CGROUPS / "freezer" or (root / "cgroup.controllers").exists()):
            return f"echo 0 > {root}/cgroup.procs 2>/dev/null; "
    return ""


def runaways(mark):
    """Processes that sleep for so many seconds."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"sleep\0" + mark.encode() + b"\0":
                found.append(Process(entry.name))
    return [p for p in found if p.alive()]


@contextlib.contextmanager
def sleepers():
    """A number of seconds that nobody else sleeps for. Who still does at the end is ended."""
    mark = str(100000 + os.getpid() % 50000 + time.monotonic_ns() % 10000)
    try:
        yield mark
    finally:
        for process in runaways(mark):
            process.send(signal.SIGKILL)


def flee(cgroups, end):
    with sleepers() as mark, Dev(HODEI_CGROUPS="on" if cgroups else "off").start() as dev:
        # Out of the cgroup, into another session, without an environment, and its parents end.
        script = f"({leave_cgroup()}exec env -i setsid sh -c 'sleep {mark} & exit 0' &); {leave_cgroup()}sleep {mark}"
        flags = ["--timeout", "1s"] if end == "timeout" else []
        job = dev.submit(*flags, "--kill-grace", "100ms", "--", "sh", "-c", script)
        if end != "timeout":
            dev.wait_for(job, "Running")
            until(lambda: len(runaways(mark)) == 2, "both to run")
        if end == "cancel":
            dev.ok("job", "cancel", job)
        if end == "lease":
            dev.role("server").send(signal.SIGSTOP)
            until(lambda: not runaways(mark), "the end of the lease to end them", 60)
            dev.process.send_signal(signal.SIGCONT)
            return
        dev.wait_for(job)
        same(runaways(mark), [], f"what is left of a job after {end}")


def test_nothing_flees_from_a_time_out():
    flee(True, "timeout")
    flee(False, "timeout")


def test_nothing_flees_from_a_cancel():
    flee(True, "cancel")
    flee(False, "cancel")


def test_nothing_flees_from_the_end_of_the_lease():
    flee(True, "lease")


def test_a_background_process_of_a_neighbour_is_left_alone():
    with sleepers() as mark, Dev().start() as dev:
        job = dev.submit("--", "sh", "-c", f"({leave_cgroup()}exec env -i setsid sh -c 'sleep {mark} & exit 0' &); sleep 1000")
        dev.wait_for(job, "Running")
        until(lambda: runaways(mark), "it to run")
        for _ in range(3):
            dev.ok("run", "--", "true")
        same(len(runaways(mark)), 1, "processes of the neighbour")
        dev.ok("job", "cancel", job)
        dev.wait_for(job)
        same(runaways(mark), [], "processes of the neighbour after its end")


# Descriptors, and workers whose server is gone.

def descriptors(process):
    """What a process has open, by where each leads; its own pipes and the like are left out."""
    found = set()
    for entry in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(os.readlink(entry))
    return found


def test_a_server_that_was_killed_can_start_again_on_its_http_port():
    with Dev(HODEI_HTTP_LISTEN=f"127.0.0.1:{free_port()}").start() as dev:
        agent, supervisor = dev.role("agent"), dev.role("supervisor")
        server = descriptors(dev.role("server"))
        shared = {d for d in server if d.startswith(("socket:", str(dev.data)))} & (descriptors(agent) | descriptors(supervisor))
        same(shared - {str(dev.data / "worker.log")}, set(), "sockets and files of the server that its worker holds too")
        dev.kill("server")
        check(supervisor.alive(), "the worker outlives its server")
        dev.start()
        dev.ok("run", "--", "true")


def test_a_worker_does_not_keep_what_it_was_started_with():
    with Apart().start(worker=False) as dev, open(dev.folder / "foreign", "w", encoding="utf-8") as foreign:
        os.set_inheritable(foreign.fileno(), True)
        token = dev.token()["token"]
        with open(dev.folder / "w.log", "ab") as log:
            agent = subprocess.Popen([str(HODEI), "agent", "--state-dir", str(dev.folder / "w"), "--worker-id", "w"],
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False,
                                     env=dev.environment(HODEI_TOKEN=token), start_new_session=True)
        dev.remember(agent.pid)
        dev.clients.append(agent)
        until(lambda: dev.sees("w"), "the worker to join")
        pids = [agent.pid, int((dev.folder / "w" / "agent.pid").read_text())]
        for pid in pids:
            check(str(dev.folder / "foreign") not in descriptors(Process(pid)), f"pid {pid} holds a file that was not meant for it")


def test_a_dev_worker_ends_when_its_folder_is_gone():
    with Dev().start() as dev:
        supervisor, agent = dev.role("supervisor"), dev.role("agent")
        dev.kill("server")
        shutil.rmtree(dev.data)
        until(lambda: not supervisor.alive() and not agent.alive(), "the worker to end by itself", 60)


def test_a_worker_ends_when_its_server_stays_away():
    with Dev(HODEI_LEAVE_AFTER="2s").start() as dev:
        supervisor = dev.role("supervisor")
        dev.ok("run", "--", "true")
        check(supervisor.alive(), "the worker stays while its server answers")
        dev.kill("server")
        until(lambda: not supervisor.alive(), "the worker to end by itself", 60)


# Images that lead out of their folder.

def test_the_builder_of_root_file_systems_stays_inside_of_the_image():
    if not AS_ROOT:
        return
    with home(plain=False) as outside:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-image-"))
        names = ["proc", "sys", "dev", "run", "tmp", ".hodei", "etc"]
        with tarfile.open(folder / "image.tar", "w") as out:
            for name in names:
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, str(outside if name != ".hodei" else outside / "letters")
                out.addfile(link)
        (folder / "root").mkdir()
        builder = ROOT / "scripts/firecracker"
        for step in (["unpack-image", folder / "image.tar", folder / "root"], ["finish-root", folder / "root"]):
            done = subprocess.run([builder / step[0], *step[1:]], capture_output=True, text=True, check=False)
            same(done.returncode, 0, f"{step[0]}: {done.stderr}")
        made = [name for name in names[:-1] if (folder / "root" / name).is_dir() and not (folder / "root" / name).is_symlink()]
        same(made, names[:-1], "folders in the image")
        shutil.rmtree(folder)
