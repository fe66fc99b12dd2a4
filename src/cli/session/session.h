// What every command works with: settings, streams, the client, and the chosen output format.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "src/cli/client/client.h"
#include "src/cli/output/error_text.h"
#include "src/cli/session/settings.h"
#include "src/cli/terminal/style.h"
#include "src/cli/terminal/surroundings.h"

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
  bool asks_once = false;                 // "the server does not answer" is a valid result
  std::optional<Duration> give_up_after;  // no server is looked for longer than this
  bool utc = false;                       // times of text for people
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
  ErrorForm error_form() const;                // as -o asks for, also before the settings are known

  // The message in the form asked for when that is JSON or YAML; nothing: the caller makes its own text.
  std::optional<std::string> data_text(const google::protobuf::Message& message) const;
  std::optional<std::string> data_text(const std::vector<const google::protobuf::Message*>& messages) const;

  // JSON in the form asked for when that is JSON or YAML.
  std::optional<std::string> data_text_of(std::string_view json) const;
  // Prints what was done to a named thing: as data, as its name, or as a sentence.
  std::string done_text(std::string_view kind, const std::string& name, std::string_view what, std::string words) const;

  // Asks on the terminal. Without one, FAILED_PRECONDITION that names --yes.
  absl::Status confirm(const std::string& question, bool yes) const;

  // Shows what `make_text` answers; with `watch` again and again, until it fails or the reader goes away.
  int show(bool watch, const std::function<absl::StatusOr<std::string>()>& make_text) const;
  int show(const absl::StatusOr<std::string>& text) const;
};

// The program is a worker unless a command says otherwise.
void set_agent_action(Session& session);

}  // namespace hodei::cli
