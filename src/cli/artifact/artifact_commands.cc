#include "src/cli/commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "src/base/status.h"
#include "src/cli/artifact/artifact_client.h"
#include "src/cli/job/job_view.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/output_errors.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

constexpr size_t kChunk = 256 << 10;
constexpr int kDownloadAttempts = 5;  // in a row without a byte

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

struct PutFlags {
  std::string file, name, expires;
};

absl::StatusOr<std::string> artifact_put_text(Session& session, const PutFlags& flags) {
  v1::UploadArtifactRequest::Header header;
  header.mutable_artifact()->set_namespace_(session.name_space());
  header.mutable_artifact()->set_name(flags.name.empty() ? last_part(flags.file) : flags.name);
  if (!flags.expires.empty()) {
    ASSIGN_OR_RETURN(const int64_t life, parse_milliseconds(flags.expires));
    header.set_expires_in_ms(life);
  }
  if (std::filesystem::is_directory(flags.file)) {
    return absl::InvalidArgumentError(
        cat(flags.file, ": is a folder; pack it first (tar czf …), and fetch it with `--input-archive`"));
  }
  std::ifstream file(flags.file, std::ios::binary);
  if (!file) return absl::NotFoundError(cat(flags.file, ": cannot be opened"));
  const auto next = [&]() -> absl::StatusOr<std::string> {
    std::string chunk(kChunk, '\0');
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    if (file.bad()) return absl::DataLossError(cat(flags.file, ": cannot be read to its end"));
    chunk.resize(static_cast<size_t>(file.gcount()));
    return chunk;
  };
  ASSIGN_OR_RETURN(const v1::StoredArtifact stored, ArtifactClient(session).upload(header, next));
  if (const auto data = session.data_text(stored)) return *data;
  if (session.form() == OutputForm::Name) return stored.name() + "\n";
  return cat("artifact ", stored.name(), " stored, ", human_bytes(stored.size()), ", sha256 ", stored.sha256(), "\n");
}

// Goes on where a broken call stopped. `write` takes the bytes.
absl::Status download(Session& session, const std::string& name, const std::function<bool(const std::string&)>& write) {
  v1::DownloadArtifactRequest request;
  request.mutable_artifact()->set_namespace_(session.name_space());
  request.mutable_artifact()->set_name(name);
  ArtifactClient client(session);
  BackOff back_off;
  std::string sha256;
  for (int failures = 0;;) {
    bool replaced = false;
    bool written = true;
    const absl::Status status = client.download(request, [&](const v1::DownloadArtifactResponse& part) {
      if (part.has_artifact()) {
        replaced = !sha256.empty() && sha256 != part.artifact().sha256();
        sha256 = part.artifact().sha256();
      }
      if (replaced) return false;
      written = write(part.chunk());
      request.set_offset(request.offset() + static_cast<int64_t>(part.chunk().size()));
      if (!part.chunk().empty()) failures = 0;
      return written;
    });
    if (replaced) return absl::AbortedError(cat("artifact ", name, " was replaced during the download; try again"));
    if (!written) return absl::ErrnoToStatus(errno, "writing");
    if (!Client::is_break(status)) return status.ok() ? status : session.client().explain(status);
    if (++failures == kDownloadAttempts || !session.io.pause(back_off.next())) return session.client().explain(status);
  }
}

