#include "src/providers/kubernetes/names.h"

#include <algorithm>

#include "src/base/sha256.h"
#include "src/base/text.h"
#include "src/providers/installation_mark.h"

namespace hodei::providers::kubernetes {
namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kLongestLabel = 63;
constexpr size_t kHashDigits = 10;
constexpr std::string_view kPodPrefix = "hodei-";

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_small(c) || is_digit(c) || (c >= 'A' && c <= 'Z'); }
bool in_label(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }
bool in_host(char c) { return is_small(c) || is_digit(c) || c == '-'; }

std::string short_hash(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex().substr(0, kHashDigits);
}

// What is kept of the text, then its hash. `most` is the length of both.
template <class Allowed>
std::string with_hash(std::string_view text, size_t most, Allowed allowed) {
  std::string kept;
  for (const char c : text.substr(0, most - kHashDigits - 1)) kept.push_back(allowed(c) ? c : '-');
  const size_t first = std::find_if(kept.begin(), kept.end(), is_alphanumeric) - kept.begin();
  kept.erase(0, first);
  return cat(kept, kept.empty() ? "" : "-", short_hash(text));
}

std::string host_name(std::string_view prefix, std::string_view worker_id) {
  const std::string name = cat(prefix, worker_id);
  const bool fits =
      name.size() <= kLongestLabel && std::all_of(name.begin(), name.end(), in_host) && name.back() != '-';
  return fits ? name : cat(prefix, with_hash(worker_id, kLongestLabel - prefix.size(), in_host));
}

}  // namespace

bool is_object_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  char before = '.';
  for (const char c : text) {
    if (!in_host(c) && c != '.') return false;
    // Each part between dots begins and ends with a letter or a digit.
    if ((before == '.' && !is_alphanumeric(c)) || (before == '-' && c == '.')) return false;
    before = c;
  }
  return is_alphanumeric(before);
}

bool is_label_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kLongestLabel && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), in_label);
}

bool is_label_key(std::string_view text) {
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    if (!is_object_name(text.substr(0, slash))) return false;
    text.remove_prefix(slash + 1);
  }
  return !text.empty() && is_label_value(text);
}

std::string label_value(std::string_view text) {
  return is_label_value(text) ? std::string(text) : with_hash(text, kLongestLabel, in_label);
}

std::string pod_name(std::string_view installation_id, std::string_view worker_id) {
  return host_name(cat(kPodPrefix, installation_mark(installation_id), "-"), worker_id);
}

std::string former_pod_name(std::string_view worker_id) { return host_name(kPodPrefix, worker_id); }

std::string secret_name(std::string_view pod_name) { return cat(pod_name, "-token"); }

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("localhost:") || address == "localhost" ||
         address.starts_with("[::1]");
}

}  // namespace hodei::providers::kubernetes
