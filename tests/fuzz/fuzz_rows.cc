// Columns of the store that hold packed values, and rows of every type, read back: any bytes give a value, and a value
// keeps its bytes.
#include <cstring>

#include "src/base/codec.h"
#include "src/core/fleet/worker.h"
#include "src/core/jobs/job.h"
#include "src/core/writes.h"
#include "src/store/rows.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/row_bytes.h"

using namespace hodei;

// Writing what was read, and reading it again, must not change anything any more.
template <class Read, class Write>
static void settles(std::string_view bytes, const Read& read, const Write& write) {
  const std::string once = write(read(bytes));
  const std::string twice = write(read(std::string_view(once)));
  REQUIRE(once == twice, once.size(), " bytes became ", twice.size());
}

static void row_settles(size_t type, std::string_view bytes) {
  size_t at = 0;
  core::each_type(core::AllRows{}, [&]<class Row>(std::type_identity<Row>) {
    if (at++ == type) settles(bytes, fuzz::from_bytes<Row>, fuzz::to_bytes<Row>);
  });
}

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const std::string_view bytes = input.substr(1);
  const auto kind = static_cast<unsigned char>(input[0]);
  if (kind >= fuzz::kFirstRowKind) {
    return row_settles((kind - fuzz::kFirstRowKind) % core::list_size(core::AllRows{}), bytes);
  }
  switch (kind) {
    case 0: return settles(bytes, store::unpack_labels, [](const core::Labels& v) { return store::pack(v); });
    case 1:
      return settles(bytes, store::unpack_scheduler, [](const core::SchedulerConfig& v) { return store::pack(v); });
    case 2: return settles(bytes, store::unpack_hash, [](Hash128 v) { return store::pack(v); });
    case 3: return settles(bytes, core::decode_shape, [](const core::Shape& v) { return core::encode(v); });
    case 4: return settles(bytes, core::decode_worker_info, [](const core::WorkerInfo& v) { return core::encode(v); });
    case 5:
      return settles(
          bytes, [](std::string_view b) { return core::decode_past(b); },
          [](const std::shared_ptr<const core::Past>& v) { return v == nullptr ? std::string() : core::encode(*v); });
    case 6:
      return settles(
          bytes,
          [](std::string_view b) {
            core::JobHead head;
            store::unpack_details(b, head);
            return head;
          },
          [](const core::JobHead& v) { return store::pack_details(v); });
    default:
      store::ShapePool().get(bytes);
      settles(bytes, core::decode_archived, [](const core::ArchivedExecution& v) { return core::encode(v); });
  }
}
