"""Words that would do harm if anything but text were made of them, in every id, name, image, label and path: refused or
taken literally, and nothing outside of the data folder is touched. The words are those of tests/hostile_words.txt."""

import json
import os

import raw_grpc
from harness import ROOT, Dev, check, items, same
from raw_grpc import field

WORDS = [json.loads(line) for line in (ROOT / "tests/hostile_words.txt").read_text().splitlines()
         if line and not line.startswith("#")]
CANARY = "hodei-was-here"
# Taken, or refused as what it is: never as something that broke.
FINE = {0: "OK", 3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 6: "ALREADY_EXISTS", 9: "FAILED_PRECONDITION", 10: "ABORTED",
        11: "OUT_OF_RANGE", 16: "UNAUTHENTICATED"}
STREAMS = {"WorkerStream", "QueueJobs", "ExecutionEventStream", "SchedulingDecisionStream", "SubscribeLogs"}


def tree(folder):
    """Every file below a folder with its size, without what a server writes on its own."""
    return {os.path.join(at, name) for at, folders, names in os.walk(folder) for name in [*folders, *names]
            if not os.path.join(at, name).startswith(os.path.join(str(folder), "data"))}


class Fenced(Dev):
    """A server whose folder must look afterwards as it did before, but for the data folder."""

    def __enter__(self):
        self.start(worker=self.worker)
        self.canaries = [self.folder, self.folder.parent, ROOT, os.path.expanduser("~")]
        self.before = tree(self.folder)
        return self

    def __init__(self, worker=False):
        super().__init__()
        self.worker = worker

    def __exit__(self, kind, error, trace):
        try:
            if error is None:
                check(self.process.poll() is None, f"the server died: {self.tail()}")
                check(self.status(), "the server still answers")
                same(sorted(tree(self.folder) - self.before), [], "files outside of the data folder")
                for folder in self.canaries:
                    check(not os.path.exists(os.path.join(str(folder), CANARY)), f"a word was run: {folder}/{CANARY}")
        finally:
            super().__exit__(kind, error, trace)


def test_in_every_text_of_every_request():
    with Fenced() as dev:
        for path, request in raw_grpc.methods():
            numbers = raw_grpc.text_fields(request)
            if path.rsplit("/", 1)[1] in STREAMS or not numbers:
                continue
            for word in WORDS:
                answer = raw_grpc.call(dev.port, path, b"".join(field(n, word) for n in numbers))
                check(answer in FINE, f"{path} answers {answer} to {word!r}")


def spec(**texts):
    """A serialized JobSpec; command.shell is `true` unless given."""
    numbers = {"name": 1, "image": 3, "working_dir": 5, "idempotency_key": 13}
    out = field(2, field(1, field(1, texts.pop("cmd", "true"))))
    for name, text in texts.items():
        if name in ("env", "labels"):
            out += field({"env": 4, "labels": 18}[name], field(1, text) + field(2, text))
        elif name == "constraint":
            out += field(10, field(1, field(1, text) + b"\x10\x01" + field(3, text)))
        elif name == "pool":
            out += field(10, field(5, text))
        elif name == "concurrency":
            out += field(12, field(1, text) + b"\x10\x02")
        else:
            out += field(numbers[name], text)
    return out


def test_in_every_text_of_a_job():
    queue = "/hodei.v1.JobExecutionService/QueueJob"
    with Fenced() as dev:
        taken = 0
        for word in WORDS:
            for place in ("name", "image", "working_dir", "idempotency_key", "env", "labels", "constraint", "pool", "concurrency", "cmd"):
                answer = raw_grpc.call(dev.port, queue, field(1, spec(**{place: word})))
                check(answer in (0, 3), f"{place}={word!r} is answered with {answer}")
                taken += answer == 0
                if place in ("name", "image", "working_dir", "env", "pool", "cmd"):
                    check("\0" not in word or answer == 3, f"{place} may not hold a NUL: {word!r}")
                if place in ("image",):
                    check(not word.startswith("-") or answer == 3, f"{place} may not look like a flag: {word!r}")
                if place in ("pool",):
                    check(answer == 3 or word == "" or word.replace("-", "").isalnum() or "_" in word,
                          f"{place} takes {word!r}")
        # Every one that was taken can be listed: one strange name must not hide the others.
        jobs = items(dev.ok("job", "list", "-o", "json", "--limit", "1000").json(), "jobs")
        check(len(jobs) > 100, f"{taken} jobs were taken, {len(jobs)} are listed")
        names = {job["name"] for job in jobs}
        for word in ("../", ";id", "$(touch hodei-was-here)", "-v"):
            check(word in names, f"the name {word!r} is kept as it is")


def test_in_names_of_workers_templates_and_namespaces():
    with Fenced() as dev:
        for word in WORDS:
            plain = word and word[0].isascii() and word[0].isalnum() and len(word) <= 100 and \
                all(c.isascii() and (c.isalnum() or c in "._-") for c in word)
            otp = raw_grpc.call(dev.port, "/hodei.v1.WorkerAgentService/CreateOtp", field(1, word))
            same(otp == 0, bool(plain or not word), f"a token for the worker {word!r} is made ({otp})")
            template = field(1, word) + field(4, spec())
            put = raw_grpc.call(dev.port, "/hodei.v1.JobExecutionService/PutTemplate", field(1, template))
            same(put == 0, bool(plain), f"the template {word!r} is stored ({put})")
            queued = raw_grpc.call(dev.port, "/hodei.v1.JobExecutionService/QueueJob", field(1, spec()) + field(2, word))
            same(queued == 0, bool(plain or not word), f"a job in the namespace {word!r} is taken ({queued})")


def test_as_arguments_and_variables_of_a_job():
    words = [word for word in WORDS if "\0" not in word and word]
    with Fenced(worker=True) as dev:
        script = "import json,os,sys; print(json.dumps([sys.argv[1:], os.environ['WORD']]))"
        for at, word in enumerate(words):
            if at % 6:
                continue
            job = {"command": {"shell": {"cmd": "python3", "args": ["-c", script, *words]}}, "env": {"WORD": word},
                   "name": word[:200].replace("\n", " ").replace("\r", " ")}
            file = dev.data / "job.json"
            file.write_text(json.dumps(job))
            done = dev.submit("--file", file)
            dev.wait_for(done, "Succeeded")
            arguments, variable = json.loads(dev.ok("job", "logs", done).out)
            same(arguments, words, "arguments of the job")
            same(variable, word, "the job's variable")
