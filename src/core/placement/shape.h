// A shape has every field of a job that a placement rule or score reads, and nothing else. Jobs with equal requirements
// share one, so placing a million waiting jobs costs no more than placing a few shapes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hodei::core {

enum class Isolation : uint8_t { Unspecified = 0, Process, Container, Hardware };
enum class LabelOperator : uint8_t { In = 1, NotIn, Exists, DoesNotExist, Gt, Lt };
enum class TaintEffect : uint8_t { NoSchedule = 1, PreferNoSchedule, NoExecute };

constexpr std::string_view name(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::NoSchedule: return "NoSchedule";
    case TaintEffect::PreferNoSchedule: return "PreferNoSchedule";
    case TaintEffect::NoExecute: return "NoExecute";
  }
  return "?";
}

using Labels = std::map<std::string, std::string>;
using LabelsPtr = std::shared_ptr<const Labels>;

struct LabelRule {
  std::string key;
  LabelOperator op = LabelOperator::In;
  std::vector<std::string> values;
  bool operator==(const LabelRule&) const = default;
};

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::NoSchedule;
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;    // empty: every taint
  std::string value;  // empty: any value
  bool operator==(const Toleration&) const = default;
};

// Job affinity: which jobs it must, should or must not share a worker with. A worker matches if one of its jobs does.
struct AffinityRule {
  LabelRule rule;
  bool anti = false;      // anti-affinity: avoid matching workers instead of preferring them
  bool required = false;  // otherwise only preferred
  bool operator==(const AffinityRule&) const = default;
};

// A label the worker should have, and its weight relative to the job's other preferences.
struct LabelPreference {
  LabelRule rule;
  uint32_t weight = 1;
  bool operator==(const LabelPreference&) const = default;
};
inline constexpr uint32_t kMaxPreferenceWeight = 100;

// What a worker offers in total, or what a job uses of it.
struct Amounts {
  int64_t cpu_milli = 0;
  int64_t memory_mb = 0;
  int64_t storage_mb = 0;
  int64_t gpus = 0;

  bool operator==(const Amounts&) const = default;
  Amounts& operator+=(const Amounts& o) {
    cpu_milli += o.cpu_milli;
    memory_mb += o.memory_mb;
    storage_mb += o.storage_mb;
    gpus += o.gpus;
    return *this;
  }
  Amounts& operator-=(const Amounts& o) {
    cpu_milli -= o.cpu_milli;
    memory_mb -= o.memory_mb;
    storage_mb -= o.storage_mb;
    gpus -= o.gpus;
    return *this;
  }
  bool covers(const Amounts& o) const {
    return cpu_milli >= o.cpu_milli && memory_mb >= o.memory_mb && storage_mb >= o.storage_mb && gpus >= o.gpus;
  }
};

// What a worker may be unable to do for a job: bits of Shape::asks and WorkerInfo::lacks.
enum Ability : uint32_t {
  kLimitCpu = 1,      // limit the CPU of a single job
  kLimitMemory = 2,   // limit the memory of a single job
  kOwnCpu = 4,        // have a CPU limit itself, which then holds for its only job
  kOwnMemory = 8,     // have a memory limit itself, likewise
  kSandbox = 16,      // run a job in a sandbox
  kSecretFiles = 32,  // provide secrets as files
};

struct Shape {
  Amounts needs;
  std::string architecture;
  Isolation isolation = Isolation::Unspecified;
  std::string image;
  std::string pool;
  std::string provider;
  std::vector<std::string> capabilities;  // sorted
  std::vector<LabelRule> labels;
  std::vector<Toleration> tolerations;
  std::string preferred_provider;
  std::string preferred_region;
  std::string preferred_zone;
  std::vector<AffinityRule> affinity;
  uint32_t asks = 0;  // kSandbox, kSecretFiles
  std::vector<LabelPreference> prefers;

  // As stored. Two shapes are the same if this is equal. Set by `intern`.
  std::string encoded;
};

using ShapePtr = std::shared_ptr<const Shape>;

std::string encode(const Shape& shape);
Shape decode_shape(std::string_view bytes);

}  // namespace hodei::core
