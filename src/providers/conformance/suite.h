// Checks what every provider promises. The same suite runs against fakes and real engines, in unit tests and in
// provider-check.
//
// It uses no test framework: it returns the faults that it finds as text. Each check removes everything that it has
// created.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/providers/provider.h"

namespace hodei::providers {

struct SuiteSetup {
  // Makes a fresh provider object on the same engine, as a restarted server does. Called with `installation`, and with
  // another one to see that the two do not touch each other.
  std::function<absl::StatusOr<std::unique_ptr<Provider>>(const Installation&)> make;
  Installation installation;
  WorkerSpec spec;          // of a worker that comes up; its server_address may lead nowhere
  uint32_t room = 0;        // how many the provider was told to allow at once; 0: not limited
  Duration patience = 60s;  // for one worker to come up, or to be gone
  std::string missing_image = "hodei-conformance/no-such-image:0";  // refused, and by providers without images too

  // Looks past the provider, where a test can: what is really there of `installation`, each thing by a word for people
  // that contains its worker id. A provider that forgets what it made is caught only like this.
  std::function<std::vector<std::string>()> outside;
  // Ends a worker behind the provider's back, as a crash would.
  std::function<void(const WorkerHandle&)> crash;
};

struct Finding {
  std::string check;  // the name of the check, as in suite_checks()
  std::string what;
};

// The names of all checks, in their order.
std::vector<std::string> suite_checks();

// Runs all checks, one after the other; `report` is told after each what it found. No finding: it keeps its promises.
using CheckReport = std::function<void(const std::string& check, const std::vector<Finding>& found)>;
std::vector<Finding> check_provider(const SuiteSetup& setup, const CheckReport& report = {});

// For people: one line per finding.
std::string as_text(const std::vector<Finding>& findings);

}  // namespace hodei::providers
