// `hodei run`, also reached as `hodei template run`.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace hodei::cli {

struct JobFlags;
struct Session;

// What only `run` takes: whether to follow, and until when.
void add_run_flags(CLI::App& command, JobFlags& flags);

// Makes running a job from these flags what the session does.
void choose_run(Session& session, const std::shared_ptr<JobFlags>& flags);

}  // namespace hodei::cli
