"""Secrets: what a job gets, what everybody else does not see, and what is written down about it.

A canary is planted and then looked for everywhere: files, the database, logs (also inside their compressed blocks), the
environment and the arguments of all processes, every answer of the API.
"""

import base64
import ctypes
import json
import os
import pathlib
import resource
import signal
import urllib.parse

from harness import Apart, Dev, check, contains, items, number, same, until

CANARY = "c4nary/Zq9+x7 Lm0=wR"
SECOND = "first l1ne 77\nsecond l1ne 88\n"
MAGIC = b"\x28\xb5\x2f\xfd"   # a zstd frame

# Prints its secrets in every form. Between the two halves of one it waits, so that things can be killed meanwhile.
TELL_ALL = r'''
import base64, json, os, sys, time, urllib.parse
secrets = json.load(sys.stdin)
assert sys.stdin.read() == "", "the input is closed"
value, lines = secrets["canary"], secrets["lines"]
def out(text, stream=sys.stdout):
    stream.write(text)
    stream.flush()
out("plain " + value + "\n")
out("base64 " + base64.b64encode(value.encode()).decode() + "\n")
out("inside " + base64.b64encode(b"x" + value.encode() + b"y").decode() + "\n")
for before in ("login bot password ", "x" * 50, "yy" * 27):
    out("wrapped\n" + base64.encodebytes(before.encode() + value.encode() + b" and more text behind it").decode())
out("hex " + value.encode().hex() + "\n" + value.encode().hex(" ").upper() + "\n")
out("url " + urllib.parse.quote(value, safe="") + " " + urllib.parse.quote_plus(value) + "\n")
out("json " + json.dumps(secrets) + "\n")
out("lines\n" + lines + "one: " + lines.splitlines()[1] + "\n")
out("split " + value[:9])
out("something else " + value[:5], sys.stderr)
open(sys.argv[1] + ".begun", "w").close()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
out(value[5:] + " end\n", sys.stderr)
out(value[9:] + " end\n")
'''


def needles():
    """Every form of the canary, and parts that are long enough to tell."""
    forms = set()
    for value in (CANARY, SECOND, *SECOND.splitlines()):
        raw = value.encode()
        forms |= {raw, base64.b64encode(raw), base64.urlsafe_b64encode(raw), urllib.parse.quote(value, safe="").encode(),
                  urllib.parse.quote_plus(value).encode(), json.dumps(value)[1:-1].encode()}
        forms |= {base64.b64encode(b"x" * n + raw)[4:-4] for n in (1, 2)}
        forms |= {raw.hex().encode(), raw.hex().upper().encode()}
    return forms | {CANARY[:12].encode(), CANARY[-10:].encode()}


def found_in(data, wanted):
    """As it is, and as if no line had been broken."""
    whole = data.translate(None, b" \r\n")
    return next((form for form in wanted if form in data or form in whole), None)


def unpacked(data):
    """What the zstd frames in these bytes hold."""
    zstd = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress", "ZSTD_getFrameContentSize"):
        getattr(zstd, name).restype = ctypes.c_size_t
    out, at = b"", data.find(MAGIC)
    while at >= 0:
        rest = ctypes.create_string_buffer(data[at:], len(data) - at)
        size = zstd.ZSTD_findFrameCompressedSize(rest, ctypes.c_size_t(len(rest)))
        if size <= len(rest):
            room = ctypes.create_string_buffer(1 << 22)
            got = zstd.ZSTD_decompress(room, ctypes.c_size_t(len(room)), rest, ctypes.c_size_t(size))
            out += room.raw[:got] if got <= len(room) else b""
        at = data.find(MAGIC, at + 4)
    return out


def where_it_is(dev, wanted, answers=()):
    """All places that hold one of the forms: files, processes, answers."""
    places = []
    for path in [p for p in dev.folder.rglob("*") if p.is_file()]:
        try:
            data = path.read_bytes()
        except OSError:   # gone meanwhile
            continue
        hit = found_in(data, wanted) or found_in(unpacked(data), wanted)
        if hit:
            places.append((str(path.relative_to(dev.folder)), hit))
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                hit = found_in((process / name).read_bytes(), wanted)
            except OSError:
                continue
            if hit:
                places.append((str(process / name), hit))
    places += [(what, hit) for what, text in answers if (hit := found_in(text.encode(), wanted))]
    return places


