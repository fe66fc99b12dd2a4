"""The table of docs/architecture.md as data: which folder may use what. Both the check and its self-test read it here."""

# Every folder may use itself, src/base and these.
EVERYWHERE = {"std", "absl", "fmt"}

# Folder → project folders and libraries that it may use. What a listed folder may use is allowed too, its libraries
# are not. The longest folder that matches a file counts; "src/core/*" is every folder of src/core that is not listed by its
# name. `never` are headers that are refused all the same.
FOLDERS = {
    "src/base": {"uses": [], "libraries": {"system", "spdlog", "boost"}},
    "src/base/http": {"uses": [], "libraries": {"system", "boost", "openssl"}},
    # What a stored row is made of: every module describes its rows with it.
    "src/core/rows": {"uses": [], "libraries": set(), "pure": True},
    # Modules know each other's structs and narrow interfaces, and what all of them share: turns, timers, the lists of
    # commands and writes. The engine is the entrance of them all.
    "src/core/*": {"uses": ["src/core"], "libraries": set(), "pure": True},
    "src/core": {
        "uses": ["src/core/rows", "src/core/*"],
        "libraries": set(),
        "pure": True,
    },
    "src/store": {"uses": ["src/core"], "libraries": set()},
    # The log stores share how pieces are cut and numbered.
    "src/store/memory": {"uses": ["src/store", "src/store/segments"], "libraries": set()},
    "src/store/sqlite": {"uses": ["src/store"], "libraries": {"system", "sqlite"}},
    "src/store/segments": {"uses": ["src/store"], "libraries": {"system", "zstd"}},
    "src/store/conformance": {"uses": ["src/store", "src/store/segments"], "libraries": {"system", "gtest"}},
    # The port, then one folder per provider: none knows another.
    "src/providers": {"uses": ["src/base/http"], "libraries": {"system", "json"}},
    "src/providers/process": {"uses": ["src/providers"], "libraries": {"system"}},
    "src/providers/docker": {"uses": ["src/providers"], "libraries": {"system", "json", "archive"}},
    "src/providers/custom": {"uses": ["src/providers"], "libraries": {"system", "json"}},
    "src/providers/kubernetes": {"uses": ["src/providers"], "libraries": {"system", "json", "yaml", "openssl"}},
    "src/providers/firecracker": {"uses": ["src/providers"], "libraries": {"system", "json"}},
    "src/providers/baremetal": {"uses": ["src/providers"], "libraries": set()},
    "src/providers/conformance": {"uses": ["src/providers"], "libraries": {"system", "gtest"}},
    "src/server": {
        "uses": ["src/core", "src/store", "src/store/memory", "src/store/sqlite", "src/store/segments", "src/server/secrets",
                 "src/server/metrics", "src/server/tracing", "src/server/provisioning", "src/providers"],
        "libraries": {"system", "boost"},
    },
    # Sealing: the one place of the server that knows cryptography.
    "src/server/secrets": {"uses": [], "libraries": {"system", "openssl"}},
    # Makes workers as the engine wants them, and tells it what became of them.
    "src/server/provisioning": {
        "uses": ["src/server", "src/providers", "src/providers/process", "src/providers/docker", "src/providers/custom",
                 "src/providers/kubernetes", "src/providers/firecracker", "src/providers/baremetal"],
        "libraries": {"system"},
    },
    "src/server/metrics": {"uses": ["src/server"], "libraries": {"system", "prometheus"}},
    "src/server/tracing": {"uses": ["src/server", "src/base/http"], "libraries": {"system", "json"}},
    "src/api/http": {"uses": ["src/base/http", "src/server"], "libraries": {"system", "boost"}},
    # Specs belong to nobody's transport: pure code beside the protos.
    "src/spec": {"uses": ["src/core", "proto"], "libraries": {"protobuf"}},
    # The calls know the server's parts by narrow ports, and no transport; the wiring alone knows the server.
    "src/api/calls": {"uses": ["src/server", "src/spec", "proto"], "libraries": {"system", "protobuf"},
                      "never": {"src/server/server.h"}},
    "src/api/wiring": {"uses": ["src/api/calls", "src/server", "src/spec"], "libraries": set()},
    "src/api/grpc": {"uses": ["src/api/calls", "src/server", "proto"], "libraries": {"system", "grpc", "protobuf"}},
    "src/worker/core": {"uses": [], "libraries": set(), "pure": True},
    # The worker, from the machine up: neither of its two processes knows the other, only what they say to each other.
    "src/worker/system": {"uses": ["src/worker/core"], "libraries": {"system"}},
    "src/worker/limits": {"uses": ["src/worker/system"], "libraries": {"system", "seccomp"}},
    "src/worker/output": {"uses": ["src/worker/system"], "libraries": {"system"}},
    "src/worker/protocol": {"uses": ["src/worker/limits", "src/worker/output"], "libraries": {"system"}},
    "src/worker/reports": {"uses": ["src/worker/limits"], "libraries": {"system"}},
    "src/worker/artifacts": {
        "uses": ["src/worker/system", "src/base/http", "proto"],
        "libraries": {"system", "grpc", "protobuf", "archive"},
    },
    "src/worker/supervisor": {"uses": ["src/worker/protocol", "src/worker/reports"], "libraries": {"system"}},
    # The port of what runs executions, processes behind it, and artifacts around it.
    "src/worker/runners": {
        "uses": ["src/worker/protocol", "src/worker/artifacts", "proto"],
        "libraries": {"system", "grpc", "protobuf"},
    },
    "src/worker/agent": {
        "uses": ["src/worker/runners", "src/worker/reports", "proto"],
        "libraries": {"system", "grpc", "protobuf"},
    },
    "src/worker/guest": {"uses": ["src/worker/system"], "libraries": {"system"}},
    "src/worker": {
        "uses": ["src/worker/supervisor", "src/worker/agent", "src/worker/guest"],
        "libraries": {"system", "grpc"},
    },
    # The command line: first what commands share, then one folder per noun, which are all of "src/cli".
    "src/cli/text": {"uses": ["proto"], "libraries": {"protobuf"}},
    "src/cli/terminal": {"uses": ["src/cli/text"], "libraries": {"system"}},
    "src/cli/documents": {"uses": ["src/cli/text"], "libraries": {"protobuf", "yaml", "json"}},
    "src/cli/output": {"uses": ["src/cli/terminal", "src/cli/documents"], "libraries": {"json"}},
    "src/cli/client": {"uses": ["src/cli/terminal"], "libraries": {"grpc", "protobuf"}},
    "src/cli/flags": {"uses": ["src/cli/output"], "libraries": {"cli11"}},
    "src/cli/session": {"uses": ["src/cli/client", "src/cli/flags"], "libraries": {"system", "protobuf", "json", "cli11"}},
    "src/cli": {
        "uses": ["src/cli/session"],
        "libraries": {"system", "grpc", "protobuf", "json", "cli11", "re2"},
    },
    # Wiring, and what needs more than one part, may use everything.
    "src/main": {"uses": ["*"], "libraries": {"*"}},
    "tests": {"uses": ["*"], "libraries": {"*"}},
    "bench": {"uses": ["*"], "libraries": {"*"}},
}

