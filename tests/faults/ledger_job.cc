// The job of the fault tests. It writes down, outside of the system under test, when each execution starts and ends:
//
//   job execution epoch start|end time
//
// with one write to a file opened with O_APPEND, so that lines of many jobs never mix. The time is the boot-time clock
// in microseconds. While it lives it holds a lock that belongs to its job; a second copy of the same job that finds the
// lock taken writes a line `overlap`. The kernel drops the lock however the process ends, so this sees what times
// cannot.
//
// usage: hodei-ledger-job LEDGER WORK_MS [GATE]
//
// With a gate it works on until a file appears: GATE.first for the first execution of the job, GATE.later for the
// others.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

const char* env(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "-";
}

// FNV-1a, folded into a file offset.
off_t offset_of(const char* text) {
  uint64_t hash = 14695981039346656037ull;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211ull;
  return static_cast<off_t>(hash >> 2);
}

bool write_line(int fd, const char* what) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  char line[300];
  const int size =
      std::snprintf(line, sizeof line, "%s %s %s %s %" PRId64 "\n", env("HODEI_JOB_ID"), env("HODEI_EXECUTION_ID"),
                    env("HODEI_EPOCH"), what, int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000);
  return write(fd, line, static_cast<size_t>(size)) == size;
}

bool take_lock(const char* ledger) {
  char path[4096];
  std::snprintf(path, sizeof path, "%s.lock", ledger);
  // Stays open until the process ends.
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset_of(env("HODEI_JOB_ID"));
  lock.l_len = 1;
  return fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0;
}

void wait_at(const char* gate) {
  const char* execution = std::strrchr(env("HODEI_EXECUTION_ID"), '.');
  const bool first = execution != nullptr && std::strcmp(execution, ".1") == 0;
  char path[4096];
  std::snprintf(path, sizeof path, "%s.%s", gate, first ? "first" : "later");
  while (access(path, F_OK) != 0) usleep(10'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s LEDGER WORK_MS [GATE]\n", argv[0]);
    return 2;
  }
  const int fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    std::fprintf(stderr, "%s: %s\n", argv[1], std::strerror(errno));
    return 2;
  }
  if (!take_lock(argv[1]) && !write_line(fd, "overlap")) return 3;
  if (!write_line(fd, "start")) return 3;
  std::printf("%s\n", env("HODEI_EXECUTION_ID"));
  std::fflush(stdout);
  usleep(static_cast<useconds_t>(std::atoi(argv[2])) * 1000);
  if (argc == 4) wait_at(argv[3]);
  return write_line(fd, "end") ? 0 : 3;
}
