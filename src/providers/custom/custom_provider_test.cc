// The custom provider with real programs: one that keeps to the protocol, and several that do not.
#include "src/providers/custom/custom_provider.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/pause.h"
#include "src/base/text.h"
#include "src/providers/conformance/suite.h"

namespace hodei::providers::custom_provider_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Workers are processes that sleep; a file of the provider's folder stands for each.
constexpr const char* kGoodProgram = R"sh(#!/bin/sh
ask=$(cat)
field() { printf '%s' "$ask" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
folder=$(field folder) installation=$(field installation) worker=$(field worker_id)
file=$folder/$worker.$installation
phase() {
  [ -f "$1" ] || { printf '"phase": "gone"'; return; }
  read -r pid < "$1"
  if grep -qs 'State:.[^Z]' "/proc/$pid/status"; then printf '"phase": "running", "id": "%s"' "$pid"
  else printf '"phase": "ended", "reason": "it died", "id": "%s"' "$pid"; fi
}
[ "$1" = "$(field verb)" ] || exit 9
case $1 in
  create)
    if [ -n "$(field image)" ]; then echo '{"error": {"code": "not_found", "message": "no such image"}}'; exit; fi
    setsid sleep 1000 < /dev/null > /dev/null 2>&1 &
    echo $! > "$file"
    echo "{\"id\": \"$!\"}";;
  status) echo "{$(phase "$file")}";;
  destroy) if [ -f "$file" ]; then kill -9 "$(cat "$file")" 2> /dev/null; rm -f "$file"; fi; echo '{}';;
  logs) printf '%s\n' '{"text": "one\ntwo\n"}';;
  health) echo '{"state": "healthy"}';;
  list)
    printf '{"workers": ['
    comma=
    for each in "$folder"/*."$installation"; do
      [ -f "$each" ] || continue
      name=${each##*/}
      printf '%s{"worker_id": "%s", %s}' "$comma" "${name%.*}" "$(phase "$each")"
      comma=,
    done
    echo ']}';;
esac
)sh";

class CustomProviderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "custom-provider-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    installation_ = {.id = cat("test-", getpid()), .folder = root_ + "/data", .worker_binary = "/worker"};
    spec_.worker_id = "w1";
    spec_.server_address = "127.0.0.1:1";
    spec_.token = "the-token";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string program(const std::string& text) {
    const std::string path = cat(root_, "/program-", ++programs_);
    std::ofstream(path) << text;
    chmod(path.c_str(), 0755);
    return path;
  }
  absl::StatusOr<std::unique_ptr<Provider>> make(StringMap options, const std::string& type = "custom") const {
    return make_custom_provider({.name = "mine", .type = type, .options = std::move(options)}, installation_);
  }
  // One that runs `body` whatever the verb is, as a shell script. Its list is empty.
  std::unique_ptr<Provider> sh(const std::string& body, StringMap options = {}) {
    options["program"] = program("#!/bin/sh\ncase $1 in list) echo '{\"workers\": []}'; exit;; esac\n" + body + "\n");
    return make(options).value();
  }
  std::string create_error(const std::string& body, StringMap options = {}) {
    const absl::StatusOr<WorkerHandle> made = sh(body, std::move(options))->create_worker(spec_);
    return made.ok() ? "OK" : made.status().ToString();
  }
  std::string text_of(const std::string& name) const {
    std::ifstream in(root_ + "/" + name);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }

  std::string root_;
  Installation installation_;
  WorkerSpec spec_;
  int programs_ = 0;
};

TEST_F(CustomProviderTest, KeepsThePromisesOfProvidersWithAProgramThatKeepsToTheProtocol) {
  const std::string good = program(kGoodProgram);
  SuiteSetup setup;
  setup.make = [&](const Installation& installation) {
    return make_custom_provider(
        {.name = "suite", .type = "custom", .options = {{"program", good}, {"max_workers", "3"}, {"images", "true"}}},
        installation);
  };
  setup.installation = installation_;
  setup.spec = spec_;
  setup.room = 3;
  setup.patience = 20s;
  setup.outside = [&] {
    std::vector<std::string> out;
    std::error_code none;
    for (fs::directory_iterator it(installation_.folder + "/suite", none), end; !none && it != end;
         it.increment(none)) {
      out.push_back(it->path().filename());
    }
    return out;
  };
  setup.crash = [](const WorkerHandle& handle) { kill(static_cast<pid_t>(std::stol(handle.id)), SIGKILL); };
  EXPECT_EQ(as_text(check_provider(setup)), "");
}