def audit(dev, *flags):
    return items(dev.ok("audit", "list", "-o", "json", *flags).json(), "entries")


def api_answers(dev, job):
    commands = [("job", "get", job, "-o", "json"), ("job", "get", job), ("job", "list", "-o", "json"), ("job", "logs", job),
                ("job", "explain", job, "-o", "json"), ("secret", "list", "-o", "json"), ("audit", "list", "-o", "json"),
                ("audit", "list")]
    return [(" ".join(c), dev.ok(*c).out) for c in commands]


def expected_output():
    stars = lambda text: "".join(c if c == "\n" else "*" for c in text)  # noqa: E731
    hidden = stars(CANARY)
    lines = SECOND.splitlines()
    return hidden, stars(lines[0]) + "\n" + stars(lines[1]) + "\n"


def tell_all(dev, go):
    script = dev.write("tell_all.py", TELL_ALL)
    dev.ok("secret", "set", "canary", "--value-stdin", text=CANARY)
    (dev.folder / "given").write_text(SECOND)
    job = dev.submit("--secret", "canary", "--secret-from", f"lines={dev.folder / 'given'}", "--", "python3", script, go)
    (dev.folder / "given").unlink()
    return job


def test_the_canary_is_found_nowhere():
    with Dev().start() as dev:
        go = dev.folder / "go"
        job = tell_all(dev, go)
        until((dev.folder / "go.begun").exists, "the job to have printed the first half")
        until(lambda: "lines" in dev.ok("job", "logs", job).out, "output to arrive")
        same(where_it_is(dev, needles(), api_answers(dev, job)), [], "places that hold the canary while the job runs")

        agent = dev.kill("agent")
        until(lambda: number((dev.status() or {}).get("agent_pid")) not in (0, agent.pid), "a new agent")
        dev.kill("server")
        dev.start()
        go.touch()
        dev.wait_for(job, "Succeeded", patience=60)

        log = dev.ok("job", "logs", job).out
        hidden, lines = expected_output()
        for part in (f"plain {hidden}\n", f"lines\n{lines}one: ", f"split {hidden[:9]}", " end\n"):
            check(part in log, f"{part!r} in {log!r}")
        same(where_it_is(dev, needles(), api_answers(dev, job)), [], "places that hold the canary afterwards")
        same([s["name"] for s in dev.get(job)["spec"]["secrets"]], ["canary", "lines"], "names are shown")
        same(dev.get(job)["spec"]["secrets"][1].get("sealed"), None, "and nothing else of them")
        again = dev.ok("job", "retry", job, "-o", "name").out.strip().split("/")[-1]
        dev.wait_for(again, "Succeeded", patience=60)
        same(where_it_is(dev, needles(), api_answers(dev, again)), [], "places that hold the canary after a retry")


def test_progress_and_outputs_are_masked_too():
    with Dev().start() as dev:
        value = "c4nary-in-reports"
        job = dev.submit("--secret-from", f"s={dev.write('given', value)}", "--", "sh", "-c", r'''
            t=$(sed 's/.*:"//; s/".*//'); w=$HODEI_WORKER
            "$w" output "v=<$t>" "b=$(printf 'password %s' "$t" | base64)" || exit 1
            "$w" output "$t=1" && exit 2
            "$w" progress 50 "$(printf %0995d 0)$t" || exit 3''')
        (dev.folder / "given").unlink()
        ended = dev.wait_for(job, "Succeeded")
        same(ended["outputs"]["v"], "<" + "*" * len(value) + ">", "an output")
        same(ended["progress"]["message"], "0" * 995 + "*" * 5, "a message that was cut inside of the secret")
        same(where_it_is(dev, {value.encode()},
                         api_answers(dev, job)), [], "places that hold it")


def test_what_is_left_of_a_secret_beside_a_gap_is_masked():
    with Dev().start() as dev:
        value = "c4nary-that-is-cut-in-two-halves"
        (dev.folder / "given").write_text(value)
        for size in (10, 20, 31):   # of the value, before --log-limit cuts it off
            run = dev.ok("run", "--secret-from", f"s={dev.folder / 'given'}", "--log-limit", 100 + size, "--", "sh", "-c",
                         "printf %0100d 0; cat | sed 's/.*:\"//; s/\".*//'; printf %01000d 0")
            same(run.out, "0" * 100 + "*" * size, f"output that was cut off in the middle, after {size} bytes")


