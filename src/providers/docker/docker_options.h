// The options of the docker provider, read and checked before anything is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/providers/provider.h"

namespace hodei::providers::docker {

// Where the engine listens.
struct EngineAddress {
  std::string text;             // as it was written, for people
  std::string unix_socket;      // a path; empty: `base` says all
  std::string base;             // http://host:port
  bool on_this_machine = true;  // so that its containers can share our network
};

// What scripts/docker/build-worker makes: the worker and nothing else.
inline constexpr const char* kOwnImage = "hodei-worker:latest";

enum class PullPolicy : uint8_t { Never = 1, Missing, Always };

struct DockerOptions {
  EngineAddress engine;
  std::string image;  // when a worker asks for none
  PullPolicy pull = PullPolicy::Missing;
  std::string registry_auth;  // a file; empty: the user's own
  std::string network;        // empty: chosen by where the server is
  std::string user;           // empty: root
  std::string runtime;        // empty: the engine's default
  int64_t pids = 4096;        // 0: no limit
  uint32_t max_workers = 0;   // 0: no limit
  StringMap labels;
  std::vector<std::string> volumes;
  std::vector<std::string> extra_hosts;
};

absl::StatusOr<EngineAddress> parse_host(const std::string& host);
absl::StatusOr<DockerOptions> read_options(const StringMap& options);

// Whether every one of these comma-separated addresses is this machine itself.
bool is_loopback(const std::string& addresses);

}  // namespace hodei::providers::docker
