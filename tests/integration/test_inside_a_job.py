"""Progress and outputs that a job reports, by $HODEI_WORKER and by $HODEI_SOCKET."""

import contextlib
import os
import shutil
import signal

from harness import Dev, check, contains, same, until


@contextlib.contextmanager
def gate(dev, name="go"):
    """A file that a job waits for, and the words of shell that wait."""
    path = dev.folder / name
    yield path, f"while [ ! -e {path} ]; do sleep 0.02; done"
    path.touch()


def shell(dev, script):
    return dev.submit("--", "sh", "-ec", script)


def test_progress_is_seen_while_the_job_runs_and_outputs_after_it():
    with Dev().start() as dev, gate(dev) as (go, wait):
        job = shell(dev, f'''"$HODEI_WORKER" progress 40 "halfway there"; {wait}
            "$HODEI_WORKER" output answer=42 "text=two
lines" ; "$HODEI_WORKER" output answer=43; "$HODEI_WORKER" progress 100''')
        until(lambda: dev.get(job).get("progress"), "the progress to be seen")
        same(dev.get(job)["progress"], {"percentage": 40, "message": "halfway there"}, "progress")
        same(dev.state(job), "Running", "state")
        contains(dev.ok("job", "get", job).out, "40 % halfway there", "page")
        go.touch()
        ended = dev.wait_for(job, "Succeeded")
        same(ended["outputs"], {"answer": "43", "text": "two\nlines"}, "outputs")
        same(ended["progress"]["percentage"], 100, "the last progress counts though the job ended at once")
        page = dev.ok("job", "get", job).out
        contains(page, "Outputs", "page")
        contains(page, "answer", "page")


def test_a_script_in_another_language_speaks_the_protocol_itself():
    talk = '''
import os, socket
with socket.socket(socket.AF_UNIX) as s:
    s.connect(os.environ["HODEI_SOCKET"])
    lines = s.makefile("rw", newline="\\n")
    for line in ("hello " + os.environ["HODEI_EXECUTION_ID"] + " " + os.environ["HODEI_SOCKET_KEY"],
                 "output path C:\\\\\\\\temp", "output bad key\\\\q", "progress 7 seven"):
        print(line, file=lines, flush=True)
        print(lines.readline().strip())
'''
    with Dev().start() as dev:
        script = dev.write("talk.py", talk)
        os.chmod(dev.folder, 0o755)
        result = dev.ok("run", "--", "python3", script)
        same([line.split()[0] for line in result.out.splitlines()], ["ok", "ok", "error", "ok"], "answers")
        job = dev.jobs()[0]["short_id"]
        same(dev.get(job)["outputs"], {"path": "C:\\temp"}, "outputs")


def test_a_job_that_runs_as_another_user_can_report():
    with Dev().start() as dev:
        os.chmod(dev.folder, 0o755)
        shutil.copy(dev_binary(dev), dev.folder / "hodei")
        job = shell(dev, f'cd /; exec setpriv --reuid 65534 --clear-groups {dev.folder}/hodei output who=nobody')
        same(dev.wait_for(job, "Succeeded")["outputs"], {"who": "nobody"}, "outputs")


def dev_binary(dev):
    return os.readlink(f"/proc/{dev.process.pid}/exe")


def test_a_job_cannot_speak_for_another():
    with Dev().start() as dev, gate(dev) as (_, wait):
        victim = shell(dev, f'echo $HODEI_EXECUTION_ID; {wait}')
        dev.wait_for(victim, "Running")
        execution = dev.get(victim)["executions"][0]["id"]
        thief = dev.cli("run", "--", "sh", "-c", f'HODEI_EXECUTION_ID={execution} "$HODEI_WORKER" output stolen=1')
        same(thief.code, 1, "exit code")
        contains(thief.err, "wrong key for that execution", "message")
        (dev.folder / "go").touch()
        same(dev.wait_for(victim, "Succeeded").get("outputs", {}), {}, "outputs")


def test_what_is_refused_is_explained():
    with Dev().start() as dev:
        result = dev.cli("run", "--", "sh", "-c", '''
            "$HODEI_WORKER" output "a b=1"; "$HODEI_WORKER" progress 101
            i=0; while [ $i -lt 65 ]; do set -- "$@" k$i=v; i=$((i+1)); done; "$HODEI_WORKER" output "$@"''')
        for words in ("contains a space", "0 to 100", "more than 64 keys"):
            contains(result.err, words, "stderr")
        same(result.code, 1, "exit code")


def test_outputs_survive_the_death_of_the_agent():
    with Dev().start() as dev, gate(dev) as (go, wait):
        said = dev.folder / "said"
        job = shell(dev, f'''"$HODEI_WORKER" output before=1; touch {said}; {wait}
            "$HODEI_WORKER" output after=2; "$HODEI_WORKER" progress 90''')
        until(said.exists, "the first output to be acknowledged")
        dev.kill("agent", signal.SIGKILL)
        go.touch()
        ended = dev.wait_for(job, "Succeeded")
        same(ended["outputs"], {"before": "1", "after": "2"}, "outputs")
        same(len(ended["executions"]), 1, "executions: the job was not run again")


def test_a_flood_of_progress_costs_the_server_little():
    with Dev().start() as dev:
        script = dev.write("flood.py", '''
import os, socket
with socket.socket(socket.AF_UNIX) as s:
    s.connect(os.environ["HODEI_SOCKET"])
    lines = s.makefile("rw", newline="\\n")
    print("hello", os.environ["HODEI_EXECUTION_ID"], os.environ["HODEI_SOCKET_KEY"], file=lines, flush=True)
    assert lines.readline() == "ok\\n"
    for i in range(2000):
        print("progress", i / 20, file=lines, flush=True)
        assert lines.readline() == "ok\\n"
''')
        watch = dev.background("job", "watch", "-o", "json")
        job = dev.submit("--", "python3", script)
        ended = dev.wait_for(job, "Succeeded")
        same(ended["progress"]["percentage"], 99.95, "the last progress")
        watch.kill()
        told = watch.communicate()[0].count("percentage")
        check(0 < told < 200, f"{told} of 2000 reports were sent on")
