// A job's secrets at the border.
#include "src/api/calls/secrets.h"

#include "gtest/gtest.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/core/jobs/spec.h"
#include "src/spec/submission.h"
#include "src/spec/templates.h"
#include "src/store/memory/memory_store.h"

namespace hodei::api::secrets_test {
namespace {

constexpr const char* kValue = "s3cr3t-value";

server::SecretKey a_key(uint8_t fill) {
  server::SecretKey key;
  key.fill(fill);
  return key;
}

class SecretsTest : public testing::Test {
 protected:
  void store_secret(const std::string& name, const std::string& value, const server::Vault& with) {
    const std::string sealed = with.seal({"default", name, server::SealedFor::Purpose::Store}, value);
    const core::Put<core::SecretRow> put({"default", name, 1, {}, sealed});
    ASSERT_TRUE(store.commit({put}, epoch, store::BatchNo{++batch}).ok());
  }
  v1::JobSpec a_spec() {
    v1::JobSpec out;
    out.mutable_command()->mutable_shell()->set_cmd("true");
    return out;
  }
  void add(v1::JobSpec& to, const std::string& name, const std::string& value = "") {
    v1::Secret& secret = *to.add_secrets();
    secret.set_name(name);
    secret.set_value(value);
  }
  v1::RunJob deliver(const v1::JobSpec& stored, const std::string& ns = "default") {
    v1::RunJob order;
    deliver_secrets({.ns = ns, .bytes = stored.SerializeAsString()}, ports, &order);
    return order;
  }

