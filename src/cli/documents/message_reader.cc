#include "src/cli/documents/message_reader.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "src/base/status.h"
#include "src/cli/documents/amount_fields.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> field_names(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
    if (const std::string people_write = amount_name(*type.field(i)); !people_write.empty()) {
      names.push_back(people_write);
    }
  }
  return names;
}

// The zero value of an enum says "unspecified" and is not a word that people write.
std::vector<std::string> enum_names(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> words;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) words.push_back(type.value(i)->name());
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  absl::Status message(const Node& node, const std::string& path, Message& out) {
    if (node.kind == Node::Kind::Null) return absl::OkStatus();
    if (out.GetDescriptor()->full_name() == "google.protobuf.Timestamp") return timestamp(node, path, out);
    if (node.kind != Node::Kind::Map) return wrong(node, path, "a mapping of fields");
    for (const Node::Field& field : node.fields) RETURN_IF_ERROR(one_field(field, node, path, out));
    return absl::OkStatus();
  }

 private:
  absl::Status at(int line, std::string_view what) const {
    return absl::InvalidArgumentError(cat(file_, ":", line, ": ", what));
  }

  absl::Status wrong(const Node& node, const std::string& path, std::string_view expected) const {
    const std::string found =
        node.kind == Node::Kind::Scalar ? cat("'", node.text.substr(0, 40), "'") : std::string(kind_name(node));
    return at(node.line, cat(path.empty() ? "the file" : path, ": must be ", expected, ", not ", found));
  }

  absl::Status one_field(const Node::Field& given, const Node& among, const std::string& parent, Message& out) {
    const Descriptor& type = *out.GetDescriptor();
    const std::string path = parent.empty() ? given.key : cat(parent, ".", given.key);
    const FieldDescriptor* field = type.FindFieldByName(given.key);
    if (!field) {
      if (const FieldDescriptor* precise = amount_field(type, given.key)) {
        return amount(given, among, path, *precise, out);
      }
      if (const FieldDescriptor* resources =
              type.full_name() == "hodei.v1.JobSpec" ? type.FindFieldByName("resources") : nullptr) {
        const FieldDescriptor* precise = amount_field(*resources->message_type(), given.key);
        if (precise) return resource(given, among, path, *resources, *precise, out);
      }
      const std::vector<std::string> known = field_names(type);
      const std::string hint = did_you_mean(given.key, known);
      return at(given.line, cat("unknown field '", path, "'",
                                hint.empty() ? cat("; ", type.name(), " has ", joined(known)) : hint));
    }
    if (given.value.kind == Node::Kind::Null) return absl::OkStatus();
    if (const auto* oneof = field->real_containing_oneof()) {
      const FieldDescriptor* other = out.GetReflection()->GetOneofFieldDescriptor(out, oneof);
      if (other) return not_both(given, path, other->name(), given.key);
    }
    if (field->is_map()) return map_field(given.value, path, *field, out);
    if (field->is_repeated()) return list_field(given.value, path, *field, out);
    return value(given.value, path, *field, out);
  }

  // `timeout: 5m` beside timeout_ms, `memory: 2Gi` beside memory_mb, `cpu: 500m` beside cpu_cores.
  absl::Status amount(const Node::Field& given, const Node& among, const std::string& path,
                      const FieldDescriptor& precise, Message& out) {
    if (given.value.kind == Node::Kind::Null) return absl::OkStatus();
    if (among.find(precise.name())) return not_both(given, path, given.key, precise.name());
    if (given.value.kind != Node::Kind::Scalar) return wrong(given.value, path, "an amount such as 5m or 2Gi");
    const absl::StatusOr<int64_t> number = parse_amount(precise, given.value.text);
    if (!number.ok()) return at(given.value.line, cat(path, ": ", std::string(number.status().message())));
    const Reflection& r = *out.GetReflection();
    if (precise.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      r.SetDouble(&out, &precise, static_cast<double>(*number) / 1000);  // cores
    } else {
      r.SetInt64(&out, &precise, *number);
    }
    return absl::OkStatus();
  }

  // `memory: 2Gi` at the top of a job, where people look for it first.
  absl::Status resource(const Node::Field& given, const Node& among, const std::string& path,
                        const FieldDescriptor& resources, const FieldDescriptor& precise, Message& out) {
    const Node* inner = among.find("resources");
    for (const std::string& name : {given.key, precise.name()}) {
      if (inner && inner->find(name)) return not_both(given, path, given.key, cat("resources.", name));
    }
    const Node nothing;
    return amount(given, nothing, path, precise, *out.GetReflection()->MutableMessage(&out, &resources));
  }

  absl::Status not_both(const Node::Field& given, const std::string& path, std::string_view one,
                        std::string_view other) const {
    return at(given.line, cat(path, ": give either '", one, "' or '", other, "', not both"));
  }

  absl::Status map_field(const Node& node, const std::string& path, const FieldDescriptor& field, Message& out) {
    if (node.kind != Node::Kind::Map) return wrong(node, path, "a mapping of names to values");
    for (const Node::Field& given : node.fields) {
      Message& entry = *out.GetReflection()->AddMessage(&out, &field);
      const Descriptor& type = *entry.GetDescriptor();
      entry.GetReflection()->SetString(&entry, type.map_key(), given.key);
      RETURN_IF_ERROR(value(given.value, cat(path, ".", given.key), *type.map_value(), entry));
    }
    return absl::OkStatus();
  }

  absl::Status list_field(const Node& node, const std::string& path, const FieldDescriptor& field, Message& out) {
    if (node.kind != Node::Kind::List) return wrong(node, path, "a list");
    for (size_t i = 0; i < node.items.size(); ++i) {
      RETURN_IF_ERROR(value(node.items[i], cat(path, "[", i, "]"), field, out));
    }
    return absl::OkStatus();
  }

  // Sets a singular field, or adds to a repeated one.
  absl::Status value(const Node& node, const std::string& path, const FieldDescriptor& field, Message& out) {
    const Reflection& r = *out.GetReflection();
    const bool many = field.is_repeated();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return message(node, path, many ? *r.AddMessage(&out, &field) : *r.MutableMessage(&out, &field));
    }
    if (node.kind != Node::Kind::Scalar) return wrong(node, path, expected_of(field));
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        many ? r.AddString(&out, &field, node.text) : r.SetString(&out, &field, node.text);
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_BOOL: {
        if (node.text != "true" && node.text != "false") return wrong(node, path, expected_of(field));
        many ? r.AddBool(&out, &field, node.text == "true") : r.SetBool(&out, &field, node.text == "true");
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_ENUM: return enum_word(node, path, field, out);
      default: return number(node, path, field, out);
    }
  }

  absl::Status number(const Node& node, const std::string& path, const FieldDescriptor& field, Message& out) {
    const Reflection& r = *out.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      const std::optional<double> n = number_in<double>(node.text);
      if (!n || !std::isfinite(*n)) return not_a_number(node, path, field);
      r.SetDouble(&out, &field, *n);
      return absl::OkStatus();
    }
    std::optional<int64_t> n = number_in<int64_t>(node.text);
    if (!n && field.name().find("bytes") != std::string::npos) {
      if (const absl::StatusOr<int64_t> size = parse_bytes(node.text); size.ok()) n = *size;
    }
    if (!n) return not_a_number(node, path, field);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT64: r.SetInt64(&out, &field, *n); return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_UINT64:
        if (*n < 0) break;
        r.SetUInt64(&out, &field, static_cast<uint64_t>(*n));
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_INT32:
        if (*n < std::numeric_limits<int32_t>::min() || *n > std::numeric_limits<int32_t>::max()) break;
        r.SetInt32(&out, &field, static_cast<int32_t>(*n));
        return absl::OkStatus();
      default: return at(node.line, cat(path, ": cannot be set in a file"));
    }
    return at(node.line, cat(path, ": ", node.text, " is out of range"));
  }

  absl::Status not_a_number(const Node& node, const std::string& path, const FieldDescriptor& field) const {
    const absl::Status plain = wrong(node, path, expected_of(field));
    const std::string people_write = amount_name(field);
    if (people_write.empty() || !parse_amount(field, node.text).ok()) return plain;
    return absl::InvalidArgumentError(
        cat(std::string(plain.message()), "; write `", people_write, ": ", node.text, "`"));
  }

  absl::Status enum_word(const Node& node, const std::string& path, const FieldDescriptor& field, Message& out) {
    const EnumValueDescriptor* found = field.enum_type()->FindValueByName(node.text);
    if (!found || found->number() == 0) {
      const std::vector<std::string> words = enum_names(*field.enum_type());
      return at(node.line, cat(path, ": '", node.text.substr(0, 40), "' is not one of ", joined(words),
                               did_you_mean(node.text, words)));
    }
    const Reflection& r = *out.GetReflection();
    field.is_repeated() ? r.AddEnum(&out, &field, found) : r.SetEnum(&out, &field, found);
    return absl::OkStatus();
  }

  absl::Status timestamp(const Node& node, const std::string& path, Message& out) {
    google::protobuf::Timestamp time;
    if (node.kind != Node::Kind::Scalar || !google::protobuf::util::TimeUtil::FromString(node.text, &time)) {
      return wrong(node, path, "a time such as 2026-01-31T12:00:00Z");
    }
    out.CopyFrom(time);
    return absl::OkStatus();
  }

  static std::string_view expected_of(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING: return "text";
      case FieldDescriptor::CPPTYPE_BOOL: return "true or false";
      case FieldDescriptor::CPPTYPE_DOUBLE: return "a number";
      case FieldDescriptor::CPPTYPE_ENUM: return "one of the words of its kind";
      default: return "a whole number";
    }
  }

  const std::string& file_;
};

}  // namespace

absl::Status read_message(const Node& node, const std::string& name, Message& out) {
  return Reader(name).message(node, "", out);
}

}  // namespace hodei::cli
