// A shape is every field of a job that a placement rule or score reads, and nothing else. Jobs with equal requirements
// share one, so a million waiting jobs cost what a few shapes cost.
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

// Beside which jobs it may, should or must not run: the rule holds for a worker when it holds for one of its jobs.
struct CompanyRule {
  LabelRule rule;
  bool away = false;      // keep away from such workers, instead of joining them
  bool required = false;  // else only preferred
  bool operator==(const CompanyRule&) const = default;
};

// A label that a worker should have, and how much that counts beside the job's other preferences.
struct LabelPreference {
  LabelRule rule;
  uint32_t weight = 1;
  bool operator==(const LabelPreference&) const = default;
};
inline constexpr uint32_t kMaxPreferenceWeight = 100;

// What a worker offers in all, and what a job takes from it.
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
  std::vector<CompanyRule> company;
  std::vector<LabelPreference> prefers;

  // Its column form; also what makes two shapes the same. Set by `intern`.
  std::string encoded;
};

using ShapePtr = std::shared_ptr<const Shape>;

std::string encode(const Shape& shape);
Shape decode_shape(std::string_view bytes);

}  // namespace hodei::core
