#include "cli/jobs/queue_rows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/nearest.hpp"
#include "base/number.hpp"
#include "base/ranges_text.hpp"
#include "base/text.hpp"
#include "cli/jobs/job_choice.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {

using nlohmann::json;

namespace {

/// What a column is sorted by: a number, then a text.
using SortKey = std::pair<double, std::string>;

struct QueueColumn {
  const char* name;
  TextTable::Column look;
  std::string (*cell)(const QueueRow& row, double now_s);
  SortKey (*key)(const QueueRow& row, double now_s);
};

std::string dashed(const std::string& text) { return text.empty() ? "-" : text; }

std::string length_cell(double seconds) { return seconds > 0 ? clock_text(seconds) : "-"; }

const std::vector<QueueColumn>& all_columns() {
  static const std::vector<QueueColumn> columns = {
      {"job",
       {"JOB", true, 24},
       [](const QueueRow& row, double) { return row.id; },
       [](const QueueRow& row, double) { return SortKey(row.job.job, ""); }},
      {"queue-id",
       {"QUEUE ID", true, 20},
       [](const QueueRow& row, double) {
         return row.job.engine_id.empty() ? "-" : "@" + row.job.engine_id;
       },
       [](const QueueRow& row, double) { return SortKey(0, row.job.engine_id); }},
      {"name",
       {"NAME", false, 24},
       [](const QueueRow& row, double) { return dashed(row.job.name); },
       [](const QueueRow& row, double) { return SortKey(0, row.job.name); }},
      {"user",
       {"USER", false, 16},
       [](const QueueRow& row, double) { return row.job.user; },
       [](const QueueRow& row, double) { return SortKey(0, row.job.user); }},
      {"account",
       {"ACCOUNT", false, 16},
       [](const QueueRow& row, double) { return dashed(row.job.account); },
       [](const QueueRow& row, double) { return SortKey(0, row.job.account); }},
      {"partition",
       {"PARTITION", false, 16},
       [](const QueueRow& row, double) { return dashed(row.job.partition); },
       [](const QueueRow& row, double) { return SortKey(0, row.job.partition); }},
      {"priority",
       {"PRIORITY", true, 12},
       [](const QueueRow& row, double) { return fmt::format("{}", row.job.priority); },
       [](const QueueRow& row, double) { return SortKey(row.job.priority, ""); }},
      {"state",
       {"STATE", false, 16},
       [](const QueueRow& row, double) { return state_text(row.job); },
       [](const QueueRow& row, double) { return SortKey(rank_of(row.job), state_text(row.job)); }},
      {"gpus",
       {"GPUS", true, 8},
       [](const QueueRow& row, double) { return fmt::format("{}", row.num_gpus); },
       [](const QueueRow& row, double) { return SortKey(row.num_gpus, ""); }},
      {"ran",
       {"RAN", true, 16},
       [](const QueueRow& row, double now_s) { return length_cell(row.job.ran_s(now_s)); },
       [](const QueueRow& row, double now_s) { return SortKey(row.job.ran_s(now_s), ""); }},
      {"limit",
       {"LIMIT", true, 16},
       [](const QueueRow& row, double) { return length_cell(row.job.walltime_s); },
       [](const QueueRow& row, double) { return SortKey(row.job.walltime_s, ""); }},
      {"submitted",
       {"SUBMITTED", false, 16},
       [](const QueueRow& row, double now_s) { return moment_text(row.job.submit_s, now_s); },
       [](const QueueRow& row, double) { return SortKey(row.job.submit_s, ""); }},
      {"start",
       {"STARTS ABOUT", false, 32},
       [](const QueueRow& row, double) { return row.job.start; },
       [](const QueueRow& row, double) {
         return SortKey(row.job.start_s > 0 ? row.job.start_s : 1e18, "");
       }},
      {"where",
       {"WHERE", false, 40},
       [](const QueueRow& row, double) { return row.job.where; },
       [](const QueueRow& row, double) { return SortKey(0, row.job.where); }},
      {"reason",
       {"REASON", false, 40},
       [](const QueueRow& row, double) { return row.reason; },
       [](const QueueRow& row, double) {
         return SortKey(static_cast<double>(row.job.position), row.reason);
       }},
  };
  return columns;
}

const QueueColumn* find_column(std::string_view name) {
  const auto& columns = all_columns();
  const auto found = std::ranges::find(columns, name, &QueueColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

/// Why a job waits, as far as the list of jobs tells.
std::string reason_of(const JobRow& job, const QueueView& view) {
  if (job.holds_gpus() || job.is_over()) return {};
  if (job.state == "held") return "held";
  if (job.begin_s > view.now_s) return "begins " + moment_text(job.begin_s, view.now_s);
  if (!job.blocked.empty()) return job.blocked;
  if (job.state == "depends") return "dependency";
  const auto asked = view.reasons.find(job.job);
  const std::string known = asked == view.reasons.end() ? std::string{} : asked->second;
  if (job.position <= 0) {
    const auto limit = view.array_limits.find(array_of(job));
    const bool is_limited = limit != view.array_limits.end() && limit->second > 0;
    return known.empty() && is_limited ? "array limit" : known;
  }
  return fmt::format("no. {} in the queue{}{}", job.position, known.empty() ? "" : ": ", known);
}

/// Tasks of an array that wait in the same state share a row; others have one of their own.
std::tuple<uint32_t, std::string, std::string> row_key(const JobRow& job, const QueueView& view) {
  const uint32_t array = array_of(job);
  if (view.each_task || array == 0 || rank_of(job) != 1) return {job.job, job.id, {}};
  return {array, job.state, job.begin_s > view.now_s ? "begins" : job.blocked};
}

/// "30_[1-9999%1]".
std::string tasks_id(const std::vector<const JobRow*>& tasks, const QueueView& view) {
  const uint32_t array = array_of(*tasks.front());
  std::vector<int32_t> indexes;
  for (const JobRow* task : tasks) {
    const auto index = base::parse_int(std::string_view(task->id).substr(task->id.find('_') + 1));
    if (index) indexes.push_back(static_cast<int32_t>(*index));
  }
  const bool is_joined = tasks.size() == 1 && !tasks.front()->tasks.empty();
  const std::string ranges =
      is_joined ? tasks.front()->tasks : base::ranges_text(std::move(indexes));
  const auto limit = view.array_limits.find(array);
  const bool is_limited = limit != view.array_limits.end() && limit->second > 0;
  const std::string at_once = is_limited ? fmt::format("%{}", limit->second) : std::string{};
  return fmt::format("{}_[{}{}]", array, ranges, at_once);
}

void sort_rows(std::vector<QueueRow>& rows, const QueueView& view) {
  std::ranges::stable_sort(
      rows, {}, [](const QueueRow& row) { return std::pair(rank_of(row.job), row.job.job); });
  if (view.sort.empty()) return;
  const bool descends = view.sort.starts_with('-');
  const QueueColumn* const column = find_column(view.sort.substr(descends ? 1 : 0));
  if (column == nullptr) return;
  std::ranges::stable_sort(rows, [&](const QueueRow& a, const QueueRow& b) {
    return descends ? column->key(b, view.now_s) < column->key(a, view.now_s)
                    : column->key(a, view.now_s) < column->key(b, view.now_s);
  });
}

}  // namespace

int rank_of(const JobRow& job) {
  if (job.holds_gpus()) return 0;
  return job.is_over() ? 2 : 1;
}

Colour colour_of(const JobRow& job) {
  if (job.is_over()) {
    if (job.result == "completed") return Colour::Good;
    return job.result == "cancelled" ? Colour::None : Colour::Bad;
  }
  if (job.state == "running") return Colour::Good;
  const bool waits_for_someone = job.state == "held" || job.state == "suspended";
  return waits_for_someone || !job.blocked.empty() ? Colour::Notice : Colour::None;
}

std::vector<std::string> queue_columns() {
  std::vector<std::string> names;
  for (const QueueColumn& column : all_columns()) names.emplace_back(column.name);
  return names;
}

base::Status check_view(const QueueView& view) {
  const std::vector<std::string> known = queue_columns();
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto check = [&](const char* option, std::string_view name) -> base::Status {
    if (find_column(name) != nullptr) return {};
    const std::string_view near = base::nearest_name(name, names);
    return base::usage_error(fmt::format("{}: unknown column {}", option, name),
                             near.empty() ? "columns: " + base::alternatives(known)
                                          : fmt::format("did you mean {}?", near));
  };
  for (const std::string& name : view.columns) {
    if (auto fine = check("--format", name); !fine) return fine;
  }
  if (view.sort.empty()) return {};
  return check("--sort", std::string_view(view.sort).substr(view.sort.starts_with('-') ? 1 : 0));
}

void ask_for_reasons(serve::api::ApiClient& client, const json& answer, QueueView& view) {
  constexpr size_t kAsked = 10;
  std::vector<JobRow> waiting;
  struct Array {
    uint32_t task = 0;  ///< the job number of one of them
    int64_t num_tasks = 0;
  };
  std::map<uint32_t, Array> arrays;
  for (JobRow& job : job_rows(answer)) {
    if (rank_of(job) != 1) continue;
    if (const uint32_t number = array_of(job); number != 0) {
      Array& array = arrays[number];
      if (array.num_tasks == 0) array.task = job.job;
      array.num_tasks += job.num_tasks;
    }
    if (job.state == "waiting" && job.position > 0) waiting.push_back(std::move(job));
  }
  std::ranges::sort(waiting, {}, &JobRow::position);
  if (waiting.size() > kAsked) waiting.resize(kAsked);
  for (const JobRow& job : waiting) {
    const auto said = get_json(client, fmt::format("/v1/jobs/{}/explain", job.job));
    if (!said) continue;
    std::string cause = text_of(part_of(*said, "waiting"), "cause");
    std::ranges::replace(cause, '_', ' ');
    if (!cause.empty()) view.reasons[job.job] = cause;
  }
  size_t asked = 0;
  for (const auto& [number, array] : arrays) {
    if (view.each_task || array.num_tasks < 2 || ++asked > kAsked) continue;
    const auto task = get_json(client, fmt::format("/v1/jobs/{}", array.task));
    if (!task) continue;
    const auto limit = number_of(part_of(*task, "spec"), "array_limit");
    view.array_limits[number] = static_cast<int32_t>(limit);
  }
}

std::vector<QueueRow> queue_rows(const std::vector<JobRow>& jobs, const QueueView& view) {
  std::map<std::tuple<uint32_t, std::string, std::string>, std::vector<const JobRow*>> groups;
  for (const JobRow& job : jobs) groups[row_key(job, view)].push_back(&job);
  std::vector<QueueRow> rows;
  for (auto& [key, tasks] : groups) {
    std::ranges::sort(tasks, {}, &JobRow::job);
    const JobRow& first = **std::ranges::min_element(tasks, {}, [](const JobRow* task) {
      return std::pair(task->position > 0 ? task->position : INT64_MAX, task->job);
    });
    QueueRow row{.job = first, .id = first.id, .reason = reason_of(first, view)};
    if (tasks.size() > 1 || !first.tasks.empty()) row.id = tasks_id(tasks, view);
    row.num_jobs = 0;
    for (const JobRow* task : tasks) {
      row.num_jobs += task->num_tasks;
      row.num_gpus += task->tasks.empty() ? task->num_gpus : static_cast<int32_t>(task->tasks_gpus);
    }
    rows.push_back(std::move(row));
  }
  sort_rows(rows, view);
  return rows;
}

std::string rows_table(const std::vector<QueueRow>& rows, const QueueView& view) {
  std::vector<std::string> usual = {"job", "name",  "user",      "state", "gpus",
                                    "ran", "limit", "submitted", "where", "reason"};
  // Jobs of a cluster's own queue also have a name there.
  const bool has_ids =
      std::ranges::any_of(rows, [](const QueueRow& row) { return !row.job.engine_id.empty(); });
  if (has_ids) usual.insert(usual.begin() + 1, "queue-id");
  const bool has_starts =
      std::ranges::any_of(rows, [](const QueueRow& row) { return row.job.start_s > 0; });
  if (has_starts) usual.insert(std::ranges::find(usual, "where"), "start");
  std::vector<const QueueColumn*> columns;
  std::vector<TextTable::Column> looks;
  for (const std::string& name : view.columns.empty() ? usual : view.columns) {
    if (const QueueColumn* const column = find_column(name)) {
      columns.push_back(column);
      looks.push_back(column->look);
    }
  }
  TextTable table(std::move(looks));
  for (const QueueRow& row : rows) {
    std::vector<std::string> cells;
    for (const QueueColumn* column : columns) cells.push_back(column->cell(row, view.now_s));
    table.add(std::move(cells));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (std::string_view(columns[i]->name) == "state") table.paint(i, colour_of(row.job));
    }
  }
  return table.text(view.style);
}

}  // namespace goban::cli
