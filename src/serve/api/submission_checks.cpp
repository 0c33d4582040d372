#include "serve/api/submission_checks.hpp"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/http/http_uri.hpp"
#include "base/nearest.hpp"

namespace goban::serve::api {

using base::Status;
using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 39> kKnown = {
    "account",     "app_class",    "args",        "array_limit",   "array_tasks",   "begin_s",
    "cores",       "dependencies", "dialect",     "env",           "exclude_nodes", "gpu_model",
    "held",        "instances",    "interactive", "mem_bytes",     "model",         "name",
    "node_list",   "num_gpus",     "open_mode",   "partition",     "preemptible",   "priority",
    "qos",         "requeue",      "reservation", "resource_type", "script",        "script_path",
    "stderr_path", "stdin_path",   "stdout_path", "stop",          "training",      "umask",
    "user",        "walltime_s",   "work_folder"};

bool has_zero(const std::string& text) { return text.find('\0') != std::string::npos; }

}  // namespace

tl::unexpected<base::Error> bad_field(std::string field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = std::move(field)},
                        std::move(message), std::move(remedy));
}

Status check_json(std::string_view text) {
  constexpr int kDepthMax = 16;
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax) return bad_field({}, "the body is nested too deeply");
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  if (!json::accept(text)) {
    return bad_field({}, "the body is not valid JSON", "send one object in UTF-8");
  }
  return {};
}

Status check_script(const json& body, const SubmitLimits& limits) {
  const auto script = body.find("script");
  const auto args = body.find("args");
  if (script != body.end()) {
    if (!script->is_string()) return bad_field("script", "must be a string");
    const auto& text = script->get_ref<const std::string&>();
    if (text.size() > limits.script_bytes_max) {
      return bad_field("script", fmt::format("is longer than {} bytes", limits.script_bytes_max),
                       "store data in files");
    }
    if (has_zero(text)) return bad_field("script", "contains a zero byte", "it must be text");
  }
  if (args != body.end()) {
    if (!args->is_array()) return bad_field("args", "must be an array");
    if (args->size() > limits.argument_count_max) {
      return bad_field("args", fmt::format("has more than {} entries", limits.argument_count_max));
    }
    for (const json& each : *args) {
      if (!each.is_string() || has_zero(each.get_ref<const std::string&>())) {
        return bad_field("args", "entries must be strings without zero bytes");
      }
    }
  }
  const bool is_empty = (script == body.end() || script->get_ref<const std::string&>().empty()) &&
                        (args == body.end() || args->empty());
  if (is_empty)
    return bad_field("script", "is missing",
                     "set it to the text of a script, or put a command into args");
  return {};
}

Status check_environment(const json& body, const SubmitLimits& limits) {
  const auto env = body.find("env");
  if (env == body.end()) return {};
  if (!env->is_object()) return bad_field("env", "must be an object");
  if (env->size() > limits.env_count_max) {
    return bad_field("env", fmt::format("has more than {} variables", limits.env_count_max));
  }
  for (const auto& [name, value] : env->items()) {
    if (name.empty() || name.find('=') != std::string::npos || has_zero(name)) {
      return bad_field("env", "contains an invalid variable name");
    }
    if (!value.is_string() || has_zero(value.get_ref<const std::string&>())) {
      return bad_field("env", "values must be strings without zero bytes");
    }
  }
  return {};
}

Status check_texts(const live::job::JobSpec& spec, const SubmitLimits& limits) {
  const auto names = std::to_array<std::pair<const char*, const std::string*>>({
      {"name", &spec.name},
      {"account", &spec.account},
      {"partition", &spec.partition},
      {"qos", &spec.qos},
      {"model", &spec.model},
      {"resource_type", &spec.resource_type},
      {"reservation", &spec.reservation},
      {"gpu_model", &spec.gpu_model},
  });
  for (const auto& [field, text] : names) {
    if (text->size() > limits.text_bytes_max) {
      return bad_field(field, fmt::format("is longer than {} bytes", limits.text_bytes_max));
    }
    if (!base::http::is_plain_text(*text)) return bad_field(field, "contains control characters");
  }
  const auto paths = std::to_array<std::pair<const char*, const std::string*>>({
      {"work_folder", &spec.work_folder},
      {"stdout_path", &spec.stdout_path},
      {"stderr_path", &spec.stderr_path},
      {"stdin_path", &spec.stdin_path},
      {"script_path", &spec.script_path},
  });
  for (const auto& [field, text] : paths) {
    if (text->size() > limits.path_bytes_max) {
      return bad_field(field, fmt::format("is longer than {} bytes", limits.path_bytes_max));
    }
    if (!base::http::is_plain_text(*text)) return bad_field(field, "contains control characters");
  }
  if (!spec.work_folder.empty() && spec.work_folder.front() != '/') {
    return bad_field("work_folder", "must be an absolute path", "start it with /");
  }
  for (const auto& [field, nodes] :
       {std::pair{"node_list", &spec.node_list}, std::pair{"exclude_nodes", &spec.exclude_nodes}}) {
    if (nodes->size() > limits.nodes_max) {
      return bad_field(field, fmt::format("has more than {} entries", limits.nodes_max));
    }
    for (const std::string& name : *nodes) {
      if (name.size() > limits.text_bytes_max || !base::http::is_plain_text(name)) {
        return bad_field(field, "contains an invalid name");
      }
    }
  }
  std::vector<std::string_view> staged(spec.stage_in.begin(), spec.stage_in.end());
  for (const live::job::StageOut& each : spec.stage_out) {
    staged.emplace_back(each.from);
    staged.emplace_back(each.to);
  }
  const char* stage_field = spec.stage_in.empty() ? "stage_out" : "stage_in";
  for (const std::string_view path : staged) {
    if (path.size() > limits.path_bytes_max || !base::http::is_plain_text(path)) {
      return bad_field(stage_field, "contains a path that is too long or has control characters");
    }
  }
  if (spec.dependencies.size() > limits.dependencies_max) {
    return bad_field("dependencies",
                     fmt::format("has more than {} entries", limits.dependencies_max));
  }
  return {};
}

Status check_array_bytes(const live::job::JobSpec& spec, size_t tasks, const SubmitLimits& limits) {
  const size_t bytes = tasks > 1 ? tasks * live::job::to_json(spec).dump().size() : 0;
  if (bytes <= limits.array_bytes_max) return {};
  return bad_field(
      "array_tasks",
      fmt::format("{} tasks with these names and paths take {} bytes; the maximum is {}", tasks,
                  bytes, limits.array_bytes_max),
      "submit fewer tasks at once, or use shorter names and paths");
}

Status check_fields(const json& body, const std::vector<std::string>& unknown) {
  for (const char* field : {"owner", "payload", "array_first", "array_task"}) {
    if (body.contains(field)) {
      return bad_field(field, "is set by the server and cannot be submitted",
                       "operators can submit for another user with the field user");
    }
  }
  if (unknown.empty()) return {};
  const std::string_view meant = base::nearest_name(unknown.front(), kKnown);
  return bad_field(unknown.front().substr(0, 64), "unknown field",
                   meant.empty() ? "see /v1/openapi.json" : fmt::format("did you mean {}?", meant));
}

}  // namespace goban::serve::api
