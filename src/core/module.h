// What a module says about itself, in the file module.h of its folder:
//
//   struct NoteModule : ModuleDefaults {
//     using Class = Notes;
//     using Commands = TypeList<PutNote>;
//     using Rows = TypeList<NoteRow>;
//   };
//
// all_modules.h lists these. The engine's commands, answers, writes and effects, the tables of every store, the samples
// of tests and the seeds of fuzzers follow from that list.
#pragma once

#include "src/core/jobs/owner.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// What a module need not say.
struct ModuleDefaults {
  // The class of a module that is built on others, and on which no other is built. It is made with a Foundation.
  // Modules that know each other both ways are put together in modules.cc, and have none here.
  using Class = void;

  using Commands = TypeList<>;   // they may change something
  using Questions = TypeList<>;  // they change nothing
  using Answers = TypeList<>;
  using Rows = TypeList<>;     // what it stores
  using Verbs = TypeList<>;    // further writes, where put and erase are not enough
  using Effects = TypeList<>;  // what must happen outside once a batch is durable

  // The number of its jobs' owner, if it owns jobs: its class is a JobOwner then. It is stored, so it never changes.
  static constexpr OwnerModule owner = OwnerModule::None;
};

}  // namespace hodei::core
