// Every floating-point number of the API, and what becomes of one that is none.
#include <cmath>
#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "hodei/v1/metrics_service.pb.h"
#include "hodei/v1/provider_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/api/calls/providers/translate_provider.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/base/odd_numbers.h"
#include "src/spec/submission.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::numbers_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using testing::StartsWith;

void add_doubles(const Descriptor& message, std::set<std::string>& out) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const bool is_real =
        field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE || field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT;
    if (is_real) out.insert(field.full_name().substr(std::string("hodei.v1.").size()));
  }
  for (int i = 0; i < message.nested_type_count(); ++i) add_doubles(*message.nested_type(i), out);
}

// Whoever adds a number with a fraction adds it here, and to the tests of the place that checks it. What is only ever
// sent by the server is not checked: it comes from the others.
TEST(Numbers, EveryOneOfTheApiIsChecked) {
  std::set<std::string> found;
  for (const Descriptor* one :
       {v1::JobSpec::descriptor(), v1::QueueJobRequest::descriptor(), v1::WorkerInfo::descriptor(),
        v1::Pool::descriptor(), v1::SetTenantRequest::descriptor(), v1::MetricSample::descriptor()}) {
    for (int i = 0; i < one->file()->message_type_count(); ++i) add_doubles(*one->file()->message_type(i), found);
  }
  const std::set<std::string> checked = {
      // src/core/numbers_test.cc
      "Resources.cpu_cores", "Backoff.factor", "ConfigureSchedulerRequest.weight_capacity",
      "ConfigureSchedulerRequest.weight_load", "ConfigureSchedulerRequest.weight_affinity",
      "ConfigureSchedulerRequest.weight_zone", "ConfigureSchedulerRequest.weight_history",
      "ConfigureSchedulerRequest.threshold", "SetTenantRequest.weight", "SetLimitRequest.rate", "ProviderConfig.cost",
      "UpdateProviderRequest.cost", "Heartbeat.cpu_load", "JobProgress.percentage",
      // below, or in tests/integration/test_bad_input.py
      "Capacity.cpu_cores", "SetTenantRequest.max_cpu_cores", "UpdateProgressRequest.percentage"};
  const std::set<std::string> answers = {"Progress.percentage",
                                         "Score.total",
                                         "Score.capacity",
                                         "Score.load",
                                         "Score.affinity",
                                         "Score.zone",
                                         "Score.history",
                                         "SchedulerConfig.weight_capacity",
                                         "SchedulerConfig.weight_load",
                                         "SchedulerConfig.weight_affinity",
                                         "SchedulerConfig.weight_zone",
                                         "SchedulerConfig.weight_history",
                                         "SchedulerConfig.threshold",
                                         "Tenant.weight",
                                         "Tenant.max_cpu_cores",
                                         "Tenant.cpu_cores",
                                         "Limit.rate",
                                         "MetricSample.cpu",
                                         "MetricSample.network_rx_bytes_per_second",
                                         "MetricSample.network_tx_bytes_per_second",
                                         "MetricSample.disk_read_bytes_per_second",
                                         "MetricSample.disk_write_bytes_per_second",
                                         "MetricAggregate.avg",
                                         "MetricAggregate.min",
                                         "MetricAggregate.max",
                                         "MetricAggregate.p50",
                                         "MetricAggregate.p95",
                                         "MetricAggregate.p99",
                                         "Worker.cpu_load"};
  for (const std::string& name : found)
    EXPECT_TRUE(checked.contains(name) || answers.contains(name)) << name << " is not checked";
  for (const std::string& name : checked) EXPECT_TRUE(found.contains(name)) << name;
  for (const std::string& name : answers) EXPECT_TRUE(found.contains(name)) << name;
}

