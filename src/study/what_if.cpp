#include "study/what_if.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/time.hpp"
#include "core/model/site_rules_file.hpp"
#include "site/inputs/inputs.hpp"
#include "site/store/job_store.hpp"
#include "study/knowledge_files.hpp"
#include "study/results/energy_recorder.hpp"
#include "study/runs.hpp"

namespace goban::study {

using base::Result;
using nlohmann::json;

namespace {

constexpr int kNice = 10;  ///< lower priority than jobs and the daemon

/// The recorded times as metrics of a replay. Null if the records have no start times.
json recorded_figures(const core::model::JobHistory& history) {
  std::vector<double> jct_s;
  double wait_s = 0;
  base::TimeNs first_ns = base::kNever;
  base::TimeNs last_ns = 0;
  for (size_t i = 0; i < history.recorded.size(); ++i) {
    const core::model::Recorded& was = history.recorded[i];
    if (was.start_ns < 0 || was.finish_ns < 0) continue;
    const base::TimeNs submit_ns = history.jobs[i].request.submit_ns;
    jct_s.push_back(base::to_seconds(was.finish_ns - submit_ns));
    wait_s += base::to_seconds(was.start_ns - submit_ns);
    first_ns = std::min(first_ns, submit_ns);
    last_ns = std::max(last_ns, was.finish_ns);
  }
  if (jct_s.empty()) return nullptr;
  const auto count = static_cast<double>(jct_s.size());
  double sum_s = 0;
  for (const double each : jct_s) sum_s += each;
  return {{"policy", "as recorded"},
          {"jobs", jct_s.size()},
          {"avg_jct_s", sum_s / count},
          {"p50_jct_s", results::percentile(jct_s, 50)},
          {"p99_jct_s", results::percentile(jct_s, 99)},
          {"avg_wait_s", wait_s / count},
          {"makespan_s", base::to_seconds(last_ns - first_ns)}};
}

json figures_of(const results::RunMetrics& run) {
  json out = {{"policy", run.policy},
              {"jobs", run.jobs},
              {"avg_jct_s", run.avg_jct_s},
              {"p50_jct_s", run.p50_jct_s},
              {"p99_jct_s", run.p99_jct_s},
              {"avg_wait_s", run.avg_wait_s},
              {"makespan_s", run.makespan_s},
              {"gpu_occupancy", run.gpu_occupancy},
              {"gpu_hours", run.gpu_hours_consumed},
              {"preemptions", run.preemptions},
              {"timed_out", run.timed_out}};
  if (run.energy) out["jobs_kwh"] = run.energy->jobs_kwh;
  return out;
}

}  // namespace

WhatIf::WhatIf(WhatIfSite site, WhatIfLimits limits) : site_(std::move(site)), limits_(limits) {}

Result<WhatIf::Question> WhatIf::parse(const std::string& text) const {
  const json body = json::parse(text, nullptr, false);
  Question question;
  base::FieldReader in(body, "");
  in.field("days", question.days, 0.0, limits_.days_max);
  if (const json* const list = in.find("policies"); list != nullptr && list->is_array()) {
    for (const json& each : *list) {
      if (each.is_string()) question.policies.push_back(each.get<std::string>());
    }
    if (question.policies.size() != list->size())
      in.fail("policies", "must be an array of strings");
  }
  if (in.good() && !in.unknown().empty()) in.fail(in.unknown().front(), "unknown field");
  if (in.good() && question.days <= 0) in.fail("days", "must be more than 0");
  const size_t count = question.policies.size();
  if (in.good() && (count == 0 || count > limits_.policies_max)) {
    in.fail("policies", fmt::format("must name 1 to {} policies", limits_.policies_max));
  }
  if (auto status = in.status(); !status) return base::failure(status.error());
  return question;
}

Result<Inputs> WhatIf::load(const Question& question, const core::model::Cluster& cluster,
                            const core::knowledge::PmScores& scores) const {
  const base::TimeNs now = wall_clock ? wall_clock() : base::wall_ns();
  auto store = site::store::JobStore::open(site_.store, false);
  if (!store) return base::failure(store.error());
  const auto span_ns = static_cast<base::TimeNs>(question.days * static_cast<double>(base::kDay));
  history::ReadOptions options;
  options.cluster = &cluster;
  auto jobs = history::read_jobs(
      [&](site::records::RecordSink& sink) {
        return store->read({.from_ns = now - span_ns}, sink);
      },
      options);
  if (!jobs) return base::failure(jobs.error());
  if (jobs->history.jobs.empty()) {
    return base::bad_data(
        {},
        fmt::format("no job with GPUs submitted in the last {} days has finished", question.days),
        "request more days");
  }
  Inputs inputs{cluster, std::move(*jobs), scores, {}, {}, {}, {}, {}, {}};
  InputFiles files;
  files.energy = site_.energy;
  files.colocation = site_.colocation;
  if (auto status = add_knowledge(files, site_.seed, inputs); !status) {
    return base::failure(status.error());
  }
  core::model::SiteRules rules;
  if (!site_.accounts.empty()) {
    auto read = site::inputs::read_site_rules(site_.accounts, inputs.jobs.history);
    if (!read) return base::failure(read.error());
    rules = std::move(*read);
  }
  inputs.rules = std::make_shared<core::model::SiteRules>(std::move(rules));
  return inputs;
}

Result<std::string> WhatIf::simulate(const Question& question, const core::model::Cluster& cluster,
                                     const core::knowledge::PmScores& scores,
                                     const std::atomic<bool>& cancel) const {
  StudyOptions options;
  options.policies = question.policies;
  options.seed = site_.seed;
  options.sharing = {"live"};
  options.sharing.insert(options.sharing.end(), site_.sharing.begin(), site_.sharing.end());
  const auto policies = compositions(options);
  if (!policies) return base::failure(policies.error());
  const auto inputs = load(question, cluster, scores);
  if (!inputs) return base::failure(inputs.error());
  const core::model::JobHistory& history = inputs->jobs.history;
  RunPlan plan(options, *inputs, *policies, &cancel);
  std::vector<std::unique_ptr<results::EnergyRecorder>> energy;
  const bool has_watts = inputs->knowledge != nullptr && !inputs->knowledge->power.empty();
  for (simulator::BatchRun& run : plan.runs) {
    if (!has_watts) continue;
    energy.push_back(std::make_unique<results::EnergyRecorder>(
        history, inputs->cluster, inputs->knowledge, run.composition.rests_nodes(), nullptr));
    run.options.observer = energy.back().get();
  }
  auto results = simulator::simulate_all(history, plan.runs, 1);
  if (!results) return base::failure(results.error());
  json rows = json::array();
  if (json was = recorded_figures(history); !was.is_null()) rows.push_back(std::move(was));
  for (size_t i = 0; i < results->size(); ++i) {
    results::RunMetrics run = results::measure(
        question.policies[i], history, inputs->cluster.num_gpus(), (*results)[i].simulation);
    if (has_watts) run.energy = results::energy_metrics(energy[i]->account(), history.jobs.size());
    rows.push_back(figures_of(run));
  }
  const json out = {{"days", question.days},
                    {"jobs", history.jobs.size()},
                    {"left_out", inputs->jobs.records - static_cast<int64_t>(history.jobs.size())},
                    {"policies", std::move(rows)}};
  return out.dump();
}

Result<std::string> WhatIf::answer(const std::string& question, const core::model::Cluster& cluster,
                                   const core::knowledge::PmScores& scores) {
  const auto asked = parse(question);
  if (!asked) return base::failure(asked.error());
  std::atomic<bool> cancel = false;
  std::promise<Result<std::string>> made;
  auto answer = made.get_future();
  std::thread thread([&] {
    ::setpriority(PRIO_PROCESS, 0, kNice);  // applies to this thread only
    made.set_value(simulate(*asked, cluster, scores, cancel));
  });
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + std::chrono::duration<double>(limits_.time_s);
  constexpr auto kLook = std::chrono::milliseconds(100);
  const auto is_made = [&](std::chrono::milliseconds wait) {
    return answer.wait_for(wait) == std::future_status::ready;
  };
  while (!ending_ && steady_clock::now() < end && !is_made(kLook)) {
  }
  if (!is_made(std::chrono::milliseconds(0))) cancel = true;
  thread.join();
  if (!cancel) return answer.get();
  return base::failed(
      fmt::format("the replay took longer than {:g} s, or the daemon is stopping", limits_.time_s),
      "request fewer days or policies, or run goban simulate on the store");
}

}  // namespace goban::study
