// The commands of jobs, and their answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/outcome.h"
#include "src/base/run_facts.h"
#include "src/base/time.h"
#include "src/core/jobs/idempotency.h"
#include "src/core/jobs/job.h"
#include "src/core/jobs/rows.h"
#include "src/core/rows/row.h"

namespace hodei::core {

using hodei::Outcome;

struct NewJob {
  JobHead head;                        // from head_of(); the engine sets id, times and state
  std::shared_ptr<SpecRow> spec;       // the engine sets the job number
  std::optional<Hash128> idempotency;  // hash of namespace and key
  uint64_t fingerprint = 0;            // of the spec, to compare with the key's first job; 0: do not compare
  bool allow_other_spec = false;       // the idempotency key may belong to a job with another spec
  int64_t key_limit = 0;               // of its concurrency key; 0: keep the key's limit

  // The engine may not remember all idempotency keys. If the caller has asked the store about this one: the job that
  // owns it, and the number below which all jobs were committed at that time.
  std::optional<KeyOwner> key_owner = {};
  JobId key_asked_before{};  // 0: the store was not asked
};

struct Submit {
  std::vector<NewJob> jobs;
};  // all or none
// The job that a module asked for with PrepareJob, or why it could not be made. Accepted once for each owner and
// attempt, while the owner waits for it.
struct SubmitFor {
  Owner owner;
  uint32_t attempt = 0;
  std::variant<NewJob, absl::Status> job;
};
struct Cancel {
  JobId job{};
  std::string reason;
};
struct Assign {
  JobId job{};
  WorkerId worker;
};
// Deletes finished jobs with everything stored about them. The caller has checked that they have ended; if one is live
// after all, it is kept and named in the answer.
struct ForgetJobs {
  struct One {
    JobId job{};
    std::string ns;
    std::optional<Hash128> key = {};  // its idempotency key, which is freed with the job
  };
  std::vector<One> jobs;
  std::string reason;
};

// The most jobs in one command. Their rows are deleted in one commit, for which everything else waits.
inline constexpr size_t kMaxForgottenAtOnce = 500;

struct PutJobTemplate {
  TemplateRow row;
};  // the engine sets revision and time
struct DropJobTemplate {
  std::string ns;
  std::string name;
};

// ---- Reports about executions, from a stream or a unary call

struct StartedReport {
  ExecutionId execution;
  WallTime at;
};
struct ProgressReport {
  ExecutionId execution;
  double percentage = 0;
  std::string message;
};

struct ResultReport {
  ExecutionId execution;
  Outcome outcome = Outcome::Failed;
  std::optional<int> exit_code;
  int signal = 0;
  std::string failure;
  std::string message;
  std::string output;
  WallTime started;  // not set: it never started
  WallTime ended;
  std::optional<int64_t> log_bytes;  // absent: the worker did not say
  RunFacts facts;
};

struct Report {
  WorkerId worker;
  uint64_t stream = 0;  // 0: a unary call
  std::vector<StartedReport> started;
  std::vector<ProgressReport> progress;
  std::vector<ResultReport> results;
};

// Payload of a refused Submit: the job that owns the idempotency key, a space, and the index of the refused job.
inline constexpr std::string_view kKeyConflict = "hodei.key_conflict";

struct Submitted {
  struct One {
    JobId job{};
    bool existing = false;
    std::string note = {};  // a hint for the submitter; may be empty
  };
  std::vector<One> jobs;
};
struct CancelTaken {
  JobState state{};
};
struct Assigned {
  ExecutionId execution;
};
struct Forgotten {
  std::vector<JobId> live;
};  // not forgotten, because they have not ended
// not forgotten, because they have not ended
struct TemplatePut {
  TemplateRow row;
};
struct Reported {
  std::vector<bool> accepted;
};  // started, then progress, then results

using JobCommands = TypeList<Submit, SubmitFor, Cancel, Assign, ForgetJobs, PutJobTemplate, DropJobTemplate, Report>;
using JobAnswers = TypeList<Submitted, CancelTaken, Assigned, Forgotten, TemplatePut, Reported>;

}  // namespace hodei::core
