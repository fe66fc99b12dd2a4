#include "src/worker/secret_forms.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::worker::secret_forms_test {
namespace {

using testing::Contains;
using testing::Not;

std::string hide(const std::string& value, const std::string& output) {
  const auto mask = mask_for({{"s", value}});
  return mask == nullptr ? output : masked(output, *mask);
}

TEST(SecretForms, HideAValueAndKeepTheLengthOfTheOutput) {
  EXPECT_EQ(hide("s3cr3t!", "token=s3cr3t!, again s3cr3t!s3cr3t!."), "token=*******, again **************.");
  EXPECT_EQ(hide("s3cr3t!", "s3cr3t and s3cr3T!"), "s3cr3t and s3cr3T!");
}

TEST(SecretForms, HideBase64WhereverTheValueStandsInWhatWasEncoded) {
  // printf 's3cr3t-value' | base64, and behind one, two and three other bytes.
  EXPECT_EQ(hide("s3cr3t-value", "czNjcjN0LXZhbHVl"), std::string(16, '*'));
  EXPECT_EQ(hide("s3cr3t-value", "eHMzY3IzdC12YWx1ZQ=="), "eH" + std::string(16, '*') + "==");
  EXPECT_EQ(hide("s3cr3t-value", "eHlzM2NyM3QtdmFsdWU="), "eHl" + std::string(16, '*') + "=");
  EXPECT_EQ(hide("s3cr3t-value", "eHMzY3IzdC12YWx1ZXk="), "eH" + std::string(15, '*') + "Xk=") << "something follows";
  EXPECT_EQ(hide("s3cr3t-value", "eHl6czNjcjN0LXZhbHVl"), "eHl6" + std::string(16, '*'));
  EXPECT_EQ(hide("s3cr3t-value1", "czNjcjN0LXZhbHVlMQ=="), std::string(18, '*') + "==");
}

TEST(SecretForms, HideBothAlphabetsOfBase64) {
  const std::string value = "\xfb\xff\xfe\xfb\xff\xfe";   // +//++//+ in one, -__--__- in the other
  EXPECT_EQ(hide(value, "<+//++//+>"), "<********>");
  EXPECT_EQ(hide(value, "<-__--__->"), "<********>");
}

TEST(SecretForms, HideBase64ThatIsBrokenIntoLines) {
  std::string value;
  for (int i = 0; i < 40; ++i) value += "key-" + std::to_string(i * 7919);
  const std::set<std::string> forms = secret_forms({{"s", value}});
  std::string whole;
  for (const std::string& form : forms) {
    if (form.size() == 76) whole = form;
  }
  EXPECT_FALSE(whole.empty()) << "no line as `base64` writes them";
}

TEST(SecretForms, HideUrlEncodedValues) {
  EXPECT_EQ(hide("p@ss word/1", "?p=p%40ss%20word%2F1&"), "?p=" + std::string(17, '*') + "&");
  EXPECT_EQ(hide("p@ss word/1", "?p=p%40ss+word%2f1&"), "?p=" + std::string(15, '*') + "&");
}

TEST(SecretForms, HideWhatAJobPrintsThatEchoesItsJson) {
  EXPECT_EQ(hide("say \"hi\"\n<now>", R"({"s":"say \"hi\"\n\u003cnow\u003e"})"), R"({"s":")" + std::string(27, '*') + R"("})");
}

TEST(SecretForms, HideWhatPythonMakesOfOtherAlphabets) {
  EXPECT_EQ(hide("p\u00e4ss \U0001f511 key", R"(<p\u00e4ss \ud83d\udd11 key>)"), "<" + std::string(26, '*') + ">");
}

TEST(SecretForms, HideEachLineOfAValueButNotLinesThatSayNothing) {
  const std::string value = "-----BEGIN-----\nfirst line\nab\n------------\nsecond line\n";
  EXPECT_EQ(hide(value, "x second line y"), "x *********** y");
  EXPECT_EQ(hide(value, "ab ------------"), "ab ------------");
  EXPECT_EQ(hide(value, value), "***************\n**********\n**\n************\n***********\n");
}

TEST(SecretForms, HideLongValuesPieceByPiece) {
  std::string value;
  for (int i = 0; i < 20'000; ++i) value += static_cast<char>('a' + i * i % 23);
  const std::string out = hide(value, "<" + value + ">");
  EXPECT_EQ(out, "<" + std::string(value.size(), '*') + ">");
}

TEST(SecretForms, LeaveShortValuesAlone) {
  EXPECT_EQ(mask_for({{"pin", "12345"}}), nullptr);
  EXPECT_EQ(hide("12345", "12345"), "12345");
  EXPECT_EQ(hide("123456", "123456"), "******");
}

}  // namespace
}  // namespace hodei::worker::secret_forms_test
