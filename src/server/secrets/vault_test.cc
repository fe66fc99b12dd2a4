#include "src/server/secrets/vault.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::server::vault_test {
namespace {

using Purpose = SealedFor::Purpose;

SecretKey a_key(uint8_t fill) {
  SecretKey key;
  key.fill(fill);
  return key;
}

TEST(Vault, OpensWhatItSealedAndNeverSealsTheSameWayTwice) {
  const Vault vault(a_key(1));
  const SealedFor what{"default", "token", Purpose::Store};
  for (const std::string& value : {std::string(), std::string("s3cr3t"), std::string(64 << 10, 'x')}) {
    const std::string sealed = vault.seal(what, value);
    EXPECT_EQ(vault.open(what, sealed).value(), value);
    EXPECT_EQ(Vault::value_size(sealed), value.size());
    EXPECT_NE(sealed, vault.seal(what, value));
    if (value.size() >= 6) {
      EXPECT_EQ(sealed.find(value), std::string::npos);
    }
  }
}

TEST(Vault, WhatBelongsToSomethingElseDoesNotOpen) {
  const Vault vault(a_key(1));
  const std::string sealed = vault.seal({"default", "token", Purpose::Store}, "value");
  EXPECT_EQ(vault.open({"other", "token", Purpose::Store}, sealed).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(vault.open({"default", "tokens", Purpose::Store}, sealed).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(vault.open({"default", "token", Purpose::Job}, sealed).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Vault, EveryChangedOrMissingByteIsNoticed) {
  const Vault vault(a_key(1));
  const SealedFor what{"default", "token", Purpose::Store};
  const std::string sealed = vault.seal(what, "value");
  for (size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(vault.open(what, changed).ok()) << i;
    EXPECT_FALSE(vault.open(what, sealed.substr(0, i)).ok()) << i;
  }
}

TEST(Vault, SaysThatAnotherKeyIsNeeded) {
  const SealedFor what{"default", "token", Purpose::Store};
  const std::string sealed = Vault(a_key(1)).seal(what, "value");
  const Vault other(a_key(2));
  EXPECT_FALSE(other.is_mine(sealed));
  const absl::Status refused = other.open(what, sealed).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("a different key"), absl::string_view::npos) << refused;
}

class KeyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "hodei-key-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST_F(KeyTest, IsMadeOnceAndForItsOwnerAlone) {
  const SecretKey first = find_key({.data_dir = folder}).value();
  EXPECT_EQ(find_key({.data_dir = folder}).value(), first);
  struct stat info {};
  ASSERT_EQ(stat((folder + "/secret.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(KeyTest, IsReadInHexAndBase64FromFileAndText) {
  const std::string hex = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
  const std::string base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  SecretKey expected;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(find_key({.text = hex}).value(), expected);
  EXPECT_EQ(find_key({.text = " " + base64 + "\n"}).value(), expected);
  std::ofstream(folder + "/key") << base64 << "\n";
  EXPECT_EQ(find_key({.file = folder + "/key"}).value(), expected);
}

TEST_F(KeyTest, SaysWhatIsWrongAndWhatToDo) {
  for (const std::string& bad : {std::string("short"), std::string(64, 'g'), std::string(43, 'A') + "*"}) {
    EXPECT_NE(find_key({.text = bad}).status().message().find("openssl rand -hex 32"), absl::string_view::npos) << bad;
  }
  const absl::Status missing = find_key({.file = folder + "/none"}).status();
  EXPECT_NE(missing.message().find(folder + "/none"), absl::string_view::npos) << missing;
}

}  // namespace
}  // namespace hodei::server::vault_test
