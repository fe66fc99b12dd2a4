// Ids are types: a JobId never passes for a WorkerId.
//
// A job's number is its primary key and its place in the queue. People type its short form (`j1f3k`); programs see a
// UUID-shaped form that contains the number and checks itself, so a mangled one, or one of another installation, is
// refused without a look-up.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei {

enum class JobId : uint64_t {};

constexpr uint64_t number(JobId id) { return static_cast<uint64_t>(id); }

// One attempt of a job to run on one worker. Numbers grow with every dispatch; the newest is the current one.
struct ExecutionId {
  JobId job{};
  uint32_t number = 0;

  auto operator<=>(const ExecutionId&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ExecutionId& e) {
    return H::combine(std::move(h), e.job, e.number);
  }
};

// A string that is only ever one kind of thing. Copies share it: a million jobs of a namespace cost one name.
template <class Tag>
class Text {
 public:
  Text() = default;
  explicit Text(std::string value) {
    if (!value.empty()) value_ = std::make_shared<const std::string>(std::move(value));
  }
  const std::string& str() const {
    static const std::string kEmpty;
    return value_ == nullptr ? kEmpty : *value_;
  }
  bool empty() const { return value_ == nullptr; }
  bool operator==(const Text& other) const { return value_ == other.value_ || str() == other.str(); }
  auto operator<=>(const Text& other) const { return str() <=> other.str(); }
  template <class H>
  friend H AbslHashValue(H h, const Text& t) {
    return H::combine(std::move(h), t.str());
  }

 private:
  std::shared_ptr<const std::string> value_;  // null: empty
};

using WorkerId = Text<struct WorkerIdTag>;
using Namespace = Text<struct NamespaceTag>;
using SessionId = Text<struct SessionIdTag>;

inline constexpr std::string_view kDefaultNamespace = "default";

// The installation whose jobs this process speaks of, from its id: public ids of two installations differ. Called once,
// by a server, before it makes or reads any. A process that does not know its installation (a client, a worker) reads
// the number of any public id and leaves it to the server to check the rest.
void set_installation(std::string_view id);

std::string short_id(JobId id);         // j1f3k
std::string public_id(JobId id);        // 8f3a…-…-8…-8…-…
std::string to_string(ExecutionId id);  // j1f3k.2

// Accepts the short form, the UUID form and nothing else.
absl::StatusOr<JobId> parse_job_id(std::string_view text);
absl::StatusOr<ExecutionId> parse_execution_id(std::string_view text);

// Names that people choose (worker ids, namespaces, templates, pools): letters, digits, `.`, `_`, `-`, starting with a
// letter or digit, at most 100 characters. `field` is named in the error.
absl::Status check_name(std::string_view field, std::string_view text);

}  // namespace hodei
