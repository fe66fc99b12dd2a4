#include <filesystem>
#include <fstream>
#include <future>
#include <tuple>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/providers/docker/image_reference.h"
#include "src/providers/docker/json_fields.h"
#include "src/providers/docker/log_frames.h"
#include "src/providers/docker/making.h"
#include "src/providers/docker/registry_auth.h"
#include "src/providers/docker/worker_tar.h"

namespace hodei::providers::docker::parts_test {
namespace {

using testing::HasSubstr;

TEST(ImageReference, IsTakenApart) {
  const std::tuple<const char*, const char*, const char*, const char*> cases[] = {
      {"debian", "debian", "latest", kDockerHub},
      {"team/tool:2", "team/tool", "2", kDockerHub},
      {"registry.test:5000/a/b", "registry.test:5000/a/b", "latest", "registry.test:5000"},
      {"localhost/a:x", "localhost/a", "x", "localhost"},
      {"docker.io/library/debian:12", "docker.io/library/debian", "12", kDockerHub},
      {"r.test/a:1@sha256:abc", "r.test/a", "sha256:abc", "r.test"},
  };
  for (const auto& [text, name, tag, registry] : cases) {
    const auto image = parse_image(text);
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_EQ(image->name, name);
    EXPECT_EQ(image->tag, tag);
    EXPECT_EQ(image->registry, registry);
  }
  EXPECT_EQ(parse_image("a@sha256:abc")->text(), "a@sha256:abc");
  EXPECT_EQ(parse_image("a")->text(), "a:latest");
  for (const char* wrong : {"", "a b", "a:", ":a", "a?b=c", "@sha256:1", "a\n"})
    EXPECT_FALSE(parse_image(wrong).ok()) << wrong;
}

Json header_for(std::string_view config, const std::string& registry) {
  const auto header = registry_auth(config, registry);
  EXPECT_TRUE(header.ok()) << header.status();
  std::string plain;
  EXPECT_EQ(header.value_or("x").size() % 4, 0U);  // padded: engines want that
  EXPECT_TRUE(header.ok() && absl::WebSafeBase64Unescape(*header, &plain));
  return parse_json(plain);
}

TEST(RegistryAuth, TakesTheCredentialsOfThatRegistryOnly) {
  const std::string config =
      cat(R"({"auths": {"https://index.docker.io/v1/": {"auth": ")", absl::Base64Escape("me:pass:word"),
          R"("}, "https://r.test:5000/v2/": {"identitytoken": "t"}, "empty.test": {}},
                                 "credHelpers": {"helped.test": "desktop"}})");
  EXPECT_EQ(header_for(config, kDockerHub),
            (Json{{"username", "me"}, {"password", "pass:word"}, {"serveraddress", kDockerHub}}));
  EXPECT_EQ(header_for(config, "r.test:5000"), (Json{{"identitytoken", "t"}, {"serveraddress", "r.test:5000"}}));
  EXPECT_EQ(*registry_auth(config, "other.test"), "");
  EXPECT_EQ(*registry_auth(config, "empty.test"), "");
  EXPECT_THAT(std::string(registry_auth(config, "helped.test").status().message()),
              HasSubstr("credential helper 'desktop'"));
  EXPECT_FALSE(registry_auth("[]", "r.test").ok());
  EXPECT_FALSE(registry_auth(R"({"auths": {"r.test": {"auth": "###"}}})", "r.test").ok());
  EXPECT_FALSE(registry_auth_of_file("/nowhere/config.json", "r.test").ok());
}

std::string frame(char stream, const std::string& words) {
  std::string head(8, '\0');
  head[0] = stream;
  head[6] = static_cast<char>(words.size() >> 8);
  head[7] = static_cast<char>(words.size() & 0xff);
  return head + words;
}

TEST(LogFrames, ArePutTogetherHoweverTheyAreCut) {
  const std::string sent = frame(1, "out\n") + frame(2, "") + frame(2, std::string(300, 'e') + "\n") + frame(1, "end");
  for (const size_t piece : {size_t{1}, size_t{7}, sent.size()}) {
    LogFrames frames(1000);
    for (size_t at = 0; at < sent.size(); at += piece) frames.add(std::string_view(sent).substr(at, piece));
    EXPECT_EQ(frames.take(), cat("out\n", std::string(300, 'e'), "\nend"));
  }
  LogFrames frames(100);
  for (int i = 0; i < 1000; ++i) frames.add(frame(1, "0123456789"));
  EXPECT_LE(frames.take().size(), 200U);
}

TEST(WorkerTar, HoldsTheWorkerWholeWhateverItsSize) {
  char name[] = "/tmp/hodei-tar-XXXXXX";
  const std::string folder = mkdtemp(name);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{512}, size_t{100'000}}) {
    std::string content(size, 'x');
    for (size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 7);
    std::ofstream(folder + "/worker", std::ios::binary) << content;
    const auto tar = WorkerTar::make(folder + "/worker", false);
    ASSERT_TRUE(tar.ok()) << tar.status();
    std::string all;
    char piece[1000];
    while (static_cast<int64_t>(all.size()) < tar->size())
      all.append(piece, *tar->read(static_cast<int64_t>(all.size()), piece));
    EXPECT_EQ(all.size() % 512, 0U);
    EXPECT_EQ(all.substr(3 * 512, size), content);
    std::ofstream(folder + "/a.tar", std::ios::binary) << all;
    const std::string unpack =
        cat("mkdir -p ", folder, "/out && tar -C ", folder, "/out -xf ", folder, "/a.tar && cmp ", folder, "/worker ",
            folder, "/out/.hodei/hodei-worker && test -x ", folder, "/out/.hodei/hodei-worker && test \"$(stat -c %a ",
            folder, "/out/.hodei/state)\" = 700");
    EXPECT_EQ(std::system(unpack.c_str()), 0);
  }
  EXPECT_EQ(WorkerTar::make("", true)->size(), 4 * 512);
  EXPECT_TRUE(absl::IsFailedPrecondition(WorkerTar::make("/nowhere/hodei-worker", false).status()));
  std::filesystem::remove_all(folder);
}

TEST(Making, LetsTheEndOfAWorkerOvertakeItsBeginning) {
  Making making;
  std::promise<void> begun;
  std::future<bool> maker = std::async(std::launch::async, [&] {
    const Making::Claim claim = making.claim("w");
    begun.set_value();
    while (!claim.stop().stop_requested()) std::this_thread::yield();
    return true;
  });
  begun.get_future().wait();
  EXPECT_TRUE(making.contains("w"));
  making.stop("w");
  EXPECT_FALSE(making.contains("w"));
  EXPECT_TRUE(maker.get());
  making.stop("never");
}

TEST(Making, CountsThoseThatBeganEarlier) {
  Making making;
  const Making::Claim first = making.claim("a");
  {
    const Making::Claim second = making.claim("b");
    EXPECT_EQ(second.before(), std::set<std::string>{"a"});
  }
  EXPECT_EQ(making.claim("c").before(), std::set<std::string>{"a"});
  EXPECT_TRUE(first.before().empty());
}

}  // namespace
}  // namespace hodei::providers::docker::parts_test
