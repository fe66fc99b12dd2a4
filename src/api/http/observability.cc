#include "src/api/http/observability.h"

#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// A server that cannot reach its store still tells what it knows.
core::SystemReport report_in(const absl::StatusOr<core::Reply>& reply) {
  return reply.ok() ? std::get<core::SystemReport>(*reply) : core::SystemReport{};
}

HttpResponse readiness(const server::SystemAssessment& now) {
  using server::SystemState;
  const bool ready =
      now.state == SystemState::Ready || now.state == SystemState::Running || now.state == SystemState::Degraded;
  return {ready ? 200 : 503, cat(server::name(now.state), ": ", now.reason, "\n")};
}

void metrics(server::Loop& loop, server::ServerStatus& status, const Responder& responder) {
  loop.post(core::Question(core::DescribeSystem{}), [&loop, &status, responder](absl::StatusOr<core::Reply> system) {
    loop.post(core::Question(core::DescribeQueue{}), [&status, responder, report = report_in(system)](auto queue) {
      server::Snapshot snapshot;
      snapshot.system = report;
      if (queue.ok()) snapshot.queue = std::get<core::QueueReport>(*queue);
      // Put together over there: this is the loop's thread.
      responder.send([&status, snapshot] { return HttpResponse{200, status.metrics_text(snapshot), kMetricsType}; });
    });
  });
}

}  // namespace

absl::Status add_observability(Router& router, server::Loop& loop, server::ServerStatus& status) {
  RETURN_IF_ERROR(router.get("/healthz", [](const HttpRequest&, const Responder& responder) {
    responder.send(HttpResponse{200, "ok\n"});
  }));
  RETURN_IF_ERROR(router.get("/readyz", [&loop, &status](const HttpRequest&, const Responder& responder) {
    loop.post(core::Question(core::DescribeSystem{}), [&status, responder](absl::StatusOr<core::Reply> reply) {
      responder.send([&status, report = report_in(reply)] { return readiness(status.assess(report)); });
    });
  }));
  return router.get("/metrics", [&loop, &status](const HttpRequest&, const Responder& responder) {
    metrics(loop, status, responder);
  });
}

}  // namespace hodei::api
