#include "src/spec/render.h"

#include "google/protobuf/descriptor.h"
#include "src/base/status.h"

namespace hodei::spec {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Counts down what all texts together may still grow to.
class Renderer {
 public:
  explicit Renderer(const core::Values& values) : values_(values) {}

  absl::Status message(Message& out) {
    std::vector<const FieldDescriptor*> set;
    out.GetReflection()->ListFields(out, &set);
    for (const FieldDescriptor* field : set) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        RETURN_IF_ERROR(strings(out, field));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        RETURN_IF_ERROR(messages(out, field));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::string> text(const std::string& in) {
    ASSIGN_OR_RETURN(std::string out, core::substitute(in, values_, left_));
    left_ -= out.size();
    return out;
  }

  absl::Status strings(Message& out, const FieldDescriptor* field) {
    const Reflection* reflection = out.GetReflection();
    if (!field->is_repeated()) {
      ASSIGN_OR_RETURN(std::string filled, text(reflection->GetString(out, field)));
      reflection->SetString(&out, field, std::move(filled));
      return absl::OkStatus();
    }
    for (int i = 0; i < reflection->FieldSize(out, field); ++i) {
      ASSIGN_OR_RETURN(std::string filled, text(reflection->GetRepeatedString(out, field, i)));
      reflection->SetRepeatedString(&out, field, i, std::move(filled));
    }
    return absl::OkStatus();
  }

  absl::Status messages(Message& out, const FieldDescriptor* field) {
    const Reflection* reflection = out.GetReflection();
    if (!field->is_repeated()) return message(*reflection->MutableMessage(&out, field));
    // Entries of a map come this way too: keys and values are strings of their own.
    for (int i = 0; i < reflection->FieldSize(out, field); ++i) {
      RETURN_IF_ERROR(message(*reflection->MutableRepeatedMessage(&out, field, i)));
    }
    return absl::OkStatus();
  }

  const core::Values& values_;
  size_t left_ = core::kMaxRendered;
};

}  // namespace

absl::Status render(const core::Values& values, Message& message) { return Renderer(values).message(message); }

}  // namespace hodei::spec
