#include "src/providers/kubernetes/names.h"

#include "gtest/gtest.h"

namespace hodei::providers::kubernetes::names_test {
namespace {

TEST(Names, ThatFitStayAsTheyAre) {
  EXPECT_EQ(pod_name("here", "w1").size(), std::string("hodei-12345678-w1").size());
  EXPECT_TRUE(pod_name("here", "w1").ends_with("-w1"));
  EXPECT_EQ(former_pod_name("w1"), "hodei-w1");
  EXPECT_EQ(secret_name("hodei-w1"), "hodei-w1-token");
  EXPECT_EQ(label_value("a-B_c.1"), "a-B_c.1");
}

TEST(Names, ThatDoNotFitGetOneThatDoes) {
  const std::string long_id(200, 'w');
  for (const std::string& odd :
       {long_id, std::string("ends-"), std::string("With Spaces/ünd"), std::string("-"), std::string("..")}) {
    EXPECT_TRUE(is_object_name(pod_name("here", odd))) << pod_name("here", odd);
    EXPECT_LE(pod_name("here", odd).size(), 63u);
    EXPECT_TRUE(is_object_name(secret_name(pod_name("here", odd))));
    EXPECT_TRUE(is_label_value(label_value(odd))) << label_value(odd);
    EXPECT_FALSE(label_value(odd).empty());
  }
}

TEST(Names, OfDifferentWordsNeverMeet) {
  EXPECT_NE(label_value("a b"), label_value("a/b"));
  EXPECT_NE(pod_name("here", std::string(100, 'a') + "1"), pod_name("here", std::string(100, 'a') + "2"));
  EXPECT_NE(pod_name("here", "w1"), pod_name("there", "w1")) << "two servers in one namespace";
  EXPECT_NE(pod_name("here", std::string(100, 'a')), pod_name("there", std::string(100, 'a')));
  EXPECT_NE(label_value("a b"), "a-b");
}

TEST(Names, AreJudgedAsTheApiServerDoes) {
  for (const char* good : {"a", "a-b", "a.b", "0", "a1.b-2"}) EXPECT_TRUE(is_object_name(good)) << good;
  for (const char* bad : {"", "A", "-a", "a-", "a..b", ".a", "a.", "a-.b", "a.-b", "a_b", "a/b"})
    EXPECT_FALSE(is_object_name(bad)) << bad;
  for (const char* good : {"a", "example.com/a", "hodei.worker", "a_b"}) EXPECT_TRUE(is_label_key(good)) << good;
  for (const char* bad : {"", "/a", "a/", "Ex/a", "a/b/c", "-a"}) EXPECT_FALSE(is_label_key(bad)) << bad;
}

}  // namespace
}  // namespace hodei::providers::kubernetes::names_test
