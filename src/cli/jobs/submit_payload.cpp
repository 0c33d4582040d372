#include "cli/jobs/submit_payload.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host_name.hpp"
#include "base/nearest.hpp"
#include "base/printable.hpp"
#include "base/text_file.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/jobs/output_folders.hpp"
#include "cli/jobs/submit_text.hpp"
#include "live/job/directive_dialect.hpp"
#include "live/job/job_spec.hpp"
#include "live/job/request_values.hpp"
#include "live/job/slurm_variables.hpp"
#include "live/job/submit_options.hpp"

namespace goban::cli {

using base::Result;
using base::Status;
using nlohmann::json;

namespace {

constexpr size_t kScriptBytesMax = size_t{1} << 20;
/// As an option of a vector has it: then each time it is given it takes one word.
constexpr int kRepeatsMax = 1 << 29;

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

/// Variables that every job gets, as a login shell would set them, and those by which our commands
/// find the daemon.
bool is_basic(std::string_view name) {
  constexpr std::string_view kBasic[] = {
      "HOME", "USER",        "LOGNAME",      "SHELL",        "PATH",       "LANG",
      "TERM", "GOBAN_STATE", "GOBAN_SOCKET", "GOBAN_SERVER", "GOBAN_SHIMS"};
  return std::find(std::begin(kBasic), std::end(kBasic), name) != std::end(kBasic);
}

/// Variables of the job that submits this one: they would be wrong in the other.
bool is_of_outer_job(std::string_view name) {
  constexpr std::string_view kStarts[] = {"SLURM_",        "SLURMD_",          "GOBAN_ARRAY_",
                                          "GOBAN_STAGE_",  "OMPI_COMM_WORLD_", "GOBAN_FAST",
                                          "GOBAN_VIRTUAL_"};
  constexpr std::string_view kNames[] = {"RANK",       "LOCAL_RANK",       "NODE_RANK",
                                         "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GOBAN_EPOCHS"};
  return std::ranges::find(kNames, name) != std::end(kNames) ||
         std::ranges::any_of(kStarts, [&](auto start) { return name.starts_with(start); });
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
  const bool is_in_job = std::getenv("GOBAN_JOB_ID") != nullptr;
  for (const auto& [name, value] : environment()) {
    if (is_in_job && is_of_outer_job(name)) continue;
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

void warn(const std::vector<live::job::UnreadDirective>& unread, const std::string& script) {
  for (const live::job::UnreadDirective& each : unread) {
    fmt::print(stderr, "goban: warning: {}:{}: '{}'{}: {}\n", script, each.line, each.text,
               each.in_part ? "" : " has no effect", each.why);
  }
}

std::string_view without_dashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

/// What sbatch calls an option of ours; null if it has none of these names.
const live::job::DirectiveOption* slurm_option(const live::job::SubmitOption& ours) {
  for (const std::string_view name : live::job::split_list(ours.names)) {
    const auto* const found =
        live::job::find_option(live::job::slurm_dialect(), without_dashes(name));
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// "60" or "30:00": a time as sbatch has it, in minutes or with colons.
bool is_clock(const std::string& value) {
  return !value.empty() && value.find_first_not_of("0123456789:") == std::string::npos;
}

/// Options that count tasks, whose presence makes -c the cores of a task, as for sbatch.
bool counts_tasks(const SubmitChoices& choices) {
  return std::ranges::any_of(choices, [](const auto& choice) {
    return choice.first == "--ntasks" || choice.first == "--ntasks-per-node";
  });
}

/// Options whose presence replaces what directives say of GPUs.
bool requests_gpus(const SubmitChoices& choices) {
  constexpr std::string_view kNames[] = {"--gpus", "--gpus-per-node", "--gpus-per-task", "--gres"};
  return std::ranges::any_of(choices, [&](const auto& choice) {
    return std::ranges::find(kNames, choice.first) != std::end(kNames);
  });
}

Status apply_choice(live::job::SubmitDirectives& request, const std::string& name,
                    const std::string& value, bool as_slurm) {
  const live::job::SubmitOption* const ours = live::job::find_submit_option(name);
  const live::job::DirectiveOption* option =
      ours == nullptr ? live::job::find_option(live::job::slurm_dialect(), without_dashes(name))
                      : slurm_option(*ours);
  if (ours != nullptr && (!as_slurm || option == nullptr || option->set == nullptr)) {
    return ours->set(request, value);
  }
  if (option->set != nullptr) return option->set(request, value);
  request.notes.push_back(fmt::format("{} has no effect: {}", name, option->why));
  return {};
}

Result<live::job::SubmitDirectives> apply_choices(live::job::SubmitDirectives request,
                                                  const SubmitPayload& payload) {
  const bool with_tasks = counts_tasks(payload.options);
  if (requests_gpus(payload.options)) live::job::forget_gpus(request);
  for (const auto& [name, value] : payload.options) {
    auto status = apply_choice(request, name, value,
                               payload.as_slurm || (with_tasks && name == "--cores") ||
                                   (name == "--time" && is_clock(value)));
    if (!status) {
      base::Error error = std::move(status.error());
      error.code = base::ErrorCode::Usage;
      error.place.field = name;
      return base::failure(std::move(error));
    }
  }
  return request;
}

uint32_t own_umask() {
  const mode_t mask = ::umask(0);  // it can only be read by setting it
  ::umask(mask);
  return mask;
}

std::string absolute_folder(const std::string& folder) {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored);
  return folder.empty() ? here.string() : (here / folder).lexically_normal().string();
}

/// "-n,--ntasks" of sbatch: the names that our options leave free.
std::string free_names(const live::job::DirectiveOption& option) {
  // Of goban submit; goban run waits anyway.
  constexpr std::string_view kOurs[] = {"parsable", "W", "wait", "Q", "quiet", "test-only"};
  std::string names;
  for (const std::string_view name : live::job::split_list(option.names, ' ')) {
    const std::string dashed = fmt::format("{}{}", name.size() == 1 ? "-" : "--", name);
    const bool taken = live::job::find_submit_option(dashed) != nullptr ||
                       std::ranges::find(kOurs, name) != std::end(kOurs);
    if (!taken) names += (names.empty() ? "" : ",") + dashed;
  }
  return names;
}

/// Under which name the rest of this file knows an option: its first long one.
std::string main_name(std::string_view names) {
  const auto all = live::job::split_list(names);
  const auto is_long = [](std::string_view name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(all, is_long);
  return std::string(found == all.end() ? all.front() : *found);
}

/// What sbatch calls otherwise than we do, and what it has and we have not.
void add_slurm_options(Command& command, const std::shared_ptr<SubmitChoices>& choices) {
  constexpr const char* kGroup = "As sbatch calls them";
  for (const live::job::DirectiveOption& option : live::job::slurm_dialect().options) {
    const std::string names = free_names(option);
    if (names.empty()) continue;
    const std::string known = main_name(names);
    const bool has_value = option.values == 1 || (option.values != 0 && option.set != nullptr);
    Option* added = nullptr;
    if (has_value) {
      added = command
                  .add_option_function(
                      names,
                      [choices, known](const std::vector<std::string>& values) {
                        choices->emplace_back(known, values.front());
                      },
                      fmt::format("As in #SBATCH {}", known))
                  ->type_name("VALUE");
    } else {
      added = command.add_flag_callback(
          names, [choices, known] { choices->emplace_back(known, ""); },
          fmt::format("As in #SBATCH {}", known));
    }
    // What has no effect is accepted with a warning, and not listed.
    added->group(option.set == nullptr ? "" : kGroup);
  }
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
          std::string(option.names), [choices, last] { choices->emplace_back(last, ""); },
          std::string(option.help));
    } else {
      added = command
                  .add_option_function(
                      std::string(option.names),
                      [choices, last](const std::vector<std::string>& values) {
                        for (const std::string& value : values) choices->emplace_back(last, value);
                      },
                      std::string(option.help))
                  ->type_name(std::string(option.value));
    }
    if (option.repeats) added->expected(1, kRepeatsMax)->one_word();
    added->group(std::string(option.group));
  }
  add_slurm_options(command, choices);
}

bool is_local(const std::string& server) {
  const std::string text = serve::api::server_text(server);
  return text.find("://") == std::string::npos;
}

base::Error unknown_option(const std::string& word, std::vector<std::string_view> more,
                           const std::string& usage) {
  for (const auto& option : live::job::submit_options()) {
    for (const auto name : live::job::split_list(option.names)) more.push_back(name);
  }
  const auto near = base::nearest_name(word, more);
  return {.code = base::ErrorCode::Usage,
          .message = fmt::format("unknown option {}", word),
          .place = {},
          .remedy = near.empty() ? usage : fmt::format("did you mean {}?", near)};
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
  std::error_code ignored;
  if (path != "-") {
    payload.script_path = std::filesystem::absolute(path, ignored).lexically_normal().string();
  }
  return payload;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& each : warnings) fmt::print(stderr, "goban: warning: {}\n", each);
}

Result<json> submission_json(const SubmitPayload& payload, live::job::SubmitManner* manner,
                             std::vector<std::string>* warnings) {
  auto fine = check_script(payload.script, payload.script_name);
  if (fine) fine = check_arguments(payload.arguments);
  if (!fine) return base::failure(std::move(fine.error()));
  auto directives = live::job::read_directives(payload.script, payload.script_name);
  if (!directives) return base::failure(std::move(directives.error()));
  warn(directives->unread, payload.script_name);
  if (payload.as_slurm) directives->dialect = "slurm";
  auto request = apply_choices(std::move(*directives), payload);
  if (!request) return base::failure(std::move(request.error()));
  if (warnings == nullptr) {
    print_warnings(request->notes);
  } else {
    *warnings = request->notes;
  }
  if (payload.as_slurm && request->spec.stdout_path.empty()) {
    request->spec.stdout_path = request->array_tasks.empty() ? "slurm-%j.out" : "slurm-%A_%a.out";
  }
  auto submission = live::job::finish(std::move(*request));
  if (!submission) return base::failure(std::move(submission.error()));
  live::job::JobSpec& spec = submission->spec;
  if (spec.name.empty()) spec.name = payload.job_name;
  spec.work_folder = absolute_folder(spec.work_folder);
  spec.interactive = payload.interactive;
  spec.umask = own_umask();
  // A path that the daemon would refuse is only not shown.
  if (live::job::checked_text(payload.script_path)) spec.script_path = payload.script_path;
  complete_output(spec.stdout_path, spec.work_folder, "%x.o%j");
  complete_output(spec.stderr_path, spec.work_folder, "%x.e%j");
  if (payload.is_here && !payload.interactive) {
    if (fine = check_folders(spec); !fine) return base::failure(std::move(fine.error()));
  }
  json body = live::job::to_json(spec);
  if (!submission->array_tasks.empty()) body["array_tasks"] = submission->array_tasks;
  if (!submission->dialect.empty()) body["dialect"] = submission->dialect;
  body["script"] = payload.script;
  body["args"] = payload.arguments;
  body["env"] = environment_json(submission->environment);
  if (submission->dialect == "slurm") {
    body["env"]["SLURM_SUBMIT_DIR"] = absolute_folder({});
    body["env"]["SLURM_SUBMIT_HOST"] = base::host_name().value_or("localhost");
    for (const auto& [name, value] : live::job::slurm_variables(*submission)) {
      body["env"][name] = value;
    }
  }
  if (fine = check_body(body); !fine) return base::failure(std::move(fine.error()));
  if (manner != nullptr) *manner = submission->manner;
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
