// For targets that speak protobuf: reading any bytes as a message, and comparing what came of it.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/util/message_differencer.h"
#include "tests/fuzz/fuzz.h"

namespace hodei::fuzz {

// False: gRPC would have refused the bytes before any code of ours saw them.
inline bool parses(std::string_view bytes, google::protobuf::Message& into) {
  static const bool quiet = [] {
    google::protobuf::SetLogHandler(nullptr);  // it says on stderr what is wrong with a text; here that is daily bread
    return true;
  }();
  (void)quiet;
  return into.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

inline bool same(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

// What is sent must be readable: protobuf refuses to parse a text that is not UTF-8.
template <class Message>
void require_readable(const Message& message) {
  Message again;
  REQUIRE(parses(message.SerializeAsString(), again), "a client cannot read this answer: ", message.ShortDebugString());
}

}  // namespace hodei::fuzz
