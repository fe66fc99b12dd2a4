// How an execution ended, and why it failed. The names of failures are stored, sent and shown, so they never change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hodei {

// Interrupted: the worker was stopped, and has ended the execution or never started it.
enum class Outcome : uint8_t { Succeeded = 1, Failed, Cancelled, TimedOut, Lost, Interrupted };

enum class Failure : uint8_t {
  CommandNotFound = 1,
  PermissionDenied,
  SpawnFailed,
  Timeout,
  Signal,
  NonZeroExit,
  OutOfMemory,
  DiskQuota,
  SecretError,
  ArtifactError,
  InputError,
  Reported,
  CannotBePlaced,
  ProvisioningFailed,
  WorkerLost,
  WorkerRestarted,
  Interrupted,
  Cancelled,
  Evicted,
  Preempted,
  LeaseExpired,
  Infrastructure,
};

struct FailureName {
  Failure failure;
  std::string_view word;
};

inline constexpr FailureName kFailureNames[] = {
    {Failure::CommandNotFound, "command_not_found"},
    {Failure::PermissionDenied, "permission_denied"},
    {Failure::SpawnFailed, "spawn_failed"},
    {Failure::Timeout, "timeout"},
    {Failure::Signal, "signal"},
    {Failure::NonZeroExit, "non_zero_exit"},
    {Failure::OutOfMemory, "oom"},
    {Failure::DiskQuota, "disk_quota"},
    {Failure::SecretError, "secret_error"},
    {Failure::ArtifactError, "artifact_error"},
    {Failure::InputError, "input_error"},
    {Failure::Reported, "reported"},
    {Failure::CannotBePlaced, "cannot_be_placed"},
    {Failure::ProvisioningFailed, "provisioning_failed"},
    {Failure::WorkerLost, "worker_lost"},
    {Failure::WorkerRestarted, "worker_restarted"},
    {Failure::Interrupted, "interrupted"},
    {Failure::Cancelled, "cancelled"},
    {Failure::Evicted, "evicted"},
    {Failure::Preempted, "preempted"},
    {Failure::LeaseExpired, "lease_expired"},
    {Failure::Infrastructure, "infrastructure"},
};

constexpr std::string_view word(Failure failure) {
  for (const FailureName& known : kFailureNames) {
    if (known.failure == failure) return known.word;
  }
  return {};
}

inline std::string text(Failure failure) { return std::string(word(failure)); }

// A worker may report a word of its own.
constexpr std::optional<Failure> failure_of(std::string_view word) {
  for (const FailureName& known : kFailureNames) {
    if (known.word == word) return known.failure;
  }
  return std::nullopt;
}

static_assert(std::size(kFailureNames) == static_cast<size_t>(Failure::Infrastructure), "every failure has a name");
static_assert(failure_of(word(Failure::Evicted)) == Failure::Evicted);

}  // namespace hodei
