"""Files on their way to and from jobs: the server's own store, http and https, and everything that can go wrong there."""

import hashlib
import io
import json
import tarfile

from harness import Dev, check, contains, same, until
from web import certificates, files


def stage_folders(dev):
    stage = dev.data / "worker" / "stage"
    return sorted(p.name for p in stage.iterdir()) if stage.exists() else []


def test_two_jobs_hand_a_file_over():
    with Dev().start() as dev:
        first = dev.cli("run", "--output", "sub/made.txt=hodei:results/made.txt", "--", "sh", "-c",
                        "mkdir sub; seq 1 200000 > sub/made.txt")
        same(first.code, 0, f"{first!r}")
        second = dev.cli("run", "--input", "hodei:results/made.txt=in/given.txt", "--", "sh", "-c",
                         "wc -l < in/given.txt; tail -1 in/given.txt")
        same((second.code, second.out), (0, "200000\n200000\n"), f"{second!r}")
        listed = dev.cli("artifact", "list", "results/", "-o", "name")
        same(listed.out, "results/made.txt\n", "what is listed")
        until(lambda: not stage_folders(dev), "the folders of both jobs to be removed")


def test_put_get_list_and_rm():
    with Dev().start() as dev:
        content = bytes(range(256)) * 20000
        (dev.folder / "big").write_bytes(content)
        put = dev.cli("artifact", "put", str(dev.folder / "big"), "a/big", "--expires", "2d")
        same(put.code, 0, f"{put!r}")
        contains(put.out, hashlib.sha256(content).hexdigest(), "the answer to put")
        got = dev.cli("artifact", "get", "a/big", str(dev.folder / "back"))
        same(got.code, 0, f"{got!r}")
        check((dev.folder / "back").read_bytes() == content, "what comes back is what was put")
        climbs = dev.cli("artifact", "put", str(dev.folder / "big"), "../x")
        check(climbs.code != 0 and "name:" in climbs.err, f"a name that climbs is refused: {climbs!r}")
        same(dev.cli("artifact", "rm", "a/big").code, 0, "rm")
        missing = dev.cli("artifact", "get", "a/big", str(dev.folder / "again"))
        check(missing.code != 0 and not (dev.folder / "again").exists(), f"{missing!r}")


def test_artifacts_survive_a_kill_of_the_server():
    with Dev().start() as dev:
        (dev.folder / "x").write_text("kept")
        same(dev.cli("artifact", "put", str(dev.folder / "x")).code, 0, "put")
        dev.kill("server")
        dev.start()
        same(dev.cli("artifact", "get", "x", "-").out, "kept", "after the restart")


def test_http_goes_on_after_a_broken_transfer_and_tries_again_after_503():
    with Dev().start() as dev, files() as web:
        content = b"0123456789abcdef" * 100_000
        web["files"]["/data?q=1"] = content
        web["broken"].add("/data?q=1")
        web["failures"]["/data?q=1"] = 1
        summed = hashlib.sha256(content).hexdigest()
        ran = dev.cli("run", "--input", f"{web['url']}/data?q=1=data", "--", "sha256sum", "data")
        same((ran.code, ran.out.split()[:1]), (0, [summed]), f"{ran!r}")
        ranges = [r for _, r in web["asked"]]
        same(ranges[:2], [None, None], "the 503, then the whole file")
        check(ranges[2:] and ranges[2] and 0 < int(ranges[2][6:-1]) < len(content), f"the rest is asked for: {ranges}")


def test_outputs_are_put_over_http():
    with Dev().start() as dev, files() as web:
        ran = dev.cli("run", "--output", f"made={web['url']}/up/made", "--", "sh", "-c", "head -c 300000 /dev/zero > made")
        same(ran.code, 0, f"{ran!r}")
        same(web["put"], {"/up/made": bytes(300000)}, "what the server was given")


def test_https_with_a_ca_of_its_own():
    with Dev().start() as plain:
        folder = plain.folder / "tls"
        folder.mkdir()
        certificate = certificates(folder)
        with files(certificate) as web:
            web["files"]["/x"] = b"over tls"
            refused = plain.cli("run", "--input", f"{web['url']}/x=x", "--", "cat", "x")
            check(refused.code != 0, f"an unknown CA is refused: {refused!r}")
            contains(refused.err, "certificate", "why")
            with Dev(SSL_CERT_FILE=folder / "ca.pem").start() as dev:
                ran = dev.cli("run", "--input", f"{web['url']}/x=x", "--", "cat", "x")
                same((ran.code, ran.out), (0, "over tls"), f"{ran!r}")


def test_what_is_wrong_with_an_input_is_said_and_the_job_never_starts():
    with Dev().start() as dev, files() as web:
        web["files"]["/x"] = b"x" * 1000
        marker = dev.folder / "started"
        wrong = {
            "sha256": {"url": f"{web['url']}/x", "sha256": "0" * 64},
            "larger": {"url": f"{web['url']}/x", "max_bytes": 999},
            "404": {"url": f"{web['url']}/missing"},
            "does not exist": {"url": "hodei:missing"},
            "No such file": {"url": "file:///does/not/exist"},
            "archive": {"url": f"{web['url']}/x", "unpack": True},
        }
        for word, artifact in wrong.items():
            file = dev.folder / "job.json"
            file.write_text(json.dumps({"spec": {"command": {"shell": {"cmd": "touch", "args": [str(marker)]}},
                                                 "inputs": [artifact]}}))
            ran = dev.cli("run", "--file", str(file))
            check(ran.code != 0, f"{word}: {ran!r}")
            contains(ran.err, word, "the reason")
        check(not marker.exists(), "no job was started")
        failed = dev.cli("job", "list", "-o", "json").out
        contains(failed, "artifact_error", "the failure of the jobs")
        until(lambda: not stage_folders(dev), "nothing to be left in the stage")


