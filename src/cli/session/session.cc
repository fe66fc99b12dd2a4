#include "src/cli/session/session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/base/trace.h"
#include "src/cli/documents/message_text.h"
#include "src/cli/flags/field_flags.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

constexpr Duration kWatchInterval = 1s;
constexpr Duration kShortestTimeout = 2s;  // of a call to a server that is there, and may be busy
constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

}  // namespace

Client& Session::client() {
  if (!client_) {
    ClientOptions options;
    options.servers = parse_addresses(settings.text("server")).value();  // checked when the settings were resolved
    options.token = settings.text("token");
    options.correlation_id = correlation_id;
    // What is no trace context would fail the call as bad metadata; the server would pass over it anyway.
    const std::string trace = io.env_or("TRACEPARENT", "");
    if (parse_traceparent(trace)) options.traceparent = trace;
    options.request_timeout = settings.duration("request_timeout");
    options.retry_for = asks_once ? Duration(0) : settings.duration("retry_for");
    if (give_up_after) {
      options.request_timeout = std::min(options.request_timeout, std::max<Duration>(*give_up_after, kShortestTimeout));
      options.retry_for = std::min(options.retry_for, *give_up_after);
    }
    options.clock = io.clock;
    options.pause = io.pause;
    client_ = std::make_unique<Client>(std::move(options));
  }
  return *client_;
}

OutputForm Session::form() const {
  const std::string name = settings.text("output");
  if (name == "json") return OutputForm::Json;
  if (name == "yaml") return OutputForm::Yaml;
  if (name == "wide") return OutputForm::Wide;
  return name == "name" ? OutputForm::Name : OutputForm::Table;
}

bool Session::colours() const {
  const std::string choice = settings.text("color");
  if (choice != "auto") return choice == "always";
  return io.out_is_terminal && io.env_or("NO_COLOR", "").empty() && io.env_or("TERM", "") != "dumb";
}

Style Session::style() const {
  Style style{.colours = colours(), .headers = !no_headers, .utc = utc};
  // `wide` is for those who want all of it.
  if (io.out_is_terminal && io.columns && form() != OutputForm::Wide) style.columns = io.columns();
  return style;
}

void Session::print(std::string_view text) const { io.out(printable_painted(text)); }

void Session::note(std::string_view text) const { io.err(cat("hodei: ", printable_lines(text), "\n")); }

int Session::fail(const absl::Status& status) const {
  std::string message(status.message());
  if (client_ && root != nullptr) message = with_flag(*root, message);
  io.err(error_text(error_form(), status.code(), message));
  // What makes no sense was found before anybody was asked.
  if (absl::IsInvalidArgument(status) && !client_) return kUsage;
  return is_run ? kPlatform : kRefused;
}

ErrorForm Session::error_form() const {
  const auto given = flags.find("output");
  if (given != flags.end() && !given->second.empty()) return cli::error_form(given->second.back());
  return cli::error_form(settings.is_resolved() ? settings.text("output") : io.env_or("HODEI_OUTPUT", ""));
}

std::optional<std::string> Session::data_text(const google::protobuf::Message& message) const {
  if (form() == OutputForm::Json) return message_text(message, TextForm::Json);
  if (form() == OutputForm::Yaml) return message_text(message, TextForm::Yaml);
  return std::nullopt;
}

std::optional<std::string> Session::data_text(const std::vector<const google::protobuf::Message*>& messages) const {
  if (form() == OutputForm::Json) return message_list_text(messages, TextForm::Json);
  if (form() == OutputForm::Yaml) return message_list_text(messages, TextForm::Yaml);
  return std::nullopt;
}

std::optional<std::string> Session::data_text_of(std::string_view json) const {
  if (form() == OutputForm::Json) return json_text(json, TextForm::Json);
  if (form() == OutputForm::Yaml) return json_text(json, TextForm::Yaml);
  return std::nullopt;
}

std::string Session::done_text(std::string_view kind, const std::string& name, std::string_view what,
                               std::string words) const {
  const nlohmann::ordered_json json = {{"kind", kind}, {"name", name}, {"action", what}};
  if (const auto data = data_text_of(json.dump())) return *data;
  return form() == OutputForm::Name ? name + "\n" : std::move(words) + "\n";
}

absl::Status Session::confirm(const std::string& question, bool yes) const {
  if (yes) return absl::OkStatus();
  if (!io.ask) {
    return absl::FailedPreconditionError(cat(question, " There is no terminal to ask on\nconfirm with --yes"));
  }
  ASSIGN_OR_RETURN(const std::string answer, io.ask(cat("hodei: ", printable_lines(question), " [y/N] ")));
  if (answer == "y" || answer == "Y" || answer == "yes") return absl::OkStatus();
  return absl::CancelledError("nothing was changed");
}

int Session::show(const absl::StatusOr<std::string>& text) const {
  if (!text.ok()) return fail(text.status());
  return io.out(printable_painted(*text)) ? kOk : kRefused;
}

int Session::show(bool watch, const std::function<absl::StatusOr<std::string>()>& make_text) const {
  if (!watch) return show(make_text());
  while (true) {
    absl::StatusOr<std::string> text = make_text();
    // Someone who watches wants to see the server come back, too.
    if (!text.ok() && !absl::IsUnavailable(text.status())) return fail(text.status());
    if (!text.ok()) text = cat(std::string(text.status().message()), "\n");
    const std::string shown = printable_painted(*text);
    if (!io.out(io.out_is_terminal ? cat(kClearScreen, shown) : cat(shown, "\n"))) return kOk;
    if (!io.pause(kWatchInterval)) return kOk;
  }
}

}  // namespace hodei::cli
