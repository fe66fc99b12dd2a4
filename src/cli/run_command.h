// `hodei run`, also reached as `hodei template run`.
#pragma once

#include <memory>

namespace hodei::cli {

struct JobFlags;
struct Session;

// Makes running a job from these flags what the session does.
void choose_run(Session& session, const std::shared_ptr<JobFlags>& flags);

}  // namespace hodei::cli
