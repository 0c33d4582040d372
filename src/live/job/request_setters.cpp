#include "live/job/request_setters.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/number.hpp"
#include "core/model/import/host_list.hpp"
#include "live/job/begin_time.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::job {

using base::Result;
using base::Status;

namespace {

struct Variable {
  std::string_view name;
  std::string_view pattern;
};
/// Longer names precede their own prefixes.
constexpr auto kVariables = std::to_array<Variable>({{"$PBS_JOBNAME", "%x"},
                                                     {"$PBS_JOBID", "%j"},
                                                     {"$PBS_ARRAY_INDEX", "%a"},
                                                     {"$PBS_ARRAYID", "%a"},
                                                     {"^array_index^", "%a"},
                                                     {"$JOB_NAME", "%x"},
                                                     {"$JOB_ID", "%j"},
                                                     {"$TASK_ID", "%a"},
                                                     {"$USER", "%u"}});

}  // namespace

Status set_priority(SubmitDirectives& request, std::string_view value) {
  constexpr int64_t kMost = 1'000'000'000;
  const auto number = base::parse_int(value);
  if (!number || *number < -kMost || *number > kMost) {
    return base::bad_data({}, fmt::format("'{}' is not a valid priority", value),
                          "write an integer; jobs with larger values go first");
  }
  request.spec.priority = static_cast<int32_t>(*number);
  return {};
}

Status set_nodes(SubmitDirectives& request, std::string_view value) {
  const size_t dash = value.find('-');
  const auto least = parse_count(value.substr(0, dash), 1);
  if (!least) return base::failure(least.error());
  if (dash != std::string_view::npos) {
    const auto most = parse_count(value.substr(dash + 1), *least);
    if (!most) return base::failure(most.error());
    request.notes.push_back(
        fmt::format("the minimum of {} nodes is used: jobs do not grow", value));
  }
  request.nodes = *least;
  return {};
}

Status set_array(SubmitDirectives& request, std::string_view value) {
  auto array = parse_array(value);
  if (!array) return base::failure(array.error());
  request.array_tasks = std::move(array->tasks);
  request.spec.array_limit = array->limit;
  request.array_step = array->step;
  return {};
}

Status set_begin(SubmitDirectives& request, std::string_view value) {
  const auto begin = parse_begin(value, base::wall_ns());
  if (!begin) return base::failure(begin.error());
  request.spec.begin_ns = *begin;
  return {};
}

Status set_deadline(SubmitDirectives& request, std::string_view value) {
  const TimeNs now_ns = base::wall_ns();
  const auto deadline = parse_begin(value, now_ns);
  if (!deadline) return base::failure(deadline.error());
  if (*deadline <= now_ns) return refused_value(value, "not in the future", "name a later time");
  request.spec.training.deadline_ns = *deadline - now_ns;
  request.notes.push_back(fmt::format(
      "the deadline {} is what the policy aims at; a job that misses it is not removed", value));
  return {};
}

Status set_open_mode(SubmitDirectives& request, std::string_view value) {
  // sbatch reads the first letter.
  if (value != "append" && value != "a" && value != "truncate" && value != "t") {
    return refused_value(value, "not a way to open files", "write append or truncate");
  }
  request.spec.open_mode = value.front() == 'a' ? OpenMode::Append : OpenMode::Truncate;
  return {};
}

Status set_whole_node(SubmitDirectives& request, std::string_view value) {
  request.spec.training.sharing = core::model::SharingRequest::No;
  request.notes.push_back(fmt::format(
      "--exclusive{}{} keeps other jobs off its GPUs, not off the node; request all GPUs of the "
      "node for that",
      value.empty() ? "" : "=", value));
  return {};
}

Status set_dependencies(SubmitDirectives& request, std::string_view value) {
  auto dependencies = parse_dependencies(value);
  if (!dependencies) return base::failure(dependencies.error());
  request.spec.dependencies = std::move(*dependencies);
  return {};
}

Status set_rerunnable(SubmitDirectives& request, std::string_view value) {
  const bool yes = value == "y" || value == "yes";
  if (!yes && value != "n" && value != "no") {
    return base::bad_data({}, fmt::format("'{}' is not a valid choice", value), "write y or n");
  }
  request.spec.requeue = yes;
  return {};
}

Status set_resource_type(SubmitDirectives& request, std::string_view name, std::string_view count) {
  const auto instances = count.empty() ? base::Result<int32_t>(1) : parse_count(count, 1);
  if (!instances) return base::failure(instances.error());
  auto text = checked_text(name);
  if (!text) return base::failure(text.error());
  request.spec.resource_type = std::move(*text);
  request.spec.instances = *instances;
  request.nodes = -1;
  return {};
}

Status add_stage_in(SubmitDirectives& request, std::string_view value) {
  if (const std::string problem = stage_path_problem(value); !problem.empty()) {
    return base::bad_data({}, fmt::format("the path '{}' {}", value, problem),
                          "write the path of a file or folder, such as /lustre/data/images");
  }
  request.spec.stage_in.emplace_back(value);
  return {};
}

Status add_stage_out(SubmitDirectives& request, std::string_view value) {
  auto out = parse_stage_out(value);
  if (!out) return base::failure(out.error());
  request.spec.stage_out.push_back(std::move(*out));
  return {};
}

Status set_stage_out_on(SubmitDirectives& request, std::string_view value) {
  if (value != "success" && value != "always") {
    return base::bad_data({}, fmt::format("'{}' is not a valid choice", value),
                          "write success or always");
  }
  request.spec.stage_out_always = value == "always";
  return {};
}

