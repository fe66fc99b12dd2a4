"""What the programs of this folder share: reading a request, answering it, calling a vendor's command line tool.

The protocol is described in docs/providers/custom.md. Only the standard library is used.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

DRY_RUN = os.environ.get("HODEI_DRY_RUN") in ("1", "true") or "--dry-run" in sys.argv[2:]


class Refusal(Exception):
    """An answer that is an error: resource_exhausted, invalid_argument, not_found, failed_precondition, …"""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Request:
    """What the server said, and what was run for it."""

    def __init__(self, words):
        self.words = words
        self.installation = words["installation"]
        self.provider = words["provider"]
        self.worker_id = words.get("worker_id", "")
        self.id = words.get("id", "")
        self.spec = words.get("spec", {})
        self.commands = []      # of a dry run

    def config(self, name, default=None):
        value = self.words.get("config", {}).get(name, default)
        if value is None:
            raise Refusal("failed_precondition", f"option config.{name} of provider {self.provider} is required")
        return value

    def has(self, name):
        return bool(self.words.get("config", {}).get(name))

    def marks(self):
        """What everything that is made carries, so that it is found again and never taken for somebody else's."""
        marks = {"hodei.installation": self.installation, "hodei.provider": self.provider}
        return {**marks, "hodei.worker": self.worker_id} if self.worker_id else marks

    def name(self, longest):
        """A name for the worker at the vendor's: its id, and a mark of the installation; always the same one."""
        mark = hashlib.sha256(f"{self.installation}/{self.provider}/{self.worker_id}".encode()).hexdigest()[:8]
        return f"hodei-{self.worker_id.lower()}"[:longest - 9].rstrip("-") + "-" + mark

    def environment(self):
        return dict(self.spec.get("environment", {}))

    def tool(self, *command, answer=None, missing=(), stdin=None):
        """Runs the vendor's tool and gives what it prints; JSON where `answer` is one.

        `answer` is what a dry run goes on with. Words of `missing` in its complaint mean that there is nothing: None.
        """
        command = [str(word) for word in command]
        if DRY_RUN:
            self.commands.append(shlex.join(command))
            return answer
        try:
            done = subprocess.run(command, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", check=False)
        except FileNotFoundError:
            raise Refusal("failed_precondition", f"{command[0]} is not in PATH; install it on the server") from None
        if done.returncode != 0:
            if any(word in done.stderr for word in missing):
                return None
            raise failure(command, done)
        if isinstance(answer, str):
            return done.stdout
        try:
            return json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            raise Refusal("unavailable", f"{shlex.join(command[:3])} did not print JSON: {done.stdout[:200]}") from None


# What vendors say, and what it means here.
MEANINGS = (
    ("resource_exhausted", ("quota", "limitexceeded", "insufficientinstancecapacity", "toomanyrequests", "throttl",
                            "skunotavailable", "resource_exhausted", "allocationfailed")),
    ("permission_denied", ("unauthorized", "accessdenied", "permission_denied", "authorizationfailed")),
    ("not_found", ("invalidamiid", "image not found", "imagenotfound")),
    ("invalid_argument", ("invalidparameter", "invalid_argument", "validationexception")),
)


def failure(command, done):
    text = (done.stderr or done.stdout).strip()
    plain = text.lower().replace(" ", "")
    for code, words in MEANINGS:
        if any(word.replace(" ", "") in plain for word in words):
            return Refusal(code, f"{command[0]}: {text[-500:]}")
    return Refusal("unavailable", f"{shlex.join(command[:3])} ended with {done.returncode}: {text[-500:]}")


@contextlib.contextmanager
def private_file(text, suffix=""):
    """A file that only we can read, for as long as the tool needs it: tokens are never arguments."""
    with tempfile.TemporaryDirectory(prefix="hodei-") as folder:
        path = pathlib.Path(folder, "words" + suffix)
        path.touch(mode=0o600)
        path.write_text(text)
        yield path


def exports(environment):
    """The environment as lines of a shell script."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(environment.items()))


def first_boot(request):
    """A script for a new machine: gets the worker, runs it, and switches the machine off when it ends."""
    environment = {**request.environment(), "HODEI_STATE_DIR": "/var/lib/hodei-worker"}
    path = request.config("worker_path", "/usr/local/bin/hodei-worker")
    fetch = ""
    if request.has("worker_url"):
        fetch = (f"curl --fail --silent --show-error --location --retry 5 --output {shlex.quote(path)} "
                 f"{shlex.quote(request.config('worker_url'))}\nchmod 755 {shlex.quote(path)}\n")
    return ("#!/bin/sh\n# Made by Hodei: one worker, then the end of this machine.\numask 077\ntrap 'shutdown -h now' EXIT\n"
            + exports(environment) + fetch + f"{shlex.quote(path)}\n")


def tail(text, lines):
    return "".join(text.splitlines(keepends=True)[-lines:]) if lines else ""


def serve(verbs):
    """Answers one request. The verb is the first argument, the request is on standard input."""
    try:
        request = Request(json.load(sys.stdin))
        verb = sys.argv[1] if len(sys.argv) > 1 else request.words["verb"]
        if verb not in verbs:
            raise Refusal("invalid_argument", f"this program has no verb {verb}; it has {', '.join(verbs)}")
        answer = verbs[verb](request)
        if DRY_RUN:
            answer = {**answer, "commands": request.commands}
    except Refusal as why:
        answer = {"error": {"code": why.code, "message": str(why)}}
    json.dump(answer, sys.stdout)
    print()
