// What a server is opened with.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/time.h"
#include "src/core/config.h"
#include "src/server/artifacts/artifact_store.h"
#include "src/server/input/input_file.h"
#include "src/server/job_sweeper.h"
#include "src/store/log_store.h"

namespace hodei::server {

struct ServerOptions {
  std::string data_dir;
  std::string address;  // where workers and clients reach this server, for others that want to lead
  store::LogRetention log_retention;
  JobRetention job_retention;
  std::string secret_key;  // see KeySource
  std::string secret_key_file;
  Duration metrics_retention = std::chrono::hours(24 * 7);
  std::string otlp_endpoint;  // http(s)://host:port of a collector; empty: spans go nowhere
  ArtifactLimits artifacts;
  InputLimits inputs;
  core::EngineConfig engine;
  std::string worker_binary;  // the static worker, for providers; empty: none found
  // Room on the disk that is kept so that what runs can still be recorded: with less, submissions are refused, and
  // output of jobs and artifacts wait.
  uint64_t disk_reserve = uint64_t{64} << 20;
};

}  // namespace hodei::server
