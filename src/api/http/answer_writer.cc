#include "src/api/http/answer_writer.h"

#include <algorithm>
#include <utility>

namespace hodei::api {

void AnswerWriter::write(std::string first, std::string second, Done done) {
  waiting_.push_back({std::move(first), std::move(second), std::move(done)});
  if (!is_writing_) write_block();
}

void AnswerWriter::stop() {
  deadline_.clear();
  // The texts stay: a write that is under way still reads them.
  for (Pending& text : waiting_) text.done = nullptr;
}

void AnswerWriter::write_block() {
  const Pending& text = waiting_.front();
  const std::string_view first = std::string_view(text.first).substr(std::min(written_, text.first.size()));
  const size_t behind = written_ - (text.first.size() - first.size());
  const std::string_view head = first.substr(0, kBlockBytes);
  const std::string_view tail = std::string_view(text.second).substr(behind, kBlockBytes - head.size());
  is_writing_ = true;
  deadline_.set(limits_.write, [this, alive = owner_.lock()] { stream_.reset(); });
  stream_.write({head, tail}, [this, alive = owner_.lock()](boost::system::error_code error, size_t size) {
    on_written(error, size);
  });
}

void AnswerWriter::on_written(boost::system::error_code error, size_t size) {
  is_writing_ = false;
  written_ += size;
  const Pending& text = waiting_.front();
  if (!error && written_ < text.first.size() + text.second.size()) return write_block();
  deadline_.clear();
  const Done done = std::move(waiting_.front().done);
  waiting_.pop_front();
  written_ = 0;
  // First the next one, because `done` may add another.
  if (!error && !waiting_.empty()) write_block();
  if (done) done(!error);
}

}  // namespace hodei::api