def test_the_server_and_the_worker_write_no_core_dumps_and_jobs_may():
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))   # what is started from here may write them
    try:
        with Dev().start() as dev:
            allowed = limit_of(os.getpid())
            for role in ("agent", "supervisor", "server"):
                process = dev.role(role)
                check(limit_of(process.pid) in ("0", "1"), f"the limit of the {role} is {limit_of(process.pid)}")
            same(dev.ok("run", "--", "grep", "Max core", "/proc/self/limits").out.split()[4], allowed, "the limit of jobs")
            agent = dev.kill("agent", signal.SIGSEGV)
            until(lambda: number((dev.status() or {}).get("agent_pid")) not in (0, agent.pid), "a new agent")
            dev.kill("supervisor", signal.SIGSEGV)
            dev.kill("server", signal.SIGSEGV)
            same([str(p) for p in dev.folder.rglob("core*")], [], "core dumps")
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


def limit_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line.split()[4] for line in lines if line.startswith("Max core file size"))


def test_the_search_finds_what_is_there():
    with Dev().start() as dev:
        marker = "m4rker-that-is-no-secret"
        job = dev.submit("--", "sh", "-c", f"echo {marker[:10]}; printf {marker[10:]}; echo {marker}")
        dev.wait_for(job, "Succeeded")
        places = [place for place, _ in where_it_is(dev, {marker.encode()}, api_answers(dev, job))]
        check(any("hodei.db" in place for place in places), f"the database: {places}")
        check(any("logs/" in place for place in places), f"the log segments: {places}")
        check(any("job logs" in place for place in places), f"the API: {places}")


def test_a_job_reads_its_secrets_and_files():
    with Dev().start() as dev:
        dev.ok("secret", "set", "token", "--value-stdin", text="t0ken-value\n")
        result = dev.ok("run", "--secret", "token", "--secret-from", "other=-", "--secret-files", "--", "sh", "-c",
                        "cat | tr e E; echo; cd $HODEI_SECRETS; ls; stat -c '%a %U' *; stat -f -c %T .; cat other | tr e E",
                        text="an0ther value")
        printed = json.loads(result.out.splitlines()[0])
        same(printed, {"tokEn": "t0kEn-valuE", "othEr": "an0thEr valuE"}, "the object on standard input")
        same(result.out.splitlines()[1:], ["other", "token", "400 root", "400 root", "tmpfs", "an0thEr valuE"], "the files")
        mounts = pathlib.Path("/proc/mounts").read_text()
        until(lambda: str(dev.data) not in pathlib.Path("/proc/mounts").read_text(), f"the tmpfs to be gone: {mounts}")
        job = items(dev.ok("job", "list", "-o", "json").json(), "jobs")[0]["short_id"]
        same(dev.get(job)["executions"][0]["secrets"], ["other", "token"], "secrets in the result")


def test_secret_files_are_gone_after_the_supervisor_was_killed():
    with Dev().start() as dev:
        go = dev.folder / "go"
        job = dev.submit("--secret-from", f"token={dev.write('value', 't0ken-value')}", "--secret-files", "--", "sh", "-c",
                         f"touch {go}.begun; while :; do sleep 0.1; done")
        until((dev.folder / "go.begun").exists, "the job to start")
        contains(pathlib.Path("/proc/mounts").read_text(), str(dev.data), "a tmpfs while it runs")
        supervisor = dev.kill("supervisor")
        until(lambda: number((dev.status() or {}).get("supervisor_pid")) not in (0, supervisor.pid), "a new supervisor", 60)
        dev.cli("job", "cancel", job)   # if it waits for a second try
        until(lambda: str(dev.data) not in pathlib.Path("/proc/mounts").read_text(), "the tmpfs to be gone", 60)


