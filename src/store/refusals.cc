#include "src/store/refusals.h"

#include "src/base/status.h"

namespace hodei::store {

absl::Status refused(JobId job, std::string_view why) {
  return absl::InternalError(
      cat("the store refused a write for job ", short_id(job), " and with it the whole batch: ", why));
}

absl::Status already_stored(JobId job) { return refused(job, "its number is taken by a job that is already stored"); }

absl::Status not_live(const JobChange& change) {
  return refused(change.job, cat("it is not live (never submitted, or ended), or is already further than ",
                                 core::name(change.last->state), " in execution ", change.last->executions));
}

absl::Status check_turn(const Turn& stored, const Turn& given) {
  const auto [epoch, batch] = stored;
  if (given.epoch != epoch) {
    return absl::AbortedError(cat("this server leads with epoch ", static_cast<uint64_t>(given.epoch),
                                  " but the store belongs to epoch ", static_cast<uint64_t>(epoch),
                                  "; another server has taken over"));
  }
  const auto last = static_cast<uint64_t>(batch);
  const auto wanted = static_cast<uint64_t>(given.batch);
  if (wanted == last + 1) return absl::OkStatus();
  return absl::FailedPreconditionError(cat("batch ", wanted, " cannot be committed: the last one stored is ", last,
                                           wanted <= last ? "; it may be this very batch" : "", "; load again"));
}

absl::Status another_leads(const std::string& address) {
  return absl::FailedPreconditionError(cat("another server leads", address.empty() ? "" : " at ", address,
                                           "; it must stop, or its term must end, before this one can lead"));
}

absl::Status term_has_ended(Epoch ours, Epoch stored) {
  return absl::AbortedError(cat("the term with epoch ", static_cast<uint64_t>(ours),
                                " has ended; the store belongs to epoch ", static_cast<uint64_t>(stored)));
}

absl::Status no_such_job(JobId job) { return absl::NotFoundError(cat("job ", short_id(job), " does not exist")); }

absl::Status nobody_waits() { return absl::CancelledError("the caller of this read has gone away"); }

absl::Status no_such_secret(const std::string& ns, const std::string& name) {
  return absl::NotFoundError(
      cat("secret '", name, "' does not exist in namespace '", ns, "'; store it with `hodei secret set ", name, "`"));
}

absl::Status no_such_template(const std::string& ns, const std::string& name) {
  return absl::NotFoundError(cat("template '", name, "' does not exist in namespace '", ns, "'"));
}

}  // namespace hodei::store
