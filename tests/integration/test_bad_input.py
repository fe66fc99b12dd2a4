"""What is wrong is refused before anything is stored, with a message that names the field and the fix."""

import math
import socket
import struct

import raw_grpc
from harness import Dev, check, contains, free_port, items, same
from raw_grpc import field


def refused(dev, arguments, *words, stored=True, **options):
    """The command fails, its message has these words, stdout is empty and there is still no job."""
    result = dev.cli(*arguments, **options)
    check(result.code != 0, lambda: f"should be refused: {result!r}")
    for word in words:
        contains(result.err, word, f"message of `hodei {' '.join(map(str, arguments))[:200]}`")
    same(result.out, "", "stdout")
    check("terminate called" not in result.err and "Traceback" not in result.err, lambda: f"a clean message: {result!r}")
    if stored:
        same(dev.jobs(), [], "jobs stored")
    return result


def test_an_unknown_field_in_a_job_file():
    with Dev().start(worker=False) as dev:
        file = dev.write("job.yaml", "name: x\ncommand: {shell: {cmd: 'true'}}\ntimout_ms: 5\n")
        refused(dev, ["job", "submit", "--file", file], "timout_ms", "timeout_ms", "job.yaml:3")
        file = dev.write("deep.yaml", "command: {shell: {cmd: 'true', argz: [a]}}\n")
        refused(dev, ["job", "submit", "--file", file], "argz", "args")
        file = dev.write("type.yaml", "command: {shell: {cmd: 'true'}}\nmax_attempts: many\n")
        refused(dev, ["job", "submit", "--file", file], "max_attempts", "many")
        file = dev.write("broken.yaml", "command: {shell: {cmd: 'true'\n")
        refused(dev, ["job", "submit", "--file", file], "broken.yaml")
        refused(dev, ["job", "submit", "--file", dev.folder / "none.yaml"], "none.yaml")


def test_a_negative_time_out():
    with Dev().start(worker=False) as dev:
        refused(dev, ["run", "--timeout", "-5s", "--", "true"], "timeout")
        refused(dev, ["run", "--timeout", "soon", "--", "true"], "timeout", "soon")
        file = dev.write("job.yaml", "command: {shell: {cmd: 'true'}}\ntimeout_ms: -1\n")
        refused(dev, ["job", "submit", "--file", file], "timeout_ms")


def test_other_bad_values_of_a_spec():
    with Dev().start(worker=False) as dev:
        for text, field in [
            ("name: x\n", "command"),
            ("command: {shell: {cmd: ''}}\n", "cmd"),
            ("command: {script: {content: ''}}\n", "content"),
            ("command: {shell: {cmd: x}}\nmax_attempts: -1\n", "max_attempts"),
            ("command: {shell: {cmd: x}}\nmax_attempts: 100000\n", "max_attempts"),
            ("command: {shell: {cmd: x}}\nworking_dir: relative/path\n", "working_dir"),
            ("command: {shell: {cmd: x}}\nenv: {HODEI_JOB_ID: fake}\n", "env"),
            ("command: {shell: {cmd: x}}\nresources: {cpu_cores: -1}\n", "cpu_cores"),
            ("command: {shell: {cmd: x}}\nconcurrency: {key: k, limit: -1}\n", "limit"),
            ("command: {shell: {cmd: x}}\npreferences: {priority: urgent}\n", "priority"),
            (f"command: {{shell: {{cmd: x}}}}\nname: {'n' * 300}\n", "name"),
        ]:
            refused(dev, ["job", "submit", "--file", dev.write("job.yaml", text)], field)


def test_a_job_id_that_is_a_path():
    with Dev().start(worker=False) as dev:
        for id in ("../../etc/passwd", "j1/../../x", "j1;id", "$(id)", "j1\n", "x" * 300, ""):
            for command in ("get", "logs", "cancel", "retry", "explain"):
                refused(dev, ["job", command, id], "job")
        refused(dev, ["job", "get", "jzzzz"], "jzzzz", "does not exist, and no job has this name")


def test_an_unknown_template_parameter():
    with Dev().start(worker=False) as dev:
        file = dev.write("t.yaml", "name: t\nparameters: [{name: who}]\nspec: {command: {shell: {cmd: echo, args: ['${who}']}}}\n")
        dev.ok("template", "put", "--file", file)
        refused(dev, ["run", "--template", "t", "--param", "whom=x"], "whom", "who")
        refused(dev, ["run", "--template", "t"], "who")
        refused(dev, ["run", "--template", "none"], "none")
        refused(dev, ["run", "--template", "t", "--param", "who"], "param")
        undeclared = dev.write("u.yaml", "name: u\nspec: {command: {shell: {cmd: echo, args: ['${nobody}']}}}\n")
        refused(dev, ["template", "put", "--file", undeclared], "nobody")
        same([t["name"] for t in items(dev.ok("template", "list", "-o", "json").json(), "templates")], ["t"], "templates")


def test_an_unreachable_server():
    with Dev() as dev:   # nothing is started: the port is free
        for arguments in (["status"], ["run", "--", "true"], ["job", "list"]):
            result = refused(dev, [*arguments, "--retry-for", "0"] if arguments[0] != "run" else
                             ["run", "--retry-for", "0", "--", "true"], str(dev.port), stored=False)
            check("hodei dev" in result.err or "--server" in result.err or "HODEI_SERVER" in result.err,
                  lambda: f"the message says what to do: {result!r}")
        same(dev.cli("run", "--retry-for", "0", "--", "true").code, 125, "exit code of `run`")
        refused(dev, ["status", "--server", "http://127.0.0.1:notaport"], "notaport", stored=False)


