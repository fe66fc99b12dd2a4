#include "src/api/calls/providers/provider_calls.h"

#include "src/api/calls/decide.h"
#include "src/api/calls/late_answer.h"
#include "src/api/calls/providers/translate_provider.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr int kDefaultTail = 100;
constexpr int kMaxTail = 10'000;

// Checks the options by making the provider, then stores it.
void check_and_store(const ProviderPorts& p, const core::EnvelopePtr& envelope, const LateAnswer<v1::Provider>& answer,
                     const core::PutProvider& command) {
  p.providers.check(command.row, [&p, envelope, answer, command](const absl::Status& good) {
    if (!good.ok()) return answer.give(good);
    p.commands.post_bounded(envelope, command, [&p, answer](const absl::StatusOr<core::Reply>& reply) {
      if (!reply.ok()) return answer.give(reply.status());
      const core::ProviderViews& views = std::get<core::ProviderViews>(*reply);
      answer.give(absl::OkStatus(), [&](v1::Provider* out) { to_proto(views.providers.at(0), p.clock.now(), out); });
    });
  });
}

}  // namespace

void register_provider(const ProviderPorts& p, const Call& call, const v1::RegisterProviderRequest& in,
                       Answer<v1::Provider> answer) {
  const absl::StatusOr<core::ProviderRow> row = from_proto(in.config());
  if (!row.ok()) return answer.give(row.status());
  check_and_store(p, call.envelope, {call, p.open_calls, std::move(answer)}, {*row, true});
}

void update_provider(const ProviderPorts& p, const Call& call, const v1::UpdateProviderRequest& in,
                     Answer<v1::Provider> answer) {
  if (in.name().empty()) return answer.give(bad_field("name", "must not be empty"));
  const LateAnswer<v1::Provider> late(call, p.open_calls, std::move(answer));
  // The request is copied: a call that is cancelled takes its request away.
  p.commands.post_bounded(call.envelope, core::Question(core::DescribeProviders{in.name()}),
                          [&p, late, request = in, envelope = call.envelope](const absl::StatusOr<core::Reply>& reply) {
                            if (!reply.ok()) return late.give(reply.status());
                            const auto row =
                                changed(std::get<core::ProviderViews>(*reply).providers.at(0).provider.row, request);
                            if (!row.ok()) return late.give(row.status());
                            check_and_store(p, envelope, late, {*row, false});
                          });
}

void remove_provider(const ProviderPorts& p, const Call& call, const v1::RemoveProviderRequest& in,
                     Answer<v1::RemoveProviderResponse> answer) {
  decide<core::Done>(p.commands, call, core::DropProvider{in.name()}, std::move(answer), [](const core::Done&) {});
}

void list_providers(const ProviderPorts& p, const Call& call, const v1::ListProvidersRequest&,
                    Answer<v1::ListProvidersResponse> answer) {
  decide<core::ProviderViews>(
      p.commands, call, core::Question(core::DescribeProviders{}), answer,
      [&p, out = answer.out](const core::ProviderViews& views) {
        for (const core::ProviderView& view : views.providers) to_proto(view, p.clock.now(), out->add_providers());
      },
      Commands::Lane::Long);
}

void get_provider(const ProviderPorts& p, const Call& call, const v1::GetProviderRequest& in,
                  Answer<v1::Provider> answer) {
  if (in.name().empty()) return answer.give(bad_field("name", "must not be empty"));
  decide<core::ProviderViews>(p.commands, call, core::Question(core::DescribeProviders{in.name()}), answer,
                              [&p, out = answer.out](const core::ProviderViews& views) {
                                to_proto(views.providers.at(0), p.clock.now(), out);
                              });
}

void get_provider_health(const ProviderPorts& p, const Call& call, const v1::GetProviderHealthRequest& in,
                         Answer<v1::ProviderHealth> answer) {
  const LateAnswer<v1::ProviderHealth> late(call, p.open_calls, std::move(answer));
  p.providers.check_health(in.name(), [&p, late](const absl::StatusOr<providers::Health>& health) {
    late.give(health.status(), [&](v1::ProviderHealth* out) { to_proto(*health, p.clock.now().wall, out); });
  });
}

void get_worker_logs(const ProviderPorts& p, const Call& call, const v1::GetWorkerLogsRequest& in,
                     Answer<v1::GetWorkerLogsResponse> answer) {
  const int tail = in.tail() == 0 ? kDefaultTail : in.tail();
  if (in.worker_id().empty()) return answer.give(bad_field("worker_id", "must not be empty"));
  if (tail < 0 || tail > kMaxTail) {
    return answer.give(bad_field("tail", "must be from 0 to ", kMaxTail, ", not ", tail));
  }
  const LateAnswer<v1::GetWorkerLogsResponse> late(call, p.open_calls, std::move(answer));
  p.commands.post_bounded(
      call.envelope, core::Question(core::DescribeWorkers{in.worker_id(), true}),
      [&p, late, tail](const absl::StatusOr<core::Reply>& reply) {
        if (!reply.ok()) return late.give(reply.status());
        const core::WorkerRecordPtr record = std::get<core::WorkerViews>(*reply).workers.at(0).record;
        p.providers.worker_logs(*record, static_cast<size_t>(tail), [late](const absl::StatusOr<std::string>& text) {
          late.give(text.status(), [&](v1::GetWorkerLogsResponse* out) { out->set_text(*text); });
        });
      });
}

void set_pool(const ProviderPorts& p, const Call& call, const v1::SetPoolRequest& in, Answer<v1::Pool> answer) {
  const absl::StatusOr<core::PoolRow> row = from_proto(in.pool());
  if (!row.ok()) return answer.give(row.status());
  decide<core::Done>(p.commands, call, core::PutPool{*row}, answer,
                     [out = answer.out, row = *row](const core::Done&) { to_proto(core::PoolView{row}, out); });
}

void remove_pool(const ProviderPorts& p, const Call& call, const v1::RemovePoolRequest& in,
                 Answer<v1::RemovePoolResponse> answer) {
  decide<core::Done>(p.commands, call, core::DropPool{in.name()}, std::move(answer), [](const core::Done&) {});
}

void list_pools(const ProviderPorts& p, const Call& call, const v1::ListPoolsRequest&,
                Answer<v1::ListPoolsResponse> answer) {
  decide<core::PoolViews>(
      p.commands, call, core::Question(core::DescribePools{}), answer,
      [out = answer.out](const core::PoolViews& views) {
        for (const core::PoolView& view : views.pools) to_proto(view, out->add_pools());
      },
      Commands::Lane::Long);
}

}  // namespace hodei::api
