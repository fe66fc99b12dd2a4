#include "src/store/read_check.h"

#include <atomic>
#include <utility>

#include "src/base/status.h"

namespace hodei::store {
namespace {

#ifdef NDEBUG
constexpr bool kOnByDefault = false;
#else
constexpr bool kOnByDefault = true;
#endif

std::atomic<bool> read_check_is_on = kOnByDefault;
thread_local bool may_not_read = false;

}  // namespace

NoReads::NoReads() : before_(std::exchange(may_not_read, true)) {}

NoReads::~NoReads() { may_not_read = before_; }

void check_may_read() {
  if (!may_not_read || !read_check_is_on) return;
  abort_loudly("the loop's thread reads the store; hand the work to another thread", __FILE__, __LINE__);
}

void set_read_check(bool is_on) { read_check_is_on = is_on; }

}  // namespace hodei::store
