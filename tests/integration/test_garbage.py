"""Whatever is sent to the server: a clean error, memory that stays flat, and a server that goes on."""

import gzip
import os
import pathlib
import random
import socket
import struct
import time
import zlib

import raw_grpc
from harness import Dev, check, same, until
from raw_grpc import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
                      Connection, call, frame, message, request_headers)

QUEUE = "/hodei.v1.JobExecutionService/QueueJob"
STATUS = "/hodei.v1.AdminService/GetSystemStatus"
ANSWERS = set(range(1, 17))    # what a refusal may be called; 0 is none
GROWTH = 64 << 20              # bytes that a server may grow by while it is being shouted at
PER_STREAM = 32 << 10          # what gRPC needs for a call, and it keeps what it once had
SEED = int(os.environ.get("HODEI_TEST_SEED", "1"))


def memory(dev):
    """The most memory that the server has ever had, in bytes."""
    status = pathlib.Path(f"/proc/{dev.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


class Watched:
    """A server that must be the same process, answer, and not have grown when all is over."""

    def __init__(self, growth=GROWTH):
        self.growth = growth

    def __enter__(self):
        self.dev = Dev().start(worker=False).__enter__()
        same(call(self.dev.port, STATUS, b""), 0, "status of a good call")
        self.before = memory(self.dev)
        return self.dev

    def __exit__(self, kind, error, trace):
        try:
            if error is None:
                check(self.dev.process.poll() is None, f"the server died: {self.dev.tail()}")
                same(call(self.dev.port, STATUS, b""), 0, "status of a good call afterwards")
                grown = memory(self.dev) - self.before
                check(grown < self.growth, f"the server grew by {grown >> 20} MiB")
                check("Sanitizer" not in self.dev.tail(), self.dev.tail())
        finally:
            self.dev.__exit__(kind, error, trace)


def shout(port, data):
    """Sends it on a connection of its own, waits a moment for an answer, and leaves."""
    with socket.create_connection(("127.0.0.1", port), timeout=0.2) as connection:
        try:
            connection.sendall(data)
            while connection.recv(65536):
                pass
        except OSError:
            pass   # closed by the server, or nothing to say within the time: both are answers


def test_bytes_that_are_not_http2():
    chance = random.Random(SEED)
    with Watched() as dev:
        for data in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), b"\0" * 70000,
                     b"\n", PREFACE[:10], PREFACE.lower()):
            shout(dev.port, data)
        for _ in range(20):
            shout(dev.port, chance.randbytes(chance.randrange(1, 5000)))


def test_frames_that_make_no_sense():
    chance = random.Random(SEED)
    good = request_headers(QUEUE)
    with Watched() as dev:
        for frames in (
            b"\xff\xff\xff" + struct.pack(">BBI", DATA, 0, 1),                                   # 16 MiB announced
            frame(HEADERS, END_HEADERS, 0, good),                                                # on stream 0
            frame(HEADERS, END_HEADERS, 2, good),                                                # on a server's stream
            frame(HEADERS, END_HEADERS, 1, b"\xff" * 100),                                       # no HPACK
            frame(HEADERS, END_HEADERS, 1, b"\x3f\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),         # a huge table
            frame(HEADERS, 0, 1, good) + frame(DATA, 0, 1, b"x"),                                # headers never end
            frame(CONTINUATION, END_HEADERS, 1, good),                                           # of nothing
            frame(SETTINGS, 0, 0, b"123"),                                                       # no whole setting
            frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0xffffffff)),                            # a window beyond all bounds
            frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0)),
            frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 0x7fffffff)) * 2,
            frame(PING, 0, 0, b"short"),
            frame(RST_STREAM, 0, 99, struct.pack(">I", 8)),                                      # a stream that never was
            frame(DATA, END_STREAM, 7, b"x" * 100),                                              # of no stream
            frame(200, 255, 0x7fffffff, b"unknown"),
        ):
            shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + frames)
        for _ in range(30):
            noise = b"".join(frame(chance.randrange(0, 12), chance.randrange(256), chance.randrange(6),
                                   chance.randbytes(chance.randrange(0, 60))) for _ in range(20))
            shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + noise)


def test_floods_on_one_connection():
    streams = 5000
    with Watched(growth=GROWTH + streams * PER_STREAM) as dev:
        # Headers that go on for ever, streams opened and taken back, pings, empty frames.
        shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 0, 1, request_headers(QUEUE)) +
              frame(CONTINUATION, 0, 1, raw_grpc.header("x", "y" * 100) * 100) * 500)
        opened = b"".join(frame(HEADERS, END_HEADERS, n, request_headers(QUEUE)) + frame(RST_STREAM, 0, n, struct.pack(">I", 8))
                          for n in range(1, 2 * streams, 2))
        shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + opened)
        shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + frame(PING, 0, 0, b"12345678") * 20000)
        shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) * 20000)
        shout(dev.port, PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, request_headers(QUEUE)) +
              frame(DATA, 0, 1) * 50000)


