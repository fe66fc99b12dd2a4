// The modules of the engine. Those that know each other both ways come first, in the order in which they depend on each
// other; then those that are built on them, as all_modules.h lists them.
#pragma once

#include <tuple>
#include <type_traits>

#include "src/core/access/access.h"
#include "src/core/all_modules.h"
#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/fleet/fleet.h"
#include "src/core/foundation.h"
#include "src/core/jobs/jobs.h"
#include "src/core/overview/overview.h"
#include "src/core/placement/placement.h"
#include "src/core/provision/provisioning.h"
#include "src/core/secrets/secrets.h"

namespace hodei::core {

namespace modules_detail {

// The module if it has a class in the list; nothing else.
template <class Module>
using IfBuiltOn = std::conditional_t<std::is_void_v<typename Module::Class>, TypeList<>, TypeList<Module>>;

template <class List>
struct BuiltOn;
template <class... Module>
struct BuiltOn<TypeList<Module...>> {
  using Type = JoinedLists<IfBuiltOn<Module>...>;
};

}  // namespace modules_detail

using BuiltOnOthers = modules_detail::BuiltOn<AllModules>::Type;

// One object of each class. They do not know each other.
template <class List>
class ModuleObjects;
template <class... Module>
class ModuleObjects<TypeList<Module...>> {
 public:
  explicit ModuleObjects(const Foundation& foundation) : all_(each_gets<Module>(foundation)...) {}

  // Calls `f(objects...)`.
  template <class F>
  decltype(auto) with_all(F&& f) {
    return std::apply(f, all_);
  }
  template <class F>
  decltype(auto) with_all(F&& f) const {
    return std::apply(f, all_);
  }
  template <class Class>
  Class& of() {
    return std::get<Class>(all_);
  }

 private:
  template <class>
  static const Foundation& each_gets(const Foundation& foundation) {
    return foundation;
  }

  std::tuple<typename Module::Class...> all_;
};

struct Modules {
  explicit Modules(const EngineConfig& config);

  // Calls `f(module...)` with all of them. Those that share a timer handle it in this order.
  template <class F>
  decltype(auto) with_all(F&& f) {
    return built_on.with_all(
        [&](auto&... more) -> decltype(auto) { return f(fleet, placement, jobs, audit, provisioning, more...); });
  }
  template <class F>
  decltype(auto) with_all(F&& f) const {
    return built_on.with_all(
        [&](const auto&... more) -> decltype(auto) { return f(fleet, placement, jobs, audit, provisioning, more...); });
  }

  Audit audit;
  Fleet fleet;
  Placement placement;
  Jobs jobs;
  Provisioning provisioning;
  ModuleObjects<BuiltOnOthers> built_on;
};

}  // namespace hodei::core
