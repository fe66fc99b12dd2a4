#include "src/cli/text/utf8.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "src/base/status.h"
#include "src/base/utf8.h"

namespace hodei::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status check(const Message& message, const std::string& path);

absl::Status check_field(const Message& message, const FieldDescriptor& field, int index, const std::string& path) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return check(
        index < 0 ? reflection.GetMessage(message, &field) : reflection.GetRepeatedMessage(message, &field, index),
        path);
  }
  if (field.type() != FieldDescriptor::TYPE_STRING) return absl::OkStatus();
  const std::string text =
      index < 0 ? reflection.GetString(message, &field) : reflection.GetRepeatedString(message, &field, index);
  if (is_utf8(text)) return absl::OkStatus();
  return bad_field(path, "is not UTF-8 text; pass binary data to the job as an artifact");
}

absl::Status check(const Message& message, const std::string& path) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string here = path.empty() ? field->name() : cat(path, ".", field->name());
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 0;
    if (!field->is_repeated()) RETURN_IF_ERROR(check_field(message, *field, -1, here));
    for (int i = 0; i < count; ++i) RETURN_IF_ERROR(check_field(message, *field, i, here));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_utf8(const Message& message) { return check(message, {}); }

}  // namespace hodei::cli