def malformed(chance):
    yield b"\xff" * 20                                       # a varint without end
    yield b"\x0a\xff\xff\xff\xff\x0f" + b"x" * 10            # longer than there is
    yield b"\x0a\x02\xc3\x28"                                # a text that is not UTF-8, or a message that is none
    yield b"\x0f" * 50                                       # a wire type that does not exist
    yield b"\x0b" * 5000                                     # groups in groups in groups
    yield b"\x00" * 10                                       # field number 0
    for _ in range(4):
        yield chance.randbytes(chance.randrange(1, 200))


def test_malformed_messages_for_every_method():
    chance = random.Random(SEED)
    with Watched() as dev:
        for path, request in raw_grpc.methods():
            for payload in malformed(chance):
                with Connection(dev.port, patience=2).open() as connection:
                    try:
                        answer = connection.call(path, message(payload))
                    except TimeoutError:
                        continue   # a stream that had nothing to object and goes on
                    check(answer is None or answer in ANSWERS or answer == 0,
                          f"{path} ({request}) answers {answer} to {payload[:40]!r}")
                    check(answer != 2, f"{path} answers UNKNOWN to {payload[:40]!r}")
        same(dev.jobs(), [], "jobs made of garbage")
        # What cannot be read is refused, not taken for an empty request.
        check(call(dev.port, QUEUE, b"\xff" * 20) in ANSWERS, "an unreadable request is refused")


def test_prefixes_that_lie():
    with Watched() as dev:
        for body in (message(b"x", compressed=7), message(b"x", length=0), message(b"x", length=100), b"\0\0\0", b"",
                     message(b"", compressed=1), message(b"") * 3):
            with Connection(dev.port).open() as connection:
                answer = connection.call(QUEUE, body)
                check(answer is None or answer in ANSWERS, f"{body!r} is answered with {answer}")
        same(dev.jobs(), [], "jobs made of garbage")


def test_a_message_of_4_mib_and_one_byte():
    with Watched() as dev:
        with Connection(dev.port).open() as connection:
            connection.send(frame(HEADERS, END_HEADERS, 1, request_headers(QUEUE)))
            answer = slowly(connection, message(bytes((4 << 20) + 1)))
            same(answer, raw_grpc.RESOURCE_EXHAUSTED, "status of a message that is too large")
        same(dev.jobs(), [], "jobs made of it")


def test_a_message_without_end():
    # gRPC looks at the size of a message when it has all of it; what all connections may hold together is limited.
    with Watched(growth=GROWTH + (512 << 20)) as dev, Connection(dev.port).open() as connection:
        connection.send(frame(HEADERS, END_HEADERS, 1, request_headers(QUEUE)))
        answer = slowly(connection, message(bytes(700 << 20), length=0xffffffff))
        check(answer is None or answer in ANSWERS, f"it is answered with {answer}")


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    return b"".join(packer.compress(block) for _ in range(size >> 20)) + packer.flush()


def test_a_compressed_bomb():
    packed = bomb(1 << 30)
    check(len(packed) < 2 << 20, "the bomb is small")
    with Watched() as dev:
        for encoding, payload in (("gzip", packed), ("deflate", zlib.compress(bytes(64 << 20))), ("gzip", gzip.compress(b"\x0a")[:-4]),
                                  ("nonsense", b"x"), ("identity", b"x")):
            with Connection(dev.port, patience=30).open() as connection:
                began = time.monotonic()
                connection.send(frame(HEADERS, END_HEADERS, 1, request_headers(QUEUE, grpc_encoding=encoding)))
                answer = slowly(connection, message(payload, compressed=1))
                check(answer is None or answer in ANSWERS, f"{encoding} is answered with {answer}")
                check(time.monotonic() - began < 20, "the answer comes soon")


def slowly(connection, body):
    """Sends as much as the server's windows allow, and gives its answer."""
    window = {0: 65535, 1: 65535}
    frames = connection.frames()
    body = memoryview(body)
    while True:
        while body and min(window.values()) > 0:
            size = min(16384, len(body), *window.values())
            part, body = body[:size], body[size:]
            try:
                connection.send(frame(DATA, 0 if body else END_STREAM, 1, bytes(part)))
            except OSError:
                return None
            window = {stream: left - len(part) for stream, left in window.items()}
        kind, flags, stream, payload = next(frames, (raw_grpc.GOAWAY, 0, 0, b""))
        if kind == WINDOW_UPDATE and stream in window:
            window[stream] += int.from_bytes(payload, "big")
        if kind == SETTINGS and not flags & raw_grpc.ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[at:at + 6])
                if name == 4:
                    window[1] += value - 65535
        if kind == raw_grpc.GOAWAY or (kind == RST_STREAM and stream == 1):
            return None
        if kind == HEADERS and stream == 1 and flags & END_STREAM:
            return raw_grpc.status_in(payload)


def test_a_worker_stream_of_garbage():
    with Watched() as dev:
        stream = "/hodei.v1.WorkerAgentService/WorkerStream"
        # Not a hello; a hello of nobody; a hello that holds a path.
        for payload in (b"\x12\x02\x08\x01", b"\x0a\x02\x0a\x00", raw_grpc.field(1, raw_grpc.field(3, raw_grpc.field(1, "../../x")))):
            answer = call(dev.port, stream, payload)
            check(answer is None or answer in ANSWERS, f"{payload!r} is answered with {answer}")
        until(lambda: dev.status(), "the server to answer")
