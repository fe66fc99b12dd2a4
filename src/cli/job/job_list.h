// `hodei job list`
#pragma once

namespace CLI {
class App;
}

namespace hodei::cli {

struct Session;

void add_job_list(CLI::App& group, Session& session);

}  // namespace hodei::cli
