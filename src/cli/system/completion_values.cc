#include "src/cli/system/completion_values.h"

#include <CLI/CLI.hpp>

#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/artifact/artifact_client.h"
#include "src/cli/job/job_selection.h"
#include "src/cli/session/session.h"
#include "src/cli/tenant/tenant_calls.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

constexpr int kMostProposals = 100;

// One per line; a description may follow after a tab.
using Proposals = absl::StatusOr<std::string>;
using Propose = Proposals (*)(Session& session, const std::string& path);

Proposals job_proposals(Session& session, const std::string& path) {
  v1::ListJobsRequest request;
  request.set_namespace_(session.name_space());
  request.set_page_size(kMostProposals);
  const bool ends = path == "job cancel", ended = path == "job retry" || path == "job delete" || path == "job rm";
  if (ends || ended) {
    for (int i = ends ? v1::Job::Pending : v1::Job::Succeeded; i <= (ends ? v1::Job::Running : v1::Job::Timeout); ++i) {
      request.add_states(static_cast<v1::Job::State>(i));
    }
  }
  ASSIGN_OR_RETURN(const v1::ListJobsResponse jobs, session.client().list_jobs(request));
  std::string out;
  for (const v1::Job& job : jobs.jobs()) {
    out += cat(job.short_id(), "\t", printable(job.name()), " ", v1::Job::State_Name(job.state()), "\n");
  }
  return out;
}

Proposals worker_proposals(Session& session, const std::string&) {
  ASSIGN_OR_RETURN(const v1::ListWorkersResponse workers, session.client().list_workers({}));
  std::string out;
  for (const v1::Worker& worker : workers.workers()) {
    out += cat(worker.info().id(), "\t", v1::Worker::State_Name(worker.state()), "\n");
  }
  return out;
}

Proposals template_proposals(Session& session, const std::string&) {
  v1::ListTemplatesRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListTemplatesResponse templates, session.client().list_templates(request));
  std::string out;
  for (const v1::Template& one : templates.templates())
    out += cat(one.name(), "\t", printable(one.description()), "\n");
  return out;
}

Proposals provider_proposals(Session& session, const std::string&) {
  ASSIGN_OR_RETURN(const v1::ListProvidersResponse providers, session.client().list_providers());
  std::string out;
  for (const v1::Provider& one : providers.providers())
    out += cat(one.config().name(), "\t", one.config().type(), "\n");
  return out;
}

Proposals pool_proposals(Session& session, const std::string&) {
  ASSIGN_OR_RETURN(const v1::ListPoolsResponse pools, session.client().list_pools());
  std::string out;
  for (const v1::Pool& one : pools.pools()) out += cat(one.name(), "\n");
  return out;
}

Proposals secret_proposals(Session& session, const std::string&) {
  v1::ListSecretsRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListSecretsResponse secrets, session.client().list_secrets(request));
  std::string out;
  for (const v1::StoredSecret& one : secrets.secrets()) out += cat(one.name(), "\n");
  return out;
}

Proposals namespace_proposals(Session& session, const std::string&) {
  ASSIGN_OR_RETURN(const v1::ListTenantsResponse tenants, list_tenants(session.client()));
  std::string out;
  for (const v1::Tenant& one : tenants.tenants()) out += cat(one.namespace_(), "\n");
  return out;
}

Proposals key_proposals(Session& session, const std::string&) {
  v1::ListLimitsRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListLimitsResponse limits, list_limits(session.client(), request));
  std::string out;
  for (const v1::Limit& one : limits.limits()) out += cat(printable(one.key()), "\n");
  return out;
}

Proposals artifact_proposals(Session& session, const std::string&) {
  v1::ListArtifactsRequest request;
  request.set_namespace_(session.name_space());
  request.set_page_size(kMostProposals);
  ASSIGN_OR_RETURN(const v1::ListArtifactsResponse artifacts, ArtifactClient(session).list(request));
  std::string out;
  for (const v1::StoredArtifact& one : artifacts.artifacts()) out += cat(one.name(), "\n");
  return out;
}

Proposals state_proposals(Session&, const std::string&) {
  std::string out;
  for (const std::string& word : state_names()) out += word + "\n";
  return out;
}

struct Source {
  std::string_view place;  // a flag (`--state`), or the beginning of a path (`template `)
  std::string_view words;  // one below the other; empty: ask
  Propose propose = nullptr;
};

