"""`hodei-worker`: one file without libraries, that works where there is nothing else."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

import harness
from dockerd import Dockerd
from harness import Apart, check, contains, same, until
from web import certificates, files

WORKER = harness.HODEI.parent / "hodei-worker"
MOST_BYTES = 30 << 20
TOOLS = {"PATH": os.environ["PATH"]}   # to find chroot and unshare; all else of our environment stays here

# What a root without anything else can run: says its words, looks for a file, leaves an orphan, counts zombies.
PROGRAM = r"""
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int zombies(void) {
  int found = 0;
  DIR* proc = opendir("/proc");
  for (struct dirent* e; proc && (e = readdir(proc));) {
    char path[300], state = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
    FILE* stat = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
    if (stat && fscanf(stat, "%*d %*s %c", &state) == 1 && state == 'Z') found++;
    if (stat) fclose(stat);
  }
  return found;
}
int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "exists") == 0) return access(argv[2], F_OK) == 0 ? 0 : 1;
  if (argc == 2 && strcmp(argv[1], "zombies") == 0) return printf("%d\n", zombies()), 0;
  if (argc == 2 && strcmp(argv[1], "orphan") == 0) {
    if (fork() == 0) { fork(); usleep(50000); _exit(0); }
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "input") == 0) return printf("%zu\n", fread((char[9]){0}, 1, 8, stdin)), 0;
  for (int i = 1; i < argc; i++) printf("%s%s", argv[i], i + 1 < argc ? " " : "\n");
  return 0;
}
"""


@contextlib.contextmanager
def a_server():
    with Apart().start(worker=False) as server:
        source = server.write("program.c", PROGRAM)
        subprocess.run(["gcc", "-static", "-O1", "-w", "-o", str(server.folder / "program"), str(source)], check=True)
        yield server


def empty_root(server):
    root = server.folder / "root"
    root.mkdir()
    shutil.copy(WORKER, root / "hodei-worker")
    shutil.copy(server.folder / "program", root / "program")
    return root


@contextlib.contextmanager
def running(server, command, name, **environment):
    """A worker started by `command`, once the server sees it; afterwards it is ended."""
    log = server.folder / f"{name}.log"
    with open(log, "ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment | TOOLS,
                                   start_new_session=True)
    server.clients.append(process)
    try:
        until(lambda: server.sees(name), lambda: f"{name} to join: " + log.read_text(errors="replace")[-1500:])
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def plain(*arguments):
    return subprocess.run([str(WORKER), *arguments], capture_output=True, text=True, timeout=30, check=False,
                          stdin=subprocess.DEVNULL, env={})


def runs_a_job(server):
    same(server.ok("run", "--", "/program", "hello", "from", "nowhere").out, "hello from nowhere\n", "output")
    same(server.ok("run", "--", "/program", "input").out, "0\n", "bytes on standard input")
    same(server.cli("run", "--", "/not-there").code, 127, "exit code of a program that is not there")


def test_it_is_static_stripped_and_small():
    headers = subprocess.run(["readelf", "--program-headers", "--dynamic", "--sections", "--wide", str(WORKER)],
                             capture_output=True, text=True, check=True).stdout
    for word in ("INTERP", "NEEDED", ".symtab", ".debug_info"):
        check(word not in headers, f"{WORKER} has {word}: not static, or not stripped")
    check(WORKER.stat().st_size < MOST_BYTES, f"{WORKER.stat().st_size} bytes, expected less than {MOST_BYTES}")


def test_it_says_its_version_its_flags_and_what_is_wrong():
    version = plain("--version")
    same((version.returncode, version.stdout.split()[0]), (0, "hodei-worker"), "version")
    usage = plain("--help")
    for flag in ("--server", "--token", "--slots", "--label", "--state-dir", "HODEI_TOKEN"):
        contains(usage.stdout, flag, "help")
    for arguments, code, words in ((("--slotz", "3"), 2, "did you mean '--slots'"), (("--slots", "x"), 2, "slots (flag --slots)"),
                                   (("--server", "::"), 2, "server (flag --server)"), (("nonsense",), 2, "no command 'nonsense'"),
                                   (("progress", "40"), 1, "HODEI_SOCKET is not set"), (("progress", "x"), 2, "0 to 100")):
        done = plain(*arguments)
        same(done.returncode, code, f"exit code of {arguments}")
        contains(done.stderr, words, f"message of {arguments}")


def test_it_runs_jobs_in_an_empty_root():
    with a_server() as server:
        root = empty_root(server)
        command = ["chroot", str(root), "/hodei-worker", "--server", f"http://127.0.0.1:{server.port}", "--worker-id", "alone"]
        with running(server, command, "alone", HODEI_TOKEN=server.token()["token"]) as worker:
            runs_a_job(server)
            job = server.submit("--", "/hodei-worker", "output", "where=nowhere")
            same(server.wait_for(job, "Succeeded")["outputs"], {"where": "nowhere"}, "outputs")
            worker.send_signal(signal.SIGTERM)
            same(worker.wait(timeout=20), 0, "exit code after SIGTERM")


def test_it_speaks_tls_in_an_empty_root():
    with a_server() as server:
        root = empty_root(server)
        folder = server.folder / "tls"
        folder.mkdir()
        certificate = certificates(folder)
        shutil.copy(folder / "ca.pem", root / "ca.pem")
        command = ["chroot", str(root), "/hodei-worker", "--server", f"http://127.0.0.1:{server.port}", "--worker-id", "alone"]
        with files(certificate) as web:
            web["files"]["/x"] = b"over tls"
            fetch = ("run", "--input", f"{web['url']}/x=x", "--", "/program", "exists", "x")
            with running(server, command, "alone", HODEI_TOKEN=server.token()["token"], SSL_CERT_FILE="/ca.pem"):
                same(server.cli(*fetch).code, 0, "exit code with the CA")
            check(web["asked"], "the file was never asked for")


def test_it_finds_localhost_in_an_empty_root():
    with a_server() as server:
        root = empty_root(server)
        command = ["chroot", str(root), "/hodei-worker", "--server", f"localhost:{server.port}", "--worker-id", "local"]
        with running(server, command, "local", HODEI_TOKEN=server.token()["token"]):
            runs_a_job(server)


def test_it_finds_names_of_etc_hosts():
    with a_server() as server:
        root = empty_root(server)
        (root / "etc").mkdir()
        (root / "etc/hosts").write_text("127.0.0.1 the-server.test\n")
        command = ["chroot", str(root), "/hodei-worker", "--server", f"the-server.test:{server.port}", "--worker-id", "named"]
        with running(server, command, "named", HODEI_TOKEN=server.token()["token"]):
            runs_a_job(server)


def test_it_starts_without_open_streams():
    with a_server() as server:
        root = empty_root(server)
        command = ["sh", "-c", 'exec chroot "$0" /hodei-worker <&- >&- 2>&-', str(root)]
        with running(server, command, "mute", HODEI_TOKEN=server.token()["token"],
                     HODEI_SERVER=f"127.0.0.1:{server.port}", HODEI_WORKER_ID="mute"):
            runs_a_job(server)


def test_as_the_first_process_it_mounts_what_is_missing_and_reaps():
    with a_server() as server:
        root = empty_root(server)
        command = ["unshare", "--pid", "--fork", "--mount", "--kill-child", "chroot", str(root), "/hodei-worker", "--server",
                   f"127.0.0.1:{server.port}", "--worker-id", "init"]
        with running(server, command, "init", HODEI_TOKEN=server.token()["token"]) as worker:
            runs_a_job(server)
            for path in ("/proc/self/exe", "/sys/kernel", "/tmp"):
                same(server.cli("run", "--", "/program", "exists", path).code, 0, f"{path} is there")
            for _ in range(3):
                server.ok("run", "--", "/program", "orphan")
            until(lambda: server.ok("run", "--", "/program", "zombies").out == "0\n", "all orphans to be reaped")
            worker.kill()   # nobody but its parent can end the first process of a namespace
        check(not pathlib.Path(root / "proc/self").exists(), "its mounts went with it")


def test_it_runs_jobs_in_a_container_made_from_scratch():
    with a_server() as server, Dockerd() as engine:
        image = engine.image_from_scratch("worker-from-scratch",
                                          {"/hodei-worker": WORKER, "/program": server.folder / "program"}, ["/hodei-worker"])
        container = engine.docker("run", "--detach", "--network", "host", "--env", "HODEI_TOKEN=" + server.token()["token"],
                                  image, "--server", f"127.0.0.1:{server.port}", "--worker-id", "boxed", "--label", "in=box")
        until(lambda: server.sees("boxed"), lambda: "the container to join: " + engine.try_docker("logs", container).stderr.decode())
        runs_a_job(server)
        engine.docker("stop", "--time", "20", container)
        same(engine.docker("inspect", "--format", "{{.State.ExitCode}}", container), "0", "exit code of the container")
