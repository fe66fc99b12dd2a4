#include "src/api/http/router.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/api/http/hostile_words_fixture.h"
#include "src/base/http/percent.h"
#include "src/base/text.h"

namespace hodei::api::router_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RouterTest : public testing::Test {
 protected:
  absl::Status add(std::string method, std::string_view pattern) {
    return router_.add(std::move(method), pattern, [](const HttpRequest&, const Responder&) {});
  }
  void knows(const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
      const absl::Status added = add("GET", pattern);
      EXPECT_TRUE(added.ok()) << added;
    }
  }
  // The pattern that matches and its parameters, or what is allowed.
  std::string find(std::string_view method, std::string_view target) {
    const absl::StatusOr<Target> parsed = parse_target(target);
    if (!parsed.ok()) return "400";
    const auto found = router_.find(method, parsed->segments);
    std::string out;
    if (const auto* none = std::get_if<NoRoute>(&found)) {
      for (const std::string& method_name : none->allowed) out += cat(out.empty() ? "" : ",", method_name);
      return out.empty() ? "404" : cat("405 ", out);
    }
    const auto& match = std::get<RouteMatch>(found);
    out = match.route->pattern.text;
    for (const auto& [name, value] : match.parameters) out += cat(" ", name, "=", value);
    return out;
  }
  std::string get(std::string_view target) { return find("GET", target); }

  Router router_;
};

TEST_F(RouterTest, FindsLiteralsAndParameters) {
  knows({"/", "/jobs", "/jobs/{id}", "/jobs/{id}/logs", "/a/{x}/b/{y}"});
  EXPECT_EQ(get("/"), "/");
  EXPECT_EQ(get("/jobs"), "/jobs");
  EXPECT_EQ(get("/%6Aobs"), "/jobs");
  EXPECT_EQ(get("/jobs/j1"), "/jobs/{id} id=j1");
  EXPECT_EQ(get("/jobs/a%2Fb"), "/jobs/{id} id=a/b");
  EXPECT_EQ(get("/jobs/a%2Flogs"), "/jobs/{id} id=a/logs");
  EXPECT_EQ(get("/jobs/j1/logs"), "/jobs/{id}/logs id=j1");
  EXPECT_EQ(get("/a/1/b/2"), "/a/{x}/b/{y} x=1 y=2");
  for (const char* nowhere : {"/jobs/", "/job", "/JOBS", "/jobs/j1/", "/jobs//logs", "//jobs", "/jobs/j1/logs/x"}) {
    EXPECT_EQ(get(nowhere), "404") << nowhere;
  }
}

TEST_F(RouterTest, PrefersALiteral) {
  knows({"/jobs/{id}", "/jobs/stats", "/jobs/{id}:cancel", "/{any}/x", "/{rest...}", "/jobs/stats/deep"});
  EXPECT_EQ(get("/jobs/stats"), "/jobs/stats");
  EXPECT_EQ(get("/jobs/j1:cancel"), "/jobs/{id}:cancel id=j1");
  EXPECT_EQ(get("/jobs/j1"), "/jobs/{id} id=j1");
  EXPECT_EQ(get("/jobs/x"), "/jobs/{id} id=x");
  EXPECT_EQ(get("/other/x"), "/{any}/x any=other");
  EXPECT_EQ(get("/other/y"), "/{rest...} rest=other/y");
}

TEST_F(RouterTest, GoesBackFromABranchThatLeadsNowhere) {
  knows({"/a/b/c", "/a/{x}/d", "/{x}/b/e"});
  EXPECT_EQ(get("/a/b/c"), "/a/b/c");
  EXPECT_EQ(get("/a/b/d"), "/a/{x}/d x=b");
  EXPECT_EQ(get("/a/b/e"), "/{x}/b/e x=a");
}

TEST_F(RouterTest, KnowsVerbsBehindAParameter) {
  knows({"/jobs/{id}:cancel", "/jobs/{id}:retry", "/jobs:search"});
  EXPECT_EQ(get("/jobs/j1:cancel"), "/jobs/{id}:cancel id=j1");
  EXPECT_EQ(get("/jobs/a:b:retry"), "/jobs/{id}:retry id=a:b");
  EXPECT_EQ(get("/jobs:search"), "/jobs:search");
  EXPECT_EQ(get("/jobs/j1%3Acancel"), "404") << "an escaped colon belongs to the parameter";
  EXPECT_EQ(get("/jobs/:cancel"), "404") << "without a value";
  EXPECT_EQ(get("/jobs/j1:cancel2"), "404");
  EXPECT_TRUE(add("GET", "/jobs/{id}").ok());
  EXPECT_EQ(get("/jobs/j1%3Acancel"), "/jobs/{id} id=j1:cancel");
}