# A test file (NAME_test.cc, NAME_fixture.h, NAME_harness.h, NAME_suite.h, or a file whose name starts with test_ or fake_)
# may use these besides, and the test helpers
# and fakes of the folders that it may use.
TEST_LIBRARIES = {"gtest", "system"}
TEST_FOLDERS = {"src/store": ["src/store/conformance", "src/store/memory"], "src/server": ["src/store/conformance"],
                "src/providers": ["src/providers/conformance"], "src/api/grpc": ["src/api/wiring"]}

# How an include is recognised: the start of its path → the library it belongs to. The first match counts; a header
# that nothing here matches is a system header (<unistd.h>), or std when it has no dot (<vector>).
HEADERS = [
    ("src/", "project"),
    ("tests/", "project"),
    ("bench/", "project"),
    ("hodei/v1/", "proto"),
    ("absl/", "absl"),
    ("fmt/", "fmt"),
    ("spdlog/", "spdlog"),
    ("boost/", "boost"),
    ("grpc/", "grpc"),
    ("grpcpp/", "grpc"),
    ("google/protobuf/", "protobuf"),
    ("google/rpc/", "protobuf"),
    ("sqlite3", "sqlite"),
    ("zstd", "zstd"),
    ("seccomp", "seccomp"),
    ("yaml-cpp/", "yaml"),
    ("nlohmann/", "json"),
    ("CLI/", "cli11"),
    ("libsmartcols", "smartcols"),
    ("archive", "archive"),
    ("openssl/", "openssl"),
    ("prometheus/", "prometheus"),
    ("ares", "cares"),
    ("re2/", "re2"),
    ("gtest/", "gtest"),
    ("gmock/", "gtest"),
    ("benchmark/", "benchmark"),
]

# Parts of the standard library that reach outside or start threads: never in a pure folder.
IMPURE_STD = {
    "thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "latch", "barrier", "stop_token",
    "iostream", "fstream", "filesystem", "ctime", "csignal", "cstdio",
}
