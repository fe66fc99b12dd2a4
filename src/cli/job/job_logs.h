// `hodei job logs` and `hodei job watch`: what a job prints, and what happens to it.
#pragma once

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

void add_job_logs(CLI::App& group, Session& session);
void add_job_watch(CLI::App& group, Session& session);

}  // namespace hodei::cli
