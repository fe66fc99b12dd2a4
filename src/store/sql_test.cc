#include "src/store/sql.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::store::sql_test {
namespace {

using testing::ElementsAre;

TEST(Sql, TablesAreMadeFromTheirDescription) {
  EXPECT_THAT(
      create_sql(kTableOf<core::IdempotencyRow>, kSqlite),
      ElementsAre("CREATE TABLE idempotency (key BLOB NOT NULL, job INTEGER NOT NULL, expires INTEGER NOT NULL, "
                  "fingerprint INTEGER NOT NULL, PRIMARY KEY (key)) STRICT, WITHOUT ROWID",
                  "CREATE INDEX idempotency_expires ON idempotency (expires)"));
  EXPECT_THAT(create_sql(kMeta, kPostgres),
              ElementsAre("CREATE TABLE meta (id BIGINT PRIMARY KEY NOT NULL, schema_version BIGINT NOT NULL, "
                          "installation BYTEA NOT NULL, epoch BIGINT NOT NULL, batch_no BIGINT NOT NULL, "
                          "next_job BIGINT, scheduler BYTEA, CHECK (id = 1))"));
}

TEST(Sql, ParametersAreNumberedLikeColumns) {
  EXPECT_EQ(insert_sql(kTableOf<core::OtpRow>, kPostgres),
            "INSERT INTO otp (token, worker, expires) VALUES ($1, $2, $3)");
  EXPECT_EQ(upsert_sql(kTableOf<core::KeyLimitRow>, kSqlite),
            "INSERT INTO key_limit (ns, key, max_active) VALUES (?1, ?2, ?3) "
            "ON CONFLICT (ns, key) DO UPDATE SET max_active = excluded.max_active");
  EXPECT_EQ(update_sql(kTableOf<core::OtpRow>, kSqlite, "expires < ?4"),
            "UPDATE otp SET worker = ?2, expires = ?3 WHERE token = ?1 AND expires < ?4");
  EXPECT_EQ(delete_sql(kTableOf<core::TemplateRow>, kSqlite), "DELETE FROM template WHERE ns = ?1 AND name = ?2");
  EXPECT_EQ(select_by_key_sql(kTableOf<core::OtpRow>, kPostgres),
            "SELECT token, worker, expires FROM otp WHERE token = $1");
}

}  // namespace
}  // namespace hodei::store::sql_test
