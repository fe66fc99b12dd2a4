// How an input of the target `commands` is written: steps, each a kind and the bytes of a message.
#pragma once

#include <string>

#include "src/base/codec.h"

namespace hodei::fuzz {

enum class Step : uint64_t {
  QueueJob,            // QueueJobRequest
  QueueBatch,          // QueueJobBatchRequest
  CancelJob,           // CancelJobRequest
  AssignJob,           // AssignJobRequest
  PutTemplate,         // PutTemplateRequest
  DeleteTemplate,      // DeleteTemplateRequest
  CreateOtp,           // CreateOtpRequest; the token is "token of " and the worker's id
  Register,            // RegisterRequest; a new session is "session of " and the worker's id
  WorkerMessage,       // of the worker whose hello came last
  CompleteJob,         // CompleteJobRequest, of that worker
  FailJob,             // FailJobRequest, of that worker
  Unregister,          // UnregisterWorkerRequest
  Drain,               // DrainWorkerRequest
  ConfigureScheduler,  // ConfigureSchedulerRequest
  Hang,                // that worker's stream breaks; no bytes
  Wait,                // as many milliseconds as the bytes are long, times ten
  Restart,             // another engine loads what is stored; no bytes
};
inline constexpr uint64_t kSteps = static_cast<uint64_t>(Step::Restart) + 1;

class Script {
 public:
  Script& step(Step kind, const std::string& bytes = "") {
    out_.u64(static_cast<uint64_t>(kind)).text(bytes);
    return *this;
  }
  template <class Message>
  Script& step(Step kind, const Message& message) {
    return step(kind, message.SerializeAsString());
  }
  std::string bytes() const { return out_.bytes(); }

 private:
  Encoder out_;
};

}  // namespace hodei::fuzz
