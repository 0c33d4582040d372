#include "study/priced_runs.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/date_time.hpp"
#include "study/history/resample.hpp"
#include "study/results/account_metrics.hpp"
#include "study/results/service_metrics.hpp"

namespace goban::study {
namespace {

using base::Result;
using base::Status;
using base::TimeNs;

/// Monday 1970-01-05: histories without dates begin there on the clock of the site.
constexpr TimeNs kMonday = 4 * base::kDay;

bool has_dates(const core::model::JobHistory& history) {
  return history.jobs.front().request.submit_ns >= base::kUnixTimesFrom;
}

bool names_jobs(const std::vector<core::model::Event>& incidents) {
  return std::ranges::any_of(incidents,
                             [](const core::model::Event& event) { return event.job.valid(); });
}

/// The Unix time of time 0 of the history.
Result<TimeNs> zero_of(const results::Prices& prices, const std::string& path,
                       const core::model::JobHistory& history) {
  const bool dated = has_dates(history);
  if (dated && prices.history_zero_ns) {
    return base::bad_data({path, 0, 0, "history_zero"},
                          "is not needed: the times of the history are dates", "remove it");
  }
  if (dated) return 0;
  if (prices.history_zero_ns) return *prices.history_zero_ns;
  if (!prices.hours.empty()) {
    return base::bad_data({path, 0, 0, "history_zero"},
                          "is missing: the prices have dates, the history has none",
                          "give the date and time that time 0 of the history stands for");
  }
  return kMonday - prices.utc_offset_h * base::kHour;
}

Status check_coverage(const results::Prices& prices, const std::string& path, TimeNs zero_unix_ns,
                      const core::model::JobHistory& history) {
  const TimeNs first_ns = history.jobs.front().request.submit_ns + zero_unix_ns;
  const TimeNs last_ns = history.jobs.back().request.submit_ns + zero_unix_ns;
  for (const results::HourlyRate* rate : {&prices.electricity, &prices.carbon_g}) {
    if (rate->dated.empty() || prices.fills_gaps) continue;
    if (rate->covers(first_ns / base::kHour) && rate->covers(last_ns / base::kHour)) continue;
    const int64_t end_hour = rate->first_hour + std::ssize(rate->dated);
    return base::bad_data(
        {path, 0, 0, "hours"},
        fmt::format("{} covers {} to {} UTC, but jobs were submitted from {} to {}", prices.hours,
                    base::date_time_text(rate->first_hour * base::kHour),
                    base::date_time_text(end_hour * base::kHour), base::date_time_text(first_ns),
                    base::date_time_text(last_ns)),
        "add the missing hours, or write missing_hours = \"mean\" to use the mean of the same hour "
        "of the day");
  }
  return {};
}

void note_prices(const results::Prices& prices, const std::string& path, Inputs& inputs) {
  const auto note = [&](const std::string& text) {
    inputs.knowledge_notes.push_back({results::NoteLevel::Info, path + ": " + text});
  };
  if (prices.negative_hours > 0) {
    note(fmt::format("{} a negative price of electricity: energy drawn then lowers the cost",
                     base::counted(prices.negative_hours, "hour has", "hours have")));
  }
  if (prices.filled_hours > 0) {
    note(base::counted(prices.filled_hours,
                       "hour is missing and gets the mean of its hour of the day",
                       "hours are missing and get the mean of their hour of the day"));
  }
  if (names_jobs(inputs.incidents)) note("no intervals: the incidents name jobs of the history");
}

/// Power of the cluster when no job runs and nodes may sleep.
double rest_w(const Inputs& inputs) {
  double power_w = 0;
  for (const core::model::Node& node : inputs.cluster.nodes()) {
    const core::knowledge::PowerModel& power = inputs.knowledge->power[node.gpu_model];
    power_w += std::min(power.sleep.power_w, power.node_idle_w(node.num_gpus));
  }
  return power_w;
}

/// The energy of each run by hour, until the longest one ended; empty without a power model.
std::vector<results::HourlyEnergy> energy_of(const Inputs& inputs, const FinishedRuns& runs,
                                             TimeNs end_ns) {
  std::vector<results::HourlyEnergy> out;
  for (size_t i = 0; i < runs.energy.size(); ++i) {
    results::HourlyEnergy& energy = out.emplace_back(*runs.energy[i]->hours());
    energy.add(runs.simulated[i].simulation.end_ns, end_ns, rest_w(inputs));
  }
  return out;
}

TimeNs end_of(const FinishedRuns& runs) {
  TimeNs end_ns = 0;
  for (const simulator::BatchResult& run : runs.simulated) {
    end_ns = std::max(end_ns, run.simulation.end_ns);
  }
  return end_ns;
}

results::PricedHistory price(const Inputs& inputs, const FinishedRuns& runs,
                             std::optional<uint64_t> seed) {
  const results::Prices& prices = inputs.prices->prices;
  const TimeNs end_ns = end_of(runs);
  const std::vector<results::HourlyEnergy> energy = energy_of(inputs, runs, end_ns);
  results::PricedHistory out;
  out.seed = seed;
  out.span_s = base::to_seconds(end_ns - inputs.jobs.history.jobs.front().request.submit_ns);
  for (size_t i = 0; i < runs.metrics.size(); ++i) {
    results::RunCost& cost = out.runs.emplace_back();
    if (!energy.empty()) cost.energy = results::energy_cost(energy[i], prices);
    cost.gpu_hours = runs.simulated[i].simulation.busy_gpu_s / static_cast<double>(base::kHour_s);
    cost.gpu_money = cost.gpu_hours * prices.gpu_hour_rate();
    cost.avg_wait_s = runs.metrics[i].avg_wait_s;
    cost.p99_jct_s = runs.metrics[i].p99_jct_s;
  }
  return out;
}

/// Values of the whole days of a run, from which the length of a pilot follows.
struct Days {
  std::vector<double> cost;
  std::vector<double> wait_s;  ///< days without jobs are left out
};

/// Whole days between the first counted and the last submission. The electricity of a day is what
/// was drawn in it; its GPU-hours are those of the jobs submitted in it.
class DaysOfRuns {
 public:
  DaysOfRuns(const Inputs& inputs, TimeNs warmup_ns) : inputs_(inputs) {
    const core::model::JobList& jobs = inputs.jobs.history.jobs;
    const TimeNs warmup_days = (warmup_ns + base::kDay - 1) / base::kDay;
    first_ns_ = jobs.front().request.submit_ns + warmup_days * base::kDay;
    const TimeNs span_ns = jobs.back().request.submit_ns - first_ns_;
    count_ = span_ns > 0 ? static_cast<size_t>(span_ns / base::kDay) : 0;
  }

