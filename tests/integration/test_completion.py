"""Completion in the shells that there is a script for: it loads, and proposes commands, flags and values."""

import contextlib
import os
import pty
import shutil
import signal
import subprocess

from harness import HODEI, Dev, check, same, until

# What a terminal would propose goes to a file; Ctrl-T says that all of it is there.
ZSHRC = """
autoload -Uz compinit && compinit -u -D
source {folder}/script
compadd() {{ local -a hits; builtin compadd -O hits "$@"; print -rl -- $hits >> {folder}/proposed }}
ready() {{ : > {folder}/ready }}
finish() {{ BUFFER=; : > {folder}/done }}
zle -N zle-line-init ready
zle -N finish
bindkey '^T' finish
"""


def environment(dev):
    """With `hodei` on the path, as people have it."""
    env = dev.environment(TERM="dumb")
    env["PATH"] = f"{HODEI.resolve().parent}:{env['PATH']}"
    return env


def in_bash(dev, *words):
    line = " ".join(f"'{w}'" for w in ("hodei", *words))
    text = (f"source <(hodei completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words)}; _hodei; "
            "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", text], env=environment(dev), capture_output=True, text=True, timeout=60, check=True)
    same(done.stderr, "", "what bash says")
    return done.stdout.split()


def in_fish(dev, *words):
    check(shutil.which("fish"), "there is no fish; scripts/test installs what the tests need")
    text = f"hodei completion fish | source; complete -C '{' '.join(('hodei', *words))}'"
    done = subprocess.run(["fish", "--no-config", "-c", text], env=environment(dev), capture_output=True, text=True, timeout=60,
                          check=True)
    same(done.stderr, "", "what fish says")
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@contextlib.contextmanager
def a_zsh(folder, env):
    """A zsh on a terminal of its own; answers with what is typed into it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-i"], env | {"ZDOTDIR": str(folder)})
    try:
        until((folder / "ready").exists, "zsh to wait for a line")
        yield lambda text: os.write(terminal, text.encode())
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def in_zsh(dev, *words):
    check(shutil.which("zsh"), "there is no zsh; scripts/test installs what the tests need")
    folder = dev.folder / "zsh"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "script").write_text(dev.ok("completion", "zsh").out)
    (folder / ".zshrc").write_text(ZSHRC.format(folder=folder))
    (folder / "proposed").touch()
    with a_zsh(folder, environment(dev)) as typed:
        typed(" ".join(("hodei", *words)) + "\t\x14")
        until((folder / "done").exists, "zsh to complete")
    return list(dict.fromkeys((folder / "proposed").read_text().split()))   # zsh asks again when nothing is added


def check_completion(complete):
    with Dev().start() as dev:
        job = dev.submit("--name", "some-job", "--", "sleep", "60")
        dev.wait_for(job, "Running")
        check(job in complete(dev, "job", "get", ""), lambda: f"job ids: {complete(dev, 'job', 'get', '')}")
        same(complete(dev, "job", "cancel", job[:1]), [job], "job ids that can be cancelled")
        same(complete(dev, "job", "list", "--state", "Ru"), ["Running"], "states")
        same(complete(dev, "job", "list", "-o", "ya"), ["yaml"], "forms of output")
        same(complete(dev, "provider", "add", "rack", "--type", "bare"), ["baremetal"], "types of providers")
        same(sorted(complete(dev, "job", "wa")), ["wait", "watch"], "commands")
        same(complete(dev, "job", "list", "--sinc"), ["--since"], "flags")
        same(len(complete(dev, "worker", "drain", "")), 1, "workers")


def test_bash_completes_commands_flags_and_values():
    check_completion(in_bash)


def test_zsh_completes_commands_flags_and_values():
    check_completion(in_zsh)


def test_fish_completes_commands_flags_and_values():
    check_completion(in_fish)
