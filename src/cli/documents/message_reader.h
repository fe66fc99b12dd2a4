// A document read into a protobuf message by the message's own field names. Unknown fields, wrong types and unknown
// enum values are refused with the file, the line, the path (`constraints.labels[0].operator`) and what was meant.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "src/cli/documents/document.h"

namespace google::protobuf {
class Message;
}

namespace hodei::cli {

// `name`: of the file, for errors.
absl::Status read_message(const Node& node, const std::string& name, google::protobuf::Message& out);

}  // namespace hodei::cli
