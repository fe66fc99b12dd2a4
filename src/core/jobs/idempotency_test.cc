// Idempotency keys beyond what memory holds: they are in the store, and who submits asks there first.
#include "gmock/gmock.h"
#include "src/core/engine_harness.h"

namespace hodei::core::idempotency_test {
namespace {

using testing::HasSubstr;

Hash128 key_of(int n) { return hash128(cat("key", n)); }

TEST(IdempotencyKeys, TheNewestAreKeptWhateverTheOrderTheyCameIn) {
  IdempotencyKeys forwards(3);
  IdempotencyKeys backwards(3);
  for (int n = 1; n <= 9; ++n) forwards.put(key_of(n), {JobId{static_cast<uint64_t>(n)}, WallTime{n * 100}});
  for (int n = 9; n >= 1; --n) backwards.put(key_of(n), {JobId{static_cast<uint64_t>(n)}, WallTime{n * 100}});
  for (const IdempotencyKeys* keys : {&forwards, &backwards}) {
    for (int n = 1; n <= 9; ++n) EXPECT_EQ(keys->find(key_of(n)).has_value(), n > 6) << n;
    EXPECT_EQ(keys->forgotten(), JobId{6});
    EXPECT_EQ(keys->first_end(), WallTime{100});
    EXPECT_TRUE(keys->is_filling());
  }
}

TEST(IdempotencyKeys, AreAllKnownAgainWhenTheForgottenOnesHaveEnded) {
  IdempotencyKeys keys(3);
  for (int n = 1; n <= 5; ++n) keys.put(key_of(n), {JobId{static_cast<uint64_t>(n)}, WallTime{n * 100}});
  keys.expire(WallTime{150});
  EXPECT_EQ(keys.forgotten(), JobId{2});
  EXPECT_EQ(keys.first_end(), WallTime{150}) << "the second one is still in the store";
  keys.expire(WallTime{201});
  EXPECT_EQ(keys.forgotten(), JobId{});
  EXPECT_EQ(keys.first_end(), WallTime{300});
  keys.expire(WallTime{501});
  EXPECT_EQ(keys.first_end(), std::nullopt);
  EXPECT_FALSE(keys.is_filling());
}

TEST(IdempotencyKeys, OneThatIsPutAgainEndsLater) {
  IdempotencyKeys keys(3);
  keys.put(key_of(1), {JobId{1}, WallTime{100}});
  keys.put(key_of(1), {JobId{2}, WallTime{300}});
  keys.expire(WallTime{200});
  EXPECT_EQ(keys.find(key_of(1)), KeyOwner{JobId{2}});
}

class OtherSpecs : public testing::Test {
 protected:
  static NewJob job(const std::string& key, uint64_t fingerprint, bool allow = false) {
    NewJob out = a_job().idempotent(key).made();
    out.fingerprint = fingerprint;
    out.allow_other_spec = allow;
    return out;
  }
  Bench bench;
};

TEST_F(OtherSpecs, AreRefusedUnderAKeyThatIsKnown) {
  const JobId first = bench.ask<Submitted>(Submit{{job("k", 11)}}).jobs[0].job;
  EXPECT_TRUE(bench.ask<Submitted>(Submit{{job("k", 11)}}).jobs[0].existing);
  const absl::Status status = bench.refused(Submit{{job("k", 22)}});
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(short_id(first)));
  EXPECT_EQ(status.GetPayload(kKeyConflict.data()), absl::Cord(short_id(first) + " 0"));
  EXPECT_EQ(bench.ask<Submitted>(Submit{{job("k", 22, true)}}).jobs[0].job, first) << "the caller allows it";
  bench.restart();
  EXPECT_EQ(bench.refused(Submit{{job("k", 22)}}).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(OtherSpecs, OfABatchAreRefusedWithAllOfIt) {
  bench.ask<Submitted>(Submit{{job("k", 11)}});
  EXPECT_FALSE(bench.decide(Submit{{job("new", 1), job("k", 22)}}).ok());
  EXPECT_TRUE(bench.last.writes.empty());
  EXPECT_FALSE(bench.decide(Submit{{job("twice", 1), job("twice", 2)}}).ok());
  EXPECT_TRUE(bench.last.writes.empty());
  EXPECT_TRUE(bench.decide(Submit{{job("twice", 1), job("twice", 1)}}).ok());
}

TEST_F(OtherSpecs, CannotBeToldOfKeysThatEarlierVersionsStored) {
  bench.ask<Submitted>(Submit{{job("k", 0)}});
  EXPECT_TRUE(bench.ask<Submitted>(Submit{{job("k", 22)}}).jobs[0].existing);
}

TEST_F(OtherSpecs, AreToldWhenTheStoreHasTheKey) {
  NewJob asked = job("k", 22);
  asked.key_asked_before = JobId{1};
  asked.key_owner = KeyOwner{JobId{7}, 11};
  EXPECT_EQ(bench.refused(Submit{{asked}}).code(), absl::StatusCode::kAlreadyExists);
}

class ForgottenKeys : public testing::Test {
 protected:
  static EngineConfig small() {
    EngineConfig config;
    config.memory.idempotency_keys = 3;
    return config;
  }
  static JobOrder keyed(int n) { return a_job().idempotent(cat("key", n)); }

  // As the border does it: the store is asked, then the command is made.
  NewJob asked(int n) {
    NewJob job = keyed(n).made();
    job.key_asked_before = JobId{bench.engine().modules().jobs.table.next_number()};
    if (const auto row = bench.rows.idempotency.find(*job.idempotency); row != bench.rows.idempotency.end()) {
      job.key_owner = KeyOwner{row->second.job, row->second.fingerprint};
    }
    return job;
  }

  Bench bench{small()};
};

TEST_F(ForgottenKeys, GiveTheSameJobStill) {
  std::vector<JobId> jobs;
  for (int n = 0; n < 8; ++n) jobs.push_back(bench.ask<Submitted>(Submit{{asked(n)}}).jobs[0].job);
  for (int n = 0; n < 8; ++n) {
    const Submitted again = bench.ask<Submitted>(Submit{{asked(n)}});
    EXPECT_EQ(again.jobs[0].job, jobs[static_cast<size_t>(n)]) << n;
    EXPECT_TRUE(again.jobs[0].existing) << n;
  }
  bench.restart();
  EXPECT_EQ(bench.ask<Submitted>(Submit{{asked(0)}}).jobs[0].job, jobs[0]);
  EXPECT_EQ(bench.engine().modules().jobs.keys.keys().all().size(), 3u);
}

TEST_F(ForgottenKeys, AreNeverTakenForNewOnesWithoutAskingTheStore) {
  for (int n = 0; n < 8; ++n) bench.ask<Submitted>(Submit{{asked(n)}});
  const absl::Status status = bench.refused(Submit{{keyed(0).made()}});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("idempotency_key"));
  EXPECT_TRUE(bench.last.writes.empty());
  EXPECT_TRUE(bench.ask<Submitted>(Submit{{keyed(7).made()}}).jobs[0].existing) << "this one is remembered";
}

TEST_F(ForgottenKeys, AnAnswerOfTheStoreThatIsTooOldDoesNotCount) {
  const NewJob early = asked(0);  // the store knows nothing of it yet
  for (int n = 0; n < 8; ++n) bench.ask<Submitted>(Submit{{asked(n)}});
  EXPECT_EQ(bench.refused(Submit{{early}}).code(), absl::StatusCode::kUnavailable);
}

TEST_F(ForgottenKeys, EndWithTheirTime) {
  for (int n = 0; n < 8; ++n) bench.ask<Submitted>(Submit{{asked(n)}});
  bench.advance(std::chrono::hours(25));
  EXPECT_TRUE(bench.rows.idempotency.empty());
  EXPECT_EQ(bench.engine().modules().jobs.keys.keys().forgotten(), JobId{});
  EXPECT_FALSE(bench.ask<Submitted>(Submit{{keyed(0).made()}}).jobs[0].existing);
}

}  // namespace
}  // namespace hodei::core::idempotency_test
