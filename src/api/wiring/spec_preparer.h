// Makes the jobs that modules of the engine want, on the threads of the reads, and hands them to the loop.
#pragma once

#include <functional>

#include "src/server/carrier.h"
#include "src/server/read_pool.h"
#include "src/store/store.h"

namespace hodei::api {

class SpecPreparer final : public server::JobPreparer {
 public:
  using Post = std::function<void(core::Command)>;

  // Single rows are read from `lookups`.
  SpecPreparer(store::Reader& lookups, server::ReadPool& pool, Post post)
      : lookups_(lookups), pool_(pool), post_(std::move(post)) {}

  // A job that cannot be made is answered too, with the reason: its owner decides what becomes of it.
  void prepare(const core::PrepareJob& wanted) override;

 private:
  absl::StatusOr<core::NewJob> make(const std::string& bytes);

  store::Reader& lookups_;
  server::ReadPool& pool_;
  const Post post_;
};

}  // namespace hodei::api
