// Amounts in files the way people write them: `timeout: 5m` means timeout_ms, `memory: 2Gi` memory_mb, `cpu: 500m`
// cpu_cores. The precise fields of the protos are understood beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace hodei::cli {

// The precise field of `type` that `key` stands for; null: none.
const google::protobuf::FieldDescriptor* amount_field(const google::protobuf::Descriptor& type, const std::string& key);

// The other way round: "timeout" for timeout_ms. Empty: the field holds no amount.
std::string amount_name(const google::protobuf::FieldDescriptor& field);

// The amount in the unit of the precise field; cores in thousandths.
absl::StatusOr<int64_t> parse_amount(const google::protobuf::FieldDescriptor& field, std::string_view text);

}  // namespace hodei::cli