def test_archives_are_unpacked_and_hostile_ones_write_nothing_outside():
    with Dev().start() as dev, files() as web:
        def tar(*members):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w:gz") as archive:
                for name, kind, text in members:
                    info = tarfile.TarInfo(name)
                    info.type = kind
                    info.size = len(text) if kind == tarfile.REGTYPE else 0
                    info.linkname = text if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
                    archive.addfile(info, io.BytesIO(text.encode()))
            return out.getvalue()
        outside = dev.folder / "outside"
        outside.mkdir()
        (outside / "precious").write_text("untouched")
        web["files"] = {
            "/good.tar.gz": tar(("a/b", tarfile.REGTYPE, "hello")),
            "/climb": tar(("../../../../outside/x", tarfile.REGTYPE, "x")),
            "/absolute": tar((f"{outside}/x", tarfile.REGTYPE, "x")),
            "/symlink": tar(("l", tarfile.SYMTYPE, str(outside)), ("l/x", tarfile.REGTYPE, "x")),
            "/hardlink": tar(("l", tarfile.LNKTYPE, f"{outside}/precious"), ("l", tarfile.REGTYPE, "x")),
            "/device": tar(("null", tarfile.CHRTYPE, "")),
        }
        good = dev.cli("run", "--input-archive", f"{web['url']}/good.tar.gz=into", "--", "cat", "into/a/b")
        same((good.code, good.out), (0, "hello"), f"{good!r}")
        for path in ["/climb", "/absolute", "/symlink", "/hardlink", "/device"]:
            ran = dev.cli("run", "--input-archive", f"{web['url']}{path}=into", "--", "true")
            check(ran.code != 0, f"{path} is refused: {ran!r}")
        same([(p.name, p.read_text()) for p in outside.iterdir()], [("precious", "untouched")], "what is outside")


def test_an_output_that_is_a_link_or_missing_fails_the_job_although_it_ended_well():
    with Dev().start() as dev:
        linked = dev.cli("run", "--output", "out=hodei:stolen", "--", "ln", "-s", "/etc/passwd", "out")
        check(linked.code != 0, f"{linked!r}")
        contains(linked.err, "symbolic link", "why")
        missing = dev.cli("run", "--output", "out=hodei:missing", "--", "true")
        check(missing.code != 0, f"{missing!r}")
        same(dev.cli("artifact", "list", "-o", "name").out, "", "nothing was stored")
        failed = dev.cli("run", "--output", "out=hodei:of-a-failure", "--", "sh", "-c", "echo x > out; exit 3")
        same(failed.code, 3, "a job that fails keeps its exit code, and its outputs are not sent")
        same(dev.cli("artifact", "list", "-o", "name").out, "", "still nothing")


def test_cancel_while_fetching_from_a_server_that_never_answers():
    with Dev().start() as dev, files() as web:
        web["silent"].add("/never")
        identity = dev.submit("--input", f"{web['url']}/never=x", "--", "true")
        until(lambda: web["asked"], "the worker to ask")
        same(dev.cli("job", "cancel", identity).code, 0, "cancel")
        ended = dev.wait_for(identity, "Cancelled")
        check(not ended.get("started_at"), f"it never started: {ended}")
        until(lambda: not stage_folders(dev), "its folder to be removed")
        same(dev.cli("run", "--", "echo", "next").out, "next\n", "the worker goes on")


def test_an_agent_that_dies_while_fetching_gives_the_job_back():
    with Dev().start() as dev, files() as web:
        web["files"]["/x"] = b"there"
        web["silent"].add("/x")
        identity = dev.submit("--attempts", "3", "--input", f"{web['url']}/x=x", "--", "cat", "x")
        until(lambda: web["asked"], "the worker to ask")
        web["silent"].clear()
        dev.kill("agent")
        dev.wait_for(identity, "Succeeded", patience=60)
        until(lambda: not stage_folders(dev), "what the dead agent left to be removed")


def test_an_agent_that_dies_while_sending_is_followed_by_one_that_sends():
    with Dev().start() as dev, files() as web:
        web["silent"].add("/up")
        identity = dev.submit("--output", f"made={web['url']}/up", "--", "sh", "-c", "echo once >> made")
        until(lambda: web["asked"], "the worker to send")
        same(dev.get(identity)["state"], "Running", "while its outputs are on their way")
        web["silent"].clear()
        dev.kill("agent")
        dev.wait_for(identity, "Succeeded", patience=60)
        same(web["put"], {"/up": b"once\n"}, "what the server was given")
        same(len(dev.get(identity).get("executions", [1])), 1, "executions")


def test_a_store_that_is_full_says_so():
    with Dev(HODEI_ARTIFACT_STORE_SIZE="1MiB").start() as dev:
        (dev.folder / "x").write_bytes(bytes(700_000))
        same(dev.cli("artifact", "put", str(dev.folder / "x"), "a").code, 0, "the first")
        full = dev.cli("artifact", "put", str(dev.folder / "x"), "b")
        check(full.code != 0, f"{full!r}")
        contains(full.err, "artifact_store_size", "the setting to change")
