// What is stored about workers: their records, and the one-time tokens with which they come.
#pragma once

#include <string_view>
#include <tuple>

#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/fleet/worker.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// A one-time token; only its hash is known.
struct OtpRow {
  Hash128 token;
  WorkerId worker;  // empty: any new worker
  WallTime expires;

  bool operator==(const OtpRow&) const = default;
};

template <>
struct RowType<OtpRow> : RowDefaults {
  static constexpr std::string_view table = "otp";
  static constexpr auto columns =
      std::tuple(column::key("token", &OtpRow::token), column::value("worker", &OtpRow::worker),
                 column::value("expires", &OtpRow::expires));
};

struct InnerWorkerId {
  template <class Record>
  auto& operator()(Record& record) const {
    return record.info.id;
  }
};

template <>
struct RowType<WorkerRecord> : RowDefaults {
  static constexpr std::string_view table = "worker";
  static constexpr auto columns = std::tuple(
      column::inner_key<WorkerRecord>("id", InnerWorkerId()), column::value("state", &WorkerRecord::state),
      column::value("session", &WorkerRecord::session), column::value("used_otp", &WorkerRecord::used_otp),
      column::value("incarnation", &WorkerRecord::incarnation),
      // Whether it has stopped; the name of the column is of an earlier version.
      column::value("stop_when_empty", &WorkerRecord::stopped), column::value("registered", &WorkerRecord::registered),
      column::packed<decode_worker_info>("info", &WorkerRecord::info));
  static constexpr std::string_view check = "state BETWEEN 1 AND 7";
  static_assert(static_cast<int>(WorkerState::Terminated) == 7);
};

// Workers come last: what they count for (providers, tokens) is there before them.
using FleetRows = TypeList<OtpRow, WorkerRecord>;

}  // namespace hodei::core
