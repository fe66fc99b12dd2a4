// The parts of `hodei job …`, one file each.
#pragma once

#include "src/cli/job/job_view.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

void add_job_submit(CLI::App& group, Session& session);
void add_job_cancel(CLI::App& group, Session& session);
void add_job_retry(CLI::App& group, Session& session);
void add_job_delete(CLI::App& group, Session& session);
void add_job_wait(CLI::App& group, Session& session);

ViewOptions view_options(const Session& session);

}  // namespace hodei::cli
