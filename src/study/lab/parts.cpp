#include "study/lab/parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace goban::study::lab {

using core::model::GpuId;
using core::policy::Board;
using core::policy::KeyBatches;
using core::policy::OrderKey;

namespace {

/// The metric of a job whose key was not computed yet: behind all others.
constexpr int64_t kProvisional = std::numeric_limits<int64_t>::max();

/// A whole number that compares like the double; no number gives kProvisional.
int64_t metric_of(double key) {
  const auto bits = std::bit_cast<int64_t>(key + 0.0);  // no negative zero
  return bits >= 0 ? bits : bits ^ std::numeric_limits<int64_t>::max();
}

Fault fault_of(const char* method, JobId job, std::optional<TimeNs> now, std::string problem,
               std::string remedy) {
  Fault fault(method, std::move(problem), std::move(remedy));
  fault.job = job;
  if (now) fault.at_ns = *now;
  return fault;
}

}  // namespace

MethodOrder::MethodOrder(Methods& methods, const Estimates& estimates, OrderOptions options)
    : methods_(methods), estimates_(estimates), options_(options) {
  metrics_.assign(estimates_.history().jobs.size(), kProvisional);
  if (options_.when == KeyTime::Arrival) look_ahead();
}

OrderKey MethodOrder::key(const JobState& job, const core::policy::OrderView& /*view*/,
                          TimeNs /*now*/) const {
  return {core::policy::kNormalTier, job.arrival, metrics_[job.job.index()]};
}

bool MethodOrder::drifts() const { return options_.preempts || options_.when != KeyTime::Arrival; }

TimeNs MethodOrder::resort_ns() const {
  return options_.when == KeyTime::Every ? base::from_seconds(options_.every_s) : 0;
}

KeyBatches MethodOrder::batches() const {
  if (options_.when == KeyTime::Arrival) return KeyBatches::Newcomers;
  return options_.when == KeyTime::Event ? KeyBatches::All : KeyBatches::Periodic;
}

bool MethodOrder::is_final(const JobState& job) const {
  return metrics_[job.job.index()] != kProvisional;
}

void MethodOrder::prepare(std::span<const JobState* const> jobs, TimeNs now) {
  const auto runs = [](const JobState* job) {
    return job->phase == core::model::JobPhase::Running;
  };
  const auto running = std::ranges::find_if(jobs, runs);
  const auto waiting = static_cast<size_t>(running - jobs.begin());
  if (options_.when == KeyTime::Arrival) {
    ask(jobs.first(waiting), {});
  } else {
    ask(options_.preempts ? jobs.first(waiting) : jobs, now);
  }
  if (options_.preempts) ask_preempt(jobs.subspan(waiting), now);
}

void MethodOrder::ask(std::span<const JobState* const> jobs, std::optional<TimeNs> now) {
  if (jobs.empty()) return;
  std::vector<double> keys(jobs.size());
  methods_.order(JobRows(jobs, now, estimates_), keys);
  keep("order", jobs, keys, now);
  // Later calls are checked now and then.
  constexpr size_t kAlways = 64;
  ++asked_;
  if (!now && (asked_ <= kAlways || asked_ % kAlways == 0)) check_alone(jobs, keys);
}

void MethodOrder::ask_preempt(std::span<const JobState* const> jobs, TimeNs now) {
  if (jobs.empty()) return;
  std::vector<double> keys(jobs.size());
  methods_.preempt(JobRows(jobs, now, estimates_), keys);
  keep("preempt", jobs, keys, now);
}

void MethodOrder::keep(const char* method, std::span<const JobState* const> jobs,
                       std::span<const double> keys, std::optional<TimeNs> now) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (std::isnan(keys[i])) {
      throw fault_of(method, jobs[i]->job, now,
                     fmt::format("the key of row {} of {} is NaN", i, keys.size()),
                     "return a number for each row; inf is allowed");
    }
    metrics_[jobs[i]->job.index()] = metric_of(keys[i]);
  }
}

