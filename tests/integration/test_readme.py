"""The commands of the README's tour, exactly as they stand there."""

import re
import subprocess

from harness import HODEI, ROOT, Dev, check, same, until

BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def tour():
    """The fenced blocks of the tour: (language, text)."""
    text = (ROOT / "README.md").read_text()
    return BLOCK.findall(text[text.index("## A short tour"):text.index("## Where to read on")])


def shell(dev, script, **options):
    env = dev.environment()
    env["PATH"] = f"{HODEI.parent}:{env['PATH']}"
    return subprocess.Popen(["bash", "-euc", script], cwd=dev.folder, env=env, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)


def test_every_command_of_the_tour_works():
    with Dev().start() as dev:
        blocks = tour()
        same(blocks[0], ("sh", "build/release/hodei dev\n"), "the first block, which this test has done already")
        for language, text in blocks[1:]:
            if language == "yaml":
                name = re.match(r"# (\S+)\n", text).group(1)
                dev.write(name, text)
            elif language == "console":
                check_console(dev, text)
            elif "hodei agent" in text:
                check_agent(dev, text)
            else:
                client = shell(dev, text)
                dev.clients.append(client)
                out, err = client.communicate(timeout=60)
                same(client.returncode, 0, f"exit code of\n{text}\n{out}{err}")
        check(len(blocks) >= 7, "the tour has all its blocks")


def check_console(dev, text):
    commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    expected = [line for line in text.splitlines() if not line.startswith("$ ")]
    # Its first command makes `hodei` known, which `shell` does here.
    client = shell(dev, "set +e; " + "\n".join(commands[1:]))
    out, err = client.communicate(timeout=60)
    same(sorted(out.splitlines() + err.splitlines()), sorted(expected), f"output of {commands}")


def check_agent(dev, text):
    client = shell(dev, text.replace("hodei agent", "exec hodei agent"))
    dev.clients.append(client)
    dev.remember(client.pid)
    until(lambda: len(dev.ok("worker", "list", "-o", "name").out.split()) == 2, "the second worker to join")
    client.terminate()
    client.wait(timeout=30)