TEST_F(CustomProviderTest, TellsTheProgramEverythingOnStandardInputAndNothingElse) {
  setenv("HODEI_SECRET_KEY", "key", 1);
  const auto provider = sh("echo \"$@\" > " + root_ + "/arguments; cat > " + root_ + "/request; env > " + root_ +
                               "/env; echo '{\"id\": \"x1\"}'",
                           {{"config.region", "here"}, {"max_workers", "7"}});
  spec_.labels = {{"zone", "a"}};
  EXPECT_EQ(provider->create_worker(spec_).value().id, "x1");
  unsetenv("HODEI_SECRET_KEY");
  EXPECT_EQ(text_of("arguments"), "create\n");
  for (const std::string& words :
       {std::string(R"("config":{"region":"here"})"), std::string(R"("verb":"create")"),
        std::string(R"("HODEI_TOKEN":"the-token")"), std::string(R"("HODEI_WORKER_ID":"w1")"),
        std::string(R"("labels":{"zone":"a"})"), std::string(R"("worker_binary":"/worker")"),
        cat(R"("installation":")", installation_.id, "\"")}) {
    EXPECT_THAT(text_of("request"), HasSubstr(words));
  }
  EXPECT_THAT(text_of("env"), Not(HasSubstr("HODEI_")));
}

