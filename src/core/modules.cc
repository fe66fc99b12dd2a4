#include "src/core/modules.h"

namespace hodei::core {
namespace {

// Jobs remember their owner's number, so no two modules may have the same.
template <class... Module>
constexpr bool owners_differ(TypeList<Module...>) {
  const OwnerModule owners[] = {Module::owner...};
  for (size_t i = 0; i < sizeof...(Module); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (owners[i] != OwnerModule::None && owners[i] == owners[j]) return false;
    }
  }
  return true;
}
static_assert(owners_differ(AllModules{}), "two modules own jobs under the same number");

}  // namespace

Modules::Modules(const EngineConfig& config)
    : audit(config),
      fleet(config, audit),
      placement(config, fleet.workers, audit),
      jobs(config, fleet, placement, audit),
      provisioning(config, fleet, placement, jobs, audit),
      built_on({config, audit, fleet, placement, jobs, provisioning}) {
  fleet.connect({&placement.worker_room, &jobs.for_fleet, &provisioning.for_fleet});
  placement.connect({&jobs.for_placement, &provisioning.for_placement});
  jobs.connect(provisioning.for_jobs);
  each_type(BuiltOnOthers{}, [this]<class Module>(std::type_identity<Module>) {
    if constexpr (Module::owner != OwnerModule::None)
      jobs.add_owner(Module::owner, built_on.of<typename Module::Class>());
  });
}

}  // namespace hodei::core