absl::Status download_to(Session& session, const std::string& name, const std::string& path) {
  // Beside its place first: half a file must not look like a whole one.
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  if (!file) return absl::InvalidArgumentError(cat(beside, ": cannot be written"));
  absl::Status status = download(session, name, [&](const std::string& bytes) {
    return static_cast<bool>(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
  });
  file.close();
  if (status.ok() && (!file || std::rename(beside.c_str(), path.c_str()) != 0))
    status = absl::ErrnoToStatus(errno, path);
  if (!status.ok()) unlink(beside.c_str());
  return status;
}

absl::StatusOr<std::string> artifact_get_text(Session& session, const std::string& name, const std::string& file) {
  if (file == "-") {
    const absl::Status got = download(session, name, [&](const std::string& bytes) { return session.io.out(bytes); });
    // Errors of writes to stdout are reported in one place for all commands.
    if (!got.ok() && session.output_errors->error == 0) return got;
    return std::string();
  }
  const std::string path = file.empty() ? last_part(name) : file;
  RETURN_IF_ERROR(download_to(session, name, path));
  const nlohmann::ordered_json json = {{"name", name}, {"file", path}};
  if (const auto data = session.data_text_of(json.dump())) return *data;
  return session.form() == OutputForm::Name ? path + "\n" : cat("artifact ", name, " saved to ", path, "\n");
}

absl::StatusOr<std::string> artifact_list_text(Session& session, const std::string& prefix) {
  v1::ListArtifactsRequest request;
  request.set_namespace_(session.name_space());
  request.set_prefix(prefix);
  request.set_page_size(1000);
  ArtifactClient client(session);
  std::vector<v1::StoredArtifact> all;
  do {
    ASSIGN_OR_RETURN(const v1::ListArtifactsResponse page, client.list(request));
    all.insert(all.end(), page.artifacts().begin(), page.artifacts().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  std::vector<const google::protobuf::Message*> messages;
  Table table({"NAME", "SIZE", "AGE", "EXPIRES", "SHA256"});
  std::string names;
  for (const v1::StoredArtifact& each : all) {
    messages.push_back(&each);
    names += each.name() + "\n";
    const Duration left = wall_time(each.expires_at()) - session.io.clock->now().wall;
    table.add({each.name(), human_bytes(each.size()), age(each.created_at(), session.io.clock->now().wall),
               each.has_expires_at() ? cat("in ", human_duration(left)) : std::string("-"),
               each.sha256().substr(0, 16)});
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (table.empty()) session.note("no artifacts; store one with `hodei artifact put FILE`");
  return table.text(session.style());
}

absl::StatusOr<std::string> artifact_remove_text(Session& session, const std::string& name) {
  v1::DeleteArtifactRequest request;
  request.mutable_artifact()->set_namespace_(session.name_space());
  request.mutable_artifact()->set_name(name);
  RETURN_IF_ERROR(ArtifactClient(session).remove(request));
  return session.done_text("artifact", name, "removed", cat("artifact ", name, " deleted"));
}

}  // namespace

void add_artifact_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("artifact", "Store files on the server, for jobs to use as hodei:NAME");
  group->require_subcommand(1);

  CLI::App* put = group->add_subcommand("put", "Store a file");
  auto flags = std::make_shared<PutFlags>();
  put->add_option("file", flags->file, "the file to store")->required()->type_name("FILE");
  put->add_option("name", flags->name, "its name in the store (default: the name of the file)")->type_name("NAME");
  put->add_option("--expires", flags->expires, "delete it after this long: 12h, 3d")->type_name("TIME");
  put->callback([&session, flags] {
    session.action = [&session, flags] { return session.show(artifact_put_text(session, *flags)); };
  });

  CLI::App* get = group->add_subcommand("get", "Download a file");
  auto name = std::make_shared<std::string>();
  auto file = std::make_shared<std::string>();
  get->add_option("name", *name, "name of the artifact")->required()->type_name("NAME");
  get->add_option("file", *file, "where to save it (- for standard output; default: the last part of the name)")
      ->type_name("FILE");
  get->callback([&session, name, file] {
    session.action = [&session, name, file] { return session.show(artifact_get_text(session, *name, *file)); };
  });

  CLI::App* list = group->add_subcommand("list", "List stored files");
  list->alias("ls");
  auto prefix = std::make_shared<std::string>();
  list->add_option("prefix", *prefix, "only names that start with this")->type_name("PREFIX");
  list->callback([&session, prefix] {
    session.action = [&session, prefix] { return session.show(artifact_list_text(session, *prefix)); };
  });

  CLI::App* remove = group->add_subcommand("rm", "Delete a file from the store");
  remove->alias("delete");
  auto removed = std::make_shared<std::string>();
  remove->add_option("name", *removed, "name of the artifact")->required()->type_name("NAME");
  remove->callback([&session, removed] {
    session.action = [&session, removed] { return session.show(artifact_remove_text(session, *removed)); };
  });
}

}  // namespace hodei::cli
