#include "src/api/calls/failures.h"

#include <optional>

#include "src/base/outcome.h"

namespace hodei::api {
namespace {

struct Known {
  Failure failure;
  v1::Failure::Reason reason;
  std::string_view suggestion;
};

constexpr std::string_view kInfrastructure =
    "The worker failed, not the job. Set max_attempts above 1 so that another worker can take over.";

constexpr Known kKnown[] = {
    {Failure::CommandNotFound, v1::Failure::command_not_found,
     "Check the spelling of the command, or require a worker that has it with a constraint or an image."},
    {Failure::PermissionDenied, v1::Failure::permission_denied,
     "Make the program executable for the worker's user, or name an interpreter."},
    {Failure::SpawnFailed, v1::Failure::spawn_failed,
     "Check working_dir and the first line of the script; the reason names the step."},
    {Failure::Timeout, v1::Failure::timeout, "Raise timeout_ms, or check the end of the log to see where it hung."},
    {Failure::Signal, v1::Failure::signal, "The program crashed or was killed from outside; check the end of its log."},
    {Failure::NonZeroExit, v1::Failure::non_zero_exit,
     "The program itself reported a failure; check the end of its log."},
    {Failure::OutOfMemory, v1::Failure::oom, "Raise resources.memory_mb, or make the job use less memory."},
    {Failure::SecretError, v1::Failure::secret_error,
     "Store the secret that the reason names with `hodei secret set`, or correct its name in the job."},
    {Failure::ArtifactError, v1::Failure::artifact_error,
     "Check the URL, checksum and size limit of the artifact that the reason names."},
    {Failure::InputError, v1::Failure::input_error,
     "Run it again with `hodei run`, or pass the data as an artifact, which may be larger and is kept."},
    {Failure::DiskQuota, v1::Failure::disk_quota, "Raise resources.storage_mb, or write less to the working folder."},
    {Failure::Reported, v1::Failure::reported, {}},
    {Failure::CannotBePlaced, v1::Failure::cannot_be_placed,
     "Run `hodei job explain` to see which rule no worker passes."},
    {Failure::WorkerLost, v1::Failure::infrastructure, kInfrastructure},
    {Failure::WorkerRestarted, v1::Failure::infrastructure, kInfrastructure},
    {Failure::Interrupted, v1::Failure::infrastructure, kInfrastructure},
    {Failure::LeaseExpired, v1::Failure::infrastructure, kInfrastructure},
    {Failure::Infrastructure, v1::Failure::infrastructure, kInfrastructure},
};

const Known* find(std::string_view word) {
  const std::optional<Failure> failure = failure_of(word);
  for (const Known& known : kKnown) {
    if (known.failure == failure) return &known;
  }
  return nullptr;
}

}  // namespace

v1::Failure::Reason reason_of(std::string_view failure) {
  const Known* known = find(failure);
  return known == nullptr ? v1::Failure::REASON_UNSPECIFIED : known->reason;
}

std::string_view suggestion_for(std::string_view failure) {
  const Known* known = find(failure);
  return known == nullptr ? std::string_view() : known->suggestion;
}

}  // namespace hodei::api
