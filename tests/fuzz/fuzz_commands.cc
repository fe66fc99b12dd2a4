// Messages of clients and workers, in any order, through translation and validation into a real engine. The store takes
// every write, an engine loaded from it has the same digest, and whatever is stored can be shown.
#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/base/sha256.h"
#include "src/core/engine.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"
#include "src/store/memory/memory_store.h"
#include "src/store/rows.h"
#include "tests/fuzz/command_script.h"
#include "tests/fuzz/messages.h"

using namespace hodei;
using fuzz::Step;

namespace {

constexpr size_t kMostSteps = 200;

class World {
 public:
  World() { load(); }

  void step(Step kind, std::string_view bytes) {
    switch (kind) {
      case Step::QueueJob: return with<v1::QueueJobRequest>(bytes);
      case Step::QueueBatch: return with<v1::QueueJobBatchRequest>(bytes);
      case Step::CancelJob: return with<v1::CancelJobRequest>(bytes);
      case Step::AssignJob: return with<v1::AssignJobRequest>(bytes);
      case Step::PutTemplate: return with<v1::PutTemplateRequest>(bytes);
      case Step::DeleteTemplate: return with<v1::DeleteTemplateRequest>(bytes);
      case Step::CreateOtp: return with<v1::CreateOtpRequest>(bytes);
      case Step::Register: return with<v1::RegisterRequest>(bytes);
      case Step::WorkerMessage: return with<v1::WorkerMessage>(bytes);
      case Step::CompleteJob: return with<v1::CompleteJobRequest>(bytes);
      case Step::FailJob: return with<v1::FailJobRequest>(bytes);
      case Step::Unregister: return with<v1::UnregisterWorkerRequest>(bytes);
      case Step::Drain: return with<v1::DrainWorkerRequest>(bytes);
      case Step::ConfigureScheduler: return with<v1::ConfigureSchedulerRequest>(bytes);
      case Step::Hang: return decide(core::CloseStream{speaker_, stream_}).IgnoreError();
      case Step::Wait: return wait(std::chrono::milliseconds(10 * bytes.size()));
      case Step::Restart: return load();
    }
  }

  void check() {
    core::Engine fresh(kConfig);
    restore(fresh);
    REQUIRE(fresh.digest() == engine_->digest(), "memory and store differ");
    for (const auto& [id, worker] : engine_->modules().fleet.workers.all()) {
      REQUIRE(worker->executions.size() <= worker->record->info.slots, id.str(), " has more than its slots");
    }
    const store::MemoryTables all = store_.tables();
    for (const auto& [id, job] : all.hot) show(*job, {}, *all.specs.at(id));
    for (const auto& [id, done] : all.done) show(*done.job, done.ended, *all.specs.at(id));
    const absl::StatusOr<core::Reply> views = decide(core::Question(core::DescribeWorkers{}));
    for (const core::WorkerView& view : std::get<core::WorkerViews>(*views).workers) {
      v1::Worker out;
      api::to_proto(view, &out);
      fuzz::require_readable(out);
    }
  }

 private:
  static constexpr core::EngineConfig kConfig{.max_live_jobs = 500, .max_workers = 50, .max_templates = 50};

  template <class Message>
  void with(std::string_view bytes) {
    Message message;
    if (fuzz::parses(bytes, message)) on(message);
  }

  // Refused by translation: with the name of a field. Refused by the engine: with words.
  template <class T>
  static bool good(const absl::StatusOr<T>& value) {
    REQUIRE(value.ok() || fuzz::names_a_field(value.status()), fuzz::words(value.status()));
    return value.ok();
  }

