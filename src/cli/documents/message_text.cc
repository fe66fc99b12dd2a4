#include "src/cli/documents/message_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/timestamp.pb.h>

#include <map>
#include <nlohmann/json.hpp>

#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/base/time.h"

namespace hodei::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::ordered_json;

Json message_json(const Message& message, bool sparse);

std::string time_text(const Message& message) {
  google::protobuf::Timestamp time;
  time.CopyFrom(message);
  return format_utc(WallTime{time.seconds() * 1'000'000 + time.nanos() / 1000});
}

Json scalar_json(const Message& m, const FieldDescriptor& f, int index, bool sparse) {
  const Reflection& r = *m.GetReflection();
  const bool many = index >= 0;
  switch (f.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: return many ? r.GetRepeatedInt32(m, &f, index) : r.GetInt32(m, &f);
    case FieldDescriptor::CPPTYPE_INT64: return many ? r.GetRepeatedInt64(m, &f, index) : r.GetInt64(m, &f);
    case FieldDescriptor::CPPTYPE_UINT32: return many ? r.GetRepeatedUInt32(m, &f, index) : r.GetUInt32(m, &f);
    case FieldDescriptor::CPPTYPE_UINT64: return many ? r.GetRepeatedUInt64(m, &f, index) : r.GetUInt64(m, &f);
    case FieldDescriptor::CPPTYPE_DOUBLE: return many ? r.GetRepeatedDouble(m, &f, index) : r.GetDouble(m, &f);
    case FieldDescriptor::CPPTYPE_FLOAT: return many ? r.GetRepeatedFloat(m, &f, index) : r.GetFloat(m, &f);
    case FieldDescriptor::CPPTYPE_BOOL: return many ? r.GetRepeatedBool(m, &f, index) : r.GetBool(m, &f);
    case FieldDescriptor::CPPTYPE_ENUM: return (many ? r.GetRepeatedEnum(m, &f, index) : r.GetEnum(m, &f))->name();
    case FieldDescriptor::CPPTYPE_STRING: return many ? r.GetRepeatedString(m, &f, index) : r.GetString(m, &f);
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& inner = many ? r.GetRepeatedMessage(m, &f, index) : r.GetMessage(m, &f);
      if (inner.GetDescriptor()->full_name() == "google.protobuf.Timestamp") return time_text(inner);
      return message_json(inner, sparse);
    }
  }
  return nullptr;
}

// Sorted by key: the same message always prints the same.
Json map_json(const Message& m, const FieldDescriptor& f, bool sparse) {
  std::map<std::string, Json> sorted;
  for (int i = 0; i < m.GetReflection()->FieldSize(m, &f); ++i) {
    const Message& entry = m.GetReflection()->GetRepeatedMessage(m, &f, i);
    const auto& type = *entry.GetDescriptor();
    sorted[entry.GetReflection()->GetString(entry, type.map_key())] = scalar_json(entry, *type.map_value(), -1, sparse);
  }
  Json out = Json::object();
  for (auto& [key, value] : sorted) out[key] = std::move(value);
  return out;
}

bool is_shown(const Message& m, const FieldDescriptor& f, bool sparse) {
  const Reflection& r = *m.GetReflection();
  if (f.is_repeated()) return !sparse || r.FieldSize(m, &f) > 0;
  if (f.has_presence()) return r.HasField(m, &f);
  if (f.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) return r.GetEnum(m, &f)->number() != 0;  // 0 is "unspecified"
  return !sparse || r.HasField(m, &f);
}

Json message_json(const Message& message, bool sparse) {
  const auto& type = *message.GetDescriptor();
  sparse = sparse || type.full_name() == "hodei.v1.JobSpec";
  Json out = Json::object();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (!is_shown(message, field, sparse)) continue;
    Json& value = out[field.name()];
    if (field.is_map()) {
      value = map_json(message, field, sparse);
    } else if (field.is_repeated()) {
      value = Json::array();
      for (int k = 0; k < message.GetReflection()->FieldSize(message, &field); ++k) {
        value.push_back(scalar_json(message, field, k, sparse));
      }
    } else {
      value = scalar_json(message, field, -1, sparse);
    }
  }
  return out;
}

