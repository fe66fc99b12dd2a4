// All changes of state. A decision is a list of these: the store commits the list, and memory folds the same list.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "src/base/hash.h"
#include "src/core/job/job.h"
#include "src/core/placement/config.h"
#include "src/core/worker/worker.h"

namespace hodei::core {

// The request as received: written once and never changed.
struct SpecRow {
  JobId job{};
  std::string ns;
  std::string name;
  Labels labels;
  std::string correlation_id;
  std::string template_name;
  JobId retry_of{};   // 0: none
  std::string bytes;  // a serialized JobSpec
};

struct TemplateRow {
  std::string ns;
  std::string name;
  int64_t revision = 0;
  WallTime updated;
  std::string bytes;  // a serialized Template

  bool operator==(const TemplateRow&) const = default;
};

// A secret in the server's store. Only src/server/secrets can decrypt it.
struct SecretRow {
  std::string ns;
  std::string name;
  int64_t revision = 0;
  WallTime updated;
  std::string sealed;

  bool operator==(const SecretRow&) const = default;
};

// Who did what to what. Written once, never changed.
struct AuditRow {
  uint64_t number = 0;  // increases; never reused
  WallTime at;
  std::string ns;
  std::string principal;
  std::string action;
  std::string subject;
  std::string detail;

  bool operator==(const AuditRow&) const = default;
};

// What people set at run time. The bytes are the encoded struct of this kind.
enum class SettingKind : uint8_t { Provider = 1, Pool, Tenant, KeyRate };

struct SettingRow {
  SettingKind kind{};
  std::string name;
  std::string bytes;

  bool operator==(const SettingRow&) const = default;
};

// A one-time token; only its hash is known.
struct OtpRow {
  Hash128 token;
  WorkerId worker;  // empty: any new worker
  WallTime expires;

  bool operator==(const OtpRow&) const = default;
};

struct KeyLimitRow {
  std::string ns;
  std::string key;
  int64_t limit = 1;
};

struct IdempotencyRow {
  Hash128 key;  // hash of namespace and key
  JobId job{};
  WallTime expires;
  uint64_t fingerprint = 0;  // of the spec that came with the key; 0: unknown
};

struct PutSpec {
  std::shared_ptr<const SpecRow> spec;
};
struct PutJob {
  JobPtr job;
};  // a live job: inserted or replaced
struct FinishJob {
  JobPtr job;
};  // moves from the table of live jobs to that of finished ones
// Shelves an execution that has been followed by another. Written once.
struct PutExecution {
  JobId job{};
  std::shared_ptr<const ShelvedExecution> shelved;
};
struct DropExecutions {
  JobId job{};
  uint32_t below = 0;
};  // those with lower numbers
struct EraseJob {
  JobId job{};
};  // a finished job, with its spec and executions; it need not exist
struct PutWorker {
  WorkerRecordPtr worker;
};
struct DeleteWorker {
  WorkerId worker;
};
struct PutOtp {
  OtpRow otp;
};
struct DeleteOtp {
  Hash128 token;
};
struct PutTemplate {
  TemplateRow row;
};
struct DeleteTemplate {
  std::string ns;
  std::string name;
};
struct PutKeyLimit {
  KeyLimitRow row;
};
struct DeleteKeyLimit {
  std::string ns;
  std::string key;
};
struct PutIdempotency {
  IdempotencyRow row;
};
struct ExpireIdempotency {
  WallTime before;
};
struct PutScheduler {
  SchedulerConfig config;
};
struct PutNextJob {
  uint64_t next = 1;
struct DeleteIdempotency {
  Hash128 key;
  JobId job{};
};  // only if it is this job's
};
struct PutSetting {
  SettingRow row;
};
struct DeleteSetting {
  SettingKind kind{};
  std::string name;
};
struct PutSecret {
  SecretRow row;
};
struct DeleteSecret {
  std::string ns;
  std::string name;
};
struct PutAudit {
  AuditRow row;
};
struct ExpireAudit {
  WallTime before;
};  // the newest entry always stays, because it holds the number

using Write = std::variant<PutSpec, PutJob, FinishJob, PutWorker, DeleteWorker, PutOtp, DeleteOtp, PutTemplate,
                           DeleteTemplate, PutKeyLimit, DeleteKeyLimit, PutIdempotency, ExpireIdempotency, PutScheduler,
                           PutNextJob, PutSetting, DeleteSetting, PutSecret, DeleteSecret, PutAudit, ExpireAudit,
                           PutExecution, DropExecutions, EraseJob, DeleteIdempotency>;

using Writes = std::vector<Write>;

}  // namespace hodei::core
