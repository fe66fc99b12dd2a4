"""Runs the documents: their fenced blocks, in order, in a folder that looks like a checkout.

The first word after the fence is the language; what follows tells this reader what to do:

  sh                             runs with `bash -eu` and must end with 0
  sh background until: COMMAND   starts and goes on until the document ends; the next block waits until COMMAND ends with 0
  sh not-run: REASON             cannot run in a test
  console                        the lines after `$ ` are commands, the others are exactly what they print
  yaml, json, python, …          written to the file that a first line `# NAME` or `// NAME` names; without one only shown
  text                           only shown

Each block has a shell of its own. Ports and host names of the documents are replaced by those of the test (`stand_ins`).
"""

import os
import pathlib
import re
import signal
import subprocess

from harness import HODEI, PATIENCE, ROOT, Dev, check, free_port, number, same, until

FENCE = re.compile(r"^( *)```([^`\n]*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
FILE_NAME = re.compile(r"(?:#|//) ([\w.-]+\.\w+|Dockerfile)\n")
RUN_LIMIT = 120.0   # seconds for one block


def documents():
    """Every document for users, by its path from the root."""
    found = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/providers").glob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


class Block:
    def __init__(self, document, line, info, text):
        self.place = f"{document}:{line}"
        self.language, _, self.note = info.strip().partition(" ")
        self.text = text

    @property
    def reason(self):
        """Why it cannot run, if it says so."""
        return self.note.partition("not-run:")[2].strip()

    @property
    def is_command(self):
        return self.language in ("sh", "console")


def blocks(document):
    text = (ROOT / document).read_text()
    for match in FENCE.finditer(text):
        indent = len(match.group(1))
        content = "".join(line[indent:] for line in match.group(3).splitlines(True))
        yield Block(document, text.count("\n", 0, match.start()) + 1, match.group(2), content)


class Reader:
    """One document, on a server of the test's own or on the one that the document starts."""

    def __init__(self, dev, **stand_ins):
        self.dev = dev
        ports = {"50051": dev.port, "8080": free_port(), "9180": free_port()}
        self.stand_ins = {**ports, **stand_ins}
        self.background = []
        for name in ("deploy", "docs", "scripts", "proto", "tools"):
            (dev.folder / name).symlink_to(ROOT / name)
        (dev.folder / "build").mkdir()
        (dev.folder / "build/release").symlink_to(HODEI.parent)

    def read(self, document):
        ran = 0
        for block in blocks(document):
            ran += self.run(block)
        check(ran, f"{document} has nothing to run")

    def run(self, block):
        if block.reason or not block.language:
            return 0
        if block.language == "console":
            self.run_console(block)
        elif block.language == "sh" and block.note.startswith("background"):
            self.run_in_background(block)
        elif block.language == "sh":
            self.run_to_end(block)
        else:
            name = FILE_NAME.match(block.text)
            if name:
                self.dev.write(name.group(1), self.replaced(block.text))
            return 0
        return 1

    def replaced(self, text):
        for word, stand_in in self.stand_ins.items():
            text = re.sub(rf"(?<![\w.]){re.escape(word)}(?!\w)", lambda _, new=str(stand_in): new, text)
        return text

    def shell(self, script, **options):
        env = self.dev.environment(GRPC_PORT=self.dev.port, HODEI_TEST_DOCUMENT="1")
        env["PATH"] = f"{HODEI.parent}:{env['PATH']}"
        client = subprocess.Popen(["bash", "-euc", self.replaced(script)], cwd=self.dev.folder, env=env, text=True,
                                  stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self.dev.clients.append(client)
        return client

    def run_to_end(self, block):
        # Into a file: what a block leaves in the background may keep its output open.
        code, out = self.finished(block, block.text)
        same(code, 0, f"{block.place}: exit code of\n{block.text}which printed\n{out}")

    def finished(self, block, script):
        path = self.dev.folder / "block.log"
        with open(path, "w", encoding="utf-8") as log:
            client = self.shell(script, stdout=log, stderr=subprocess.STDOUT)
            try:
                client.wait(timeout=RUN_LIMIT)
            except subprocess.TimeoutExpired:
                check(False, f"{block.place}: did not end within {RUN_LIMIT:.0f} s:\n{block.text}it printed {path.read_text()}")
        self.background.append(client)
        return client.returncode, path.read_text(errors="replace")

    def run_in_background(self, block):
        path = self.dev.folder / f"background-{len(self.background)}.log"
        with open(path, "w", encoding="utf-8") as log:
            client = self.shell(block.text, stdout=log, stderr=subprocess.STDOUT)
        self.background.append(client)
        condition = block.note.partition("until:")[2].strip()
        check(condition, f"{block.place}: a block in the background needs `until: COMMAND`")

        def ready():
            check(client.poll() is None, lambda: f"{block.place} ended with {client.returncode}: {path.read_text()}")
            asked = self.shell(condition, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return asked.wait(timeout=PATIENCE) == 0
        until(ready, lambda: f"{block.place}: {condition}; its output is {path.read_text()}")

    def run_console(self, block):
        """Lines of stdout and stderr may come in any order."""
        commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
        mark = "--- the next command ---"
        script = "".join(f"{command}\ncode=$?; echo '{mark}'; (exit $code)\n" for command, _ in commands)
        _, out = self.finished(block, "set +e\n" + script)
        printed = re.split(rf"^{mark}\n", out, flags=re.MULTILINE)
        for (command, expected), actual in zip(commands, printed):
            same(sorted(actual.splitlines()), sorted(self.replaced(expected).splitlines()), f"{block.place}: output of `{command}`")

    def stop(self):
        """Ends what the blocks left running: each shell began a session of its own."""
        status = self.dev.status()
        for role in ("server_pid", "supervisor_pid", "agent_pid"):
            if status and number(status.get(role)):
                self.dev.remember(number(status[role]))
        for client in self.background:
            for pid in members(client.pid):
                self.dev.remember(pid).send(signal.SIGTERM)
        until(lambda: not any(members(client.pid) for client in self.background), "what the blocks started to end")


def members(session):
    """The processes of a session."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(path.parent.name))
    return found


def read(document, prepare=lambda dev: {}, start=True, server=Dev, **settings):
    """Runs a document; `prepare` may put things into its folder, and answers with more stand-ins."""
    with server(**settings) as dev:
        stand_ins = prepare(dev) or {}
        if start:
            dev.start(worker=server is Dev)
        reader = Reader(dev, **stand_ins)
        try:
            reader.read(document)
        finally:
            reader.stop()