TEST_F(CustomProviderTest, SaysWhatAProgramDidWrong) {
  const std::string name = cat("/program-", programs_ + 1, " create: ");
  EXPECT_THAT(create_error("echo hello"),
              testing::AllOf(HasSubstr(name), HasSubstr("printed something other than a JSON object: hello")));
  EXPECT_THAT(create_error("exit 0"),
              HasSubstr("printed nothing, expected a JSON object; it printed nothing on standard error"));
  EXPECT_THAT(create_error("echo no such zone >&2; exit 4"),
              HasSubstr("create: ended with exit code 4; its standard error: no such zone"));
  EXPECT_THAT(create_error("kill -9 $$"), HasSubstr("was killed by signal 9"));
  EXPECT_THAT(create_error("echo '{}'"),
              HasSubstr("answered without a valid 'id' (expected a string of 1 to 256 characters): {}"));
  EXPECT_THAT(create_error("echo '{\"id\": 5}'"), HasSubstr("without a valid 'id'"));
  EXPECT_THAT(create_error("echo '[]'"), HasSubstr("printed something other than a JSON object: []"));
  EXPECT_THAT(create_error("echo '{\"error\": \"out of luck\"}'; exit 1"), HasSubstr("UNAVAILABLE: " + root_));
  EXPECT_THAT(create_error("echo '{\"error\": {\"code\": \"resource_exhausted\", \"message\": \"quota\"}}'"),
              testing::AllOf(HasSubstr("RESOURCE_EXHAUSTED"), HasSubstr("create: quota")));
  EXPECT_THAT(create_error("echo '{\"error\": {\"code\": \"invalid_argument\"}}'"), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(sh("echo '{\"phase\": \"fine\"}'")->worker_status({"w1", "x"}).status().message(),
              HasSubstr("status: answered without a valid 'phase' (expected starting, running, ended or gone)"));
  EXPECT_THAT(sh("echo '{\"state\": \"so-so\"}'")->health_check().reason,
              HasSubstr("expected healthy, degraded or unhealthy"));
}

TEST_F(CustomProviderTest, SurvivesWhatAProgramPrints) {
  const std::string deep = "head -c 400000 /dev/zero | tr '\\0' '['; head -c 400000 /dev/zero | tr '\\0' ']'";
  EXPECT_THAT(create_error("printf '{\"id\": '; " + deep + "; echo '}'"), HasSubstr("without a valid 'id'"));
  EXPECT_THAT(create_error(deep), HasSubstr("printed something other than a JSON object: [[[["));
  EXPECT_THAT(create_error("printf '\\377\\376'"), HasSubstr("printed something other than a JSON object: ??;"));
  EXPECT_THAT(create_error("printf 'gr\\303' >&2; exit 1"), HasSubstr("its standard error: gr?"));
}

TEST_F(CustomProviderTest, StopsAProgramThatPrintsTooMuch) {
  EXPECT_THAT(create_error("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"),
              HasSubstr("printed more than 1048576 bytes and was killed; the output starts with: xxxx"));
}

TEST_F(CustomProviderTest, StopsAProgramThatHangsWithEverythingInItsGroup) {
  EXPECT_THAT(
      create_error("echo thinking >&2; sleep 1000 & echo $! > " + root_ + "/child; wait",
                   {{"timeout.create", "500ms"}}),
      testing::AllOf(HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("create: did not end within 500 ms and was killed"),
                     HasSubstr("its standard error: thinking")));
  const pid_t child = std::stoi(text_of("child"));
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + 20s;
  const auto lives = [&] {
    std::ifstream stat(cat("/proc/", child, "/stat"));
    std::string number, word, state;
    return stat >> number >> word >> state && state != "Z";
  };
  while (lives() && clock.now().mono < limit) pause_for(2ms);
  EXPECT_FALSE(lives());
}

TEST_F(CustomProviderTest, DoesNotWaitForWhatAProgramLeftInTheBackground) {
  const auto provider = sh("sleep 1000 & echo $! > " + root_ + "/child; echo '{\"id\": \"x1\"}'");
  EXPECT_EQ(provider->create_worker(spec_).value().id, "x1");
  EXPECT_EQ(kill(std::stoi(text_of("child")), SIGKILL), 0);  // it was left alone
}

TEST_F(CustomProviderTest, NeverTellsTheToken) {
  EXPECT_THAT(create_error("cat >&2; exit 1"), Not(HasSubstr("the-token")));
  EXPECT_THAT(create_error("cat"), Not(HasSubstr("the-token")));
  EXPECT_THAT(create_error("echo '{\"id\": \"i-the-token\"}'"),
              testing::AllOf(Not(HasSubstr("the-token")), HasSubstr("answered with an id that contains the token")));
}

TEST_F(CustomProviderTest, AFailedCreateTakesRoomUntilTheProgramSaysThatNothingIsThere) {
  const auto provider = sh("echo made nothing >&2; exit 1", {{"max_workers", "1"}});
  for (const char* id : {"w1", "w2", "w3"}) {
    spec_.worker_id = id;
    EXPECT_EQ(provider->create_worker(spec_).status().code(), absl::StatusCode::kUnavailable) << id;
  }
}

TEST_F(CustomProviderTest, KeepsItsTypeAndTakesTheExampleOfThatName) {
  EXPECT_TRUE(make({}, "ec2").ok());
  EXPECT_TRUE(make({}, "azurevm").ok());
  EXPECT_THAT(make({}, "custom").status().message(), HasSubstr("option program of provider mine: is required"));
  EXPECT_THAT(make({{"program", "not-an-example"}}).value()->health_check().reason,
              HasSubstr("program 'not-an-example' does not come with Hodei"));
  EXPECT_THAT(make({{"program", "/not/there"}}).value()->health_check().reason,
              HasSubstr("cannot run /not/there: No such file"));
}

TEST_F(CustomProviderTest, ReadsItsOptions) {
  const StringMap all = {{"program", "/x"},  {"max_workers", "5"}, {"isolation", "hardware"},
                         {"images", "true"}, {"startup", "90s"},   {"architectures", "x86_64,aarch64"},
                         {"gpu", "true"},    {"max_cpu", "8"},     {"max_memory_mb", "1024"}};
  const std::unique_ptr<Provider> provider = make(all).value();
  const Capabilities can = provider->capabilities();
  EXPECT_EQ(can.max_workers, 5u);
  EXPECT_EQ(can.isolation, Isolation::Hardware);
  EXPECT_TRUE(can.images && can.gpu);
  EXPECT_EQ(can.architectures, (std::vector<std::string>{"x86_64", "aarch64"}));
  EXPECT_EQ(can.max_cpu_milli, 8000);
  EXPECT_EQ(can.max_memory_mb, 1024);
  EXPECT_EQ(provider->estimated_startup_time(), Duration(90s));
  for (const auto& [option, value] : StringMap{{"program", "a/b"},
                                               {"isolation", "strong"},
                                               {"images", "maybe"},
                                               {"timeout", "1h"},
                                               {"timeout.create", "0s"},
                                               {"timeout.dance", "1s"},
                                               {"colour", "red"},
                                               {"config.", "x"},
                                               {"architectures", "a,,b"}}) {
    StringMap bad = all;
    bad[option] = value;
    EXPECT_EQ(make(bad).status().code(), absl::StatusCode::kInvalidArgument) << option;
  }
}

}  // namespace
}  // namespace hodei::providers::custom_provider_test
