// `hodei template …`: stored specs with parameters.
#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/documents/document.h"
#include "src/cli/job/job_file.h"
#include "src/cli/job/job_flags.h"
#include "src/cli/job/job_view.h"
#include "src/cli/job/run_command.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

std::string parameters(const v1::Template& t) {
  std::string out;
  for (const v1::TemplateParameter& p : t.parameters()) {
    out += cat(out.empty() ? "" : ", ", p.name(), p.has_default_value() ? cat("=", p.default_value()) : std::string());
  }
  return out;
}

std::string template_page(const v1::Template& t, const Session& session) {
  const WallTime now = session.io.clock->now().wall;
  FieldList fields;
  fields.add("Description", t.description());
  fields.add("Command", command_line(t.spec().command()));
  fields.add("Revision", cat(t.revision()));
  fields.add("Updated", cat(age(t.updated_at(), now), " ago"));
  std::string out =
      cat(paint(cat("Template ", t.name()), Colour::Bold, session.colours()), "\n", fields.text(session.style()));
  if (t.parameters_size() == 0) return out;
  Table table({"PARAMETER", "DEFAULT", "DESCRIPTION"});
  for (const v1::TemplateParameter& p : t.parameters()) {
    table.add({p.name(), p.has_default_value() ? cat("'", p.default_value(), "'") : std::string("must be given"),
               p.description()});
  }
  return out + "\n" + table.text(session.style(), 2);
}

absl::StatusOr<std::string> template_put_text(Session& session, const std::string& file, const std::string& name) {
  ASSIGN_OR_RETURN(const std::string text,
                   file == "-" ? session.io.read_stdin() : read_small_file(file, kLargestDocument));
  v1::PutTemplateRequest request;
  RETURN_IF_ERROR(read_template(text, file == "-" ? "standard input" : file, *request.mutable_template_()));
  if (!name.empty()) request.mutable_template_()->set_name(name);
  // A template as `template get` prints it goes back to where it came from.
  request.set_namespace_(session.name_space().empty() ? request.template_().namespace_() : session.name_space());
  ASSIGN_OR_RETURN(const v1::Template stored, session.client().put_template(request));
  if (const auto data = session.data_text(stored)) return *data;
  if (session.form() == OutputForm::Name) return stored.name() + "\n";
  return cat("template ", stored.name(), " stored, revision ", stored.revision(), "\n");
}

absl::StatusOr<std::string> template_get_text(Session& session, const std::string& name) {
  v1::GetTemplateRequest request;
  request.set_name(name);
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::Template found, session.client().get_template(request));
  if (const auto data = session.data_text(found)) return *data;
  return session.form() == OutputForm::Name ? found.name() + "\n" : template_page(found, session);
}

absl::StatusOr<std::string> template_list_text(Session& session) {
  v1::ListTemplatesRequest request;
  request.set_namespace_(session.name_space());
  ASSIGN_OR_RETURN(const v1::ListTemplatesResponse answer, session.client().list_templates(request));
  std::vector<const google::protobuf::Message*> messages;
  Table table({"NAME", "NAMESPACE", "REVISION", "UPDATED", "PARAMETERS", "DESCRIPTION"});
  std::string names;
  for (const v1::Template& t : answer.templates()) {
    messages.push_back(&t);
    names += t.name() + "\n";
    table.add({t.name(), t.namespace_(), cat(t.revision()), age(t.updated_at(), session.io.clock->now().wall),
               parameters(t), t.description()});
  }
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) return names;
  if (table.empty()) session.note("no templates; store one with `hodei template put FILE`");
  return table.text(session.style());
}

absl::StatusOr<std::string> template_remove_text(Session& session, const std::string& name) {
  v1::DeleteTemplateRequest request;
  request.set_name(name);
  request.set_namespace_(session.name_space());
  RETURN_IF_ERROR(session.client().delete_template(request));
  return session.done_text("template", name, "removed", cat("template ", name, " deleted"));
}

void add_template_put(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("put", "Store a template from a YAML or JSON file");
  auto file = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  auto flag = std::make_shared<std::string>();
  command->add_option("file", *file, "the file (- for standard input)")->type_name("FILE");
  command->add_option("-f,--file", *flag, "the same as a flag")->type_name("FILE");
  command->add_option("--name", *name, "store it under this name instead of the one in the file")->type_name("NAME");
  command->footer(
      "A file:  {name: greet, parameters: [{name: who, default_value: you}],\n"
      "          spec: {command: {shell: {cmd: echo, args: [\"hello ${who}\"]}}}}");
  command->callback([&session, file, flag, name] {
    session.action = [&session, file, flag, name] {
      if (file->empty() == flag->empty()) {
        return session.fail(bad_field("file", "give one file:  hodei template put FILE"));
      }
      return session.show(template_put_text(session, file->empty() ? *flag : *file, *name));
    };
  });
}

using ByName = absl::StatusOr<std::string> (*)(Session&, const std::string&);

CLI::App* add_by_name(CLI::App& group, Session& session, const std::string& verb, const std::string& description,
                      ByName act) {
  CLI::App* command = group.add_subcommand(verb, description);
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "name of the template")->required()->type_name("NAME");
  command->callback(
      [&session, name, act] { session.action = [&session, name, act] { return session.show(act(session, *name)); }; });
  return command;
}

void add_template_run(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("run", "Run a job from a template, like `hodei run --template`");
  auto flags = std::make_shared<JobFlags>();
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "name of the template")->required()->type_name("NAME");
  add_job_flags(*command, *flags);
  add_run_flags(*command, *flags);
  command->callback([&session, flags, name] {
    flags->template_name = *name;
    choose_run(session, flags);
  });
}

}  // namespace

void add_template_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("template", "Store jobs with parameters and run jobs from them");
  group->require_subcommand(1);
  add_template_put(*group, session);
  add_by_name(*group, session, "get", "Show a template", template_get_text);
  CLI::App* list = group->add_subcommand("list", "List templates");
  list->alias("ls");
  auto watch = std::make_shared<bool>(false);
  list->add_flag("--watch", *watch, "refresh until you press Ctrl-C");
  list->callback([&session, watch] {
    session.action = [&session, watch] { return session.show(*watch, [&] { return template_list_text(session); }); };
  });
  add_by_name(*group, session, "rm", "Delete a template; jobs created from it are kept", template_remove_text)
      ->alias("delete");
  add_template_run(*group, session);
}

}  // namespace hodei::cli