Status apply_signal(SubmitDirectives& request, std::string_view text) {
  TimeNs lead = 60 * base::kSecond;
  std::string_view name = text;
  if (const size_t at = name.find('@'); at != std::string_view::npos) {
    const std::string_view time = name.substr(at + 1);
    const auto seconds = base::parse_int(time);
    const auto span = seconds && *seconds >= 0 && *seconds <= 65'535
                          ? Result<TimeNs>(*seconds * base::kSecond)
                          : parse_span(time);
    if (!span) return base::failure(span.error());
    lead = *span;
    name = name.substr(0, at);
  }
  if (const size_t colon = name.find(':'); colon != std::string_view::npos) {
    name = name.substr(colon + 1);
  }
  const auto signal = parse_signal(name);
  if (!signal) return base::failure(signal.error());
  request.spec.stop.signal = *signal;
  request.spec.stop.lead_ns = lead;
  return {};
}

Result<GpuRequest> parse_gpus(std::string_view text) {
  constexpr const char* kForms = "write 4, gpu:4 or gpu:MODEL:4";
  constexpr int64_t kGpusMax = 1'000'000;
  GpuRequest request;
  const auto items = split_list(text);
  for (const std::string_view item : items) {
    auto parts = split_list(item, ':');
    if (item.ends_with(':')) return refused_value(text, "a request without a number", kForms);
    if (!parts.empty() && parts.front() == "gpu") parts.erase(parts.begin());
    std::string_view model;
    if (!parts.empty() && !base::parse_int(parts.front())) {
      model = parts.front();
      parts.erase(parts.begin());
    }
    if (parts.size() > 1) return refused_value(text, "not a valid number of GPUs", kForms);
    const auto count = parts.empty() ? Result<int32_t>(1) : parse_count(parts.front());
    if (!count) return base::failure(count.error());
    if (request.count > 0 && request.model != model) {
      return refused_value(text, "a request for GPUs of several models",
                           "submit a job for each model");
    }
    if (int64_t{request.count} + *count > kGpusMax) {
      return refused_value(text, "too large", "request fewer");
    }
    request.count += *count;
    request.model = model;
  }
  if (items.empty()) return refused_value(text, "not a valid number of GPUs", kForms);
  return request;
}

Status set_gres(SubmitDirectives& request, std::string_view value) {
  if (value == "none" || value == "NONE") value = "gpu:0";
  std::string gpus;
  for (const std::string_view each : split_list(value)) {
    if (each == "gpu" || each.starts_with("gpu:")) {
      gpus += fmt::format("{}{}", gpus.empty() ? "" : ",", each);
    } else {
      request.notes.push_back(fmt::format("unknown resource '{}'", each));
    }
  }
  if (gpus.empty()) return {};
  return set_gpus<&SubmitDirectives::gpus_per_node>(request, gpus);
}

Result<std::vector<std::string>> parse_nodes(std::string_view text) {
  constexpr size_t kNodesMax = 10'000;
  auto checked = checked_text(text);
  if (!checked) return base::failure(checked.error());
  auto names = core::model::expand_host_list(*checked);
  if (!names) return names;
  if (names->empty() || names->size() > kNodesMax) {
    return refused_value(text, "not a valid list of nodes", "write n1,n2 or g[003-007]");
  }
  return names;
}

Status apply_export(SubmitDirectives& request, std::string_view text) {
  EnvironmentRequest environment{.all = false, .names = {}, .values = {}};
  for (const std::string_view each : split_list(text)) {
    if (each == "ALL") {
      environment.all = true;
    } else if (each != "NONE" && each != "NIL") {
      const size_t sign = each.find('=');
      const auto name = checked_text(each.substr(0, sign));
      if (!name)
        return refused_value(text, "not a valid list of variables",
                             "write ALL, NONE or NAME,NAME=value");
      if (sign == std::string_view::npos) {
        environment.names.push_back(*name);
      } else {
        environment.values.emplace_back(*name, std::string(each.substr(sign + 1)));
      }
    }
  }
  request.environment = std::move(environment);
  return {};
}

std::string slurm_output(SubmitDirectives& request, std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%' || i + 1 == path.size()) {
      out += path[i];
      continue;
    }
    const char kind = path[++i];
    if (kind == 'J') {
      out += "%j";
    } else if (std::string_view("%jxuaA").find(kind) != std::string_view::npos) {
      out += fmt::format("%{}", kind);
    } else {
      request.notes.push_back(fmt::format("'%{}' in the file name '{}' is removed", kind, path));
    }
  }
  return out;
}

std::string batch_output(SubmitDirectives& request, std::string_view path) {
  const size_t colon = path.find(':');
  if (colon != std::string_view::npos && colon < path.find('/')) path.remove_prefix(colon + 1);
  std::string out;
  while (!path.empty()) {
    const auto found =
        std::find_if(kVariables.begin(), kVariables.end(),
                     [&](const Variable& each) { return path.starts_with(each.name); });
    if (found != kVariables.end()) {
      out += found->pattern;
      path.remove_prefix(found->name.size());
      continue;
    }
    if (path.front() == '%') out += '%';
    if (path.front() == '$') {
      request.notes.push_back(
          fmt::format("the variable in the file name '{}' is not replaced", path));
    }
    out += path.front();
    path.remove_prefix(1);
  }
  return out;
}

}  // namespace goban::live::job
