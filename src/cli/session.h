// What every command works with: the settings in force, the streams, the client, the chosen form of output.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "src/cli/client.h"
#include "src/cli/settings.h"
#include "src/cli/style.h"
#include "src/cli/surroundings.h"

namespace CLI {
class App;
}

namespace hodei::cli {

struct LocalCommands;
struct OutputErrors;

enum class OutputForm { Table, Wide, Json, Yaml, Name };

struct Session {
  const Surroundings& io;
  const LocalCommands& local;
  CLI::App* root = nullptr;               // for completion
  OutputErrors* output_errors = nullptr;  // of stdout

  // Filled while the command line is parsed.
  std::map<std::string, std::vector<std::string>> flags;  // setting name → values given
  std::string config_flag;
  std::string correlation_id;
  std::vector<std::string> program;  // what stood behind `--`
  bool has_program = false;
  bool takes_program = false;   // `--` makes sense for the command
  std::function<int()> action;  // of the chosen command
  bool is_run = false;          // errors end with 125
  bool needs_settings = true;
  bool asks_once = false;  // the answer "nobody there" is an answer
  bool utc = false;        // times of text for people
  bool no_headers = false;
  bool all_namespaces = false;

  // Filled before the action.
  Settings settings;
  std::unique_ptr<Client> client_;

  Client& client();
  OutputForm form() const;
  bool colours() const;
  Style style() const;
  // Nothing but the jobs, templates, … of this one; empty: `default` for what is made, all for what is listed.
  std::string name_space() const { return all_namespaces ? std::string() : settings.text("namespace"); }

  // What they write holds no control characters but line breaks, tabs and our colours, whoever wrote it. Only a job's
  // own output and the content of artifacts go to `io` directly.
  void print(std::string_view text) const;
  void note(std::string_view text) const;      // "hodei: …" on stderr
  int fail(const absl::Status& status) const;  // prints the error; gives the exit code

  // The message in the form asked for when that is JSON or YAML; nothing: the caller makes its own text.
  std::optional<std::string> data_text(const google::protobuf::Message& message) const;
  std::optional<std::string> data_text(const std::vector<const google::protobuf::Message*>& messages) const;

  // JSON in the form asked for when that is JSON or YAML.
  std::optional<std::string> data_text_of(std::string_view json) const;
  // What was done to something that is told by its name alone: as data, as the name, or in words.
  std::string done_text(std::string_view kind, const std::string& name, std::string_view what, std::string words) const;

  // Asks on the terminal. Without one, FAILED_PRECONDITION that names --yes.
  absl::Status confirm(const std::string& question, bool yes) const;

  // Shows what `make_text` answers; with `watch` again and again, until it fails or the reader goes away.
  int show(bool watch, const std::function<absl::StatusOr<std::string>()>& make_text) const;
  int show(const absl::StatusOr<std::string>& text) const;
};

// One for each group of commands; each sets session.action in the callback of the command that was typed.
void add_run_command(CLI::App& root, Session& session);
void add_job_commands(CLI::App& root, Session& session);
void add_worker_commands(CLI::App& root, Session& session);
void add_provider_commands(CLI::App& root, Session& session);
void add_pool_commands(CLI::App& root, Session& session);
void add_scheduler_commands(CLI::App& root, Session& session);
void add_template_commands(CLI::App& root, Session& session);
void add_secret_commands(CLI::App& root, Session& session);  // secret, audit
void add_share_commands(CLI::App& root, Session& session);   // tenant, limit
void add_top_command(CLI::App& root, Session& session);
void add_system_commands(CLI::App& root, Session& session);  // queue, status, otp, scheduler, version
void add_config_commands(CLI::App& root, Session& session);
void add_completion_command(CLI::App& root, Session& session);
void add_local_commands(CLI::App& root, Session& session);
void add_report_commands(CLI::App& root, Session& session);  // progress, output: from inside a job

// The program is a worker unless a command says otherwise.
void set_agent_action(Session& session);

}  // namespace hodei::cli
