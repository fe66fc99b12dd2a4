"""Every command of the documents, exactly as it stands there (documents.py tells how they are read)."""

import re
import shutil
import subprocess

import documents
from documents import read
from harness import HODEI, ROOT, Apart, check, free_port, same
from sshd import Sshd

MOST_NOT_RUN = 12   # blocks in all documents that cannot run in a test
# The documents with commands that need more than a server and a worker; their tests are in files of their own.
ELSEWHERE = {"docs/providers/docker.md", "docs/workers-on-demand.md", "docs/providers/firecracker.md",
             "docs/providers/kubernetes.md"}


def test_readme():
    read("README.md", start=False)


def test_artifacts():
    read("docs/artifacts.md")


def test_command_line():
    read("docs/command-line.md")


def test_configuration():
    read("docs/configuration.md")


def test_fair_share():
    read("docs/fair-share.md")


def test_inside_a_job():
    read("docs/inside-a-job.md")


def test_life_of_a_job():
    read("docs/life-of-a-job.md")


def test_limits_and_sandbox():
    read("docs/limits-and-sandbox.md")


def test_logs():
    read("docs/logs.md")


def test_observability():
    # Data folders of their own: the server is started by the document, and is no `hodei dev`.
    read("docs/observability.md", lambda dev: {"9090": free_port(), "localhost": "127.0.0.1"}, start=False)


def test_operations():
    read("docs/operations.md")


def test_scheduling():
    read("docs/scheduling.md", lambda dev: {"w1": "dev"})


def test_secrets():
    read("docs/secrets.md")


def test_standard_input():
    read("docs/standard-input.md")


def test_static_worker():
    read("docs/static-worker.md", lambda dev: {"hodei.example": "127.0.0.1"})


def test_providers():
    read("docs/providers/README.md")


def test_providers_process():
    read("docs/providers/process.md")


def test_providers_custom():
    def log_in_over_ssh(dev):
        (dev.folder / ".ssh").mkdir(mode=0o700)
        shutil.copy(daemon.key, dev.folder / ".ssh/id_ed25519")
        return {"config.host=builder.example": f"config.host=127.0.0.1 --option config.port={daemon.port} "
                                               f"--option config.known_hosts={daemon.known_hosts} "
                                               f"--option config.folder={dev.folder}/remote",
                "config.user=me": f"config.user={daemon.user}"}
    server = Apart()
    with Sshd(server.folder / "sshd") as daemon:
        server.stop()
        read("docs/providers/custom.md", log_in_over_ssh, server=Apart)
    shutil.rmtree(server.folder, ignore_errors=True)


def test_every_document_with_commands_has_a_test():
    tested = set(re.findall(r'read\("([^"]+)"', (ROOT / "tests/integration/test_documents.py").read_text())) | ELSEWHERE
    for document in documents.documents():
        runnable = [b for b in documents.blocks(document) if b.is_command and not b.reason]
        same(document in tested, bool(runnable), f"{document} is run by a test")


def test_blocks_say_what_they_are_and_few_cannot_run():
    not_run = []
    for document in documents.documents():
        for block in documents.blocks(document):
            check(block.language, f"{block.place}: the fence names no language; `text` is one")
            check(block.is_command or not re.search(r"^(\$ )?hodei ", block.text, re.MULTILINE),
                  f"{block.place}: commands in a block of `{block.language}`")
            check("not-run" not in block.note or block.reason, f"{block.place}: `not-run:` needs a reason")
            not_run += [block.place] if block.reason else []
    check(len(not_run) <= MOST_NOT_RUN, f"{len(not_run)} blocks cannot run in a test: {not_run}")


def test_commands_in_the_text_exist():
    """`hodei …` in the running text: the command is there, and knows each of its flags."""
    helps = {}

    def help_of(words):
        if words not in helps:
            done = subprocess.run([str(HODEI), *words, "--help"], capture_output=True, text=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL)
            helps[words] = done.stdout if done.returncode == 0 else ""
        return helps[words]

    wrong = []
    for document in documents.documents():
        text = documents.FENCE.sub("", (ROOT / document).read_text())
        for span in re.findall(r"`(hodei [^`]+)`", text):
            span = " ".join(span.split())
            words = tuple(re.match(r"hodei((?: [a-z][a-z-]*)*)", span).group(1).split())
            command = next((words[:n] for n in range(min(len(words), 2), 0, -1) if help_of(words[:n])), ())
            flags = re.findall(r"(?<=\s)(--[a-z][a-z-]+|-[a-z])\b(?!-?…)", span.split(" -- ")[0])
            known = help_of(command) + help_of(())
            missing = [flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", known)]
            if (words and not command) or missing:
                wrong.append(f"{document}: `{span}` {missing or 'is no command'}")
    same(wrong, [], "commands that are not there")
