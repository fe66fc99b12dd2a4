// The flags of `run` and `job submit` for input and output artifacts.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct ArtifactFlags {
  std::vector<std::string> inputs, archives, outputs;
};

void add_artifact_flags(CLI::App& command, ArtifactFlags& flags);
absl::Status set_artifacts(const ArtifactFlags& flags, v1::JobSpec& spec);

// `--output` is the form of what we print, but `--output PATH=URL` is an output of the job: the word is made
// `--output-to`, so that the parser can tell the two apart.
void tell_outputs_apart(std::vector<std::string>& words);

}  // namespace hodei::cli
