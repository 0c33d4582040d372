#include "study/history/deadlines.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>
#include <vector>

#include "base/csv.hpp"
#include "base/random.hpp"
#include "base/text_file.hpp"
#include "site/records/column_reader.hpp"

namespace goban::study::history {
namespace {

using base::Result;
using base::TimeNs;

constexpr TimeNs kNoDeadline = -1;
constexpr TimeNs kNotSaid = -2;

DeadlineImport set_deadlines(core::model::JobHistory& history,
                             const std::vector<TimeNs>& deadlines) {
  DeadlineImport counts;
  history.training.resize(history.jobs.size());
  for (size_t i = 0; i < deadlines.size(); ++i) {
    history.training[i].deadline_ns = deadlines[i];
    if (deadlines[i] < 0) continue;
    ++counts.jobs;
    if (base::to_seconds(deadlines[i]) < history.jobs[i].work_s) ++counts.impossible;
  }
  return counts;
}

}  // namespace

Result<DeadlineImport> read_deadlines(const std::string& path, core::model::JobHistory& history) {
  const auto text = base::read_text_file(path);
  if (!text) return base::failure(text.error());
  return parse_deadlines(*text, base::input_name(path), history);
}

Result<DeadlineImport> parse_deadlines(std::string_view text, const std::string& file,
                                       core::model::JobHistory& history) {
  base::CsvReader csv(text, file);
  const auto job_column = csv.require("job");
  if (!job_column) return base::failure(job_column.error());
  const auto deadline_column = csv.require("deadline_s");
  if (!deadline_column) return base::failure(deadline_column.error());
  for (const std::string& name : csv.header()) {
    if (name == "job" || name == "deadline_s") continue;
    return base::bad_data({file, 1, 0, name}, "unknown column", "known columns: job, deadline_s");
  }
  std::unordered_map<std::string_view, size_t> jobs;
  for (size_t i = 0; i < history.jobs.size(); ++i) jobs.emplace(history.job_names[i], i);
  std::vector<TimeNs> deadlines(history.jobs.size(), kNotSaid);
  DeadlineImport counts;
  while (csv.next()) {
    const std::string_view name = csv.field(*job_column);
    const std::array<std::string_view, 1> texts = {csv.field(*deadline_column)};
    site::records::ColumnReader fields(texts);
    const TimeNs deadline_ns = texts[0].empty() ? kNoDeadline : fields.seconds(0, "deadline_s");
    if (!fields.problem().empty()) {
      base::Place place = csv.place(*deadline_column);
      place.field.clear();  // the message names the field
      return base::bad_data(place, fields.problem(),
                            "give seconds after submission, or leave it empty for no deadline");
    }
    const auto job = jobs.find(name);
    if (job == jobs.end()) {
      if (counts.unknown_jobs++ == 0) counts.first_unknown = name;
      continue;
    }
    if (deadlines[job->second] != kNotSaid) {
      return base::bad_data(csv.place(*job_column),
                            fmt::format("duplicate row for job {}", name.substr(0, 80)),
                            "remove one of them");
    }
    deadlines[job->second] = deadline_ns;
  }
  if (auto status = csv.status(); !status) return base::failure(status.error());
  for (TimeNs& deadline : deadlines) deadline = std::max(deadline, kNoDeadline);
  const DeadlineImport set = set_deadlines(history, deadlines);
  counts.jobs = set.jobs;
  counts.impossible = set.impossible;
  return counts;
}

DeadlineImport draw_gavel_deadlines(core::model::JobHistory& history, uint64_t seed) {
  constexpr std::array kFactors = {1.2, 2.0, 10.0};
  constexpr uint64_t kStream =
      0x6465'6164'6c69'6e65;  // separates this random stream from others of the same seed
  base::Random random(seed ^ kStream);
  std::vector<TimeNs> deadlines;
  deadlines.reserve(history.jobs.size());
  for (const core::model::Job& job : history.jobs) {
    const double factor = kFactors[random.below(kFactors.size())];
    deadlines.push_back(base::from_seconds_up(std::min(factor * job.work_s, base::kMaxSeconds)));
  }
  return set_deadlines(history, deadlines);
}

void clear_deadlines(core::model::JobHistory& history) {
  for (core::model::TrainingFacts& facts : history.training) facts.deadline_ns = kNoDeadline;
}

}  // namespace goban::study::history