// Bytes that are not UTF-8 (a job's output may be anything) become the replacement character.
std::string dumped(const Json& value, int indent) {
  return printable_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

bool is_plain_yaml(const std::string& text) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_./";
  constexpr std::string_view kMore = "0123456789-+@ ,()=";
  constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
  if (text.empty() || kSafe.find(text[0]) == std::string_view::npos || text.back() == ' ') return false;
  if (text[0] == '.') return false;  // .5, .inf
  for (char c : text) {
    if (kSafe.find(c) == std::string_view::npos && kMore.find(c) == std::string_view::npos) return false;
  }
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords);
}

// A script reads best as a block; only for text that a block gives back unchanged.
bool fits_block(const std::string& text) {
  if (text.size() < 2 || text.find('\n') == std::string::npos || text.back() != '\n') return false;
  if (text[text.size() - 2] == '\n' || text[0] == ' ' || text[0] == '\n') return false;
  return text.find('\t') == std::string::npos && printable_lines(text) == text;
}

void add_yaml(std::string& out, const Json& value, int indent);

void add_yaml_string(std::string& out, const std::string& text, int indent) {
  if (fits_block(text)) {
    out += "|\n";
    for (size_t from = 0; from < text.size();) {
      const size_t end = text.find('\n', from);
      if (end > from) out.append(static_cast<size_t>(indent), ' ').append(text, from, end - from);
      out += '\n';
      from = end + 1;
    }
    return;
  }
  // JSON's quoted form is YAML's, too.
  out += is_plain_yaml(text) ? text : dumped(Json(text), -1);
  out += '\n';
}

void add_yaml_map(std::string& out, const Json& value, int indent, bool first_is_placed) {
  for (const auto& [key, inner] : value.items()) {
    if (!first_is_placed) out.append(static_cast<size_t>(indent), ' ');
    first_is_placed = false;
    out += is_plain_yaml(key) ? key : dumped(Json(key), -1);
    out += ':';
    add_yaml(out, inner, indent + 2);
  }
}

// Writes what follows "key:" or "-", up to and with the end of its line.
void add_yaml(std::string& out, const Json& value, int indent) {
  if (value.empty() && value.is_structured()) {
    out += value.is_array() ? " []\n" : " {}\n";
  } else if (value.is_object()) {
    out += '\n';
    add_yaml_map(out, value, indent, false);
  } else if (value.is_array()) {
    out += '\n';
    for (const Json& item : value) {
      out.append(static_cast<size_t>(indent), ' ').append("-");
      if (item.is_object() && !item.empty()) {
        out += ' ';
        add_yaml_map(out, item, indent + 2, true);
      } else {
        add_yaml(out, item, indent + 2);
      }
    }
  } else if (value.is_string()) {
    out += ' ';
    add_yaml_string(out, value.get_ref<const std::string&>(), indent);
  } else {
    out += ' ' + dumped(value, -1) + '\n';
  }
}

std::string text_of(const Json& value, TextForm form) {
  if (form == TextForm::JsonLine) return dumped(value, -1) + "\n";
  if (form == TextForm::Json) return dumped(value, 2) + "\n";
  std::string out;
  add_yaml(out, value, 0);
  return out.substr(1);  // the separator that add_yaml put in front
}

}  // namespace

std::string json_text(std::string_view json, TextForm form) {
  return text_of(Json::parse(json, nullptr, /*allow_exceptions=*/false), form);
}

std::string message_text(const Message& message, TextForm form) { return text_of(message_json(message, false), form); }

std::string message_list_text(const std::vector<const Message*>& messages, TextForm form) {
  Json list = Json::array();
  for (const Message* message : messages) list.push_back(message_json(*message, false));
  return text_of(list, form);
}

}  // namespace hodei::cli
