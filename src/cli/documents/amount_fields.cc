#include "src/cli/documents/amount_fields.h"

#include <google/protobuf/descriptor.h>

#include <chrono>

#include "src/base/status.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

struct Kind {
  std::string_view suffix;
  FieldDescriptor::CppType type;
  absl::StatusOr<int64_t> (*parse)(std::string_view text);
};
constexpr Kind kKinds[] = {{"_ms", FieldDescriptor::CPPTYPE_INT64, parse_milliseconds},
                           {"_mb", FieldDescriptor::CPPTYPE_INT64, parse_megabytes},
                           {"_cores", FieldDescriptor::CPPTYPE_DOUBLE, parse_cores}};

const Kind* kind_of(const FieldDescriptor& field) {
  for (const Kind& kind : kKinds) {
    if (field.cpp_type() == kind.type && !field.is_repeated() && field.name().ends_with(kind.suffix)) return &kind;
  }
  return nullptr;
}

}  // namespace

const FieldDescriptor* amount_field(const Descriptor& type, const std::string& key) {
  for (const Kind& kind : kKinds) {
    const FieldDescriptor* field = type.FindFieldByName(cat(key, kind.suffix));
    if (field && kind_of(*field) == &kind) return field;
  }
  return nullptr;
}

std::string amount_name(const FieldDescriptor& field) {
  const Kind* kind = kind_of(field);
  return kind ? field.name().substr(0, field.name().size() - kind->suffix.size()) : std::string();
}

absl::StatusOr<int64_t> parse_amount(const FieldDescriptor& field, std::string_view text) {
  const Kind* kind = kind_of(field);
  if (!kind) return absl::InvalidArgumentError(cat(field.name(), " contains no amount"));
  return kind->parse(text);
}

}  // namespace hodei::cli
