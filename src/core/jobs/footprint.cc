#include "src/core/jobs/footprint.h"

#include "src/core/placement/lane.h"

namespace hodei::core {
namespace {

// Entries in the tables of jobs, of lanes and of concurrency keys, and what the allocator adds.
constexpr size_t kIndexBytes = 128;
constexpr size_t kNodeBytes = 48;  // of an ordered map, besides its strings

size_t bytes_of(const std::string& text) { return text.size() > 15 ? text.size() + 17 : 0; }

size_t bytes_of(const Execution& e) {
  size_t sum = sizeof(Execution) + bytes_of(e.provider) + bytes_of(e.reason) + bytes_of(e.failure);
  for (const std::string& name : e.facts.secrets) sum += sizeof(std::string) + bytes_of(name);
  for (const auto& [key, value] : e.facts.outputs)
    sum += kNodeBytes + 2 * sizeof(std::string) + bytes_of(key) + bytes_of(value);
  return sum + e.decision.rejected.size() * sizeof(RuleCount);
}

size_t bytes_of(const Past& past) {
  size_t sum = sizeof(Past) + bytes_of(past.failure) + bytes_of(past.reason) + bytes_of(past.cancel_reason) +
               bytes_of(past.output) + bytes_of(past.progress_message);
  for (const Transition& t : past.transitions) sum += sizeof(Transition) + bytes_of(t.reason);
  for (const Execution& e : past.executions) sum += bytes_of(e);
  return sum;
}

size_t bytes_of(const LabelRule& rule) {
  size_t sum = bytes_of(rule.key);
  for (const std::string& value : rule.values) sum += sizeof(std::string) + bytes_of(value);
  return sum;
}

}  // namespace

size_t bytes_of(const Labels& labels) {
  size_t sum = sizeof(Labels);
  for (const auto& [key, value] : labels) sum += kNodeBytes + 2 * sizeof(std::string) + bytes_of(key) + bytes_of(value);
  return sum;
}

// With its entry among those that wait, and with the copy of its bytes by which it is found there.
size_t bytes_of(const Shape& shape) {
  size_t sum = sizeof(Shape) + sizeof(WaitingShape) + 2 * shape.encoded.size() + kIndexBytes;
  for (const std::string* text : {&shape.architecture, &shape.image, &shape.pool, &shape.provider,
                                  &shape.preferred_provider, &shape.preferred_region, &shape.preferred_zone}) {
    sum += bytes_of(*text);
  }
  for (const std::string& c : shape.capabilities) sum += sizeof(std::string) + bytes_of(c);
  for (const LabelRule& rule : shape.labels) sum += sizeof(LabelRule) + bytes_of(rule);
  for (const Toleration& t : shape.tolerations) sum += sizeof(Toleration) + bytes_of(t.key) + bytes_of(t.value);
  for (const AffinityRule& c : shape.affinity) sum += sizeof(AffinityRule) + bytes_of(c.rule);
  for (const LabelPreference& p : shape.prefers) sum += sizeof(LabelPreference) + bytes_of(p.rule);
  return sum;
}

size_t Footprint::own_bytes(const JobHead& head) {
  size_t sum = sizeof(JobHead) + kIndexBytes + 2 * bytes_of(head.concurrency_key);
  if (head.secrets != nullptr) sum += sizeof(std::string) + bytes_of(*head.secrets);
  if (head.past != nullptr) sum += bytes_of(*head.past);
  return sum;
}

template <class Thing>
void Footprint::take(const std::shared_ptr<const Thing>& thing) {
  if (thing != nullptr && users_[thing.get()]++ == 0) shared_ += bytes_of(*thing);
}

template <class Thing>
void Footprint::release(const std::shared_ptr<const Thing>& thing) {
  if (thing == nullptr) return;
  const auto it = users_.find(thing.get());
  if (--it->second > 0) return;
  shared_ -= bytes_of(*thing);
  users_.erase(it);
}

void Footprint::add(const JobHead& head, size_t own) {
  own_ += own;
  take(head.shape);
  take(head.labels);
}

void Footprint::remove(const JobHead& head, size_t own) {
  own_ -= own;
  release(head.shape);
  release(head.labels);
}

}  // namespace hodei::core