void MethodOrder::check_alone(std::span<const JobState* const> jobs, std::span<const double> keys) {
  if (jobs.size() < 2) return;
  for (const size_t row : {size_t{0}, jobs.size() - 1}) {
    double alone = 0;
    methods_.order(JobRows(jobs.subspan(row, 1), std::nullopt, estimates_), {&alone, 1});
    if (metric_of(alone) == metric_of(keys[row])) continue;
    throw fault_of("order", jobs[row]->job, std::nullopt,
                   fmt::format("the key is {} among {} jobs and {} alone, although the policy "
                               "states when = \"arrival\"",
                               keys[row], jobs.size(), alone),
                   "compute each key from its own row and without random draws, or state "
                   "when = \"event\"");
  }
}

void MethodOrder::look_ahead() {
  constexpr size_t kAtOnce = 8192;
  std::vector<JobState> states;
  std::vector<const JobState*> jobs;
  const auto flush = [&] {
    jobs.clear();
    for (const JobState& state : states) jobs.push_back(&state);
    ask(jobs, {});
    states.clear();
  };
  const core::model::JobList& history = estimates_.history().jobs;
  for (size_t i = 0; i < history.size(); ++i) {
    const core::model::JobRequest request = history[i].request;
    if (request.walltime_limit_ns == 0) continue;
    states.push_back({.request = request, .job = JobId(i), .waiting_since_ns = request.submit_ns});
    if (states.size() == kAtOnce) flush();
  }
  flush();
}

void MethodSelect::run(Board& board) const {
  if (board.full()) return;
  std::vector<Board::Job> jobs;
  for (Board::Job job = board.first(); job != nullptr; job = board.after(job)) jobs.push_back(job);
  if (jobs.empty()) return;
  std::vector<int64_t> chosen;
  methods_.select(JobRows(jobs, board.now(), estimates_), board.free_gpus(), chosen);
  std::vector<bool> taken(jobs.size());
  for (const int64_t row : chosen) {
    const bool known = row >= 0 && static_cast<size_t>(row) < jobs.size();
    if (!known || taken[static_cast<size_t>(row)]) {
      throw fault_of("select", known ? jobs[static_cast<size_t>(row)]->job : JobId{}, board.now(),
                     fmt::format("row {} {}", row,
                                 known ? "is returned twice"
                                       : fmt::format("does not exist: there are {}", jobs.size())),
                     "return row numbers of the view, each at most once");
    }
    taken[static_cast<size_t>(row)] = true;
  }
  const bool evicts = core::policy::evicts(board.preemption());
  for (const int64_t row : chosen) {
    const Board::Job job = jobs[static_cast<size_t>(row)];
    if (!board.may_start(job) || board.start(job)) continue;
    if (evicts) board.make_room_and_start(job);
  }
}

namespace {

/// The number of GPUs that was returned, checked.
int32_t checked_size(const SizeRows& rows, size_t row, double returned, TimeNs now) {
  const JobId job = rows.jobs().job(row).job;
  const auto levels = rows.levels(row);
  std::string allowed;
  for (const core::model::SpeedLevel& level : levels) {
    if (!allowed.empty()) allowed += ", ";
    allowed += std::to_string(level.gpus);
  }
  const auto fault = [&](const std::string& problem) {
    return fault_of(
        "size", job, now,
        fmt::format("the size of row {} of {} {}", row, rows.jobs().size(), problem),
        fmt::format("return one of view.sizes({}), here {}, or 0: it waits, or is stopped", row,
                    allowed));
  };
  if (std::isnan(returned)) throw fault("is NaN");
  if (returned == 0) return 0;
  if (returned < levels.front().gpus) {
    throw fault(
        fmt::format("is {}, below its least number of GPUs, {}", returned, levels.front().gpus));
  }
  if (returned > levels.back().gpus) {
    throw fault(
        fmt::format("is {}, above its greatest number of GPUs, {}", returned, levels.back().gpus));
  }
  const auto found = std::ranges::find_if(
      levels, [&](const core::model::SpeedLevel& level) { return level.gpus == returned; });
  if (found == levels.end()) {
    throw fault(fmt::format("is {}, on which the job does not run", returned));
  }
  return found->gpus;
}

/// The GPU model for a job: the one that it holds, else the fastest one with enough GPUs left.
std::optional<uint32_t> model_for(const core::policy::SizeJob& job, int32_t gpus,
                                  std::span<const int32_t> left) {
  std::optional<uint32_t> best;
  double steps_per_s = 0;
  for (uint32_t m = 0; m < left.size(); ++m) {
    if (left[m] < gpus || (job.runs && job.job->gpu_model != m)) continue;
    const auto level = std::ranges::find(job.levels[m], gpus, &core::model::SpeedLevel::gpus);
    if (level == job.levels[m].end() || level->steps_per_s <= steps_per_s) continue;
    best = m;
    steps_per_s = level->steps_per_s;
  }
  return best;
}

}  // namespace

