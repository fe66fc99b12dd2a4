#include "src/cli/flags/field_flags.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "src/base/text.h"

namespace hodei::cli {
namespace {

struct FieldFlag {
  std::string_view field, flag;
};

// Where the flag is not called like the field.
constexpr FieldFlag kFieldFlags[] = {{"command.script.content", "--script"},
                                     {"command.script.interpreter", "--interpreter"},
                                     {"concurrency.key", "--concurrency-key"},
                                     {"concurrency.limit", "--concurrency-limit"},
                                     {"constraints.capabilities", "--capability"},
                                     {"constraints.affinity", "--near"},
                                     {"constraints.affinity", "--away"},
                                     {"constraints.labels", "--constraint"},
                                     {"logs.max_bytes", "--log-limit"},
                                     {"logs.max_bytes_per_second", "--log-rate"},
                                     {"logs.policy", "--log-policy"},
                                     {"max_attempts", "--attempts"},
                                     {"parameters", "--param"},
                                     {"preferences.labels", "--prefer"},
                                     {"preferences.preferred_provider", "--prefer-provider"},
                                     {"preferences.preferred_region", "--region"},
                                     {"preferences.preferred_zone", "--zone"},
                                     {"resources.architecture", "--arch"},
                                     {"resources.cpu_cores", "--cpu"},
                                     {"resources.cpu_milli", "--cpu"},
                                     {"sandbox.user", "--sandbox-user"},
                                     {"working_dir", "--workdir"}};

bool is_field(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]") ==
             std::string_view::npos;
}

// The names that a flag for this field may have, the likeliest first.
std::vector<std::string> flags_for(std::string_view field) {
  field = field.substr(0, field.find('['));
  std::vector<std::string> out;
  for (const FieldFlag& known : kFieldFlags) {
    if (known.field == field) out.emplace_back(known.flag);
  }
  // `env.NAME` is an entry of `env`; `resources.memory_mb` is called by its last word.
  for (std::string_view word : {field.substr(field.rfind('.') + 1), field.substr(0, field.find('.'))}) {
    for (const std::string_view unit : {"_ms", "_mb"}) {
      if (word.ends_with(unit)) word.remove_suffix(unit.size());
    }
    std::string flag = cat("--", word);
    for (char& c : flag) c = c == '_' ? '-' : c;
    out.push_back(flag);
    if (flag.ends_with('s')) out.push_back(flag.substr(0, flag.size() - 1));  // labels: --label, once for each
  }
  return out;
}

bool was_given(const CLI::App& root, const std::string& flag) {
  const CLI::App* chosen = &root;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  for (const CLI::App* app = chosen; app != nullptr; app = app->get_parent()) {
    const CLI::Option* option = app->get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0) return true;
  }
  return false;
}

}  // namespace

std::string with_flag(const CLI::App& root, std::string_view message) {
  const size_t end = message.find(": ");
  if (end == std::string_view::npos || !is_field(message.substr(0, end))) return std::string(message);
  const std::string_view field = message.substr(0, end);
  for (const std::string& flag : flags_for(field)) {
    if (was_given(root, flag)) return cat(flag, " (", field, ")", message.substr(end));
  }
  return std::string(message);
}

}  // namespace hodei::cli
