// All settings of the command line, with their name in the file, their environment variable, their flag and their
// default.
//
// Precedence: flag, environment, file, default. CLI11 would prefer the file to the environment, so it reads only flags
// here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::cli {

struct Surroundings;

// The commands that a setting concerns; the client's settings are flags of every command.
enum Audience : unsigned { kClient = 1, kServer = 2, kAgent = 4 };

struct Setting {
  std::string_view name;          // in the file
  std::string_view flag;          // as CLI11 writes them: "-o,--output"; empty: no flag
  std::string_view env;           // read first …
  std::string_view env_fallback;  // … then this one
  std::string_view default_value;
  unsigned audience = 0;
  absl::Status (*check)(const std::string& value) = nullptr;
  std::string_view description;
  bool is_list = false;    // in flags repeated, in the environment separated by commas
  bool is_secret = false;  // never shown
};

std::span<const Setting> all_settings();
const Setting* find_setting(std::string_view name);

struct SettingValue {
  std::vector<std::string> values;  // one, unless the setting is a list
  std::string origin;  // "flag --server", "environment HODEI_SERVER", "/etc/hodei/config.yaml:3", "default"
};

using SettingValues = std::map<std::string, SettingValue, std::less<>>;

// The values of the file; empty when there is none. Unknown keys and bad values are errors with their line.
struct ConfigFile {
  std::string path;  // empty: no file
  SettingValues values;
};
absl::StatusOr<ConfigFile> read_config_file(const Surroundings& surroundings, const std::optional<std::string>& flag);
absl::StatusOr<SettingValues> parse_config(std::string_view text, const std::string& path);

// The same with every problem collected; what is good is given all the same.
absl::StatusOr<ConfigFile> read_config_file(const Surroundings& surroundings, const std::optional<std::string>& flag,
                                            std::vector<std::string>& problems);
SettingValues parse_config(std::string_view text, const std::string& path, std::vector<std::string>& problems);
absl::Status joined_problems(const std::vector<std::string>& problems);  // INVALID_ARGUMENT, a line each; none: OK

// Variables of the environment that begin with HODEI_ and that nobody reads: typing errors, one sentence each.
std::vector<std::string> unknown_variables(const Surroundings& surroundings);

class Settings {
 public:
  // `flags` holds only what was given on the command line.
  static absl::StatusOr<Settings> resolve(const std::map<std::string, std::vector<std::string>>& flags,
                                          const Surroundings& surroundings, const ConfigFile& file);
  // The same with every problem collected.
  static Settings resolve(const std::map<std::string, std::vector<std::string>>& flags,
                          const Surroundings& surroundings, const ConfigFile& file, std::vector<std::string>& problems);

  bool is_resolved() const { return !values_.empty(); }
  const SettingValue& get(std::string_view name) const;
  std::string text(std::string_view name) const;
  const std::vector<std::string>& list(std::string_view name) const { return get(name).values; }
  Duration duration(std::string_view name) const;  // values were checked by resolve()
  int64_t count(std::string_view name) const;
  std::optional<bool> on_or_off(std::string_view name) const;  // nothing: not set
  int64_t bytes(std::string_view name) const;
  const std::string& config_path() const { return config_path_; }

 private:
  SettingValues values_;
  std::string config_path_;
};

}  // namespace hodei::cli
