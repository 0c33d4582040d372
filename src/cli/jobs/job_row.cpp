#include "cli/jobs/job_row.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/ranges_text.hpp"
#include "base/units.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {

using nlohmann::json;

double wall_clock_s() { return base::to_seconds(base::wall_ns()); }

double JobRow::ran_s(double now_s) const {
  if (!holds_gpus() || run_start_s <= 0) return held_s;
  const double until_s = suspended_since_s > 0 ? suspended_since_s : now_s;
  return held_s + std::max(0.0, until_s - run_start_s - suspended_s);
}

std::string where_text(const json& gpus) {
  std::vector<std::pair<std::string, std::vector<int32_t>>> nodes;
  if (!gpus.is_array()) return {};
  for (const json& each : gpus) {
    const std::string node = text_of(each, "node", "?");
    auto found = std::find_if(nodes.begin(), nodes.end(),
                              [&](const auto& known) { return known.first == node; });
    if (found == nodes.end()) found = nodes.insert(nodes.end(), {node, {}});
    found->second.push_back(static_cast<int32_t>(number_of(each, "index", 0)));
  }
  std::string out;
  for (const auto& [node, indexes] : nodes) {
    out += fmt::format("{}{}[{}]", out.empty() ? "" : " ", node, base::ranges_text(indexes));
  }
  return out;
}

std::string start_text(const json& start, double now_s) {
  const double median_s = number_of(start, "p50_s");
  if (median_s <= 0) return {};
  const double last_s = number_of(start, "p90_s");
  return fmt::format("{} ({} to {})", moment_text(median_s, now_s),
                     moment_text(number_of(start, "p10_s"), now_s),
                     last_s > 0 ? moment_text(last_s, now_s) : "later");
}

std::string predicted_text(const json& predicted) {
  const double median_s = number_of(predicted, "p50_s");
  if (median_s <= 0) return text_of(predicted, "text");
  return fmt::format("{} ({} to {}), from {}", base::human_seconds(median_s),
                     base::human_seconds(number_of(predicted, "p10_s")),
                     base::human_seconds(number_of(predicted, "p90_s")),
                     text_of(predicted, "text"));
}

JobRow job_row(const json& from) {
  JobRow row;
  row.job = static_cast<uint32_t>(number_of(from, "job"));
  row.id = text_of(from, "id");
  if (row.id.empty()) row.id = fmt::format("{}", row.job);
  row.engine_id = text_of(from, "engine_id");
  row.name = text_of(from, "name");
  row.user = text_of(from, "user");
  row.state = text_of(from, "state", "?");
  row.result = text_of(from, "result");
  row.num_gpus = static_cast<int32_t>(number_of(from, "num_gpus"));
  row.priority = static_cast<int32_t>(number_of(from, "priority"));
  row.account = text_of(from, "account");
  row.partition = text_of(from, "partition");
  row.blocked = text_of(from, "blocked");
  row.start_s = number_of(part_of(from, "start"), "p50_s");
  row.start = start_text(part_of(from, "start"), wall_clock_s());
  row.walltime_s = number_of(from, "walltime_s");
  row.begin_s = number_of(from, "begin_s");
  row.submit_s = number_of(from, "submit_s");
  row.run_start_s = number_of(from, "run_start_s");
  row.suspended_since_s = number_of(from, "suspended_since_s");
  row.suspended_s = number_of(from, "suspended_s");
  row.end_s = number_of(from, "end_s");
  row.held_s = number_of(from, "held_s");
  // A job that waits names the GPUs of its last run, which it does not hold.
  const bool waits = row.state == "waiting" || row.state == "depends" || row.state == "held";
  if (!waits) row.where = where_text(part_of(from, "gpus"));
  row.position = static_cast<int64_t>(number_of(from, "position", 0));
  row.exit_code = static_cast<int32_t>(number_of(from, "exit_code", -1));
  row.signal = static_cast<int32_t>(number_of(from, "signal"));
  row.is_past = flag_of(from, "history");
  row.tasks = text_of(from, "tasks");
  if (row.tasks.empty()) return row;
  row.num_tasks = static_cast<int64_t>(number_of(from, "num_tasks"));
  row.tasks_gpus = static_cast<int64_t>(number_of(from, "tasks_gpus"));
  return row;
}

std::vector<JobRow> job_rows(const json& answer) {
  std::vector<JobRow> rows;
  for (const json& each : list_of(answer, "jobs")) rows.push_back(job_row(each));
  return rows;
}

}  // namespace goban::cli