  void on(const v1::QueueJobRequest& in) {
    const auto ns = spec::namespace_of(in.namespace_());
    if (!good(ns)) return;
    const auto spec = api::rendered_spec(in, *ns, store_);
    if (!good(spec)) return;
    auto job = spec::new_job(*spec, *ns, fixed(in.correlation_id()), in.template_());
    if (good(job)) decide(core::Submit{{*std::move(job)}}).IgnoreError();
  }
  void on(const v1::QueueJobBatchRequest& in) {
    core::Submit submit;
    for (const v1::JobSpec& spec : in.specs()) {
      auto job = spec::new_job(spec, "default", fixed(in.correlation_id()), "");
      if (!good(job)) return;
      submit.jobs.push_back(*std::move(job));
    }
    if (!submit.jobs.empty()) decide(std::move(submit)).IgnoreError();
  }
  void on(const v1::CancelJobRequest& in) {
    const auto id = parse_job_id(in.job_id());
    if (good(id)) decide(core::Cancel{*id, in.reason()}).IgnoreError();
  }
  void on(const v1::AssignJobRequest& in) {
    const auto id = parse_job_id(in.job_id());
    if (good(id)) decide(core::Assign{*id, WorkerId(in.worker_id())}).IgnoreError();
  }
  void on(const v1::PutTemplateRequest& in) {
    auto row = spec::template_row(in.template_(), "default");
    if (good(row)) decide(core::PutJobTemplate{*std::move(row)}).IgnoreError();
  }
  void on(const v1::DeleteTemplateRequest& in) { decide(core::DropJobTemplate{"default", in.name()}).IgnoreError(); }
  void on(const v1::CreateOtpRequest& in) {
    decide(core::MakeOtp{secret_hash(cat("token of ", in.worker_id())), WorkerId(in.worker_id())}).IgnoreError();
  }
  void on(const v1::RegisterRequest& in) {
    auto info = api::from_proto(in.info());
    if (!good(info)) return;
    core::RegisterWorker command{.info = *std::move(info), .incarnation = in.incarnation()};
    if (!in.session_id().empty()) {
      command.session = secret_hash(in.session_id());
    } else {
      command.otp = secret_hash(in.auth_token());
      command.new_session = secret_hash(cat("session of ", in.info().id()));
    }
    decide(std::move(command)).IgnoreError();
  }
  void on(const v1::WorkerMessage& in) {
    if (in.has_hello()) {
      auto hello = api::hello_from(in.hello());
      if (!good(hello)) return;
      hello->stream = ++streams_;
      const auto opened = decide(*std::move(hello));
      if (!opened.ok()) return;
      speaker_ = std::get<core::StreamOpened>(*opened).worker;
      stream_ = streams_;
    }
    if (in.has_heartbeat()) {
      core::Heartbeat beat{.worker = speaker_, .stream = stream_, .sent_us = in.heartbeat().sent_us()};
      beat.cpu_load = in.heartbeat().cpu_load();
      beat.memory_used_mb = in.heartbeat().memory_used_mb();
      beat.dropped_logs = in.heartbeat().dropped_logs();
      beat.unfit = api::unfit_from(in.heartbeat().status());
      beat.active = api::active_from(in.heartbeat());
      decide(beat).IgnoreError();
    }
    auto report = api::report_from(in);
    if (good(report)) say(*std::move(report), stream_);
  }
  void on(const v1::CompleteJobRequest& in) {
    const auto id = parse_execution_id(in.execution_id());
    if (!good(id)) return;
    core::ResultReport result{.execution = *id, .outcome = core::Outcome::Succeeded, .exit_code = 0};
    result.output = in.output();
    say({.results = {result}}, 0);
  }
  void on(const v1::FailJobRequest& in) {
    const auto id = parse_execution_id(in.execution_id());
    if (!good(id)) return;
    core::ResultReport result{.execution = *id, .outcome = core::Outcome::Failed, .exit_code = in.exit_code()};
    result.message = in.error();
    say({.results = {result}}, 0);
  }
  void on(const v1::UnregisterWorkerRequest& in) {
    decide(core::UnregisterWorker{WorkerId(in.worker_id()), in.reason()}).IgnoreError();
  }
  void on(const v1::DrainWorkerRequest& in) {
    decide(core::DrainWorker{WorkerId(in.worker_id()), in.reason()}).IgnoreError();
  }
  void on(const v1::ConfigureSchedulerRequest& in) {
    core::ConfigureScheduler command;
    if (in.has_weight_load()) command.load = in.weight_load();
    if (in.has_weight_capacity()) command.capacity = in.weight_capacity();
    if (in.has_weight_history()) command.history = in.weight_history();
    if (in.has_threshold()) command.threshold = in.threshold();
    decide(command).IgnoreError();
  }

  static std::string fixed(const std::string& correlation_id) {  // none is made by chance here
    return correlation_id.empty() ? "fuzz" : correlation_id;
  }

  void say(core::Report report, uint64_t stream) {
    report.worker = speaker_;
    report.stream = stream;
    decide(std::move(report)).IgnoreError();
  }

  // As the loop does it: decide, commit. The store refuses what no engine may write.
  absl::StatusOr<core::Reply> decide(core::Command command) {
    core::Turn turn;
    absl::StatusOr<core::Reply> reply = engine_->decide(command, now_, turn);
    REQUIRE(reply.ok() || !reply.status().message().empty(), "");
    if (turn.writes.empty()) return reply;
    const absl::Status kept = store_.commit(turn.writes, epoch_, store::BatchNo{++batch_});
    REQUIRE(kept.ok(), fuzz::words(kept));
    return reply;
  }

  void wait(Duration length) {
    now_ = {now_.wall + length, now_.mono + length};
    if (engine_->next_wakeup() <= now_.mono) decide(core::Tick{}).IgnoreError();
  }

  void load() {
    epoch_ = *store_.new_epoch();
    engine_ = std::make_unique<core::Engine>(kConfig);
    restore(*engine_);
    engine_->restored(now_);
  }

  // Through the column forms, as a durable store does it.
  void restore(core::Engine& engine) {
    const absl::Status loaded = store_.load([&engine](const core::Write& write) {
      if (const auto* put = std::get_if<core::PutJob>(&write)) {
        auto head = std::make_shared<core::JobHead>(*put->job);
        store::unpack_details(store::pack_details(*put->job), *head);
        head->shape = std::make_shared<core::Shape>(core::decode_shape(put->job->shape->encoded));
        if (put->job->past != nullptr) head->past = core::decode_past(core::encode(*put->job->past));
        engine.restore(core::PutJob{head});
      } else if (const auto* worker = std::get_if<core::Put<core::WorkerRecord>>(&write)) {
        auto record = std::make_shared<core::WorkerRecord>(*worker->row);
        record->info = core::decode_worker_info(core::encode(worker->row->info));
        engine.restore(core::Put<core::WorkerRecord>{record});
      } else {
        engine.restore(write);
      }
    });
    REQUIRE(loaded.ok(), fuzz::words(loaded));
  }

  static void show(const core::JobHead& head, WallTime ended, const core::SpecRow& spec) {
    v1::Job out;
    api::to_proto(store::JobView{head, spec, ended}, true, &out);
    fuzz::require_readable(out);
  }

  store::MemoryStore store_;
  store::Epoch epoch_{};
  uint64_t batch_ = 0;
  std::unique_ptr<core::Engine> engine_;
  Now now_{{1'800'000'000'000'000}, {1'000'000'000}};
  WorkerId speaker_;
  uint64_t stream_ = 0;
  uint64_t streams_ = 0;
};

}  // namespace

FUZZ_TARGET(input) {
  World world;
  Decoder in(input);
  for (size_t n = 0; !in.done() && n < kMostSteps; ++n) {
    const auto kind = static_cast<Step>(in.u64() % fuzz::kSteps);
    world.step(kind, in.text());
  }
  world.check();
}
