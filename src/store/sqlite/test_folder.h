// A temporary folder that exists during one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hodei::store {

class TestFolder {
 public:
  // In memory where there is such a place: tests of many small commits are not tests of the disk.
  TestFolder() {
    std::string pattern =
        std::filesystem::exists("/dev/shm") ? "/dev/shm/hodei-store-XXXXXX" : "/tmp/hodei-store-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hodei::store
