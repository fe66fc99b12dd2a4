// `hodei queue`, `status`, `version`
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "src/base/status.h"
#include "src/cli/job/job_view.h"
#include "src/cli/output/table.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

template <class Map>
std::string counts(const Map& map) {
  std::map<std::string, int64_t> sorted(map.begin(), map.end());
  std::string out;
  for (const auto& [name, count] : sorted) out += cat(out.empty() ? "" : ", ", count, " ", name);
  return out;
}

absl::StatusOr<std::string> queue_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::QueueStatus queue, session.client().queue_status());
  if (const auto data = session.data_text(queue)) return *data;
  if (session.form() == OutputForm::Name) return std::string("queue\n");
  FieldList fields;
  fields.add("Pending", cat(queue.pending()));
  fields.add("  by priority", counts(queue.pending_by_priority()));
  fields.add("  by namespace", counts(queue.pending_by_namespace()));
  fields.add("  in backoff", cat(queue.delayed()));
  fields.add("  held by a key", cat(queue.held_by_key()));
  fields.add("  shapes", cat(queue.shapes()));
  fields.add("Scheduled", cat(queue.scheduled()));
  fields.add("Running", cat(queue.running()));
  fields.add("Workers", cat(queue.workers_available(), " of ", queue.workers(), " available"));
  fields.add("Slots", cat(queue.slots_free(), " of ", queue.slots(), " free"));
  return cat(paint("Queue", Colour::Bold, session.colours()), "\n", fields.text(session.style()));
}

std::string pid(int64_t number) { return number > 0 ? cat(number) : std::string(); }

absl::StatusOr<std::string> status_text(Session& session) {
  ASSIGN_OR_RETURN(const v1::SystemStatus status, session.client().system_status());
  if (const auto data = session.data_text(status)) return *data;
  const std::string state = v1::SystemStatus::State_Name(status.state());
  if (session.form() == OutputForm::Name) return state + "\n";
  FieldList fields;
  fields.add("State", state, colour_of_state(state));
  fields.add("Reason", status.reason());
  fields.add("Address", status.address());
  fields.add("Version", status.version());
  fields.add("Up for", age(status.started_at(), session.io.clock->now().wall));
  fields.add("Jobs", cat(status.jobs_pending(), " pending, ", status.jobs_running(), " running"));
  fields.add("Workers", cat(status.workers(), ", ", status.workers_unhealthy(), " unhealthy"));
  fields.add("Store", cat(status.store(), " in ", status.data_dir()));
  fields.add("Commits", cat(status.commits()));
  fields.add("Epoch", cat(status.epoch()));
  fields.add("Memory", human_bytes(status.memory_bytes()));
  fields.add("Server pid", pid(status.server_pid()));
  fields.add("Supervisor pid", pid(status.supervisor_pid()));
  fields.add("Agent pid", pid(status.agent_pid()));
  return cat(paint("Hodei", Colour::Bold, session.colours()), "\n", fields.text(session.style()));
}

void add_view(CLI::App& root, Session& session, const std::string& name, const std::string& description,
              absl::StatusOr<std::string> (*text)(Session&)) {
  CLI::App* command = root.add_subcommand(name, description);
  auto watch = std::make_shared<bool>(false);
  command->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  command->callback([&session, watch, text] {
    session.action = [&session, watch, text] { return session.show(*watch, [&] { return text(session); }); };
  });
}

}  // namespace

void add_system_commands(CLI::App& root, Session& session) {
  add_view(root, session, "queue", "Show how many jobs are waiting and running", queue_text);
  add_view(root, session, "status", "Show the state of the server; exits with 0 only if it answers", status_text);
  session.root->get_subcommand("status")->preparse_callback([&session](size_t) { session.asks_once = true; });
  root.add_subcommand("version", "Print the version of this program")->callback([&session] {
    session.action = [&session] {
      const nlohmann::ordered_json json = {{"name", "hodei"}, {"version", session.local.version}};
      if (const auto data = session.data_text_of(json.dump())) return session.show(*data);
      const bool bare = session.form() == OutputForm::Name;
      return session.show(cat(bare ? "" : "hodei ", session.local.version, "\n"));
    };
  });
}

}  // namespace hodei::cli
