// Submits many ledger jobs over one QueueJobs stream and writes down every one that was acknowledged; or reads jobs
// back.
//
//   hodei-load submit SERVER ACKED JOBS RATE ATTEMPTS CMD ARG…    until all are acknowledged, whatever the server does
//   hodei-load dump SERVER ACKED OUT                              every acknowledged job as one line of JSON
//
// A lost stream is opened again and what was not acknowledged is sent again under its old idempotency key.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "google/protobuf/util/json_util.h"
#include "hodei/v1/job_service.grpc.pb.h"

namespace {

namespace v1 = hodei::v1;
using Clock = std::chrono::steady_clock;
using Stream = grpc::ClientReaderWriter<v1::QueueJobRequest, v1::QueueJobResponse>;

constexpr size_t kWindow = 256;  // submissions in flight at once
constexpr auto kConnectPatience = std::chrono::seconds(60);
constexpr int kBackoffMs = 50;  // of the jobs: retries come soon

[[noreturn]] void give_up(const std::string& what) {
  std::cerr << "hodei-load: " << what << std::endl;
  std::_Exit(1);
}

std::shared_ptr<grpc::Channel> connect(const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
}

struct Work {
  std::string server;
  std::string acked_path;
  size_t jobs = 0;
  double rate = 0;  // submissions per second; 0: as many as go
  int attempts = 1;
  std::string cmd;
  std::vector<std::string> args;
};

class Submission {
 public:
  explicit Submission(Work work)
      : work_(std::move(work)), acked_(work_.jobs), log_(work_.acked_path, std::ios::app), began_(Clock::now()) {}

  void run() {
    const std::shared_ptr<grpc::Channel> channel = connect(work_.server);
    const auto stub = v1::JobExecutionService::NewStub(channel);
    while (left() > 0) {
      if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience)) {
        give_up("no server answers at " + work_.server);
      }
      grpc::ClientContext context;
      const std::unique_ptr<Stream> stream = stub->QueueJobs(&context);
      in_flight_ = 0;
      broken_ = false;
      std::thread writer([&] { write_all(*stream); });
      read_all(*stream);
      writer.join();
      const grpc::Status ended = stream->Finish();
      if (left() > 0)
        std::cerr << "hodei-load: stream lost (" << ended.error_message() << "), " << left() << " to go\n";
    }
  }

 private:
  size_t left() {
    std::lock_guard lock(mutex_);
    return work_.jobs - acked_count_;
  }

  void write_all(Stream& stream) {
    for (size_t n = 0; n < work_.jobs; ++n) {
      {
        std::unique_lock lock(mutex_);
        if (acked_[n]) continue;
        changed_.wait(lock, [&] { return in_flight_ < kWindow || broken_; });
        if (broken_) break;
        ++in_flight_;
      }
      // Not before its turn, so that submissions go on while jobs run and parts are killed.
      if (work_.rate > 0) {
        std::this_thread::sleep_until(began_ + std::chrono::microseconds(static_cast<int64_t>(1e6 * n / work_.rate)));
      }
      if (!stream.Write(request(n))) break;
    }
    stream.WritesDone();
  }

  v1::QueueJobRequest request(size_t n) const {
    v1::QueueJobRequest out;
    v1::JobSpec& spec = *out.mutable_spec();
    spec.set_name("ledger-" + std::to_string(n));
    spec.mutable_command()->mutable_shell()->set_cmd(work_.cmd);
    for (const std::string& arg : work_.args) spec.mutable_command()->mutable_shell()->add_args(arg);
    spec.set_max_attempts(work_.attempts);
    spec.mutable_backoff()->set_initial_ms(kBackoffMs);
    spec.set_idempotency_key("ledger-" + std::to_string(n));
    out.set_sequence(n);
    return out;
  }

  void read_all(Stream& stream) {
    v1::QueueJobResponse answer;
    while (stream.Read(&answer)) {
      std::lock_guard lock(mutex_);
      --in_flight_;
      changed_.notify_one();
      if (answer.error_code() != grpc::StatusCode::OK) {
        refused(answer);
      } else if (answer.sequence() < work_.jobs && !acked_[answer.sequence()]) {
        acked_[answer.sequence()] = true;
        ++acked_count_;
        log_ << answer.sequence() << ' ' << answer.short_id() << ' ' << answer.job_id() << std::endl;
      }
    }
    std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_one();
  }

  // What a busy or restarting server may answer is tried again on the next stream.
  static void refused(const v1::QueueJobResponse& answer) {
    switch (answer.error_code()) {
      case grpc::StatusCode::UNAVAILABLE:
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
      case grpc::StatusCode::ABORTED:
      case grpc::StatusCode::DEADLINE_EXCEEDED: return;
      default: give_up("job " + std::to_string(answer.sequence()) + " was refused: " + answer.error_message());
    }
  }

  const Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> acked_;
  size_t acked_count_ = 0;
  size_t in_flight_ = 0;
  bool broken_ = false;
  std::ofstream log_;
  const Clock::time_point began_;
};

void dump(const std::string& server, const std::string& acked_path, const std::string& out_path) {
  const auto stub = v1::JobExecutionService::NewStub(connect(server));
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::ifstream acked(acked_path);
  std::ofstream out(out_path);
  std::string index, short_id, id;
  while (acked >> index >> short_id >> id) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + kConnectPatience);
    v1::GetJobRequest request;
    request.set_job_id(short_id);
    v1::Job job;
    if (const grpc::Status status = stub->GetJob(&context, request, &job); !status.ok()) {
      // A job that is not there is the checker's to judge.
      if (status.error_code() == grpc::StatusCode::NOT_FOUND) continue;
      give_up("GetJob " + short_id + ": " + status.error_message());
    }
    std::string line;
    if (!google::protobuf::util::MessageToJsonString(job, &line, options).ok()) give_up("no JSON of " + short_id);
    out << line << '\n';
  }
  if (!out.flush()) give_up("cannot write " + out_path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() >= 7 && words[0] == "submit") {
    Submission({words[1],
                words[2],
                std::stoul(words[3]),
                std::stod(words[4]),
                std::stoi(words[5]),
                words[6],
                {words.begin() + 7, words.end()}})
        .run();
    return 0;
  }
  if (words.size() == 4 && words[0] == "dump") {
    dump(words[1], words[2], words[3]);
    return 0;
  }
  std::cerr << "usage: hodei-load submit SERVER ACKED JOBS RATE ATTEMPTS CMD ARG…\n"
               "       hodei-load dump SERVER ACKED OUT\n";
  return 2;
}
