// The flags of `run` and `job submit`, and the request that they make.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hodei/v1/job_service.pb.h"
#include "src/cli/job/artifact_flags.h"
#include "src/cli/job/limit_flags.h"
#include "src/cli/job/output_flags.h"
#include "src/cli/job/placement_flags.h"
#include "src/cli/job/secret_flags.h"
#include "src/cli/terminal/surroundings.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct JobFlags {
  std::string name, timeout, kill_grace, attempts, priority, workdir, script, interpreter, image, provider, pool;
  std::string idempotency_key, file, template_name, concurrency_key, concurrency_limit, architecture;
  std::string zone, region;
  LimitFlags limits;
  PlacementFlags placement;
  std::vector<std::string> env, labels, params, constraints, capabilities, tolerations;
  ArtifactFlags artifacts;
  bool detach = false;
  bool cancel_on_close = false;
  bool with_stdin = false;  // also from a terminal
  bool no_stdin = false;
  bool dry_run = false;
  bool gpu = false;
  bool no_safety_header = false;
  bool allow_other_spec = false;
  OutputFlags output;
  SecretFlags secrets;
};

void add_job_flags(CLI::App& command, JobFlags& flags);

// From the file (if any), then the flags, which win, then what stood behind `--`. An idempotency key is made when
// none is given, so that the submission can be sent again without making a second job.
absl::StatusOr<v1::QueueJobRequest> make_request(const JobFlags& flags, const std::vector<std::string>& program,
                                                 const Surroundings& io);

// The same for a file that may hold several jobs; the flags hold for each of them.
absl::StatusOr<std::vector<v1::QueueJobRequest>> make_requests(const JobFlags& flags,
                                                               const std::vector<std::string>& program,
                                                               const Surroundings& io);

}  // namespace hodei::cli
