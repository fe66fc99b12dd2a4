#include "src/providers/firecracker/settings.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "src/base/status.h"

namespace hodei::providers::firecracker {
namespace {

constexpr int64_t kLeastMemoryMb = 128, kMostMemoryMb = 1 << 20;
constexpr int64_t kMostCpus = 32;
constexpr int64_t kMostBootSeconds = 3600;
constexpr int64_t kLeastStorageMb = 16, kMostStorageMb = 16 << 20;

absl::StatusOr<int64_t> number(std::string_view option, std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return bad_field(option, "'", text, "' is not a whole number from ", least, " to ", most);
  }
  return value;
}

absl::StatusOr<bool> yes_or_no(std::string_view option, std::string_view text) {
  if (text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  return bad_field(option, "'", text, "' is not one of 1, 0, true, false");
}

absl::StatusOr<EngineChoice> engine(std::string_view text) {
  if (text == "auto") return EngineChoice::Auto;
  if (text == "firecracker") return EngineChoice::Firecracker;
  if (text == "qemu") return EngineChoice::Qemu;
  return bad_field("engine", "'", text, "' is not one of auto, firecracker, qemu");
}

// A machine's process is started in another folder than ours.
absl::Status absolute(std::string_view option, const std::string& path) {
  if (path.starts_with('/')) return absl::OkStatus();
  return bad_field(option, "'", path, "' is not an absolute path");
}

template <class T, class From>
absl::Status put(T& into, absl::StatusOr<From> from) {
  if (!from.ok()) return from.status();
  into = static_cast<T>(*from);
  return absl::OkStatus();
}

struct Option {
  const char* name;
  const char* variable;  // the word of the environment that stands for it; null: none
  std::function<absl::Status(Settings&, const std::string&)> take;
};

Option path_option(const char* name, const char* variable, std::string Settings::*field) {
  return {name, variable, [name, field](Settings& s, const std::string& text) {
            s.*field = text;
            return absolute(name, text);
          }};
}

Option program_option(const char* name, std::string Settings::*field) {
  return {name, nullptr, [name, field](Settings& s, const std::string& text) {
            s.*field = text;
            return text.find('/') == std::string::npos && !text.empty() ? absl::OkStatus() : absolute(name, text);
          }};
}

template <class T>
Option number_option(const char* name, T Settings::*field, int64_t least, int64_t most) {
  return {name, nullptr,
          [=](Settings& s, const std::string& text) { return put(s.*field, number(name, text, least, most)); }};
}

const std::vector<Option>& options() {
  static const std::vector<Option> all = {
      {"engine", "HODEI_FC_ENGINE", [](Settings& s, const std::string& text) { return put(s.engine, engine(text)); }},
      path_option("kernel", "HODEI_FC_KERNEL_PATH", &Settings::kernel),
      {"rootfs", "HODEI_FC_ROOTFS_PATH",
       [](Settings& s, const std::string& text) {
         s.rootfs = text;
         s.rootfs_was_chosen = !text.empty();
         return text.empty() ? absl::OkStatus() : absolute("rootfs", text);
       }},
      path_option("images", nullptr, &Settings::images),
      {"network", nullptr, [](Settings& s, const std::string& text) { return put(s.network, parse_range(text)); }},
      {"jailer", "HODEI_FC_USE_JAILER",
       [](Settings& s, const std::string& text) { return put(s.jailer, yes_or_no("jailer", text)); }},
      number_option("uid", &Settings::uid, 1, 4294967294),
      number_option("gid", &Settings::gid, 1, 4294967294),
      program_option("firecracker_binary", &Settings::firecracker_binary),
      program_option("jailer_binary", &Settings::jailer_binary),
      program_option("qemu_binary", &Settings::qemu_binary),
      number_option("memory_mb", &Settings::memory_mb, kLeastMemoryMb, kMostMemoryMb),
      number_option("cpus", &Settings::cpus, 1, kMostCpus),
      number_option("boot_seconds", &Settings::boot_seconds, 1, kMostBootSeconds),
      number_option("storage_mb", &Settings::storage_mb, kLeastStorageMb, kMostStorageMb),
      number_option("max_workers", &Settings::max_workers, 1, 65000),
  };
  return all;
}

absl::Status unknown(const std::string& name) {
  std::string names;
  for (const Option& each : options()) names += cat(names.empty() ? "" : ", ", each.name);
  return bad_field(cat("options.", name), "the firecracker provider has no such option; the options are ", names);
}

// How many machines of the usual size fit, and have addresses.
uint32_t room(const Settings& settings) {
  const int64_t memory_mb = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) >> 20;
  const int64_t fitting = std::max<int64_t>(1, memory_mb / settings.memory_mb);
  return static_cast<uint32_t>(std::min<int64_t>(fitting, settings.network.guests()));
}

}  // namespace

absl::StatusOr<Settings> read_settings(const ProviderConfig& config, const Installation& installation) {
  Settings out;
  out.network = default_range(cat(installation.id, "/", config.name));
  for (const auto& [name, text] : config.options) {
    bool known = false;
    for (const Option& each : options()) known = known || name == each.name;
    if (!known) return unknown(name);
  }
  for (const Option& each : options()) {
    const char* word = each.variable == nullptr ? nullptr : std::getenv(each.variable);
    if (const auto given = config.options.find(each.name); given != config.options.end()) {
      RETURN_IF_ERROR(each.take(out, given->second));
    } else if (word != nullptr && *word != '\0') {
      if (const absl::Status taken = each.take(out, word); !taken.ok()) {
        return absl::InvalidArgumentError(cat(std::string(taken.message()), " (from ", each.variable, ")"));
      }
    }
  }
  if (out.images.empty()) out.images = std::filesystem::path(out.kernel).parent_path() / "images";
  if (out.max_workers == 0) out.max_workers = room(out);
  if (out.max_workers > out.network.guests()) {
    return bad_field("max_workers", out.max_workers, " microVMs do not fit into network ",
                     format_address(out.network.base), "/", out.network.prefix, ", which has ", out.network.guests(),
                     " addresses for them; set a larger network");
  }
  return out;
}

std::string image_file(const Settings& settings, const std::string& image) {
  std::string name = image;
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return cat(settings.images, "/", name, ".ext4");
}

std::string firecracker_program(const Settings& settings) {
  std::error_code none;
  const std::string found = find_program(settings.firecracker_binary);
  return found.empty() ? found : std::filesystem::canonical(found, none).string();
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string file = cat(folders.substr(begin, end - begin), "/", name);
    if (file.starts_with('/') && access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

}  // namespace hodei::providers::firecracker
