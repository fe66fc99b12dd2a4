// Runs the provider conformance suite against a real engine: one line per check, exit code 1 when a promise is broken.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "src/base/status.h"
#include "src/providers/conformance/suite.h"
#include "src/server/provisioning/factories.h"

namespace {

using namespace hodei;
using namespace hodei::providers;

constexpr const char* kUsage =
    "usage: provider-check --type T [--option KEY=VALUE]… [--image I] [--missing-image I] [--room N] [--worker PATH]\n"
    "                      [--server HOST:PORT] [--folder PATH] [--patience SECONDS]\n"
    "\n"
    "  --option         an option of the provider, as for `hodei provider add`\n"
    "  --image          what the workers are made from; without it the provider's default\n"
    "  --missing-image  one that does not exist\n"
    "  --room           how many workers the provider may have at once; becomes its option max_workers\n"
    "  --worker         the static worker; without it hodei-worker beside this program or in the build folder\n"
    "  --server         what the workers are told; need not be there\n"
    "  --folder         where the provider may keep its files; without it a new one that is removed\n";

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "provider-check: {}\n{}", why, kUsage);
  std::exit(2);
}

struct Order {
  ProviderConfig config{.name = "check", .type = "", .options = {}};
  SuiteSetup setup;
  bool own_folder = false;
};

uint32_t number(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > 100'000) refuse(cat(flag, ": '", text, "' is not a number"));
  return static_cast<uint32_t>(value);
}

Order read_order(int argc, char** argv) {
  Order order;
  order.setup.spec.server_address = "127.0.0.1:1";
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help") {
      fmt::print("{}", kUsage);
      std::exit(0);
    }
    if (++i == argc) refuse(cat(flag, " needs a value"));
    const std::string value = argv[i];
    if (flag == "--type") {
      order.config.type = value;
    } else if (flag == "--option") {
      const size_t equals = value.find('=');
      if (equals == std::string::npos) refuse(cat("--option: '", value, "' is not KEY=VALUE"));
      order.config.options[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (flag == "--image") {
      order.setup.spec.image = value;
    } else if (flag == "--missing-image") {
      order.setup.missing_image = value;
    } else if (flag == "--room") {
      order.setup.room = number(flag, value);
    } else if (flag == "--worker") {
      order.setup.installation.worker_binary = value;
    } else if (flag == "--server") {
      order.setup.spec.server_address = value;
    } else if (flag == "--folder") {
      order.setup.installation.folder = value;
    } else if (flag == "--patience") {
      order.setup.patience = std::chrono::seconds(number(flag, value));
    } else {
      refuse(cat("no flag ", flag));
    }
  }
  return order;
}

std::string find_worker() {
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  for (std::filesystem::path folder = here; folder.has_relative_path(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "hodei-worker", failed)) return folder / "hodei-worker";
  }
  return {};
}

void settle(Order& order) {
  Installation& installation = order.setup.installation;
  if (installation.worker_binary.empty()) installation.worker_binary = find_worker();
  if (installation.folder.empty()) {
    std::string pattern = std::filesystem::temp_directory_path() / "provider-check-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) refuse("cannot make a folder of its own; give --folder");
    installation.folder = pattern;
    order.own_folder = true;
  }
  // Two checks on one engine do not meet.
  installation.id = cat("check-", getpid());
  order.setup.spec.worker_id = cat("check-", getpid());
  if (order.setup.room > 0) order.config.options["max_workers"] = std::to_string(order.setup.room);
}

}  // namespace

int main(int argc, char** argv) {
  Order order = read_order(argc, argv);
  if (!server::has_provider_type(order.config.type)) {
    std::string types;
    for (const std::string& type : server::provider_types()) types += cat(types.empty() ? "" : ", ", type);
    refuse(order.config.type.empty() ? cat("--type is missing; one of ", types)
                                     : cat("--type: '", order.config.type, "' is none of ", types));
  }
  settle(order);
  order.setup.make = [&](const Installation& installation) {
    return server::make_provider(order.config, installation);
  };
  const std::vector<Finding> found =
      check_provider(order.setup, [](const std::string& check, const std::vector<Finding>& wrong) {
        fmt::print("{} {}\n", wrong.empty() ? "ok    " : "WRONG ", check);
        for (const Finding& finding : wrong) fmt::print("         {}\n", finding.what);
        std::fflush(stdout);
      });
  std::error_code ignored;
  if (order.own_folder) {
    std::filesystem::remove_all(order.setup.installation.folder, ignored);
    std::filesystem::remove_all(order.setup.installation.folder + "-other", ignored);
  }
  fmt::print("{}: {} checks, {} findings\n", order.config.type, suite_checks().size(), found.size());
  return found.empty() ? 0 : 1;
}
