// Every module of the engine, once. This and the include of its class in modules.h are all that a new module needs in
// src/core outside of its folder.
#pragma once

#include "src/core/access/module.h"
#include "src/core/audit/module.h"
#include "src/core/fleet/module.h"
#include "src/core/jobs/module.h"
#include "src/core/overview/module.h"
#include "src/core/placement/module.h"
#include "src/core/provision/module.h"
#include "src/core/rows/row.h"
#include "src/core/secrets/module.h"

namespace hodei::core {

// A load gives rows in this order, so what others count on comes first: providers before the workers they made. Jobs
// come after the rows of all modules.
using AllModules = TypeList<  //
    AuditModule,              //
    AccessModule,             //
    ProvisionModule,          //
    PlacementModule,          //
    SecretsModule,            //
    JobsModule,               //
    FleetModule,              //
    OverviewModule            //
    >;

namespace all_modules_detail {

template <class List>
struct Lists;
template <class... Module>
struct Lists<TypeList<Module...>> {
  using Commands = JoinedLists<typename Module::Commands...>;
  using Questions = JoinedLists<typename Module::Questions...>;
  using Answers = JoinedLists<typename Module::Answers...>;
  using Rows = JoinedLists<typename Module::Rows...>;
  using Verbs = JoinedLists<typename Module::Verbs...>;
  using Effects = JoinedLists<typename Module::Effects...>;
};

}  // namespace all_modules_detail

// The lists of all modules, joined.
using ModuleLists = all_modules_detail::Lists<AllModules>;

}  // namespace hodei::core
