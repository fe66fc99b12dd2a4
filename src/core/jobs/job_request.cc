#include "src/core/jobs/job_request.h"

#include "src/base/codec.h"

namespace hodei::core {

std::string encode(const JobRequest& request) {
  Encoder out;
  out.text(request.ns)
      .text(request.template_name)
      .text(request.spec)
      .text(request.correlation_id)
      .u64(request.parameters.size());
  for (const auto& [name, value] : request.parameters) out.text(name).text(value);
  return out.take();
}

absl::StatusOr<JobRequest> decode_job_request(std::string_view bytes) {
  Decoder in(bytes);
  JobRequest request;
  request.ns = in.text();
  request.template_name = in.text();
  request.spec = in.text();
  request.correlation_id = in.text();
  const uint64_t count = in.u64();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string name(in.text());
    request.parameters[name] = in.text();
  }
  if (!in.ok()) return absl::DataLossError("the job that a module wants cannot be read");
  return request;
}

}  // namespace hodei::core
