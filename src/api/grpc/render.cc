#include "src/api/grpc/render.h"

#include "google/protobuf/descriptor.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

absl::Status render_string(const core::Values& values, Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (!field->is_repeated()) {
    ASSIGN_OR_RETURN(std::string text, core::substitute(reflection->GetString(message, field), values));
    reflection->SetString(&message, field, std::move(text));
    return absl::OkStatus();
  }
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    ASSIGN_OR_RETURN(std::string text, core::substitute(reflection->GetRepeatedString(message, field, i), values));
    reflection->SetRepeatedString(&message, field, i, std::move(text));
  }
  return absl::OkStatus();
}

absl::Status render_messages(const core::Values& values, Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  if (!field->is_repeated()) return render(values, *reflection->MutableMessage(&message, field));
  // Entries of a map come this way too: keys and values are strings of their own.
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    RETURN_IF_ERROR(render(values, *reflection->MutableRepeatedMessage(&message, field, i)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status render(const core::Values& values, Message& message) {
  std::vector<const FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      RETURN_IF_ERROR(render_string(values, message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      RETURN_IF_ERROR(render_messages(values, message, field));
    }
  }
  return absl::OkStatus();
}

}  // namespace hodei::api
