"""What Prometheus, Grafana and `hodei top` see: real scrapes of a real server and worker by a real Prometheus."""

import json
import os
import pathlib
import re
import resource
import select
import shutil
import socket
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import raw_grpc
from harness import HODEI, ROOT, Apart, Dev, check, contains, free_port, same, until

DASHBOARD = ROOT / "deploy/grafana/hodei.json"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
CONNECTIONS_OF_ADDRESS = 1024   # HttpLimits::connections_of_address
# Words of PromQL that are not names of series, for finding those in an expression.
NAME = re.compile(r"\b(?:hodei|process)_[a-z_]+\b")


class Watched(Apart):
    """A server and one worker, both with /metrics."""

    def __init__(self, **settings):
        self.http, self.worker_http = free_port(), free_port()
        super().__init__(HODEI_HTTP_LISTEN=f"127.0.0.1:{self.http}", **settings)

    def start(self, worker=True):
        super().start(worker=False)
        if worker:
            self.join("w1", "--label", "zone=a", HODEI_METRICS_LISTEN=f"127.0.0.1:{self.worker_http}")
        return self

    def work(self):
        """A few ends of every kind."""
        same(self.ok("run", "--", "echo", "hello").out, "hello\n", "output")
        self.cli("run", "--", "sh", "-c", "exit 3")
        self.cli("run", "--timeout", "100ms", "--", "sleep", "60")


def get(port, path):
    """Status and text of a page."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def value(text, series):
    """The value of one series, labels included, in a page of metrics; None when it is not there."""
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.M)
    return float(found.group(1)) if found else None


def lint(text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == 0 and not done.stderr.strip(), lambda: f"promtool check metrics: {done.stdout}{done.stderr}")


def test_metrics_of_server_and_worker_pass_promtool():
    with Watched().start() as server:
        server.work()
        for port in (server.http, server.worker_http):
            status, text = get(port, "/metrics")
            same(status, 200, "status")
            lint(text)
        text = get(server.http, "/metrics")[1]
        same(value(text, "hodei_jobs_submitted_total"), 3, "submitted")
        for state in ("succeeded", "failed", "timeout"):
            same(value(text, f'hodei_jobs_finished_total{{state="{state}"}}'), 1, state)
        same(value(text, "hodei_executions_started_total"), 3, "started")
        same(value(text, "hodei_job_run_seconds_count"), 3, "runs")
        check(value(text, "hodei_log_bytes_total") >= len("hello\n"), "output is counted")
        check(value(text, "hodei_commit_seconds_count") > 3, "commits are counted")
        text = get(server.worker_http, "/metrics")[1]
        same(value(text, 'hodei_worker_executions_ended_total{outcome="failed"}'), 1, "failed on the worker")
        same(value(text, 'hodei_worker_executions_ended_total{outcome="timed_out"}'), 1, "timed out on the worker")


def test_labels_do_not_grow_with_jobs():
    with Watched().start() as server:
        before = len(get(server.http, "/metrics")[1].splitlines())
        server.work()
        same(len(get(server.http, "/metrics")[1].splitlines()), before, "lines after three jobs")


def test_health_and_readiness():
    with Watched().start() as server:
        same(get(server.http, "/healthz"), (200, "ok\n"), "healthz")
        status, text = get(server.http, "/readyz")
        same(status, 200, "readyz")
        contains(text, "ready", "state")
        same(get(server.http, "/nothing")[0], 404, "an unknown path")


def exchange(port, data):
    """Everything a port answers to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.sendall(data)
        answer = b""
        try:
            while more := link.recv(65536):
                answer += more
        except ConnectionError:
            pass
        return answer