  [[nodiscard]] size_t count() const { return count_; }

  [[nodiscard]] Days of(const simulator::SimulationResult& run,
                        const results::HourlyEnergy* energy) const {
    const core::model::JobHistory& history = inputs_.jobs.history;
    const results::Prices& prices = inputs_.prices->prices;
    Days out;
    out.cost = energy == nullptr ? std::vector<double>(count_)
                                 : results::electricity_by_day(*energy, prices, first_ns_, count_);
    std::vector<double> waits_s(count_);
    std::vector<double> jobs(count_);
    const double gpu_s_rate =
        prices.gpu_hour_rate() / static_cast<double>(base::kHour_s) * shared_once(run);
    for (size_t i = 0; i < history.jobs.size(); ++i) {
      const core::model::JobRequest request = history.jobs[i].request;
      if (request.submit_ns < first_ns_) continue;
      const auto day = static_cast<size_t>((request.submit_ns - first_ns_) / base::kDay);
      if (day >= count_) break;
      const simulator::JobOutcome& outcome = run.outcomes[i];
      out.cost[day] += run.elastic_of(i).gpus_min > 0
                           ? gpu_s_rate * run.held_gpu_s(i, request.num_gpus)
                           : gpu_s_rate * base::to_seconds(outcome.held_ns) * request.num_gpus;
      waits_s[day] += base::to_seconds(outcome.finish_ns - request.submit_ns - outcome.held_ns);
      ++jobs[day];
    }
    for (size_t day = 0; day < count_; ++day) {
      if (jobs[day] > 0) out.wait_s.push_back(waits_s[day] / jobs[day]);
    }
    return out;
  }

 private:
  /// GPU-seconds in which GPUs were held / those of all jobs, which count shared GPUs twice.
  [[nodiscard]] double shared_once(const simulator::SimulationResult& run) const {
    double held_gpu_s = 0;
    for (size_t i = 0; i < run.outcomes.size(); ++i) {
      held_gpu_s += run.held_gpu_s(i, inputs_.jobs.history.jobs[i].request.num_gpus);
    }
    return held_gpu_s > 0 ? run.busy_gpu_s / held_gpu_s : 0;
  }

