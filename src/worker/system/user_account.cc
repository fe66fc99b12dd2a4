#include "src/worker/system/user_account.h"

#include <charconv>
#include <optional>
#include <vector>

#include "src/base/status.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr uid_t kNobody = 65534;

std::optional<uint32_t> whole_number(std::string_view text) {
  uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

absl::StatusOr<UserAccount> find_user(const std::string& wanted, const std::string& file) {
  const std::optional<uint32_t> number = whole_number(wanted);
  const std::string text = read_file(file);
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(line, ':');  // name:password:uid:gid:…
    if (fields.size() < 4) continue;
    const std::optional<uint32_t> uid = whole_number(fields[2]), gid = whole_number(fields[3]);
    if (!uid || !gid) continue;
    if (fields[0] == wanted || (number && *uid == *number)) return UserAccount{*uid, *gid};
  }
  if (number && *number != UINT32_MAX) return UserAccount{*number, *number};
  if (wanted == "nobody") return UserAccount{kNobody, kNobody};
  return absl::NotFoundError(
      cat("sandbox.user: user '", wanted, "' does not exist on this worker; use a name from ", file, ", or a number"));
}

}  // namespace hodei::worker
