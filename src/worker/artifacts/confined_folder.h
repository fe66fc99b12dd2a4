// A folder that nothing reaches out of: paths are relative to it, and neither `..` nor a symbolic link on the way,
// planted by an archive or by a job, leads anywhere else. The kernel sees to that (openat2), not the text of the path.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

class ConfinedFolder {
 public:
  static absl::StatusOr<ConfinedFolder> open(const std::string& path);

  // A regular file to read. Refuses everything that is not one, also symbolic links.
  absl::StatusOr<Fd> read_file(const std::string& path) const;
  // A new file in place of whatever file had the name. Folders on the way are made.
  absl::StatusOr<Fd> make_file(const std::string& path) const;
  absl::Status make_folder(const std::string& path) const;
  bool has_folder(const std::string& path) const;  // a real one, reached without links
  absl::Status make_symlink(const std::string& path, const std::string& target) const;
  absl::Status make_hard_link(const std::string& path, const std::string& existing) const;
  // Moves a file from outside to `path`; both on one file system.
  absl::Status adopt(const std::string& file, const std::string& path) const;

 private:
  // The folder that a path's last part is in, and that last part.
  struct Place {
    Fd folder;
    std::string name;
  };
  explicit ConfinedFolder(Fd folder) : folder_(std::move(folder)) {}
  absl::StatusOr<Place> place_of(const std::string& path, bool make_missing) const;
  absl::StatusOr<Fd> enter(const std::vector<std::string>& parts, bool make_missing) const;

  Fd folder_;
};

// The parts of a relative path; refuses absolute ones, `..`, NUL, and paths of unreasonable length. `.` parts are left
// out.
absl::StatusOr<std::vector<std::string>> parts_of(std::string_view path);

}  // namespace hodei::worker
