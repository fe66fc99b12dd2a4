// The table of calls against what the protos say.
#include "src/api/calls/table.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "hodei/v1/input_service.pb.h"
#include "src/base/text.h"

namespace hodei::api::table_test {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

// The methods of every proto file, whether or not somebody knows it.
std::vector<const MethodDescriptor*> all_methods() {
  v1::SendInputRequest::descriptor();  // linked: no call of that service has its messages, both are bound by hand
  std::vector<const MethodDescriptor*> out;
  for (const auto& entry : std::filesystem::directory_iterator(HODEI_SOURCE_FOLDER "/proto/hodei/v1")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_service.proto")) continue;
    const FileDescriptor* file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName("hodei/v1/" + name);
    EXPECT_NE(file, nullptr) << name << " is in no line of the table";
    if (file == nullptr) continue;
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) out.push_back(file->service(s)->method(m));
    }
  }
  return out;
}

const MethodDescriptor* method_of(const TableLine& line) {
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string(line.service));
  return service == nullptr ? nullptr : service->FindMethodByName(std::string(line.line.name));
}

// The fields that a path names: "job_id" of "/api/v1/jobs/{job_id}".
std::vector<std::string> parameters(std::string_view path) {
  static const std::regex kParameter(R"(\{([a-z_.]+)(=\*\*)?\})");
  const std::string text(path);
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), kParameter), end; it != end; ++it) out.push_back((*it)[1]);
  return out;
}

// The field at a path such as "artifact.name"; null: there is none that a path could carry.
const FieldDescriptor* field_at(const Descriptor* message, const std::string& path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* field = message->FindFieldByName(path.substr(0, dot));
  if (field == nullptr || field->is_repeated()) return nullptr;
  if (dot == std::string::npos) return field->type() == FieldDescriptor::TYPE_STRING ? field : nullptr;
  return field->message_type() == nullptr ? nullptr : field_at(field->message_type(), path.substr(dot + 1));
}

TEST(CallTable, HasOneLineForEveryRpc) {
  std::map<std::string, int> lines;
  for (const TableLine& line : call_table()) {
    ASSERT_NE(method_of(line), nullptr) << line.service << "." << line.line.name;
    ++lines[method_of(line)->full_name()];
  }
  for (const MethodDescriptor* method : all_methods()) EXPECT_EQ(lines[method->full_name()], 1) << method->full_name();
  EXPECT_EQ(lines.size(), all_methods().size());
}

TEST(CallTable, KnowsWhichCallsStream) {
  for (const TableLine& line : call_table()) {
    const MethodDescriptor* method = method_of(line);
    const CallKind kind = method->client_streaming()   ? CallKind::ByHand
                          : method->server_streaming() ? CallKind::Source
                                                       : CallKind::Unary;
    EXPECT_EQ(line.kind, kind) << method->full_name();
  }
}

TEST(CallTable, SaysOfEveryCallWhoMayAndWhatAnswers) {
  for (const TableLine& line : call_table()) {
    EXPECT_NE(line.line.who, Who{}) << line.line.name;
    EXPECT_NE(line.line.by, By{}) << line.line.name;
  }
}

TEST(CallTable, GivesEveryCallAPathOfItsOwn) {
  static const std::regex kPath(R"(/api/v1(/[a-z]+(-[a-z]+)*|/\{[a-z_.]+(=\*\*)?\})+(:[a-z]+)?)");
  std::set<std::string> seen;
  for (const TableLine& line : call_table()) {
    const std::string name = method_of(line)->full_name();
    EXPECT_EQ(line.line.verb == Http::None, line.line.path.empty()) << name;
    if (line.line.path.empty()) {
      EXPECT_EQ(line.kind, CallKind::ByHand) << name << " has no path";
      continue;
    }
    EXPECT_TRUE(std::regex_match(std::string(line.line.path), kPath)) << name << ": " << line.line.path;
    // Two paths that differ only in the names of their parameters are the same.
    const std::string shape = std::regex_replace(std::string(line.line.path), std::regex(R"(\{[^}]*\})"), "{}");
    EXPECT_TRUE(seen.insert(cat(static_cast<int>(line.line.verb), " ", shape)).second) << name << ": " << shape;
  }
}

TEST(CallTable, NamesFieldsOfTheRequestInItsPaths) {
  for (const TableLine& line : call_table()) {
    for (const std::string& parameter : parameters(line.line.path)) {
      EXPECT_NE(field_at(method_of(line)->input_type(), parameter), nullptr)
          << method_of(line)->full_name() << " has no field " << parameter;
    }
  }
}

TEST(CallTable, ReadsWithGetAndChangesWithTheRest) {
  for (const TableLine& line : call_table()) {
    if (line.line.audited == Audited::Yes) {
      EXPECT_NE(line.line.verb, Http::Get) << line.line.name;
    }
    if (line.kind == CallKind::Source) {
      EXPECT_EQ(line.line.verb, Http::Get) << line.line.name;
    }
    const bool only_reads = line.line.name.starts_with("Get") || line.line.name.starts_with("List");
    if (!only_reads) continue;
    EXPECT_EQ(line.line.audited, Audited::No) << line.line.name;
    // A question that is too long for an address is a POST.
    const bool has_spec = method_of(line)->input_type()->FindFieldByName("spec") != nullptr;
    EXPECT_EQ(line.line.verb, has_spec ? Http::Post : Http::Get) << line.line.name;
  }
}

// What the proto files tell people must be what the table says. A comment is for the methods below it until the next.
class ProtoComments : public testing::Test {
 protected:
  static std::string source() {
    std::string out;
    for (const MethodDescriptor* method : all_methods()) {
      const std::string path = cat(HODEI_SOURCE_FOLDER, "/proto/", method->file()->name());
      if (out.find(cat("// ", path, "\n")) != std::string::npos) continue;
      std::ifstream file(path);
      std::stringstream text;
      text << file.rdbuf();
      out += cat("// ", path, "\n", text.str());
    }
    return out;
  }

  // "Loop", "Store", or nothing: the comment does not say.
  static std::map<std::string, std::string> answered_by() {
    std::map<std::string, std::string> out;
    std::istringstream lines(source());
    std::string line, word, service;
    bool in_comment = false;
    static const std::regex kService(R"(^service (\w+))"), kRpc(R"(^  rpc (\w+)\()");
    static const std::regex kComment(R"(^  // (Loop|Store|Files|Events|Provider)?)");
    for (std::smatch m; std::getline(lines, line);) {
      const bool is_comment = std::regex_search(line, m, kComment);
      if (is_comment && !in_comment) word = m[1];
      in_comment = is_comment;
      if (std::regex_search(line, m, kService)) {
        service = m[1];
        word.clear();
      }
      if (std::regex_search(line, m, kRpc)) out[cat(service, ".", std::string(m[1]))] = word;
    }
    return out;
  }
};

TEST_F(ProtoComments, SayTheSameAsTheTable) {
  const std::map<std::string, std::string> said = answered_by();
  ASSERT_EQ(said.size(), call_table().size());
  const std::map<By, std::string> words = {{By::Loop, "Loop"},
                                           {By::Store, "Store"},
                                           {By::Files, "Files"},
                                           {By::Events, "Events"},
                                           {By::Providers, "Provider"}};
  for (const TableLine& line : call_table()) {
    const std::string name = cat(line.service.substr(std::string_view("hodei.v1.").size()), ".", line.line.name);
    ASSERT_TRUE(said.contains(name)) << name;
    EXPECT_EQ(said.at(name), words.at(line.line.by)) << name;
  }
}

}  // namespace
}  // namespace hodei::api::table_test