def test_what_is_wrong_is_said_when_the_job_is_submitted():
    with Dev().start() as dev:
        refused = dev.cli("run", "--secret", "missing", "--", "true")
        same(refused.code, 125, "exit code")
        contains(refused.err, "hodei secret set missing", "what to do")
        contains(dev.cli("secret", "set", "1bad", "--value-stdin", text="x").err, "name: '1bad'", "a bad name")
        contains(dev.cli("secret", "set", "big", "--value-stdin", text="x" * 65537).err, "value", "a value that is too large")
        short = dev.ok("secret", "set", "pin", "--value-stdin", text="1234")
        contains(short.err, "not masked", "a note about a short value")
        run = dev.ok("run", "--secret", "pin", "--", "cat")
        contains(run.err, "not masked", "and at the run")
        same(json.loads(run.out), {"pin": "1234"}, "it is not masked indeed")
        template = dev.write("t.yaml", "name: t\nspec: {command: {shell: {cmd: 'true'}}, secrets: [{name: a, value: hidden1}]}\n")
        contains(dev.cli("template", "put", template).err, "must not contain values", "a value in a template")


def test_a_secret_that_is_gone_when_the_job_starts_fails_it():
    with Apart().start(worker=False) as dev:
        dev.ok("secret", "set", "token", "--value-stdin", text="t0ken-value")
        job = dev.submit("--secret", "token", "--", "true")
        dev.ok("secret", "rm", "token")
        dev.join("w1")
        ended = dev.wait_for(job, "Failed")
        same(ended["failure"], "secret_error", "failure")
        contains(ended["reason"], "token", "reason")
        contains(ended["suggestion"], "hodei secret set", "suggestion")
        actions = [(e["action"], e["subject"]) for e in audit(dev)]
        check(("secret.failed", f"{job}.1") in actions, f"the failure is recorded: {actions}")


def test_a_server_with_another_key_says_so():
    with Dev().start() as dev:
        dev.ok("secret", "set", "token", "--value-stdin", text="t0ken-value")
        dev.kill("server")
        dev.launch(HODEI_SECRET_KEY="11" * 32)
        dev.wait_until_up()
        contains(dev.tail(), "encrypted with a", "the server's log")
        contains(dev.ok("secret", "list").out, "different key", "the list")
        refused = dev.cli("run", "--secret", "token", "--", "true")
        contains(refused.err, "different key", "the job's end")
        dev.ok("secret", "set", "token", "--value-stdin", text="t0ken-again")
        same(dev.ok("run", "--secret", "token", "--", "sh", "-c", "tr e E").out, '{"tokEn":"t0kEn-again"}', "set again")
        (key,) = dev.data.glob("secret.key")
        same(key.stat().st_mode & 0o777, 0o600, "mode of the key that was made")


def test_the_audit_trail_tells_who_did_what():
    with Apart().start(worker=False) as dev:
        dev.ok("secret", "set", "token", "--value-stdin", text="t0ken-value")
        dev.join("w1")
        job = dev.submit("--secret", "token", "--", "true")
        dev.wait_for(job, "Succeeded")
        dev.ok("secret", "rm", "token")
        refused = dev.agent("no-such-token", "intruder")
        until(lambda: refused.poll() is not None, "the intruder to be turned away")
        entries = until(lambda: (e := audit(dev)) and len(e) == 6 and e, "six entries")
        same([e["action"] for e in entries], ["worker.refused", "secret.deleted", "secret.delivered", "worker.registered",
                                              "otp.created", "secret.set"], "actions")
        same(entries[2]["subject"], f"{job}.1", "subject of the delivery")
        same(entries[2]["principal"], "worker w1", "to whom")
        same(entries[2]["detail"], "token", "which")
        contains(entries[5]["principal"], "127.0.0.1", "the address of who set it")
        contains(entries[0]["principal"], "127.0.0.1", "the address of who was refused")
        same([number(e["number"]) for e in entries], [6, 5, 4, 3, 2, 1], "numbers")
        same(len(audit(dev, "--action", "secret.set")), 1, "by action")
        same(len(audit(dev, "--subject", "token")), 2, "by subject")
        same(len(audit(dev, "--limit", "3")), 3, "by limit")
        dev.kill("server")
        dev.launch()
        dev.wait_until_up(worker=False)
        dev.ok("secret", "set", "other", "--value-stdin", text="an0ther")
        same(number(audit(dev)[0]["number"]), 7, "numbers go on after a restart")
