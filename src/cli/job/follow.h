// Follows a job to its end: all of its output, through retries and through restarts of the server.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/cli/client/client.h"
#include "src/cli/job/log_cursor.h"

namespace hodei::cli {

struct FollowOptions {
  std::string job_id;
  int32_t execution = 0;          // 0: all
  std::optional<LogCursor> from;  // where to begin; not set: at the beginning
  Duration reconnect_for{};       // how long a server may be away
  const Clock* clock = nullptr;
  std::function<bool(Duration)> pause;
  LogCursor::Sink on_piece;
  std::function<bool()> on_pause;                   // after the last piece of what came in one go; false: stop here
  std::function<void(const std::string&)> on_note;  // for people: reconnecting, output missing
  std::function<void(const v1::LogGap&, const LogCursor& before)> on_gap;  // not set: a note says it
};

std::string gap_note(const v1::LogGap& gap);

class Follower {
 public:
  Follower(Client& client, FollowOptions options);

  // Returns the job as it ended; of a single execution, the job as it is when that one has ended. CANCELLED: on_pause
  // did not want more.
  absl::StatusOr<v1::Job> follow();

 private:
  absl::Status read_logs();
  absl::StatusOr<v1::Job> job_with_news();
  absl::StatusOr<v1::Job> job_now();
  absl::Status wait_for_change(const v1::Job& job);
  absl::Status after_break(const absl::Status& broken);
  void connected();

  Client& client_;
  FollowOptions options_;
  LogCursor cursor_;
  BackOff back_off_;
  MonoTime away_since_{};
  bool fell_behind_ = false;
  bool is_deleted_ = false;  // somebody has deleted the output
  bool stopped_ = false;     // by on_pause
  bool told_away_ = false;   // that the server is away
};

}  // namespace hodei::cli
