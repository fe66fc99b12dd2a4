"""Traces of jobs: W3C contexts in and out, and spans at an OTLP receiver."""

import http.server
import json
import re
import threading

from harness import Dev, check, contains, same, until

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Collector:
    """Takes OTLP over HTTP like any collector; the first answers may be failures."""

    def __init__(self, failures=0):
        self.spans = []
        self.bodies = 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = collector.take(self.path, self.headers["Content-Type"], body, failures)
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def take(self, path, kind, body, failures):
        self.bodies += 1
        if path != "/v1/traces" or kind != "application/json":
            return 404
        if self.bodies <= failures:
            return 503
        for resource in json.loads(body)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                self.spans += scope["spans"]
        return 200

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def trace(self, trace_id):
        return [s for s in list(self.spans) if s["traceId"] == trace_id]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def attributes(span):
    return {a["key"]: a["value"]["stringValue"] for a in span["attributes"]}


def named(spans, name):
    return [s for s in spans if s["name"] == name]


def check_tree(spans):
    """One root, every parent in the trace, no span before its parent began."""
    by_id = {s["spanId"]: s for s in spans}
    same(len(by_id), len(spans), "ids of spans, all different")
    roots = [s for s in spans if s.get("parentSpanId") not in by_id]
    same(len(roots), 1, "roots")
    for span in spans:
        check(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), f"{span['name']} ends after it began")
    return roots[0]


def test_each_job_is_one_trace_with_all_its_phases():
    with Collector() as collector, Dev(OTEL_EXPORTER_OTLP_ENDPOINT=collector.endpoint).start() as dev:
        done = dev.submit("--name", "good", "--", "true")
        retried = dev.submit("--name", "bad", "--attempts", "2", "--", "sh", "-c", "exit 3")
        dev.wait_for(done, "Succeeded")
        dev.wait_for(retried, "Failed")
        job = dev.get(done)
        spans = until(lambda: collector.trace(job["trace_id"]), "the spans of the job that succeeded")
        same(sorted(s["name"] for s in spans), ["execution 1", "job good", "queued", "running", "scheduled"], "spans")
        root = check_tree(spans)
        same(root["name"], "job good", "the root")
        same(root.get("parentSpanId"), None, "a caller")
        same(attributes(root)["hodei.job.id"], job["id"], "the job's id")
        same(job["trace_id"], job["id"].replace("-", ""), "the trace of a job without a caller")
        same(attributes(named(spans, "running")[0])["hodei.worker"], job["worker_id"], "the worker")
        failed = dev.get(retried)
        spans = until(lambda: collector.trace(failed["trace_id"]), "the spans of the job that failed")
        attempts = len(failed["executions"])
        check(attempts >= 2, f"it was retried: {failed}")
        for name in ("queued", "scheduled", "running"):
            same(len(named(spans, name)), attempts, f"spans named {name}")
        root = check_tree(spans)
        same(root["status"]["code"], 2, "the status of a failed job")
        same(attributes(root)["hodei.failure"], "non_zero_exit", "why")
        same(len({s["traceId"] for s in collector.spans}), 2, "traces for two jobs")


def test_the_jobs_environment_continues_the_callers_trace():
    with Collector() as collector, Dev(HODEI_OTLP_ENDPOINT=collector.endpoint + "/").start() as dev:
        result = dev.ok("run", "--", "sh", "-c", "echo $TRACEPARENT", env={"TRACEPARENT": CALLER})
        trace, span = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01\n", result.out).groups()
        same(trace, CALLER.split("-")[1], "the trace")
        spans = until(lambda: collector.trace(trace), "its spans")
        same(check_tree(spans)["parentSpanId"], CALLER.split("-")[2], "the caller's span")
        same(named(spans, "execution 1")[0]["spanId"], span, "the span that the job was given")
        same(dev.jobs()[0]["trace_id"], trace, "the trace in a list of jobs")


def test_a_spec_may_name_its_trace_and_a_bad_one_is_refused():
    with Dev().start() as dev:
        file = dev.write("job.yaml", f"command: {{shell: {{cmd: printenv, args: [TRACEPARENT]}}}}\ntraceparent: {CALLER}\n")
        job = dev.submit("-f", str(file))
        dev.wait_for(job, "Succeeded")
        same(dev.get(job)["trace_id"], CALLER.split("-")[1], "the trace")
        contains(dev.ok("job", "logs", job).out, CALLER.split("-")[1], "the trace inside")
        bad = dev.write("bad.yaml", "command: {shell: {cmd: 'true'}}\ntraceparent: nonsense\n")
        result = dev.cli("job", "submit", "-f", str(bad))
        check(result.code != 0, "a bad traceparent is refused")
        contains(result.err, "traceparent", "the error")


def test_a_collector_that_fails_for_a_moment_still_gets_the_spans_and_one_that_is_away_harms_nothing():
    with Collector(failures=1) as collector, Dev(HODEI_OTLP_ENDPOINT=collector.endpoint).start() as dev:
        dev.ok("run", "--", "true")
        until(lambda: collector.spans, "the spans after a failure")
        check(collector.bodies >= 2, "a second try")
    with Dev(HODEI_OTLP_ENDPOINT="http://127.0.0.1:1").start() as dev:
        dev.ok("run", "--", "true")
        until(lambda: "dropped: " in dev.log.read_text(), "a word about the spans that nobody took")


def test_lines_about_a_job_name_its_trace():
    with Dev(HODEI_LOG_LEVEL="debug").start() as dev:
        dev.ok("run", "--", "true", env={"TRACEPARENT": CALLER})
        trace = CALLER.split("-")[1]
        lines = [line for line in dev.log.read_text().splitlines() if " job=" in line]
        check(len(lines) >= 4, f"a line for each step: {lines}")
        for line in lines:
            contains(line, f"trace={trace}", "a line of the server")
        worker = (dev.data / "worker.log")
        until(lambda: " ended " in worker.read_text(), "the worker's lines")
        for line in worker.read_text().splitlines():
            if " execution=" in line:
                contains(line, f"trace={trace}", "a line of the worker")
