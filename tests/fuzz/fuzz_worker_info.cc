// What a worker says about itself when it registers: refused by field, or stored, read and shown as it was.
#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/translate.h"
#include "src/core/fleet/worker.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

FUZZ_TARGET(input) {
  v1::RegisterRequest request;
  if (!fuzz::parses(input, request)) return;
  const absl::StatusOr<core::WorkerInfo> info = api::from_proto(request.info());
  if (!info.ok()) return REQUIRE(fuzz::names_a_field(info.status()), fuzz::words(info.status()));
  REQUIRE(core::decode_worker_info(core::encode(*info)) == *info, "");
  if (const absl::Status valid = core::validate(*info); !valid.ok()) {
    return REQUIRE(fuzz::names_a_field(valid), fuzz::words(valid));
  }
  auto record = std::make_shared<core::WorkerRecord>();
  record->info = *info;
  v1::Worker out;
  api::to_proto(core::WorkerView{.record = record}, &out);
  fuzz::require_readable(out);
  const absl::StatusOr<core::WorkerInfo> again = api::from_proto(out.info());
  REQUIRE(again.ok(), fuzz::words(again.status()));
  // Cores are shown as a decimal fraction; the rest is exact.
  core::WorkerInfo wanted = *info;
  wanted.capacity.cpu_milli = again->capacity.cpu_milli;
  REQUIRE(std::abs(info->capacity.cpu_milli - again->capacity.cpu_milli) <= 1, info->capacity.cpu_milli);
  REQUIRE(*again == wanted, out.ShortDebugString());
}
