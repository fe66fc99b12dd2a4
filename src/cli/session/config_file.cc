// The one YAML file of settings: found, read, and refused with the line of what is wrong in it.
#include "src/base/status.h"
#include "src/cli/documents/document.h"
#include "src/cli/session/settings.h"
#include "src/cli/terminal/surroundings.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

absl::Status at(const std::string& path, int line, std::string_view what) {
  return absl::InvalidArgumentError(cat(path, ":", line, ": ", what));
}

// Lists may be written as a list, as a mapping (`labels: {zone: a}`) or as one text with commas.
absl::StatusOr<std::vector<std::string>> list_values(const Node& node, const std::string& path, std::string_view name) {
  std::vector<std::string> out;
  if (node.kind == Node::Kind::Scalar) return split_list(node.text);
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::Scalar)
      return at(path, item.line, cat(name, ": must contain text, not ", kind_name(item)));
    out.push_back(item.text);
  }
  for (const Node::Field& field : node.fields) {
    if (field.value.kind != Node::Kind::Scalar) {
      return at(path, field.line, cat(name, ".", field.key, ": must be text, not ", kind_name(field.value)));
    }
    out.push_back(cat(field.key, "=", field.value.text));
  }
  return out;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) names.emplace_back(setting.name);
  return names;
}

absl::StatusOr<SettingValue> one_value(const Node::Field& field, const std::string& path) {
  const Setting* setting = find_setting(field.key);
  if (!setting) {
    return at(path, field.line,
              cat("unknown setting '", field.key, "'", did_you_mean(field.key, setting_names()),
                  " (`hodei config show` lists them all)"));
  }
  SettingValue value{{}, cat(path, ":", field.line)};
  if (setting->is_list) {
    ASSIGN_OR_RETURN(value.values, list_values(field.value, path, setting->name));
  } else if (field.value.kind == Node::Kind::Scalar) {
    value.values = {field.value.text};
  } else {
    return at(path, field.line, cat(field.key, ": must be text or a number, not ", kind_name(field.value)));
  }
  for (const std::string& one : value.values) {
    const absl::Status bad = setting->check ? setting->check(one) : absl::OkStatus();
    if (!bad.ok()) return at(path, field.line, cat(field.key, ": ", std::string(bad.message())));
  }
  return value;
}

std::vector<std::string> usual_places(const Surroundings& surroundings) {
  std::vector<std::string> places;
  const std::string xdg = surroundings.env_or("XDG_CONFIG_HOME", "");
  const std::string home = surroundings.env_or("HOME", "");
  if (!xdg.empty())
    places.push_back(cat(xdg, "/hodei/config.yaml"));
  else if (!home.empty())
    places.push_back(cat(home, "/.config/hodei/config.yaml"));
  places.push_back("/etc/hodei/config.yaml");
  return places;
}

absl::StatusOr<ConfigFile> read_file(const std::string& path, std::vector<std::string>& problems) {
  ASSIGN_OR_RETURN(const std::string text, read_small_file(path, kLargestDocument));
  return ConfigFile{path, parse_config(text, path, problems)};
}

}  // namespace

absl::Status joined_problems(const std::vector<std::string>& problems) {
  std::string all;
  for (const std::string& problem : problems) all += cat(all.empty() ? "" : "\n", problem);
  return all.empty() ? absl::OkStatus() : absl::InvalidArgumentError(all);
}

SettingValues parse_config(std::string_view text, const std::string& path, std::vector<std::string>& problems) {
  SettingValues values;
  const auto note = [&problems](const absl::Status& bad) { problems.emplace_back(bad.message()); };
  const absl::StatusOr<Node> root = parse_document(text, path, &problems);
  if (!root.ok()) return note(root.status()), values;
  if (root->kind == Node::Kind::Null) return values;
  if (root->kind != Node::Kind::Map) {
    return note(at(path, root->line, "must be a mapping of settings, such as `slots: 4`")), values;
  }
  for (const Node::Field& field : root->fields) {
    if (field.value.kind == Node::Kind::Null && find_setting(field.key)) continue;  // `pool:` alone says nothing
    absl::StatusOr<SettingValue> value = one_value(field, path);
    if (!value.ok()) {
      note(value.status());
    } else {
      values.emplace(field.key, *std::move(value));
    }
  }
  return values;
}

absl::StatusOr<SettingValues> parse_config(std::string_view text, const std::string& path) {
  std::vector<std::string> problems;
  SettingValues values = parse_config(text, path, problems);
  RETURN_IF_ERROR(joined_problems(problems));
  return values;
}

absl::StatusOr<ConfigFile> read_config_file(const Surroundings& surroundings, const std::optional<std::string>& flag,
                                            std::vector<std::string>& problems) {
  const std::string named = flag ? *flag : surroundings.env_or("HODEI_CONFIG", "");
  if (!named.empty()) return read_file(named, problems);
  for (const std::string& place : usual_places(surroundings)) {
    absl::StatusOr<ConfigFile> file = read_file(place, problems);
    if (file.ok() || !absl::IsNotFound(file.status())) return file;
  }
  return ConfigFile{};
}

absl::StatusOr<ConfigFile> read_config_file(const Surroundings& surroundings, const std::optional<std::string>& flag) {
  std::vector<std::string> problems;
  ASSIGN_OR_RETURN(ConfigFile file, read_config_file(surroundings, flag, problems));
  RETURN_IF_ERROR(joined_problems(problems));
  return file;
}

}  // namespace hodei::cli