TEST(Numbers, CoresOfAWorkerAndOfAPoolAreRefusedByName) {
  for (const double odd : no_amounts()) {
    v1::WorkerInfo info;
    info.set_id("w1");
    info.set_slots(1);
    info.mutable_capacity()->set_cpu_cores(odd);
    EXPECT_THAT(std::string(from_proto(info).status().message()),
                StartsWith("info.capacity.cpu_cores: must be a number"))
        << odd;
    v1::Pool pool;
    pool.set_name("p");
    pool.mutable_size()->set_cpu_cores(odd);
    EXPECT_THAT(std::string(from_proto(pool).status().message()), StartsWith("size.cpu_cores: must be a number"))
        << odd;
    v1::ProviderConfig provider;
    provider.set_name("p");
    provider.set_type("docker");
    provider.set_cost(odd);
    EXPECT_THAT(std::string(from_proto(provider).status().message()), StartsWith("cost: must be a number")) << odd;
    v1::UpdateProviderRequest update;
    update.set_cost(odd);
    EXPECT_THAT(std::string(changed({.name = "p", .type = "docker"}, update).status().message()),
                StartsWith("cost: must"))
        << odd;
    v1::JobSpec spec;
    spec.mutable_command()->mutable_shell()->set_cmd("true");
    spec.mutable_resources()->set_cpu_cores(odd);
    EXPECT_THAT(std::string(spec::new_job(spec, "default", "", "").status().message()),
                StartsWith("resources.cpu_cores: must"))
        << odd;
  }
  for (const double tiny : tiny_amounts()) {
    v1::WorkerInfo info;
    info.set_slots(1);
    info.mutable_capacity()->set_cpu_cores(tiny);
    ASSERT_TRUE(from_proto(info).ok()) << tiny;
    EXPECT_EQ(from_proto(info)->capacity.cpu_milli, tiny > 0 ? 1 : 0) << "a small share stays a share";
  }
}

TEST(Numbers, CoresAreWholeThousandthsOnBothWays) {
  for (int64_t milli = 1; milli <= 20'000; ++milli) {
    v1::Capacity by_fraction;
    by_fraction.set_cpu_cores(static_cast<double>(milli) / 1000);
    ASSERT_EQ(from_proto(by_fraction).cpu_milli, milli);
    v1::Capacity out;
    to_proto(core::Amounts{.cpu_milli = milli}, &out);
    ASSERT_EQ(from_proto(out).cpu_milli, milli);
    v1::JobSpec spec;
    spec.mutable_resources()->set_cpu_cores(static_cast<double>(milli) / 1000);
    ASSERT_EQ(from_proto(spec).cpu_milli, milli);
    spec.mutable_resources()->set_cpu_milli(milli + 1);
    ASSERT_EQ(from_proto(spec).cpu_milli, milli + 1) << "the whole number wins";
  }
}

TEST(Numbers, AHeartbeatBecomesSamplesThatCanBeStored) {
  for (const double odd : no_amounts()) {
    v1::Heartbeat beat;
    beat.set_cpu_load(odd);
    beat.set_memory_used_mb(INT64_MAX);
    v1::ExecutionUsage* usage = beat.add_executions();
    usage->set_execution_id(to_string(ExecutionId{JobId{1}, 1}));
    usage->set_memory_kb(INT64_MIN);
    const server::Beat made = beat_from(beat, WorkerId("w"), {});
    EXPECT_TRUE(made.cpu_load >= 0 && made.cpu_load <= 1) << odd;
    EXPECT_GE(made.memory_bytes, 0);
    EXPECT_EQ(made.executions.at(0).memory_bytes, 0);
  }
}

TEST(KeyOwners, AreAskedForOnlyWhenTheEngineMayHaveForgottenThem) {
  store::MemoryStore store;
  const auto keyed = [](const std::string& key) {
    v1::JobSpec spec;
    spec.mutable_command()->mutable_shell()->set_cmd("true");
    spec.set_idempotency_key(key);
    return *spec::new_job(spec, "default", "", "");
  };
  core::NewJob known = keyed("known");
  known.spec->job = known.head.id = JobId{7};
  const core::Writes writes = {core::PutSpec{known.spec}, core::PutJob{std::make_shared<core::JobHead>(known.head)},
                               core::Put<core::IdempotencyRow>{{*known.idempotency, JobId{7}, WallTime{99}}}};
  ASSERT_TRUE(store.commit(writes, *store.new_epoch(), store::BatchNo{1}).ok());
  core::Submit submit;
  v1::JobSpec plain;
  plain.mutable_command()->mutable_shell()->set_cmd("true");
  submit.jobs = {keyed("fresh"), *spec::new_job(plain, "default", "", ""), keyed("known")};
  ASSERT_TRUE(find_key_owners({.ask_store = false, .committed = JobId{9}}, store, submit).ok());
  for (const core::NewJob& job : submit.jobs) EXPECT_EQ(job.key_asked_before, JobId{});
  ASSERT_TRUE(find_key_owners({.ask_store = true, .committed = JobId{9}}, store, submit).ok());
  EXPECT_EQ(submit.jobs[0].key_owner, std::nullopt);
  EXPECT_EQ(submit.jobs[0].key_asked_before, JobId{9});
  EXPECT_EQ(submit.jobs[1].key_asked_before, JobId{}) << "it has no key";
  EXPECT_EQ(submit.jobs[2].key_owner, core::KeyOwner{JobId{7}});
}

}  // namespace
}  // namespace hodei::api::numbers_test
