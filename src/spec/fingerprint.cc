#include "src/spec/fingerprint.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "src/base/clip.h"
#include "src/base/hash.h"

namespace hodei::spec {
namespace {

constexpr size_t kMaxDifferences = 1000;  // characters of them in one message

v1::JobSpec comparable(v1::JobSpec spec) {
  spec.clear_idempotency_key();
  spec.clear_traceparent();
  spec.clear_takes_stdin();  // whether the caller had a terminal
  for (v1::Secret& secret : *spec.mutable_secrets()) {
    secret.clear_value();
    secret.clear_sealed();
  }
  return spec;
}

v1::JobSpec comparable(const std::string& bytes) {
  v1::JobSpec spec;
  spec.ParseFromString(bytes);
  return comparable(std::move(spec));
}

}  // namespace

uint64_t fingerprint_of(const v1::JobSpec& spec) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // maps in the order of their keys
    comparable(spec).SerializeToCodedStream(&coded);
  }
  return std::max<uint64_t>(hash64(bytes), 1);
}

std::string differences(const std::string& first, const std::string& now) {
  std::string lines;
  google::protobuf::util::MessageDifferencer differ;
  differ.ReportDifferencesToString(&lines);
  differ.Compare(comparable(first), comparable(now));
  while (!lines.empty() && lines.back() == '\n') lines.pop_back();
  std::string out;
  for (const char c : lines) out += c == '\n' ? std::string("; ") : std::string(1, c);
  return std::string(clip(out, kMaxDifferences));
}

}  // namespace hodei::spec