  server::Vault vault{a_key(7)};
  store::MemoryStore store;
  store::Epoch epoch = store.new_epoch().value();
  uint64_t batch = 0;
  SecretPorts ports{vault, store};
};

TEST_F(SecretsTest, AreSealedBeforeAnythingIsStoredAndOpenedForTheWorker) {
  store_secret("kept", "an0ther-value", vault);
  v1::JobSpec given = a_spec();
  add(given, "token", kValue);
  add(given, "kept");
  StorableSpec storable;
  ASSERT_TRUE(make_storable(given, "default", ports, storable).ok());
  const absl::StatusOr<core::NewJob> job = spec::new_job(*storable.spec, "default", "", "");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->spec->bytes.find(kValue), std::string::npos);
  EXPECT_EQ(*job->head.secrets, "token, kept");
  const v1::RunJob order = deliver(*storable.spec);
  EXPECT_EQ(order.secret_error(), "");
  EXPECT_EQ(order.secrets().at("token"), kValue);
  EXPECT_EQ(order.secrets().at("kept"), "an0ther-value");
}

TEST_F(SecretsTest, ASpecWithoutThemIsNotCopied) {
  const v1::JobSpec given = a_spec();
  StorableSpec storable;
  ASSERT_TRUE(make_storable(given, "default", ports, storable).ok());
  EXPECT_EQ(storable.spec, &given);
}

TEST_F(SecretsTest, AReadableValueIsNeverMadeAJob) {
  v1::JobSpec given = a_spec();
  add(given, "token", kValue);
  EXPECT_FALSE(spec::new_job(given, "default", "", "").ok());
}

TEST_F(SecretsTest, NobodyReadsMoreThanTheirNames) {
  v1::JobSpec given = a_spec();
  add(given, "token", kValue);
  StorableSpec storable;
  ASSERT_TRUE(make_storable(given, "default", ports, storable).ok());
  const absl::StatusOr<core::NewJob> job = spec::new_job(*storable.spec, "default", "", "");
  store::JobView view{.head = job->head, .spec = *job->spec};
  v1::Job out;
  to_proto(view, true, &out);
  ASSERT_EQ(out.spec().secrets_size(), 1);
  EXPECT_EQ(out.spec().secrets(0).name(), "token");
  EXPECT_EQ(out.spec().secrets(0).value(), "");
  EXPECT_EQ(out.spec().secrets(0).sealed(), "");
}

TEST_F(SecretsTest, WhatIsWrongIsSaidByTheNameOfTheField) {
  StorableSpec storable;
  v1::JobSpec missing = a_spec();
  add(missing, "token");
  const absl::Status unknown = make_storable(missing, "team", ports, storable);
  EXPECT_EQ(unknown.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(unknown.message().find("hodei secret set token -n team"), absl::string_view::npos) << unknown;
  EXPECT_FALSE(check_references(missing, "default", store).ok());

  v1::JobSpec forged = a_spec();
  forged.add_secrets()->set_name("token");
  forged.mutable_secrets(0)->set_sealed("x");
  EXPECT_EQ(make_storable(forged, "default", ports, storable).message().substr(0, 17), "secrets[0].sealed");

  v1::JobSpec large = a_spec();
  for (const char* name : {"a", "b"}) add(large, name, std::string(core::kMaxSecretBytes / 2 + 1, 'x'));
  EXPECT_EQ(make_storable(large, "default", ports, storable).message().substr(0, 8), "secrets:");
}

TEST_F(SecretsTest, AShortValueIsToldToTheSubmitter) {
  store_secret("pin", "1234", vault);
  v1::JobSpec given = a_spec();
  add(given, "pin");
  add(given, "token", kValue);
  StorableSpec storable;
  ASSERT_TRUE(make_storable(given, "default", ports, storable).ok());
  EXPECT_NE(storable.note.find("'pin'"), std::string::npos);
  EXPECT_EQ(storable.note.find("'token'"), std::string::npos);
}

TEST_F(SecretsTest, OneThatCannotBeHadFailsTheOrderAndSendsNoneOfTheOthers) {
  store_secret("foreign", kValue, server::Vault(a_key(8)));
  for (const char* name : {"gone", "foreign"}) {
    v1::JobSpec stored = a_spec();
    stored.add_secrets()->set_name("token");
    stored.mutable_secrets(0)->set_sealed(vault.seal({"default", "token", server::SealedFor::Purpose::Job}, kValue));
    stored.add_secrets()->set_name(name);
    const v1::RunJob order = deliver(stored);
    EXPECT_NE(order.secret_error().find(name), std::string::npos) << order.secret_error();
    EXPECT_EQ(order.secrets_size(), 0);
    stored.mutable_secrets()->RemoveLast();
    EXPECT_EQ(deliver(stored, "other").secrets_size(), 0) << "sealed for another namespace";
    EXPECT_EQ(deliver(stored).secrets_size(), 1);
  }
}

TEST_F(SecretsTest, ATemplateHoldsNamesOnly) {
  v1::Template wanted;
  wanted.set_name("t");
  *wanted.mutable_spec() = a_spec();
  add(*wanted.mutable_spec(), "token");
  EXPECT_TRUE(spec::template_row(wanted, "default").ok());
  wanted.mutable_spec()->mutable_secrets(0)->set_value(kValue);
  EXPECT_EQ(spec::template_row(wanted, "default").status().message().substr(0, 16), "secrets[0].value");
}

TEST_F(SecretsTest, OnlyOrdersThatHaveThemAreOpened) {
  const auto row = std::make_shared<core::SpecRow>();
  std::deque<server::ToWorker> waiting(1);
  waiting[0].run = {{{JobId{1}, 1}, 1, row, false}, {{JobId{2}, 1}, 1, row, true}};
  v1::ServerMessage out;
  fill(
      waiting, [](const core::SpecRow&, v1::RunJob* order) { (*order->mutable_secrets())["token"] = kValue; }, &out);
  ASSERT_EQ(out.run_size(), 2);
  EXPECT_EQ(out.run(0).secrets_size(), 0);
  EXPECT_EQ(out.run(1).secrets().at("token"), kValue);
}

}  // namespace
}  // namespace hodei::api::secrets_test