TEST_F(RouterTest, GivesAWildcardAllThatIsLeft) {
  knows({"/files/{path...}"});
  EXPECT_EQ(get("/files/a"), "/files/{path...} path=a");
  EXPECT_EQ(get("/files/a/b%20c"), "/files/{path...} path=a/b c");
  EXPECT_EQ(get("/files"), "404");
  EXPECT_EQ(get("/files/"), "404");
  EXPECT_EQ(get("/files/a//b"), "404");
  EXPECT_EQ(get("/files/a/../b"), "400");
  EXPECT_EQ(get("/files/a%2F..%2F..%2Fetc"), "404") << "a segment must not bring separators along";
  EXPECT_EQ(get("/files/..%5Cb"), "404");
}

TEST_F(RouterTest, SaysWhichMethodsThereAre) {
  EXPECT_TRUE(add("GET", "/jobs/{id}").ok());
  EXPECT_TRUE(add("DELETE", "/jobs/{name}").ok()) << "another method may name its parameters as it likes";
  EXPECT_TRUE(add("POST", "/jobs/search").ok());
  EXPECT_EQ(find("DELETE", "/jobs/j1"), "/jobs/{name} name=j1");
  EXPECT_EQ(find("HEAD", "/jobs/j1"), "/jobs/{id} id=j1");
  EXPECT_EQ(find("POST", "/jobs/j1"), "405 DELETE,GET,HEAD,OPTIONS");
  EXPECT_EQ(find("PUT", "/jobs/search"), "405 DELETE,GET,HEAD,OPTIONS,POST");
  EXPECT_EQ(find("GET", "/jobs/search"), "/jobs/{id} id=search") << "the most specific route with this method";
  EXPECT_EQ(find("get", "/jobs/j1"), "405 DELETE,GET,HEAD,OPTIONS") << "methods have one spelling";
  EXPECT_THAT(router_.methods(), ElementsAre("DELETE", "GET", "HEAD", "OPTIONS", "POST"));
}

TEST_F(RouterTest, RefusesRoutesThatMatchTheSame) {
  knows({"/jobs/{id}", "/files/{path...}", "/jobs/{id}:cancel"});
  const absl::Status again = add("GET", "/jobs/{name}");
  EXPECT_TRUE(absl::IsAlreadyExists(again));
  EXPECT_THAT(std::string(again.message()), HasSubstr("'GET /jobs/{id}'"));
  EXPECT_TRUE(absl::IsAlreadyExists(add("GET", "/files/{rest...}")));
  EXPECT_TRUE(absl::IsAlreadyExists(add("GET", "/jobs/{x}:cancel")));
  EXPECT_TRUE(add("GET", "/jobs/{x}:retry").ok());
}

TEST_F(RouterTest, RefusesBrokenPatterns) {
  for (const char* pattern : {"", "jobs", "/{}", "/{a", "/a}", "/{a}b", "/a{b}", "/{a}:", "/{a}:b c", "/{a...}/b",
                              "/{a...}:b", "/{a}/{a}", "/{a b}", "/a b", "/a%20b", "/..", "/{a}:b:c", "/a/{...}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(add("GET", pattern))) << pattern;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(add("get", "/a")));
  EXPECT_TRUE(absl::IsInvalidArgument(add("", "/a")));
}

TEST_F(RouterTest, TakesHostileWordsLiterallyOrNotAtAll) {
  knows({"/jobs/{id}", "/jobs/{id}/logs", "/files/{path...}"});
  for (const std::string& word : hostile_words()) {
    const std::string found = get("/jobs/" + http::percent_encoded(word));
    if (word == "." || word == ".." || word.find('\0') != std::string::npos) {
      EXPECT_EQ(found, "400") << word;
    } else if (word.empty()) {
      EXPECT_EQ(found, "404") << word;
    } else {
      EXPECT_EQ(found, "/jobs/{id} id=" + word);
    }
    // As it is, it may mean another path, but never one outside of a wildcard.
    const absl::StatusOr<Target> raw = parse_target("/files/" + word);
    if (!raw.ok()) continue;
    EXPECT_THAT(get("/files/" + word), testing::Not(HasSubstr("../"))) << word;
  }
}

}  // namespace
}  // namespace hodei::api::router_test