  const Inputs& inputs_;
  TimeNs first_ns_ = 0;
  size_t count_ = 0;
};

/// What is not in the costs: names, accounts, deadlines, pilots.
void describe(const StudyOptions& options, const Inputs& inputs, const FinishedRuns& runs,
              results::Worth& worth) {
  const core::model::JobHistory& history = inputs.jobs.history;
  const TimeNs counted_ns = history.jobs.front().request.submit_ns + options.warmup_ns;
  const std::vector<results::HourlyEnergy> energy = energy_of(inputs, runs, end_of(runs));
  const DaysOfRuns whole(inputs, options.warmup_ns);
  worth.pilot_days = static_cast<int64_t>(whole.count());
  const auto days_of = [&](size_t i) {
    return whole.of(runs.simulated[i].simulation, energy.empty() ? nullptr : &energy[i]);
  };
  const auto accounts_of = [&](size_t i) {
    return results::measure_accounts(history, runs.simulated[i].simulation, counted_ns);
  };
  const Days reference = days_of(worth.reference);
  const std::vector<results::AccountMetrics> accounts = accounts_of(worth.reference);
  for (size_t i = 0; i < worth.policies.size(); ++i) {
    results::PolicyWorth& policy = worth.policies[i];
    policy.policy = runs.metrics[i].policy;
    const results::ServiceMetrics service =
        results::measure_service(history, runs.simulated[i].simulation, nullptr, counted_ns);
    policy.deadline_misses = service.deadline_misses;
    worth.deadline_jobs = service.deadline_jobs;
    if (i == worth.reference) continue;
    const Days days = days_of(i);
    policy.cost_pilot = results::pilot(reference.cost, days.cost);
    policy.wait_pilot = results::pilot(reference.wait_s, days.wait_s);
    policy.worst_account = results::worst_change(accounts, accounts_of(i));
  }
}

}  // namespace

Status load_prices(const InputFiles& files, Inputs& inputs) {
  if (!files.fillers.empty()) {
    return base::usage_error("--prices cannot be combined with --filler-interarrivals",
                             "filler jobs would be paid for; omit one of them");
  }
  auto prices = results::read_prices(files.prices);
  if (!prices) return base::failure(prices.error());
  if (prices->prices_energy() && files.energy.empty()) {
    return base::usage_error("--prices has a price of energy, but the power of nodes is not known",
                             "give --energy, a preset or a file (goban energy show)");
  }
  const core::model::JobHistory& history = inputs.jobs.history;
  const auto zero_ns = zero_of(*prices, files.prices, history);
  if (!zero_ns) return base::failure(zero_ns.error());
  if (Status covered = check_coverage(*prices, files.prices, *zero_ns, history); !covered) {
    return covered;
  }
  note_prices(*prices, files.prices, inputs);
  inputs.prices = SitePrices{std::move(*prices), *zero_ns};
  return {};
}

Result<results::Worth> price_runs(const StudyOptions& options, const Inputs& inputs,
                                  const std::vector<core::policy::Composition>& policies,
                                  const FinishedRuns& runs, size_t reference,
                                  base::Progress& progress) {
  const core::model::JobHistory& history = inputs.jobs.history;
  const results::Prices& prices = inputs.prices->prices;
  results::Worth worth;
  worth.currency = prices.currency;
  worth.pue = prices.pue;
  worth.gpu_hour_rate = prices.gpu_hour_rate();
  worth.gpu_price = prices.gpu_price;
  worth.is_metered = !runs.energy.empty();
  worth.prices_electricity = prices.electricity.known();
  worth.prices_carbon = prices.carbon_g.known();
  worth.reference = reference;
  worth.history_days = history::days_of(history);
  worth.histories.push_back(price(inputs, runs, {}));
  if (worth.span_s() <= 0) {
    return base::bad_data({options.files.jobs, 0, 0, ""}, "the history takes no time",
                          "--prices needs jobs that run");
  }
  const bool can_resample =
      worth.history_days > 1 && policies.size() > 1 && !names_jobs(inputs.incidents);
  const size_t seeds = can_resample ? options.seeds : 0;
  StudyOptions each = options;
  each.start_forecasts = false;
  const base::Phase resampling(progress, "resampling", static_cast<int64_t>(seeds));
  Inputs again = inputs;
  for (size_t i = 0; i < seeds; ++i) {
    each.seed = options.seed + 1 + i;
    again.jobs.history = history::resampled_days(history, each.seed);
    ++progress.done;
    if (again.jobs.history.jobs.empty()) continue;
    RunPlan plan(each, again, policies, progress.cancel());
    FinishedRuns resampled;
    for (simulator::BatchRun& run : plan.runs) resampled.watch(each, again, run);
    plan.attach_plugins();
    auto simulated = simulator::simulate_all(again.jobs.history, plan.runs, options.threads);
    if (!simulated) return base::failure(simulated.error());
    resampled.simulated = std::move(*simulated);
    for (const core::policy::Composition& policy : policies) {
      static_cast<void>(resampled.measure(each, again, policy.name));
    }
    results::PricedHistory priced = price(again, resampled, each.seed);
    if (priced.span_s > 0) worth.histories.push_back(std::move(priced));
  }
  results::compare_costs(worth);
  describe(options, inputs, runs, worth);
  return worth;
}

}  // namespace goban::study
