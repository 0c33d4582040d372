#include "cli/jobs/job_row.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/jobs/live_client.hpp"

namespace goban::cli {

using nlohmann::json;

namespace {

/// The numbers as ranges: "0-3,6".
std::string ranges_text(std::vector<int32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string out;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace

double wall_clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double JobRow::ran_s(double now_s) const {
  return held_s + (holds_gpus() && run_start_s > 0 ? std::max(0.0, now_s - run_start_s) : 0.0);
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
    out += fmt::format("{}{}[{}]", out.empty() ? "" : " ", node, ranges_text(indexes));
  }
  return out;
}

JobRow job_row(const json& from) {
  JobRow row;
  row.job = static_cast<uint32_t>(number_of(from, "job"));
  row.id = text_of(from, "id");
  if (row.id.empty()) row.id = fmt::format("{}", row.job);
  row.name = text_of(from, "name");
  row.user = text_of(from, "user");
  row.state = text_of(from, "state", "?");
  row.result = text_of(from, "result");
  row.num_gpus = static_cast<int32_t>(number_of(from, "num_gpus"));
  row.walltime_s = number_of(from, "walltime_s");
  row.submit_s = number_of(from, "submit_s");
  row.run_start_s = number_of(from, "run_start_s");
  row.end_s = number_of(from, "end_s");
  row.held_s = number_of(from, "held_s");
  row.where = where_text(part_of(from, "gpus"));
  row.position = static_cast<int64_t>(number_of(from, "position", 0));
  return row;
}

std::vector<JobRow> job_rows(const json& answer) {
  std::vector<JobRow> rows;
  for (const json& each : list_of(answer, "jobs")) rows.push_back(job_row(each));
  return rows;
}

}  // namespace goban::cli
