// Times between protobuf and the plain structs inside.
#pragma once

#include "google/protobuf/timestamp.pb.h"
#include "src/base/time.h"

namespace hodei::spec {

inline void set_time(WallTime t, google::protobuf::Timestamp* out) {
  out->set_seconds(t.us / 1'000'000);
  out->set_nanos(static_cast<int>(t.us % 1'000'000) * 1'000);
}

inline WallTime from_proto(const google::protobuf::Timestamp& t) {
  return {t.seconds() * 1'000'000 + t.nanos() / 1'000};
}

}  // namespace hodei::spec
