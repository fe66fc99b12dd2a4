#include "src/worker/artifacts/carry.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/worker/artifacts/confined_folder.h"
#include "src/worker/artifacts/http_carry.h"
#include "src/worker/artifacts/local_carry.h"
#include "src/worker/artifacts/unpack.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr std::string_view kStoreScheme = "hodei:";

absl::Status not_past_the_sandbox() {
  return absl::PermissionDeniedError("file: URLs reach outside the job's sandbox and are not allowed with --sandbox");
}

absl::Status fetch_into(int file, const ArtifactOrder& order, const Surroundings& around) {
  if (order.url.starts_with(kFileScheme)) {
    if (!around.files_allowed) return not_past_the_sandbox();
    return fetch_local(order.url.substr(kFileScheme.size()), file, order.max_bytes, around.stop);
  }
  if (order.url.starts_with(kStoreScheme)) {
    return around.store.fetch(order.url.substr(kStoreScheme.size()), around.execution, file, order.max_bytes,
                              around.stop);
  }
  return fetch_http(order.url, file, order.max_bytes, around.stop);
}

absl::Status send_from(int file, int64_t size, const ArtifactOrder& order, const Surroundings& around) {
  if (order.url.starts_with(kFileScheme)) {
    if (!around.files_allowed) return not_past_the_sandbox();
    return send_local(file, order.url.substr(kFileScheme.size()), around.stop);
  }
  if (order.url.starts_with(kStoreScheme)) {
    return around.store.send(file, order.url.substr(kStoreScheme.size()), around.execution, around.stop);
  }
  return send_http(file, size, order.url, around.stop);
}

absl::Status check_sum(int file, const std::string& expected) {
  if (expected.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string found, sha256_of(file));
  if (found == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(cat("its sha256 is ", found, ", not ", expected));
}

absl::Status fetch_to_folder(const ArtifactOrder& order, const Surroundings& around) {
  ASSIGN_OR_RETURN(const ConfinedFolder cwd, ConfinedFolder::open(cwd_of(around.folder)));
  const std::string path = cat(incoming_of(around.folder), "/file");
  const Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.is_open()) return errno_status(errno, "making " + path);
  RETURN_IF_ERROR(fetch_into(file.get(), order, around));
  RETURN_IF_ERROR(check_sum(file.get(), order.sha256));
  if (!order.unpack) return cwd.adopt(path, order.path);
  return unpack(file.get(), cwd, order.path, {.bytes = order.max_bytes, .stop = around.stop});
}

absl::Status send_from_folder(const ArtifactOrder& order, const Surroundings& around) {
  ASSIGN_OR_RETURN(const ConfinedFolder cwd, ConfinedFolder::open(cwd_of(around.folder)));
  ASSIGN_OR_RETURN(const Fd file, cwd.read_file(order.path));
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return absl::ErrnoToStatus(errno, order.path);
  if (info.st_size > order.max_bytes) {
    return absl::ResourceExhaustedError(
        cat("is ", info.st_size, " bytes long; at most ", order.max_bytes, " are allowed"));
  }
  return send_from(file.get(), info.st_size, order, around);
}

// What an optional artifact lacks is said and passed over; a requested stop is not its fault, nor is a full disk.
absl::Status judge(const absl::Status& result, const char* what, const ArtifactOrder& order) {
  const std::string name = cat(what, " ", order.path, " (", order.url.substr(0, order.url.find('?')), ")");
  if (result.ok()) return result;
  const std::string words = cat(name, ": ", std::string(result.message()));
  if (!order.optional || absl::IsCancelled(result) || is_shortage(result)) return reworded(result, words);
  say("skipped because it is optional: ", words);
  return absl::OkStatus();
}

}  // namespace

std::string cwd_of(const std::string& folder) { return folder + "/cwd"; }
std::string incoming_of(const std::string& folder) { return folder + "/incoming"; }

absl::Status fetch(const ArtifactOrder& order, const Surroundings& around) {
  return judge(fetch_to_folder(order, around), "input", order);
}

absl::Status send(const ArtifactOrder& order, const Surroundings& around) {
  return judge(send_from_folder(order, around), "output", order);
}

}  // namespace hodei::worker
