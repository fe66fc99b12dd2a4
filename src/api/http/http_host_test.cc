#include "src/api/http/http_host.h"

#include <stdexcept>
#include <thread>

#include "src/api/http/hostile_words_fixture.h"
#include "src/api/http/http_host_fixture.h"
#include "src/base/http/percent.h"

namespace hodei::api::http_host_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(HttpHostTest, AnswersWhatTheRouterKnows) {
  open();
  const std::string answer = ask(get_once("/hello?a=b"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, EndsWith("hello a=b\n"));
  EXPECT_THAT(ask(get_once("/other")), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("DELETE /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 405 "));
}

TEST_F(HttpHostTest, NamesPlainPathsWhereThereIsNothing) {
  add("GET", "/jobs/{id}", [](const HttpRequest&, const Responder& r) { r.send(HttpResponse{}); });
  open();
  EXPECT_THAT(ask(get_once("/helo")), EndsWith("not found; try /endless, /hello, /never, /stream\n"));
}

TEST_F(HttpHostTest, GivesAHandlerWhatTheRequestSays) {
  HttpRequest seen;
  add("POST", "/jobs/{id}:retry", [&](HttpRequest r, const Responder& responder) {
    seen = std::move(r);
    responder.send(HttpResponse{});
  });
  open();
  EXPECT_THAT(ask("POST /jobs/a%2Fb:retry?n=1&n=2&text=a+b%26c HTTP/1.1\r\nhost: x\r\nX-Word: One\r\nContent-Length: "
                  "4\r\nConnection: close\r\n\r\nbody"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/jobs/a%2Fb:retry");
  EXPECT_EQ(seen.route, "/jobs/{id}:retry");
  EXPECT_EQ(seen.parameters.get("id"), "a/b");
  EXPECT_EQ(seen.query.all("n").size(), 2U);
  EXPECT_EQ(seen.query.get("text"), "a b&c");
  EXPECT_EQ(seen.headers.get("x-word"), "One");
  EXPECT_EQ(seen.headers.get("HOST"), "x");
  EXPECT_EQ(seen.body, "body");
  EXPECT_EQ(seen.peer.address, "127.0.0.1");
  EXPECT_THAT(seen.peer.text(), StartsWith("ipv4:127.0.0.1:"));
}

TEST_F(HttpHostTest, KeepsAConnectionForTheNextRequest) {
  open();
  Caller caller(host_->port());
  caller.say(get("/hello") + get_once("/hello?n=2"));
  const std::string both = caller.hear();
  EXPECT_THAT(both, HasSubstr("hello\n"));
  EXPECT_THAT(both, EndsWith("hello n=2\n"));
}

TEST_F(HttpHostTest, AnswersPipelinedRequestsInOrder) {
  open();
  Caller caller(host_->port());
  caller.say(get("/never") + "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + get_once("/hello"));
  kept().send(HttpResponse{200, "first\n"});
  const std::string all = caller.hear();
  const size_t first = all.find("first\n");
  const size_t second = all.find("abc");
  const size_t third = all.find("hello\n");
  EXPECT_LT(first, second) << all;
  EXPECT_LT(second, third) << all;
  EXPECT_NE(third, std::string::npos) << all;
}

TEST_F(HttpHostTest, AnswersManyPipelinedRequestsWhoseBytesDoNotFitAtOnce) {
  open();
  Caller caller(host_->port());
  std::thread writer([&] {
    for (int i = 0; i < 900; ++i) caller.say(get(cat("/hello?n=", i), cat("X: ", std::string(100, 'x'), "\r\n")));
  });
  for (int i = 0; i < 900; ++i) caller.hear_until(cat("hello n=", i, "\n"));
  writer.join();
}

TEST_F(HttpHostTest, GivesTheHeadAlone) {
  open();
  const std::string answer = ask("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(HttpHostTest, GivesTheHeadOfAStreamWithoutAskingItsSource) {
  open();
  const std::string answer = ask("HEAD /stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
  EXPECT_TRUE(source_->cancelled.wait());
  EXPECT_EQ(source_->asked.count(), 0);
}

TEST_F(HttpHostTest, SaysWhatIsAllowed) {
  add("PUT", "/hello", [](const HttpRequest&, const Responder& r) { r.send(HttpResponse{}); });
  open();
  const std::string question = ask("OPTIONS /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(question, StartsWith("HTTP/1.1 204 "));
  EXPECT_THAT(question, HasSubstr("Allow: GET, HEAD, OPTIONS, PUT\r\n"));
  EXPECT_THAT(question, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(ask("PATCH /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("Allow: GET, HEAD, OPTIONS, PUT\r\n"));
  EXPECT_THAT(ask("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              HasSubstr("Allow: GET, HEAD, OPTIONS, POST, PUT\r\n"));
  EXPECT_THAT(ask("GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("OPTIONS /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpHostTest, AllowsNoOtherOriginByDefault) {
  open();
  const std::string answer = ask(get("/hello", "Origin: http://evil.test\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("Access-Control")));
}

TEST_F(HttpHostTest, RefusesGarbage) {
  open();
  EXPECT_THAT(ask("\x16\x03\x01 nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("\x16\x03\x01"), StartsWith("HTTP/1.1 400 ")) << "at once, without the rest";
  EXPECT_THAT(ask("GET /hello HTTP/3.0\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
  EXPECT_THAT(ask("GET /a%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
}

TEST_F(HttpHostTest, SpeaksHttp10) {
  open();
  const std::string answer = ask("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("hello\n"));
  Caller caller(host_->port());
  caller.say("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(caller.hear_until("hello\n"), HasSubstr("Connection: keep-alive\r\n"));
  caller.say("GET /hello?n=2 HTTP/1.0\r\n\r\n");
  EXPECT_THAT(caller.hear(), EndsWith("hello n=2\n"));
}

TEST_F(HttpHostTest, AnswersAClientThatHasClosedItsSide) {
  open();
  Caller caller(host_->port());
  caller.say(get("/hello"));
  caller.end_writing();
  EXPECT_THAT(caller.hear(), EndsWith("hello\n"));
}

TEST_F(HttpHostTest, LetsAFilterRefuseBeforeTheBodyIsRead) {
  std::vector<HttpFilter> filters;
  filters.push_back([](HttpRequest& r) -> std::optional<HttpResponse> {
    if (r.headers.get("Authorization") == "yes") return std::nullopt;
    return HttpResponse{401, "who are you?\n", "text/plain", {{"WWW-Authenticate", "Bearer"}}};
  });
  filters.push_back([](HttpRequest& r) -> std::optional<HttpResponse> {
    r.body = "noted ";
    return std::nullopt;
  });
  open({}, std::move(filters));
  const std::string refused = ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(refused, HasSubstr("WWW-Authenticate: Bearer\r\n"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nAuthorization: yes\r\nContent-Length: 4\r\nConnection: "
                  "close\r\n\r\nbody"),
              EndsWith("\r\n\r\nnoted body"));
}

TEST_F(HttpHostTest, LetsNoAnswerEndAHeaderEarly) {
  add("GET", "/split", [](const HttpRequest& r, const Responder& responder) {
    responder.send(HttpResponse{200, "fine\n", "text/plain", {{"X-Word", std::string(r.query.get("word"))}}});
  });
  add("GET", "/own", [](const HttpRequest&, const Responder& responder) {
    responder.send(HttpResponse{200, "fine\n", "text/plain", {{"content-length", "1"}}});
  });
  open();
  EXPECT_THAT(ask(get_once("/split?word=good")), HasSubstr("X-Word: good\r\n"));
  const std::string answer = ask(get_once("/split?word=a%0d%0aSet-Cookie:%20x"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, Not(HasSubstr("Set-Cookie")));
  EXPECT_THAT(ask(get_once("/own")), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpHostTest, TakesHostileWordsLiterallyOrNotAtAll) {
  add("GET", "/jobs/{id}", [](const HttpRequest& r, const Responder& responder) {
    responder.send(HttpResponse{200, cat("<", r.parameters.get("id"), "|", r.query.get("q"), ">")});
  });
  open();
  for (const std::string& word : hostile_words()) {
    const std::string raw =
        ask(cat("GET /jobs/", word, " HTTP/1.1\r\nHost: x\r\nX: ", word, "\r\nConnection: close\r\n\r\n"));
    EXPECT_THAT(raw, testing::AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 40"))) << word;
    EXPECT_THAT(raw, Not(HasSubstr("Set-Cookie:"))) << word;
    const std::string answer =
        ask(get_once(cat("/jobs/", http::percent_encoded(word), "?q=", http::percent_encoded(word))));
    if (answer.starts_with("HTTP/1.1 200 ")) {
      EXPECT_THAT(answer, EndsWith(cat("<", word, "|", word, ">"))) << word;
    } else {
      EXPECT_THAT(answer, StartsWith("HTTP/1.1 40")) << word;
    }
  }
}

TEST_F(HttpHostTest, AnswersForAHandlerThatDoesNot) {
  add("GET", "/drops", [](const HttpRequest&, const Responder&) {});
  add("GET", "/throws", [](const HttpRequest&, const Responder&) { throw std::runtime_error("a test"); });
  add("GET", "/throws-later", [](const HttpRequest&, const Responder& responder) {
    responder.send([]() -> HttpResponse { throw std::runtime_error("another test"); });
  });
  open();
  EXPECT_THAT(ask(get_once("/drops")), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(ask(get_once("/throws-later")), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(ask(get_once("/throws")), StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpHostTest, TakesTheFirstAnswerOnly) {
  add("GET", "/twice", [this](const HttpRequest&, const Responder& responder) {
    responder.send(HttpResponse{200, "first\n"});
    responder.send(HttpResponse{200, "second\n"});
    responder.stream({.source = source_});
  });
  open();
  EXPECT_THAT(ask(get_once("/twice")), EndsWith("first\n"));
  EXPECT_TRUE(source_->cancelled.wait()) << "nobody will ask it";
}

TEST_F(HttpHostTest, TellsAHandlerThatItsClientIsGone) {
  open();
  Caller caller(host_->port());
  caller.say(get("/never"));
  const Responder responder = kept();
  EXPECT_FALSE(responder.is_cancelled());
  caller.leave();
  EXPECT_TRUE(cancelled_.wait());
  EXPECT_TRUE(responder.is_cancelled());
  Signal late;
  responder.on_cancel([&] { late.raise(); });
  EXPECT_EQ(late.count(), 1) << "it has already happened";
  responder.send(HttpResponse{});
}

TEST_F(HttpHostTest, NamesTheSettingWhenItsPortIsTaken) {
  open();
  const auto second = HttpHost::open("127.0.0.1", host_->port(), {});
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("http_listen"));
}

}  // namespace
}  // namespace hodei::api::http_host_test