void MethodSize::choose(const core::policy::SizeView& view,
                        std::span<core::policy::Size> sizes) const {
  if (view.jobs.empty()) return;
  std::vector<const JobState*> jobs;
  for (const core::policy::SizeJob& each : view.jobs) jobs.push_back(each.job);
  const SizeRows rows(JobRows(jobs, view.now, estimates_), view, states_steps_);
  std::vector<double> returned(jobs.size());
  methods_.size(rows, returned);
  std::vector<int32_t> left(view.gpus.begin(), view.gpus.end());
  for (size_t i = 0; i < jobs.size(); ++i) {
    const int32_t gpus = checked_size(rows, i, returned[i], view.now);
    if (gpus == 0) continue;
    const auto gpu_model = model_for(view.jobs[i], gpus, left);
    if (gpu_model) {
      left[*gpu_model] -= gpus;
      sizes[i] = {.gpus = gpus, .gpu_model = *gpu_model};
    } else if (view.jobs[i].runs) {
      throw fault_of("size", jobs[i]->job, view.now,
                     fmt::format("the size of row {} of {} is {}, but the running jobs before it "
                                 "leave fewer GPUs",
                                 i, jobs.size(), gpus),
                     fmt::format("let the sizes of running jobs sum to at most view.total_gpus, "
                                 "here {} of all models",
                                 rows.total_gpus()));
    }
  }
}

bool MethodPlacement::place(const core::policy::PlacementView& view,
                            const core::policy::PlacementRequest& request,
                            core::model::Allocation& out) const {
  const PlaceView asked{.now_ns = request.start_ns,
                        .free = view.free,
                        .job = request.id,
                        .request = request.job,
                        .estimate_s = estimates_.of(request.id)};
  std::vector<int64_t> gpus;
  if (!methods_.place(asked, gpus)) return false;
  const auto fault = [&](std::string problem, std::string remedy) {
    return fault_of("place", request.id, request.start_ns, std::move(problem), std::move(remedy));
  };
  if (gpus.size() != request.num_gpus) {
    throw fault(fmt::format("returned {} GPUs for a job of {}", gpus.size(), request.num_gpus),
                "return as many ids as job.gpus, or None if the job shall wait");
  }
  std::vector<int64_t> sorted = gpus;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    throw fault(fmt::format("returned GPU {} twice", *twice), "return each GPU once");
  }
  for (const int64_t gpu : gpus) {
    if (gpu < 0 || gpu >= view.free->cluster().num_gpus()) {
      throw fault(fmt::format("returned GPU {}, which does not exist: the cluster has 0 to {}", gpu,
                              view.free->cluster().num_gpus() - 1),
                  "choose from view.free");
    }
    const GpuId id(static_cast<uint32_t>(gpu));
    if (!view.free->is_free(id)) {
      throw fault(fmt::format("returned GPU {}, which is not free", gpu), "choose from view.free");
    }
    out.gpus.push_back(id);
  }
  return true;
}

}  // namespace goban::study::lab
