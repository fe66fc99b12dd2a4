#include "src/api/grpc/provider_service.h"

#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/late_answer.h"
#include "src/api/grpc/translate_provider.h"
#include "src/api/grpc/unary.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr int kDefaultTail = 100;
constexpr int kMaxTail = 10'000;

// Checks the options by making the provider, then stores it.
void store(server::Server& server, const LateAnswer& answer, const core::PutProvider& command, v1::Provider* out) {
  server.provisioner().check(command.row, [&server, answer, command, out](const absl::Status& good) {
    if (!good.ok()) return answer.give(good);
    server.loop().post_bounded(command, [&server, answer, out](absl::StatusOr<core::Reply> reply) {
      if (!reply.ok()) return answer.give(reply.status());
      const core::ProviderViews& views = std::get<core::ProviderViews>(*reply);
      answer.give(absl::OkStatus(), [&] { to_proto(views.providers.at(0), server.clock().now(), out); });
    });
  });
}

}  // namespace

ProviderService::Unary* ProviderService::RegisterProvider(Context* c, const v1::RegisterProviderRequest* in,
                                                          v1::Provider* out) {
  const LateAnswer answer(server_.open_calls());
  const absl::StatusOr<core::ProviderRow> row = from_proto(in->config());
  if (row.ok())
    store(server_, answer, {*row, true, principal_of(*c)}, out);
  else
    answer.give(row.status());
  return answer.reactor();
}

ProviderService::Unary* ProviderService::UpdateProvider(Context* c, const v1::UpdateProviderRequest* in,
                                                        v1::Provider* out) {
  const LateAnswer answer(server_.open_calls());
  if (in->name().empty()) {
    answer.give(bad_field("name", "must not be empty"));
    return answer.reactor();
  }
  server_.loop().post_bounded(
      core::Question(core::DescribeProviders{in->name()}),
      [this, answer, wish = *in, principal = principal_of(*c), out](absl::StatusOr<core::Reply> reply) {
        if (!reply.ok()) return answer.give(reply.status());
        const auto row = changed(std::get<core::ProviderViews>(*reply).providers.at(0).provider.row, wish);
        if (!row.ok()) return answer.give(row.status());
        store(server_, answer, {*row, false, principal}, out);
      });
  return answer.reactor();
}

ProviderService::Unary* ProviderService::RemoveProvider(Context* c, const v1::RemoveProviderRequest* in,
                                                        v1::RemoveProviderResponse*) {
  return decide<core::Done>(server_, c, core::DropProvider{in->name(), principal_of(*c)}, [](const core::Done&) {});
}

ProviderService::Unary* ProviderService::ListProviders(Context* c, const v1::ListProvidersRequest*,
                                                       v1::ListProvidersResponse* out) {
  return decide<core::ProviderViews>(server_, c, core::Question(core::DescribeProviders{}),
                                     [this, out](const core::ProviderViews& views) {
                                       for (const core::ProviderView& view : views.providers)
                                         to_proto(view, server_.clock().now(), out->add_providers());
                                     });
}

ProviderService::Unary* ProviderService::GetProvider(Context* c, const v1::GetProviderRequest* in, v1::Provider* out) {
  if (in->name().empty()) return finish(c, bad_field("name", "must not be empty"));
  return decide<core::ProviderViews>(
      server_, c, core::Question(core::DescribeProviders{in->name()}),
      [this, out](const core::ProviderViews& views) { to_proto(views.providers.at(0), server_.clock().now(), out); });
}

ProviderService::Unary* ProviderService::GetProviderHealth(Context*, const v1::GetProviderHealthRequest* in,
                                                           v1::ProviderHealth* out) {
  const LateAnswer answer(server_.open_calls());
  server_.provisioner().check_health(in->name(), [this, answer, out](const absl::StatusOr<providers::Health>& health) {
    answer.give(health.status(), [&] { to_proto(*health, server_.clock().now().wall, out); });
  });
  return answer.reactor();
}

ProviderService::Unary* ProviderService::GetWorkerLogs(Context*, const v1::GetWorkerLogsRequest* in,
                                                       v1::GetWorkerLogsResponse* out) {
  const LateAnswer answer(server_.open_calls());
  const int tail = in->tail() == 0 ? kDefaultTail : in->tail();
  if (in->worker_id().empty() || tail < 0 || tail > kMaxTail) {
    answer.give(in->worker_id().empty() ? bad_field("worker_id", "must not be empty")
                                        : bad_field("tail", "must be from 0 to ", kMaxTail, ", not ", tail));
    return answer.reactor();
  }
  server_.loop().post_bounded(
      core::Question(core::DescribeWorkers{in->worker_id(), true}),
      [this, answer, tail, out](absl::StatusOr<core::Reply> reply) {
        if (!reply.ok()) return answer.give(reply.status());
        const core::WorkerRecordPtr record = std::get<core::WorkerViews>(*reply).workers.at(0).record;
        server_.provisioner().worker_logs(*record, static_cast<size_t>(tail),
                                          [answer, out](const absl::StatusOr<std::string>& text) {
                                            answer.give(text.status(), [&] { out->set_text(*text); });
                                          });
      });
  return answer.reactor();
}

ProviderService::Unary* ProviderService::SetPool(Context* c, const v1::SetPoolRequest* in, v1::Pool* out) {
  const absl::StatusOr<core::PoolRow> row = from_proto(in->pool());
  if (!row.ok()) return finish(c, row.status());
  return decide<core::Done>(server_, c, core::PutPool{*row, principal_of(*c)},
                            [out, row = *row](const core::Done&) { to_proto(core::PoolView{row}, out); });
}

ProviderService::Unary* ProviderService::RemovePool(Context* c, const v1::RemovePoolRequest* in,
                                                    v1::RemovePoolResponse*) {
  return decide<core::Done>(server_, c, core::DropPool{in->name(), principal_of(*c)}, [](const core::Done&) {});
}

ProviderService::Unary* ProviderService::ListPools(Context* c, const v1::ListPoolsRequest*,
                                                   v1::ListPoolsResponse* out) {
  return decide<core::PoolViews>(server_, c, core::Question(core::DescribePools{}),
                                 [out](const core::PoolViews& views) {
                                   for (const core::PoolView& view : views.pools) to_proto(view, out->add_pools());
                                 });
}

}  // namespace hodei::api
