#include "src/cli/utf8.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "src/base/status.h"

namespace hodei::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// How many bytes the character at the beginning has; 0: it is none.
size_t character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than needed, a surrogate, or beyond the last character.
  const unsigned char second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return size;
}

absl::Status check(const Message& message, const std::string& path);

absl::Status check_field(const Message& message, const FieldDescriptor& field, int index, const std::string& path) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return check(index < 0 ? reflection.GetMessage(message, &field) : reflection.GetRepeatedMessage(message, &field, index),
                 path);
  }
  if (field.type() != FieldDescriptor::TYPE_STRING) return absl::OkStatus();
  const std::string text =
      index < 0 ? reflection.GetString(message, &field) : reflection.GetRepeatedString(message, &field, index);
  if (is_utf8(text)) return absl::OkStatus();
  return bad_field(path, "is not UTF-8 text; hand binary data to the job in a file");
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

absl::Status check_utf8(const Message& message) { return check(message, {}); }

}  // namespace hodei::cli
