#include "src/api/calls/envelope.h"

#include "gtest/gtest.h"
#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/worker_service.pb.h"

namespace hodei::api::envelope_test {
namespace {

TEST(Envelope, SaysWhoCallsAndFromWhere) {
  const Call ann = make_call({.peer = "ipv4:10.0.0.7:4711", .user = "ann"}, "", "");
  EXPECT_EQ(ann.envelope->principal.text(), "ann (ipv4:10.0.0.7:4711)");
  EXPECT_FALSE(ann.envelope->principal.verified) << "she says so herself";
  EXPECT_EQ(ann.peer(), "ipv4:10.0.0.7:4711");
  const Call nobody = make_call({.peer = "ipv4:10.0.0.7:4711"}, "", "");
  EXPECT_EQ(nobody.envelope->principal.text(), "local (ipv4:10.0.0.7:4711)");
}

TEST(Envelope, ADeclaredNameCannotLookLikeOneOfTheServersOwn) {
  for (const char* name : {"server", "worker w1", "ann (ipv4:10.0.0.1:1)", "a\nb", "-x"}) {
    EXPECT_EQ(make_call({.peer = "p", .user = name}, "", "").envelope->principal.name, "local") << name;
  }
  EXPECT_EQ(make_call({.peer = "p", .user = std::string(300, 'a')}, "", "").envelope->principal.name, "local");
}

TEST(Envelope, MakesTheIdsThatAreNotGiven) {
  const Call given = make_call({.peer = "p", .user = "", .request_id = "r", .correlation_id = "c"}, "", "");
  EXPECT_EQ(given.envelope->request_id, "r");
  EXPECT_EQ(given.envelope->correlation_id, "c");
  const Call first = make_call({.peer = "p"}, "", "");
  const Call second = make_call({.peer = "p"}, "", "");
  EXPECT_FALSE(first.envelope->request_id.empty());
  EXPECT_NE(first.envelope->request_id, second.envelope->request_id);
  EXPECT_NE(first.envelope->correlation_id, second.envelope->correlation_id);
  EXPECT_EQ(first.envelope->deadline, kNever);
}

TEST(Envelope, TakesWhatTheRequestSays) {
  v1::QueueJobRequest request;
  request.set_namespace_("team");
  request.set_correlation_id("order 12");
  const Call call = make_call({.peer = "p", .user = "", .correlation_id = "of the call"}, request);
  EXPECT_EQ(call.envelope->ns, "team");
  EXPECT_EQ(call.envelope->correlation_id, "order 12");
  request.set_namespace_("../x");
  request.clear_correlation_id();
  const Call bad = make_call({.peer = "p", .user = "", .correlation_id = "of the call"}, request);
  EXPECT_EQ(bad.envelope->ns, "") << "the call itself says what is wrong with it";
  EXPECT_EQ(bad.envelope->correlation_id, "of the call");
  EXPECT_EQ(make_call({.peer = "p"}, v1::ListWorkersRequest()).envelope->ns, "") << "it has no such field";
}

TEST(Envelope, OfAWorkerNamesIt) {
  const Call call = make_call({.peer = "p", .user = "ann", .request_id = "r"}, "", "");
  const core::EnvelopePtr worker = as_worker(*call.envelope, "w1");
  EXPECT_EQ(worker->principal.text(), "worker w1 (p)");
  EXPECT_TRUE(worker->principal.verified);
  EXPECT_EQ(worker->request_id, "r");
}

}  // namespace
}  // namespace hodei::api::envelope_test