def test_garbage_gets_400_and_the_ports_stay_open():
    with Watched().start() as server:
        for port in (server.http, server.worker_http):
            for garbage in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", b"nonsense\r\n\r\n", b"GET\r\n\r\n"):
                contains(exchange(port, garbage)[:12].decode(errors="replace"), " 400", f"the answer to {garbage!r}")
            contains(exchange(port, b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")[:12].decode(), " 405", "POST")
            same(get(port, "/metrics")[0], 200, "after the garbage")
        contains(exchange(server.http, b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 20000 + b"\r\n\r\n")[:12].decode(), " 431", "a huge header")
        contains(exchange(server.http, b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")[:12].decode(), " 413", "a huge body")


def test_more_connections_than_allowed_are_turned_away_and_the_rest_served():
    with Watched().start(worker=False) as server:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
        idle = [socket.create_connection(("127.0.0.1", server.http), timeout=30) for _ in range(CONNECTIONS_OF_ADDRESS + 50)]
        answered = select.poll()
        for link in idle:
            answered.register(link, select.POLLIN)
        until(lambda: len(answered.poll(0)) >= 50, "50 connections to be turned away")
        refused = [link for link in idle if link.fileno() in dict(answered.poll(0))]
        same(len(refused), 50, "connections that were turned away")
        contains(refused[0].recv(12).decode(), " 503", "the answer to one of them")
        for link in idle:
            link.close()
        until(lambda: get_or_none(server.http) == 200, "the port to serve again")


def get_or_none(port):
    try:
        return get(port, "/healthz")[0]
    except OSError:
        return None


def test_a_taken_port_is_an_error_when_it_was_asked_for_and_a_warning_when_not():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with Dev(HODEI_HTTP_LISTEN=f"127.0.0.1:{taken.getsockname()[1]}") as dev:
            dev.launch()
            same(dev.process.wait(timeout=30), 1, "exit code")
            contains(dev.tail(), "http_listen", "the error")
    with socket.socket() as taken, Dev() as dev:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8080))
            taken.listen()
        except OSError:
            pass   # somebody else has it: as good
        dev.settings["HODEI_HTTP_LISTEN"] = ""   # as if it were not set
        dev.start(worker=False)
        contains(dev.tail(), "continuing without HTTP", "the warning")


class Prometheus:
    """A real one, with its own folder and port, that scrapes often."""

    def __init__(self, server):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hodei-prometheus-"))
        self.port = free_port()
        config = self.folder / "prometheus.yml"
        jobs = [{"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                for name, port in (("hodei-server", server.http), ("hodei-worker", server.worker_http))]
        # JSON is YAML.
        config.write_text(json.dumps({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                                      "rule_files": [str(ALERTS)], "scrape_configs": jobs}))
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, path, **parameters):
        """The data of an answer; None while nobody answers."""
        try:
            status, text = get(self.port, f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        except OSError:
            return None
        check(status in (200, 503), lambda: f"{path} {parameters}: {status} {text}")
        return json.loads(text)["data"] if status == 200 else None

    def series(self, expression):
        answer = self.ask("query", query=expression)
        return answer["result"] if answer else []

    def both_up(self):
        targets = (self.ask("targets") or {}).get("activeTargets", [])
        return len(targets) == 2 and all(t["health"] == "up" for t in targets)


def dashboard_expressions():
    board = json.loads(DASHBOARD.read_text())
    panels = [p for p in board["panels"] if p["type"] != "row"]
    check(len(panels) > 20, f"only {len(panels)} panels")
    for panel in panels:
        check(panel["targets"], f"panel {panel['title']} asks for nothing")
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "1m")


def test_a_real_prometheus_scrapes_both_and_every_panel_has_its_series():
    checked = subprocess.run(["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, timeout=60, check=False)
    same(checked.returncode, 0, f"promtool check rules: {checked.stdout}{checked.stderr}")
    with Watched().start() as server, Prometheus(server) as prometheus:
        until(prometheus.both_up, "Prometheus to find both targets up")
        server.work()
        until(lambda: any(float(s["value"][1]) == 3 for s in prometheus.series("hodei_jobs_submitted_total")), "three jobs to be seen")
        for title, expression in dashboard_expressions():
            until(lambda: prometheus.series(expression), f"a series for panel {title!r}: {expression}")
        for name in sorted(set(NAME.findall(ALERTS.read_text()))):
            until(lambda: prometheus.series(name), f"a series for the alerts: {name}")
        until(lambda: (prometheus.ask("rules") or {}).get("groups"), "the rules to be loaded")
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        until(lambda: all(rule["health"] == "ok" for group in prometheus.ask("rules")["groups"] for rule in group["rules"]),
              "every rule to be evaluated")
        same(len(rules), ALERTS.read_text().count("- alert:"), "rules")
        server.kill("server")
        until(lambda: any(a["labels"]["alertname"] == "HodeiServerDown" for a in prometheus.ask("alerts")["alerts"]),
              "the alert about a killed server")


def test_the_example_configuration_is_valid():
    done = subprocess.run(["promtool", "check", "config", str(ALERTS.parent / "prometheus.yml")], capture_output=True, text=True,
                          timeout=60, check=False)
    same(done.returncode, 0, f"promtool check config: {done.stdout}{done.stderr}")


# MetricsService, spoken without a gRPC library: protoc turns text into messages and back.

def protoc(mode, name, data):
    done = subprocess.run(["protoc", f"-I{ROOT}/proto", f"--{mode}=hodei.v1.{name}", "hodei/v1/metrics_service.proto"], input=data,
                          capture_output=True, timeout=60, check=True)
    return done.stdout


def messages(connection, limit):
    """Up to `limit` messages of the call that was sent last."""
    left = b""
    found = []
    for kind, _, _, payload in connection.frames():
        if kind == raw_grpc.DATA:
            left += payload
        while len(left) >= 5 and len(left) >= 5 + int.from_bytes(left[1:5], "big"):
            size = int.from_bytes(left[1:5], "big")
            found.append(left[5:5 + size])
            left = left[5 + size:]
        ended = kind == raw_grpc.HEADERS and b"grpc-status" in payload
        if len(found) >= limit or ended:
            return found
    return found


def rpc(server, method, text, limit=1):
    request, response = (f"{method}Request", "MetricSample" if method == "StreamMetrics" else f"{method}Response")
    with raw_grpc.Connection(server.port, patience=30).open() as link:
        link.stream += 2
        body = raw_grpc.message(protoc("encode", request, text.encode()))
        link.send(raw_grpc.frame(raw_grpc.HEADERS, raw_grpc.END_HEADERS, link.stream, raw_grpc.request_headers(f"/hodei.v1.MetricsService/{method}")))
        link.send(raw_grpc.frame(raw_grpc.DATA, raw_grpc.END_STREAM, link.stream, body))
        return [protoc("decode", response, one).decode() for one in messages(link, limit)]


def test_samples_are_streamed_often_while_somebody_watches_and_kept():
    # Heartbeats come every 20 s by themselves: three samples within the patience of a test show that the stream asks for more.
    with Watched(HODEI_LEASE="60s").start() as server:
        samples = rpc(server, "StreamMetrics", 'filter { worker_ids: "w1" }', limit=3)
        same(len(samples), 3, "samples")
        for sample in samples:
            contains(sample, 'worker_id: "w1"', "the worker")
            contains(sample, "memory_bytes", "its memory")
        answer = until(lambda: [a for a in rpc(server, "GetAggregatedMetrics", "group_by: label label_key: 'zone'") if "samples" in a],
                       "the samples to be stored")[0]
        contains(answer, 'key: "a"', "the group")
        for series in ("cpu", "memory_bytes", "network_rx_bytes_per_second", "disk_write_bytes_per_second"):
            contains(answer, f'series: "{series}"', "a series")
        check("p95:" in answer and "p99:" in answer, f"percentiles: {answer}")
        points = rpc(server, "GetTimeSeriesMetrics", "step_ms: 1000")[0]
        check(points.count("points {") >= 2, f"at least two points: {points}")
        same(rpc(server, "GetAggregatedMetrics", "filter { labels { key: 'zone' value: 'b' } }"), [""], "another zone")


def test_samples_survive_a_restart_of_the_server():
    with Watched(HODEI_LEASE="6s").start() as server:
        until(lambda: "samples" in "".join(rpc(server, "GetAggregatedMetrics", "")), "samples")
        server.kill("server")
        server.launch()
        server.wait_until_up(worker=False)
        check("samples" in "".join(rpc(server, "GetAggregatedMetrics", "")), "samples after the restart")


def test_bad_questions_name_the_field():
    with Watched().start(worker=False) as server:
        for method, text in (("GetAggregatedMetrics", "group_by: label"), ("GetTimeSeriesMetrics", "step_ms: 5"),
                             ("GetTimeSeriesMetrics", "span { from { seconds: 9 } until { seconds: 3 } }"),
                             ("StreamMetrics", 'filter { job_id: "nonsense" }')):
            payload = protoc("encode", f"{method}Request", text.encode())
            same(raw_grpc.call(server.port, f"/hodei.v1.MetricsService/{method}", payload), raw_grpc.INVALID_ARGUMENT, text)


def test_top_prints_once_where_there_is_no_terminal():
    with Watched().start() as server:
        go = server.folder / "go"
        job = server.submit("--name", "long", "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done")
        server.wait_for(job, "Running")
        page = server.ok("top").out
        for word in ("w1", "long", job, "Running", "1 of 1 workers available"):
            contains(page, word, "the page")
        check("\x1b" not in page, "no escapes where there is no terminal")
        go.touch()
        server.wait_for(job, "Succeeded")
        contains(server.ok("top", "--once").out, "nothing is running", "the page")


def test_top_on_a_terminal_refreshes_until_q():
    with Watched().start() as server:
        leader, follower = os.openpty()
        top = subprocess.Popen([str(HODEI), "top"], stdin=follower, stdout=follower, stderr=follower, env=server.environment(TERM="xterm"),
                               cwd=server.folder)
        server.clients.append(top)
        os.close(follower)
        seen = b""
        while seen.count(b"workers available") < 2 or b"/s" not in seen:   # the second page has live rates
            seen += os.read(leader, 65536)
        os.write(leader, b"q")
        same(top.wait(timeout=30), 0, "exit code")
        os.close(leader)