def test_a_port_in_use():
    with Dev() as dev, socket.socket() as holder:
        holder.bind(("127.0.0.1", dev.port))
        holder.listen()
        refused(dev, ["dev"], str(dev.port), "in use", stored=False, env={"GRPC_PORT": dev.port})
        refused(dev, ["server"], str(dev.port), "in use", stored=False, env={"GRPC_PORT": dev.port})


def test_a_data_folder_in_use():
    with Dev().start(worker=False) as dev:
        result = dev.cli("server", env={"GRPC_PORT": free_port()}, timeout=30)
        check(result.code != 0, lambda: f"two servers on one folder: {result!r}")
        contains(result.err, "data", "message")
        check(dev.status(), "the first server still answers")


def test_an_oversize_message():
    with Dev().start(worker=False) as dev:
        # Just over the limit of a spec; over the limit of a file; over the limit of a message on the wire.
        for size in (1_200_000, 6_000_000):
            file = dev.write("big.sh", "# " + "x" * size + "\n")
            result = refused(dev, ["run", "--script", file])
            check(any(word in result.err.lower() for word in ("mib", "bytes", "large", "limit")),
                  lambda: f"the message names the limit: {result!r}")
        check(dev.status(), "the server still answers")


def test_an_unknown_flag_and_setting():
    with Dev().start(worker=False) as dev:
        refused(dev, ["run", "--tiemout", "5s", "--", "true"], "tiemout")
        config = dev.write("config.yaml", "lisen: 127.0.0.1:1\n")
        refused(dev, ["config", "check"], "lisen", "listen", env={"HODEI_CONFIG": config})
        refused(dev, ["run", "--env", "=value", "--", "true"], "env")
        refused(dev, ["run", "--priority", "urgent", "--", "true"], "urgent", "critical")
        refused(dev, ["job", "list", "-o", "xml"], "xml", "json")


def test_flag_beats_environment_beats_file():
    with Dev() as dev:
        config = dev.write("config.yaml", "server: http://127.0.0.1:1\noutput: yaml\n")
        shown = dev.ok("config", "show", env={"HODEI_CONFIG": config}).out
        contains(shown, dev.address, "the environment wins over the file")
        shown = dev.ok("config", "show", "--server", "http://127.0.0.1:2", env={"HODEI_CONFIG": config}).out
        contains(shown, "http://127.0.0.1:2", "a flag wins over both")
        dev.ok("config", "check", env={"HODEI_CONFIG": config})


def test_numbers_that_are_none():
    """NaN, infinity, what no machine has: refused by every call that takes a number with a fraction."""
    def number(at, value):
        return raw_grpc.varint(at << 3 | 1) + struct.pack("<d", value)

    def spec(more):
        return field(1, field(2, field(1, field(1, "true"))) + more)

    jobs, scheduler, providers = "/hodei.v1.JobExecutionService/", "/hodei.v1.SchedulerService/", "/hodei.v1.ProviderManagementService/"
    borders = {
        "resources.cpu_cores": lambda v: (jobs + "QueueJob", spec(field(6, number(1, v)))),
        "backoff.factor": lambda v: (jobs + "QueueJob", spec(field(9, number(3, v)))),
        "percentage": lambda v: (jobs + "UpdateProgress", field(1, "j1.1") + number(2, v)),
        "weight_load": lambda v: (scheduler + "ConfigureScheduler", number(3, v)),
        "threshold": lambda v: (scheduler + "ConfigureScheduler", number(7, v)),
        "tenant weight": lambda v: (scheduler + "SetTenant", number(2, v)),
        "tenant max_cpu_cores": lambda v: (scheduler + "SetTenant", number(4, v)),
        "limit rate": lambda v: (scheduler + "SetLimit", field(2, "key") + number(4, v)),
        "pool size.cpu_cores": lambda v: (providers + "SetPool", field(1, field(1, "p") + field(10, number(1, v)))),
    }
    with Dev().start(worker=False) as dev:
        for name, border in borders.items():
            for odd in (math.nan, -math.nan, math.inf, -math.inf, 1e308, -1e308, -1.0):
                path, request = border(odd)
                same(raw_grpc.call(dev.port, path, request), raw_grpc.INVALID_ARGUMENT, f"{name} of {odd}")
        same(dev.jobs(), [], "jobs stored")
        refused(dev, ["provider", "add", "p", "--type", "docker", "--cost", "nan"], "--cost", "nan")
        file = dev.write("nan.yaml", "command: {shell: {cmd: 'true'}}\nresources: {cpu_cores: nan}\n")
        refused(dev, ["job", "submit", "--file", file], "nan.yaml:2", "cpu_cores")
        file = dev.write("large.yaml", "command: {shell: {cmd: 'true'}}\nresources: {cpu_cores: 1e308}\n")
        refused(dev, ["job", "submit", "--file", file], "resources.cpu_cores: must be a number from 0 to 100000, not 1e+308")


def test_more_than_a_job_may_ask_of_placement():
    with Dev().start(worker=False) as dev:
        rules = ", ".join(f"{{key: k{i}}}" for i in range(65))
        file = dev.write("tolerant.yaml", f"command: {{shell: {{cmd: 'true'}}}}\nconstraints: {{tolerations: [{rules}]}}\n")
        refused(dev, ["job", "submit", "--file", file], "constraints.tolerations: must have at most 64 entries, not 65")
        values = ", ".join(f"v{i}" for i in range(101))
        file = dev.write("values.yaml", "command: {shell: {cmd: 'true'}}\n"
                         f"constraints: {{labels: [{{key: zone, operator: In, values: [{values}]}}]}}\n")
        refused(dev, ["job", "submit", "--file", file], "constraints.labels[0].values: at most 100 values, not 101")
