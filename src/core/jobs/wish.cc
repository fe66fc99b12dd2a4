#include "src/core/jobs/wish.h"

#include "src/base/codec.h"

namespace hodei::core {

std::string encode(const JobWish& wish) {
  Encoder out;
  out.text(wish.ns).text(wish.template_name).text(wish.spec).text(wish.correlation_id).u64(wish.parameters.size());
  for (const auto& [name, value] : wish.parameters) out.text(name).text(value);
  return out.take();
}

absl::StatusOr<JobWish> decode_wish(std::string_view bytes) {
  Decoder in(bytes);
  JobWish wish;
  wish.ns = in.text();
  wish.template_name = in.text();
  wish.spec = in.text();
  wish.correlation_id = in.text();
  const uint64_t count = in.u64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string name(in.text());
    wish.parameters[name] = in.text();
  }
  if (!in.ok()) return absl::DataLossError("the job that a module wants cannot be read");
  return wish;
}

}  // namespace hodei::core