constexpr Source kFlags[] = {
    {"--output", "table\nwide\njson\nyaml\nname\n"},
    {"--color", "auto\nalways\nnever\n"},
    {"--priority", "low\nnormal\nhigh\ncritical\n"},
    {"--isolation", "process\ncontainer\nhardware\n"},
    {"--log-policy", "block\ndrop\n"},
    {"--sort",
     "created\n-created\nstarted\n-started\nended\n-ended\ntime\n-time\nname\n-name\nstate\n-state\nexit\n-"
     "exit\ntries\n"
     "-tries\n"},
    {"--strategy", "smart\nround-robin\nleast-connections\nresource-priority\naffinity\n"},
    {"--packing", "spread\npack\n"},
    {"--preemption", "on\noff\n"},
    {"--sandbox-allow", "network\nroot\ntmp\nsyscalls\n"},
    {"--log-level", "trace\ndebug\ninfo\nwarn\nerror\noff\n"},
    {"--cgroups", "on\nv1\noff\n"},
    {"--type", "process\ndocker\nkubernetes\nfirecracker\nbaremetal\ncustom\nec2\nazurevm\ncloudrun\nlambda\n"},
    {"--state", "", state_proposals},
    {"--worker", "", worker_proposals},
    {"--template", "", template_proposals},
    {"--provider", "", provider_proposals},
    {"--prefer-provider", "", provider_proposals},
    {"--pool", "", pool_proposals},
    {"--secret", "", secret_proposals},
    {"--namespace", "", namespace_proposals},
    {"--for-namespace", "", namespace_proposals},
    {"--concurrency-key", "", key_proposals},
};

constexpr Source kArguments[] = {
    {"provider add", "\n"},
    {"job ", "", job_proposals},
    {"worker ", "", worker_proposals},
    {"template get", "", template_proposals},
    {"template rm", "", template_proposals},
    {"template run", "", template_proposals},
    {"provider ", "", provider_proposals},
    {"pool ", "", pool_proposals},
    {"secret ", "", secret_proposals},
    {"limit ", "", key_proposals},
    {"tenant ", "", namespace_proposals},
    {"artifact get", "", artifact_proposals},
    {"artifact rm", "", artifact_proposals},
};

const Source* source_of(const std::string& path, const CLI::Option& option) {
  if (option.get_positional()) {
    for (const Source& source : kArguments) {
      if (path.starts_with(source.place)) return &source;
    }
    return nullptr;
  }
  for (const Source& source : kFlags) {
    for (const std::string& name : option.get_lnames()) {
      if (source.place == "--" + name) return &source;
    }
  }
  return nullptr;
}

// Of the command or of one above it; null: it has none of this name. Without a name: its first argument.
const CLI::Option* option_at(const CLI::App* app, const std::string& name) {
  for (; app; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      if (name.empty() ? option->get_positional() : option->check_name(name)) return option;
    }
    if (name.empty()) return nullptr;
  }
  return nullptr;
}

const CLI::App* command_at(const CLI::App* app, const std::string& path) {
  for (size_t from = 0; app && from < path.size();) {
    const size_t end = std::min(path.find(' ', from), path.size());
    const std::string name = path.substr(from, end - from);
    const CLI::App* next = nullptr;
    for (const CLI::App* child : app->get_subcommands([](const CLI::App*) { return true; })) {
      if (child->check_name(name)) next = child;
    }
    app = next;
    from = end + 1;
  }
  return app;
}

// Silent: a shell that completes has no place for errors.
int propose(Session& session, const std::string& path, const std::string& flag) {
  const CLI::App* app = command_at(session.root, path);
  const CLI::Option* option = app ? option_at(app, flag) : nullptr;
  const Source* source = option ? source_of(path, *option) : nullptr;
  if (!source) return kOk;
  const Proposals words = source->propose ? source->propose(session, path) : Proposals(std::string(source->words));
  if (!words.ok()) return kRefused;
  return session.io.out(*words) ? kOk : kRefused;
}

}  // namespace

bool has_known_values(const std::string& path, const CLI::Option& option) { return source_of(path, option) != nullptr; }

void add_completion_values(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("__complete", "what may stand here, for completion scripts");
  command->group("");  // in no list
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("words", *words, "the path of the command; `flag` and the flag's name");
  command->callback([&session, words] {
    session.asks_once = true;
    session.flags["request_timeout"] = {"2s"};
    session.action = [&session, words] {
      words->resize(2);
      constexpr std::string_view kMark = "flag";
      const std::string flag = words->at(1).starts_with(kMark) ? words->at(1).substr(kMark.size()) : std::string();
      return propose(session, words->at(0), flag);
    };
  });
}

}  // namespace hodei::cli
