// A protobuf message as JSON or YAML with the proto's field names, the way scripts like to read it: numbers are
// numbers, times are RFC 3339, enums are their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace google::protobuf {
class Message;
}

namespace hodei::cli {

enum class TextForm { Json, JsonLine, Yaml };

// Ends with a newline. Scalars are printed also when zero, except inside a JobSpec, which prints as a job file.
std::string message_text(const google::protobuf::Message& message, TextForm form);
// The same of a JSON text.
std::string json_text(std::string_view json, TextForm form);
std::string message_list_text(const std::vector<const google::protobuf::Message*>& messages, TextForm form);

}  // namespace hodei::cli
