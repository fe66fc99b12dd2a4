// A job's secrets at the border: sealed when they come in, hidden from whoever reads, opened on their way to a worker.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "hodei/v1/job.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/core/writes.h"
#include "src/server/secrets/vault.h"
#include "src/store/store.h"

namespace hodei::api {

// Shorter values are not masked in output: they would turn up by chance everywhere.
inline constexpr size_t kShortestMasked = 6;

struct SecretPorts {
  const server::Vault& vault;
  store::Reader& reader;
};

// A spec as it may be stored: values sealed, references known to exist.
struct StorableSpec {
  const v1::JobSpec* spec = nullptr;  // the given one where it has no secrets
  v1::JobSpec copy;
  std::string note;  // what the submitter should know; empty: nothing
};
absl::Status make_storable(const v1::JobSpec& given, const std::string& ns, const SecretPorts& ports,
                           StorableSpec& out);

// Every secret that a spec names without a value of its own is in the store.
absl::Status check_references(const v1::JobSpec& spec, const std::string& ns, store::Reader& reader);

// Puts the opened values into the order, or the reason why one of them cannot be had.
void deliver_secrets(const core::SpecRow& row, const SecretPorts& ports, v1::RunJob* order);

// Empty, or that this value will not be masked.
std::string note_about(std::string_view name, size_t value_size);

}  // namespace hodei::api
