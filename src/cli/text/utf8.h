// Checks that text is UTF-8. Text from a command line or a file may be any bytes, and the error of gRPC for it would
// not help the user.
#pragma once

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace hodei::cli {

// OK, or an error that names the first text field of the message (or of one inside it) that is not UTF-8.
absl::Status check_utf8(const google::protobuf::Message& message);

}  // namespace hodei::cli
