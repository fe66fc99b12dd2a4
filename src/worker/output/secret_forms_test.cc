#include "src/worker/output/secret_forms.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/utf8.h"

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
  const std::string value = "\xfb\xff\xfe\xfb\xff\xfe";  // +//++//+ in one, -__--__- in the other
  EXPECT_EQ(hide(value, "<+//++//+>"), "<********>");
  EXPECT_EQ(hide(value, "<-__--__->"), "<********>");
}

std::string in_base64(const std::string& text) { return absl::Base64Escape(text); }

std::string broken(const std::string& text, size_t column, const std::string& line_break) {
  std::string out;
  for (size_t at = 0; at < text.size(); at += column) out += (at > 0 ? line_break : "") + text.substr(at, column);
  return out;
}

TEST(SecretForms, HideBase64ThatIsBrokenIntoLinesAnywhere) {
  const std::string value = "hunter2-and-a-half/0123456789";
  for (const size_t before : {0u, 1u, 2u, 19u, 50u, 55u, 57u, 73u}) {
    const std::string encoded = in_base64("login bot password " + std::string(before, 'x') + value + " and more");
    for (const size_t column : {1u, 3u, 10u, 60u, 64u, 76u}) {
      for (const std::string line_break : {"\n", "\r\n", "\n  "}) {
        std::string out = hide(value, broken(encoded, column, line_break));
        ASSERT_GE(std::count(out.begin(), out.end(), '*'), 36) << before << " " << column << "\n" << out;
        std::erase_if(out, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
        ASSERT_EQ(out.size(), encoded.size()) << "only letters of base64 are masked";
      }
    }
  }
}

TEST(SecretForms, HideALongValueInBrokenBase64Whole) {
  std::string value;
  for (int i = 0; i < 400; ++i) value += "key-" + std::to_string(i * 7919);
  const std::string out = hide(value, broken(in_base64("pre" + value), 76, "\n"));
  EXPECT_LE(std::count_if(out.begin(), out.end(), [](char c) { return c != '*' && c != '\n'; }), 8) << out;
}

TEST(SecretForms, HideHexadecimalDigitsAsProgramsWriteThem) {
  EXPECT_EQ(hide("s3cr3t!", "<73336372337421>"), "<**************>");
  EXPECT_EQ(hide("s3cr3t!", "<73 33 63 72 33 74 21>"), "<** ** ** ** ** ** **>");
  EXPECT_EQ(hide("\xab\xcd\xef\x12\x34\x56", "ABCDEF\n123456 abcdef123456"), "******\n****** ************");
}

TEST(SecretForms, HideHexadecimalDigitsWithAnySeparator) {
  EXPECT_EQ(hide("s3cr3t!", "<73:33:63:72:33:74:21>"), "<**:**:**:**:**:**:**>");
  EXPECT_EQ(hide("s3cr3t!", "<73-33-63-72-33-74-21>"), "<**-**-**-**-**-**-**>");
  EXPECT_EQ(hide("s3cr3t!", R"(b'\x73\x33\x63\x72\x33\x74\x21')"), R"(b'\x**\x**\x**\x**\x**\x**\x**')");
  EXPECT_EQ(hide("s3cr3t!", "{0x73, 0x33, 0x63, 0x72, 0x33, 0x74, 0X21}"),
            "{0x**, *x**, *x**, *x**, *x**, *x**, *X**}");
  EXPECT_EQ(hide("s3cr3t!", "0x73,0x33,\n  0x63,0x72,0x33,0x74,0x21"), "0x**,*x**,\n  *x**,*x**,*x**,*x**,*x**");
  EXPECT_EQ(hide("s3cr3t!", R"("733363\n72337421\n")"), R"("******\n********\n")") << "xxd -p, inside of JSON";
  EXPECT_EQ(hide("s3cr3t!", R"("\u0073\u0033\u0063\u0072\u0033\u0074\u0021")"),
            R"("\u00**\u****\u****\u****\u****\u****\u****")");
  EXPECT_EQ(hide("s3cr3t!", "&#x73;&#x33;&#x63;&#x72;&#x33;&#x74;&#x21;"),
            "&#x**;&#x**;&#x**;&#x**;&#x**;&#x**;&#x**;");
  EXPECT_EQ(hide("s3cr3t!", "['73', '33', '63', '72', '33', '74', '21']"),
            "['**', '**', '**', '**', '**', '**', '**']");
  EXPECT_EQ(hide("s3cr3t!", "73:33:63:72:33:74:22"), "73:33:63:72:33:74:22");
}

TEST(SecretForms, HideALongValueInSeparatedHexadecimalDigitsWhole) {
  std::string value, printed, hidden;
  for (int i = 0; i < 300; ++i) {
    value += static_cast<char>(i * i % 251);
    printed += absl::StrFormat("0x%02x, ", i * i % 251);
    hidden += i == 0 ? "0x**, " : "*x**, ";
  }
  EXPECT_EQ(hide(value, printed), hidden);
}

TEST(SecretForms, HideBase64ThatJsonBrokeIntoLines) {
  const std::string value = "hunter2-and-a-half/0123456789";
  for (const size_t before : {0u, 1u, 2u, 19u, 50u, 55u, 57u, 73u}) {
    const std::string encoded = in_base64("login bot password " + std::string(before, 'x') + value + " and more");
    for (const std::string line_break : {"\\n", "\\r\\n", "\\\\n"}) {
      const std::string printed = broken(encoded, 76, line_break);
      const std::string out = hide(value, printed);
      ASSERT_GE(std::count(out.begin(), out.end(), '*'), 36) << before << "\n" << out;
      for (size_t at = 0; (at = printed.find(line_break, at)) != std::string::npos; at += line_break.size())
        ASSERT_EQ(out.substr(at, line_break.size()), line_break) << before << "\n" << out;
    }
  }
  // Base64 has the letters of a line break too: only behind a backslash they are one.
  const std::string letters = "\x9e\xb9\xeb\x9e\xb9\xeb\x9e\xb9\xeb";  // nrnrnrnrnrnr
  EXPECT_EQ(hide(letters, "<nrnrnr\nnrnrnr>"), "<******\n******>");
  EXPECT_EQ(hide(letters, R"(<nrnrnr\nnrnrnr>)"), R"(<******\n******>)");
  EXPECT_EQ(hide("\xff\xff\xff\xff\xff\xff", R"({"php":"\/\/\/\/\/\/\/\/"})"), R"({"php":"\*\*\*\*\*\*\*\*"})");
}

// As `kubectl get secret -o json` shows a value that was in base64 already.
TEST(SecretForms, HideBase64OfBase64WhereverTheValueStands) {
  const std::string value = "s3cr3t-value/0123456789";
  for (size_t inner = 0; inner < 3; ++inner) {
    for (size_t outer = 0; outer < 3; ++outer) {
      for (const std::string behind : {"", "\n", " and more"}) {
        const std::string once = in_base64(std::string(inner, 'x') + value + behind);
        const std::string twice = in_base64(std::string(outer, 'y') + once + behind);
        for (const size_t column : {13u, 76u, 1000u}) {
          const std::string out = hide(value, broken(twice, column, "\n"));
          ASSERT_GE(std::count(out.begin(), out.end(), '*'), 38) << inner << outer << behind << "\n" << out;
        }
      }
    }
  }
}

TEST(SecretForms, LookForRareFormsOnlyInSoManyBytesOfValues) {
  std::map<std::string, std::string> few, many;
  for (int i = 0; i < 2000; ++i) {
    const std::string value = "value-" + std::to_string(i * 7919) + std::string(20, 'v');
    many["s" + std::to_string(i)] = value;
    if (i < 20) few["s" + std::to_string(i)] = value;
  }
  const auto forms_of_each = [](const auto& secrets, Reading reading) {
    return static_cast<double>(secret_forms(secrets, reading).size()) / static_cast<double>(secrets.size());
  };
  EXPECT_GT(forms_of_each(few, Reading::Base64), 20);
  EXPECT_LT(forms_of_each(many, Reading::Base64), 9);
  EXPECT_GT(forms_of_each(few, Reading::Hex), 2.5);
  EXPECT_LT(forms_of_each(many, Reading::Hex), 1.5);
}

TEST(SecretForms, HideTheBeginningOfASecretWhereATextWasCut) {
  const auto mask = mask_for({{"s", "s3cr3t-value"}});
  EXPECT_EQ(masked("say s3cr3t-", *mask, TextEnd::Cut), "say *******");
  EXPECT_EQ(masked("say s3cr3t-", *mask, TextEnd::Whole), "say s3cr3t-");
}

TEST(SecretForms, LeaveTextThatIsUtf8AsUtf8) {
  std::string value = "x";
  for (int i = 0; i < 60; ++i) value += "\u00e4";
  std::string text;
  for (int i = 0; i < 80; ++i) text += "\u00e4";
  EXPECT_TRUE(is_utf8(hide(value, text)));
}

TEST(SecretForms, HideUrlEncodedValues) {
  EXPECT_EQ(hide("p@ss word/1", "?p=p%40ss%20word%2F1&"), "?p=" + std::string(17, '*') + "&");
  EXPECT_EQ(hide("p@ss word/1", "?p=p%40ss+word%2f1&"), "?p=" + std::string(15, '*') + "&");
  EXPECT_EQ(hide("p@ss word/1", "p%40ss%20word/1&"), std::string(15, '*') + "&") << "as Python does it";
  EXPECT_EQ(hide("p@ss(word)!", "p%40ss(word)!&"), std::string(13, '*') + "&") << "as JavaScript does it";
  EXPECT_EQ(hide("~p@ss word*", "%7Ep%40ss+word*&"), std::string(15, '*') + "&") << "as Java and browsers do it";
  EXPECT_EQ(hide("s3cr3t!", "%73%33%63%72%33%74%21&"), "%**%**%**%**%**%**%**&") << "each of its bytes";
}

TEST(SecretForms, HideWhatAJobPrintsThatEchoesItsJson) {
  EXPECT_EQ(hide("say \"hi\"\n<now>", R"({"s":"say \"hi\"\n\u003cnow\u003e"})"),
            R"({"s":")" + std::string(27, '*') + R"("})");
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

// As `echo` and editors leave it in a file, and as a job that has cut the newline off prints it.
TEST(SecretForms, HideAValueAlsoWithoutTheNewlineAtItsEnd) {
  for (const std::string value : {"s3cr3t/value\n", "s3cr3t/value\r\n"}) {
    EXPECT_EQ(hide(value, "<s3cr3t/value>"), "<" + std::string(12, '*') + ">");
    EXPECT_EQ(hide(value, "<s3cr3t%2Fvalue>"), "<" + std::string(14, '*') + ">");
    EXPECT_EQ(hide(value, "<" + in_base64("s3cr3t/value") + ">"), "<" + std::string(16, '*') + ">");
  }
}

TEST(SecretForms, HideLongValuesPieceByPiece) {
  std::string value;
  for (int i = 0; i < 20'000; ++i) value += static_cast<char>('a' + i * i % 23);
  const std::string out = hide(value, "<" + value + ">");
  EXPECT_EQ(out, "<" + std::string(value.size(), '*') + ">");
  for (size_t length = kPiece; length < 2 * kPiece + 2 * kShortestMasked; ++length) {
    EXPECT_EQ(hide(value.substr(0, length), value.substr(0, length)), std::string(length, '*')) << "also its end";
  }
}

TEST(SecretForms, LeaveShortValuesAlone) {
  EXPECT_EQ(mask_for({{"pin", "12345"}}), nullptr);
  EXPECT_EQ(hide("12345", "12345"), "12345");
  EXPECT_EQ(hide("123456", "123456"), "******");
}

}  // namespace
}  // namespace hodei::worker::secret_forms_test
