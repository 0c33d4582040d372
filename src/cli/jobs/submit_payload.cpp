#include "cli/jobs/submit_payload.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/submit_text.hpp"
#include "live/job/job_spec_json.hpp"
#include "live/job/submit_options.hpp"

namespace goban::cli {

using base::Result;
using nlohmann::json;

namespace {

constexpr size_t kScriptBytesMax = size_t{1} << 20;

/// The environment variables of this process.
std::vector<std::pair<std::string, std::string>> environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text = *each;
    const size_t sign = text.find('=');
    if (sign == std::string_view::npos || sign == 0) continue;
    variables.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  }
  return variables;
}

/// Variables that every job gets, as a login shell would set them.
bool is_basic(std::string_view name) {
  constexpr std::string_view kBasic[] = {"HOME", "USER", "LOGNAME", "SHELL",
                                         "PATH", "LANG", "TERM"};
  return std::find(std::begin(kBasic), std::end(kBasic), name) != std::end(kBasic);
}

/// Lists the variables that are not valid UTF-8.
void warn_of_variables(const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", base::printable(names[i]));
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  fmt::print(stderr,
             "goban: warning: environment variables omitted because they are not valid UTF-8: {}\n",
             text);
}

json environment_json(const live::job::EnvironmentRequest& request) {
  json out = json::object();
  std::vector<std::string> left_out;
  for (const auto& [name, value] : environment()) {
    // The token belongs to the submitter and is not passed to the job.
    if (name == "GOBAN_TOKEN") continue;
    const bool named =
        std::find(request.names.begin(), request.names.end(), name) != request.names.end();
    if (!request.all && !named && !is_basic(name)) continue;
    if (is_utf8(name) && is_utf8(value)) {
      out[name] = value;
    } else {
      left_out.push_back(name);
    }
  }
  warn_of_variables(left_out);
  for (const auto& [name, value] : request.values) out[name] = value;
  return out;
}

/// Replaces a folder by the file of the usual name in it.
void complete_output(std::string& path, const std::string& folder, const char* usual) {
  if (path.empty()) return;
  std::error_code ignored;
  const bool is_folder =
      std::filesystem::is_directory(std::filesystem::path(folder) / path, ignored);
  if (is_folder || path.back() == '/')
    path = fmt::format("{}{}{}", path, path.back() == '/' ? "" : "/", usual);
}

void warn(const std::vector<live::job::UnreadDirective>& unread, const std::string& script) {
  for (const live::job::UnreadDirective& each : unread) {
    fmt::print(stderr, "goban: warning: {}:{}: '{}' has no effect: {}\n", script, each.line,
               each.text, each.why);
  }
}

Result<live::job::SubmitDirectives> apply_choices(live::job::SubmitDirectives request,
                                                  const SubmitChoices& choices) {
  for (const auto& [name, value] : choices.options) {
    auto status = live::job::find_submit_option(name)->set(request, value);
    if (!status) {
      base::Error error = std::move(status.error());
      error.code = base::ErrorCode::Usage;
      error.place.field = name;
      return base::failure(std::move(error));
    }
  }
  for (const std::string& note : request.notes) fmt::print(stderr, "goban: warning: {}\n", note);
  return request;
}

std::string absolute_folder(const std::string& folder) {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored);
  return folder.empty() ? here.string() : (here / folder).lexically_normal().string();
}

}  // namespace

void add_submit_options(Command& command, const std::shared_ptr<SubmitChoices>& choices,
                        const std::vector<std::string_view>& without) {
  for (const live::job::SubmitOption& option : live::job::submit_options()) {
    const auto names = live::job::split_list(option.names);
    const std::string last(names.back());
    if (std::find(without.begin(), without.end(), last) != without.end()) continue;
    Option* added = nullptr;
    if (option.value.empty()) {
      added = command.add_flag_callback(
          std::string(option.names), [choices, last] { choices->options.emplace_back(last, ""); },
          std::string(option.help));
    } else {
      added = command
                  .add_option_function(
                      std::string(option.names),
                      [choices, last](const std::vector<std::string>& values) {
                        choices->options.emplace_back(last, values.front());
                      },
                      std::string(option.help))
                  ->type_name(std::string(option.value));
    }
    added->group(std::string(option.group));
  }
}

Result<SubmitPayload> read_script(const std::string& path) {
  SubmitPayload payload;
  payload.script_name = base::input_name(path);
  auto text = base::read_text_file(path, kScriptBytesMax);
  if (!text) return base::failure(std::move(text.error()));
  payload.script = std::move(*text);
  const bool blank = payload.script.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank) return base::usage_error(payload.script_name + ": the script is empty");
  if (payload.script.find('\0') != std::string::npos) {
    return base::usage_error(payload.script_name + ": is a binary program, not a script",
                             "run it with --wrap 'COMMAND', or goban run COMMAND");
  }
  if (!payload.script.starts_with("#!")) payload.script.insert(0, "#!/bin/sh\n");
  payload.job_name = path == "-" ? "stdin" : std::filesystem::path(path).filename().string();
  return payload;
}

Result<json> submission_json(const SubmitPayload& payload, const SubmitChoices& choices) {
  auto fine = check_script(payload.script, payload.script_name);
  if (fine) fine = check_arguments(payload.arguments);
  if (!fine) return base::failure(std::move(fine.error()));
  auto directives = live::job::read_directives(payload.script, payload.script_name);
  if (!directives) return base::failure(std::move(directives.error()));
  warn(directives->unread, payload.script_name);
  auto request = apply_choices(std::move(directives->request), choices);
  if (!request) return base::failure(std::move(request.error()));
  auto submission = live::job::finish(std::move(*request));
  if (!submission) return base::failure(std::move(submission.error()));
  live::job::JobSpec& spec = submission->spec;
  if (spec.name.empty()) spec.name = payload.job_name;
  spec.work_folder = absolute_folder(spec.work_folder);
  spec.interactive = payload.interactive;
  complete_output(spec.stdout_path, spec.work_folder, "%x.o%j");
  complete_output(spec.stderr_path, spec.work_folder, "%x.e%j");
  json body = live::job::to_json(spec);
  if (!submission->array_tasks.empty()) body["array_tasks"] = submission->array_tasks;
  if (!submission->dialect.empty()) body["dialect"] = submission->dialect;
  body["script"] = payload.script;
  body["args"] = payload.arguments;
  body["env"] = environment_json(submission->environment);
  if (fine = check_body(body); !fine) return base::failure(std::move(fine.error()));
  return body;
}

Result<std::vector<uint32_t>> submit(const std::string& server, const json& body) {
  auto client = connect(server);
  if (!client) return base::failure(std::move(client.error()));
  const auto answer = post_json(*client, "/v1/jobs", body);
  if (!answer) return base::failure(answer.error());
  std::vector<uint32_t> jobs;
  for (const json& each : list_of(*answer, "jobs")) {
    if (each.is_number_unsigned()) jobs.push_back(each.get<uint32_t>());
  }
  if (jobs.empty() && part_of(*answer, "job").is_number_unsigned()) {
    jobs.push_back(part_of(*answer, "job").get<uint32_t>());
  }
  if (jobs.empty()) {
    return base::failed(client->server_name() + ": the response contains no job number",
                        "check with goban queue whether the job was accepted");
  }
  return jobs;
}

}  // namespace goban::cli
