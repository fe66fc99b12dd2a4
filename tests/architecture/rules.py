"""The table of docs/architecture.md as data: which folder may use what. Both the check and its self-test read it here."""

# Every folder may use itself, src/base and these.
EVERYWHERE = {"std", "absl", "fmt"}

# Folder → project folders and libraries that it may use. What a listed folder may use is allowed too, its libraries
# are not. The longest folder that matches a file counts.
FOLDERS = {
    "src/base": {"uses": [], "libraries": {"system", "spdlog", "boost"}},
    "src/base/http": {"uses": [], "libraries": {"system", "boost", "openssl"}},
    # The brain: concepts know each other's structs; only the top of core knows the entrance.
    "src/core/job": {"uses": ["src/core/placement"], "libraries": set(), "pure": True},
    "src/core/worker": {"uses": ["src/core/placement"], "libraries": set(), "pure": True},
    "src/core/placement": {"uses": ["src/core/job", "src/core/worker"], "libraries": set(), "pure": True},
    "src/core/provision": {"uses": ["src/core/placement", "src/core/worker"], "libraries": set(), "pure": True},
    "src/core": {"uses": ["src/core/job", "src/core/worker", "src/core/placement", "src/core/provision"], "libraries": set(), "pure": True},
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
    "src/api/http": {"uses": ["src/server"], "libraries": {"system", "boost"}},
    "src/api/grpc": {"uses": ["src/server", "proto"], "libraries": {"system", "grpc", "protobuf"}},
    "src/worker/core": {"uses": [], "libraries": set(), "pure": True},
    "src/worker/artifacts": {
        "uses": ["src/worker", "src/base/http", "proto"],
        "libraries": {"system", "grpc", "protobuf", "archive"},
    },
    "src/worker": {
        "uses": ["src/worker/core", "src/worker/artifacts", "proto"],
        "libraries": {"system", "grpc", "protobuf", "boost", "seccomp"},
    },
    "src/cli": {
        "uses": ["proto"],
        "libraries": {"system", "grpc", "protobuf", "yaml", "json", "cli11", "re2", "smartcols"},
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
                "src/providers": ["src/providers/conformance"]}

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
