// A request to run a job, from bytes to what the engine takes, the store keeps, the worker gets and people see.
#include "hodei/v1/job_service.pb.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/api/calls/translate.h"
#include "src/spec/submission.h"
#include "src/store/memory/memory_store.h"
#include "src/store/rows.h"
#include "src/worker/agent/program_builder.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

static void kept(const core::JobHead& head) {
  REQUIRE(head.shape != nullptr && core::encode(core::decode_shape(head.shape->encoded)) == head.shape->encoded, "");
  core::JobHead again;
  store::unpack_details(store::pack_details(head), again);
  REQUIRE(store::pack_details(again) == store::pack_details(head), "");
}

static void shown(const core::NewJob& job) {
  store::JobView view{.head = job.head, .spec = *job.spec};
  view.head.id = JobId{1};
  v1::Job out;
  api::to_proto(view, true, &out);
  fuzz::require_readable(out);
  REQUIRE(!out.name().empty() || job.spec->name.empty(), "");
}

// What the server calls good a worker can run.
static void built(const core::NewJob& job) {
  const worker::RunOrder order{.execution = {JobId{1}, 1}, .spec = job.spec->bytes};
  const worker::Program program = worker::build_program(order);
  REQUIRE(program.impossible.empty(), program.impossible);
  REQUIRE(!program.argv.empty() && !program.argv[0].empty(), "");
  for (const worker::Program::File& file : program.files) {
    REQUIRE(file.name.find('/') == std::string::npos && !file.name.empty(), file.name);
  }
  for (const std::string& pair : program.env) REQUIRE(pair.find('=') != std::string::npos, pair);
}

FUZZ_TARGET(input) {
  v1::QueueJobRequest request;
  if (!fuzz::parses(input, request)) return;
  const absl::StatusOr<std::string> ns = spec::namespace_of(request.namespace_());
  if (!ns.ok()) return REQUIRE(fuzz::names_a_field(ns.status()), fuzz::words(ns.status()));
  store::MemoryStore store;
  absl::StatusOr<v1::JobSpec> spec = api::rendered_spec(request, *ns, store);
  if (!spec.ok()) return REQUIRE(fuzz::names_a_field(spec.status()), fuzz::words(spec.status()));
  // The border has sealed values before they get here.
  for (v1::Secret& secret : *spec->mutable_secrets()) secret.clear_value();
  const absl::StatusOr<core::NewJob> job = spec::new_job(*spec, *ns, request.correlation_id(), request.template_());
  if (!job.ok()) return REQUIRE(fuzz::names_a_field(job.status()), fuzz::words(job.status()));
  v1::JobSpec stored;
  REQUIRE(fuzz::parses(job->spec->bytes, stored) && fuzz::same(stored, *spec), "");
  kept(job->head);
  shown(*job);
  built(*job);
}
