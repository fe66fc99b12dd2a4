#include "src/store/memory/memory_leadership.h"

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {

MonoTime MemoryLeadership::end_of_lease(MonoTime from) const {
  return options_.lease == kForEver ? kNever : from + options_.lease;
}

absl::Status MemoryLeadership::travel() const { return options_.on_the_way ? options_.on_the_way() : absl::OkStatus(); }

absl::StatusOr<Term> MemoryLeadership::campaign(const std::string& address) {
  const MonoTime sent = clock_.now().mono;
  RETURN_IF_ERROR(travel());
  const std::lock_guard lock(lease_.mutex);
  const MonoTime arrived = clock_.now().mono;
  if (arrived < lease_.until) return another_leads(lease_.address);
  ASSIGN_OR_RETURN(const Epoch epoch, store_.new_epoch());
  lease_.epoch = epoch;
  lease_.address = address;
  lease_.until = end_of_lease(arrived);
  return Term{epoch, end_of_lease(sent)};
}

absl::StatusOr<Term> MemoryLeadership::renew(const Term& term) {
  const MonoTime sent = clock_.now().mono;
  RETURN_IF_ERROR(travel());
  ASSIGN_OR_RETURN(const Epoch stored, store_.epoch());
  const std::lock_guard lock(lease_.mutex);
  if (lease_.epoch != term.epoch || stored != term.epoch) return term_has_ended(term.epoch, stored);
  lease_.until = end_of_lease(clock_.now().mono);
  return Term{term.epoch, end_of_lease(sent)};
}

absl::Status MemoryLeadership::resign(const Term& term) {
  RETURN_IF_ERROR(travel());
  const std::lock_guard lock(lease_.mutex);
  if (lease_.epoch != term.epoch) return absl::OkStatus();
  lease_.epoch = Epoch{};
  lease_.address.clear();
  lease_.until = MonoTime{0};
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Leader>> MemoryLeadership::leader() {
  RETURN_IF_ERROR(travel());
  const std::lock_guard lock(lease_.mutex);
  if (clock_.now().mono >= lease_.until) return std::optional<Leader>();
  return std::optional<Leader>({lease_.epoch, lease_.address});
}

}  // namespace hodei::store
