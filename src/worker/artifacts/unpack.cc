#include "src/worker/artifacts/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <memory>

#include "src/base/status.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

constexpr size_t kBlock = 64 << 10;

struct CloseArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Reader = std::unique_ptr<archive, CloseArchive>;

// Only what we mean to read: libarchive knows many formats, and each is more code that a stranger can reach.
Reader make_reader() {
  Reader reader(archive_read_new());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  return reader;
}

absl::Status broken(archive* reader) {
  const char* why = archive_error_string(reader);
  return absl::FailedPreconditionError(cat("the archive cannot be read: ", why == nullptr ? "unknown format" : why));
}

// A name may be known as bytes, as UTF-8 or both, and in the plain locale of a server only one may be readable.
const char* either(const char* as_bytes, const char* as_utf8) { return as_bytes != nullptr ? as_bytes : as_utf8; }

// Where a symbolic link of an archive leads, as a path from the folder that it is unpacked into.
//
// The text alone decides this only while `..` stands at its beginning: the folder of the link is a real one, and so are
// those above it. Behind a name, `..` leads to the folder above wherever that name leads, which may be another link. So
// each name with a `..` behind it has to be a real folder in the end: those are never replaced by links.
struct LinkTarget {
  bool is_inside = false;
  std::vector<std::vector<std::string>> real_folders = {};  // that have to be there
};

LinkTarget follow(const std::vector<std::string>& link, std::string_view target) {
  if (link.empty() || target.empty() || target.starts_with('/')) return {};
  std::vector<std::string> here(link.begin(), link.end() - 1);
  LinkTarget found{.is_inside = true};
  bool through_a_name = false;
  while (!target.empty()) {
    const size_t end = std::min(target.find('/'), target.size());
    const std::string_view part = target.substr(0, end);
    if (part == "..") {
      if (here.empty()) return {};
      if (through_a_name) found.real_folders.push_back(here);
      here.pop_back();
    } else if (!part.empty() && part != ".") {
      here.emplace_back(part);
      through_a_name = true;
    }
    target.remove_prefix(std::min(end + 1, target.size()));
  }
  return found;
}

class Unpacking {
 public:
  Unpacking(archive* reader, const ConfinedFolder& folder, std::string below, const UnpackLimits& limits)
      : reader_(reader), folder_(folder), below_(std::move(below)), limits_(limits) {}

  absl::Status run() {
    RETURN_IF_ERROR(folder_.make_folder(below_));
    archive_entry* entry = nullptr;
    while (true) {
      if (limits_.stop.stop_requested()) return absl::CancelledError("stopped while unpacking");
      const int got = archive_read_next_header(reader_, &entry);
      if (got == ARCHIVE_EOF) return check_links();
      if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return broken(reader_);
      if (++entries_ > limits_.entries) {
        return absl::ResourceExhaustedError(cat("the archive has more than ", limits_.entries, " entries"));
      }
      RETURN_IF_ERROR(take(entry));
    }
  }

 private:
  absl::Status take(archive_entry* entry) {
    const char* raw = either(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry));
    if (raw == nullptr) return absl::FailedPreconditionError("an entry of the archive has no readable name");
    const std::string name = raw;
    ASSIGN_OR_RETURN(const std::vector<std::string> parts, parts_of(name));
    const std::string path = cat(below_, "/", name);
    if (const char* existing = either(archive_entry_hardlink(entry), archive_entry_hardlink_utf8(entry))) {
      RETURN_IF_ERROR(parts_of(existing).status());
      return folder_.make_hard_link(path, cat(below_, "/", existing));
    }
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR: return folder_.make_folder(path);
      case AE_IFREG: return take_file(path, archive_entry_perm(entry));
      case AE_IFLNK: {
        const char* target = either(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry));
        LinkTarget found = target == nullptr ? LinkTarget() : follow(parts, target);
        if (!found.is_inside) return leads_out(name);
        for (std::vector<std::string>& each : found.real_folders) expected_.push_back({name, std::move(each)});
        return folder_.make_symlink(path, target);
      }
      default: return absl::FailedPreconditionError(cat("'", name, "': is neither a file, a folder nor a link"));
    }
  }

  static absl::Status leads_out(const std::string& link) {
    return absl::FailedPreconditionError(cat("'", link, "': is a symbolic link that leads outside the folder"));
  }

  // Every folder on the way to `..` is there now, or the archive does not bring it.
  absl::Status check_links() const {
    for (const Expected& each : expected_) {
      std::string path = below_;
      for (const std::string& part : each.folder) path += "/" + part;
      if (!folder_.has_folder(path)) return leads_out(each.link);
    }
    return absl::OkStatus();
  }

  absl::Status take_file(const std::string& path, mode_t permissions) {
    ASSIGN_OR_RETURN(const Fd file, folder_.make_file(path));
    const void* data = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    int64_t furthest = 0;
    while (true) {
      const int got = archive_read_data_block(reader_, &data, &size, &offset);
      if (got == ARCHIVE_EOF) break;
      if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return broken(reader_);
      if (limits_.stop.stop_requested()) return absl::CancelledError("stopped while unpacking");
      // Holes count too, because a later copy of the file contains them as bytes.
      const int64_t end = offset + static_cast<int64_t>(size);
      if (offset < 0 || end < offset || bytes_ + end > limits_.bytes) {
        return absl::ResourceExhaustedError(cat("the archive unpacks to more than ", limits_.bytes, " bytes"));
      }
      furthest = std::max(furthest, end);
      RETURN_IF_ERROR(write_at(file.get(), static_cast<const char*>(data), size, offset, path));
    }
    bytes_ += furthest;
    // Readable and writable for the job whatever the archive says; never set-user-id.
    fchmod(file.get(), (permissions & 0777) | 0600);
    return absl::OkStatus();
  }

  static absl::Status write_at(int file, const char* data, size_t size, int64_t offset, const std::string& path) {
    while (size > 0) {
      const ssize_t wrote = pwrite(file, data, size, offset);
      if (wrote <= 0) return errno_status(errno, "writing " + path);
      data += wrote;
      offset += wrote;
      size -= static_cast<size_t>(wrote);
    }
    return absl::OkStatus();
  }

  archive* reader_;
  const ConfinedFolder& folder_;
  const std::string below_;
  const UnpackLimits& limits_;
  struct Expected {
    std::string link;
    std::vector<std::string> folder;
  };
  std::vector<Expected> expected_;
  int64_t bytes_ = 0;
  int64_t entries_ = 0;
};

}  // namespace

absl::Status unpack(int archive, const ConfinedFolder& folder, const std::string& below, const UnpackLimits& limits) {
  const Reader reader = make_reader();
  lseek(archive, 0, SEEK_SET);
  if (archive_read_open_fd(reader.get(), archive, kBlock) != ARCHIVE_OK) return broken(reader.get());
  return Unpacking(reader.get(), folder, below, limits).run();
}

}  // namespace hodei::worker
