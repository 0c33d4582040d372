#include "study/results/job_table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/number.hpp"
#include "site/page/json_text.hpp"
#include "study/results/column.hpp"

namespace goban::study::results {

namespace {

using base::TimeNs;

constexpr size_t kCellsMax = 600'000;  ///< jobs x runs that fit into a page of 10 MB

/// Times in ticks since the first submit.
class Clock {
 public:
  Clock(TimeNs origin_ns, TimeNs tick_ns) : origin_ns_(origin_ns), tick_ns_(tick_ns) {}
  [[nodiscard]] uint32_t at(TimeNs time_ns) const { return length(time_ns - origin_ns_); }
  [[nodiscard]] uint32_t length(TimeNs ns) const {
    return static_cast<uint32_t>((std::max<TimeNs>(0, ns) + tick_ns_ / 2) / tick_ns_);
  }

 private:
  TimeNs origin_ns_;
  TimeNs tick_ns_;
};

std::string names_json(const base::NameTable& names) {
  std::string out = "[";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ", ";
    out += site::page::json_quoted(names[i]);
  }
  return out + "]";
}

std::string request_columns(const core::model::JobHistory& history,
                            const std::vector<size_t>& shown, const Clock& clock) {
  TextColumn names;
  std::vector<uint32_t> submit;
  std::vector<uint32_t> gpus;
  std::vector<uint32_t> user;
  std::vector<uint32_t> model;
  std::vector<uint32_t> app_class;
  for (const size_t i : shown) {
    const core::model::JobRequest& request = history.jobs[i].request;
    names.add(history.job_names[i]);
    submit.push_back(clock.at(request.submit_ns));
    gpus.push_back(static_cast<uint32_t>(request.num_gpus));
    // 0 = no name
    user.push_back(request.user.valid() ? request.user.value + 1 : 0);
    model.push_back(request.model.valid() ? request.model.value + 1 : 0);
    app_class.push_back(request.app_class.value);
  }
  return fmt::format(
      "\"names\": {},\n\"submit\": {},\n\"gpus\": {},\n\"user\": {},\n\"model\": {},\n"
      "\"class\": {},\n\"users\": {},\n\"models\": {}",
      names.json(), rising_column(submit), whole_column(gpus), whole_column(user),
      whole_column(model), whole_column(app_class), names_json(history.users),
      names_json(history.models));
}

std::string outcome_columns(const core::model::JobHistory& history,
                            const simulator::SimulationResult& result,
                            const std::vector<size_t>& shown, const Clock& clock) {
  std::vector<uint32_t> to_start;
  std::vector<uint32_t> to_finish;
  std::vector<uint32_t> paused;
  std::vector<uint32_t> preemptions;
  std::vector<uint32_t> end;
  for (const size_t i : shown) {
    const simulator::JobOutcome& outcome = result.outcomes[i];
    const uint32_t submit = clock.at(history.jobs[i].request.submit_ns);
    const uint32_t start = std::max(submit, clock.at(outcome.start_ns));
    const uint32_t finish = std::max(start, clock.at(outcome.finish_ns));
    to_start.push_back(start - submit);
    to_finish.push_back(finish - start);
    paused.push_back(std::min(
        finish - start, clock.length(outcome.finish_ns - outcome.start_ns - outcome.held_ns)));
    preemptions.push_back(static_cast<uint32_t>(outcome.preemptions));
    end.push_back(static_cast<uint32_t>(outcome.end));
  }
  return fmt::format(
      "{{\"to_start\": {},\n\"to_finish\": {},\n\"paused\": {},\n\"preemptions\": {},\n"
      "\"end\": {}}}",
      whole_column(to_start), whole_column(to_finish), whole_column(paused),
      whole_column(preemptions), whole_column(end));
}

}  // namespace

size_t table_jobs_max(size_t runs) {
  return std::max<size_t>(20'000, kCellsMax / std::max<size_t>(3, runs));
}

TimeNs table_tick_ns(TimeNs span_ns, size_t jobs, size_t runs) {
  constexpr size_t kSmallTable = 50'000;
  TimeNs tick_ns = jobs * runs > kSmallTable ? base::kSecond : base::kSecond / 1000;
  while (span_ns / tick_ns >= INT32_MAX) tick_ns *= 10;
  return tick_ns;
}

std::string job_table_json(const core::model::JobHistory& history,
                           const std::vector<const simulator::SimulationResult*>& results,
                           size_t jobs_max) {
  const TimeNs origin_ns = history.jobs.empty() ? 0 : history.jobs.front().request.submit_ns;
  TimeNs end_ns = origin_ns;
  for (const simulator::SimulationResult* result : results)
    end_ns = std::max(end_ns, result->end_ns);
  const size_t stride = (history.jobs.size() + jobs_max - 1) / std::max<size_t>(1, jobs_max);
  std::vector<size_t> shown;
  for (size_t i = 0; i < history.jobs.size(); i += stride) shown.push_back(i);
  const TimeNs tick_ns = table_tick_ns(end_ns - origin_ns, shown.size(), results.size());
  const Clock clock(origin_ns, tick_ns);

  std::string out = fmt::format("{{\"jobs\": {}, \"tick_s\": ", shown.size());
  base::append_seconds(out, tick_ns);
  out += ",\n" + request_columns(history, shown, clock) + ",\n\"runs\": [";
  for (const simulator::SimulationResult* result : results) {
    if (result != results.front()) out += ",\n";
    out += outcome_columns(history, *result, shown, clock);
  }
  return out + "]}";
}

}  // namespace goban::study::results
