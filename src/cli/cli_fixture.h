// For tests of the command line: a fake server, and streams, environment and time that the test controls.
#pragma once

#include <atomic>
#include <cerrno>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cli/cli.h"
#include "src/cli/fake_server.h"

namespace hodei::cli {

// A clock that advances only when the program waits.
class TestClock final : public Clock {
 public:
  Now now() const override { return {{us.load()}, {us.load()}}; }
  std::atomic<int64_t> us{1'700'000'000'000'000};
};

// A standard input of which all is there at once.
class TextInput final : public InputSource {
 public:
  explicit TextInput(std::string text) : text_(std::move(text)) {}
  absl::StatusOr<std::string> read(size_t most) override {
    std::string piece = text_.substr(0, most);
    text_.erase(0, piece.size());
    return piece;
  }
  void stop() override {}

 private:
  std::string text_;
};

class CliTest : public testing::Test {
 protected:
  CliTest() {
    io_.out = [this](std::string_view text) {
      out_ += text;
      errno = out_error_;
      return out_error_ == 0;
    };
    io_.err = [this](std::string_view text) { return err_ += text, true; };
    io_.env = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = env_.find(name);
      return found == env_.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    io_.read_stdin = [this] { return absl::StatusOr<std::string>(stdin_); };
    io_.pause = [this](Duration d) {
      if (time_passes_) clock_.us += d.count();
      return on_pause_ ? on_pause_() : true;
    };
    io_.clock = &clock_;
    local_.version = "1.2.3";
    env_["HODEI_SERVER"] = server_.address();
  }

  int run(const std::vector<std::string>& args) {
    out_.clear();
    err_.clear();
    return run_cli(args, local_, io_);
  }
  int run_worker(const std::vector<std::string>& args) {
    out_.clear();
    err_.clear();
    return run_worker_cli(args, local_, io_);
  }

  static v1::Job job_in(v1::Job::State state, int exit_code = 0) {
    v1::Job job;
    job.set_short_id("j1");
    job.set_state(state);
    job.set_exit_code(exit_code);
    if (state == v1::Job::Failed) job.set_failure("non_zero_exit");
    return job;
  }

  static v1::LogChunk chunk(int execution, int64_t offset, const std::string& line, bool is_stderr = false) {
    v1::LogChunk out;
    out.set_execution(execution);
    v1::LogEntry& entry = *out.add_entries();
    const bool whole = line.back() == '\n';
    entry.set_line(whole ? line.substr(0, line.size() - 1) : line);
    entry.set_partial(!whole);
    entry.set_is_stderr(is_stderr);
    entry.set_offset(offset);
    out.set_next_offset(offset + static_cast<int64_t>(line.size()));
    return out;
  }

  std::string temp_file(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/hodei_cli_" + name;
    std::ofstream(path) << text;
    return path;
  }

  TestClock clock_;
  FakeServer server_;
  Surroundings io_;
  LocalCommands local_;
  std::map<std::string, std::string> env_;
  std::string out_, err_, stdin_;
  int out_error_ = 0;        // errno of every write to stdout
  bool time_passes_ = true;  // while somebody pauses
  std::function<bool()> on_pause_;
};

}  // namespace hodei::cli
