#include "train/trainer/time_parts.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

#include "base/clock.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kMillion = 1e6, kBillion = 1e9;

/// a / b in units of `unit`; nullopt for no time.
std::optional<double> per(double a, double b, double unit) {
  if (b <= 0) return std::nullopt;
  return a / b / unit;
}

/// Bytes that the operations other than matrix products write in one step: they are bound by
/// memory.
double written_bytes(const mesh::Plan& plan) {
  double out = 0;
  for (const mesh::Step& step : plan.steps) {
    if (step.flops == 0) out += static_cast<double>(step.value_bytes);
  }
  return out + static_cast<double>(plan.totals.updated_bytes);
}

}  // namespace

Moment moment_of(double waited_s) {
  const double begin_s = base::steady_s();
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return {begin_s, base::steady_s(),
          static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / kBillion,
          waited_s};
}

void IdleTime::enter(const Moment& now) {
  const Moment& then = outside_since_;
  const double wall_s = std::max(0.0, now.end_s - then.begin_s);
  // MPI waits for other ranks without giving its processor away.
  const double idle_s = std::max(wall_s - (now.cpu_s - then.cpu_s), now.waited_s - then.waited_s);
  seconds_ += std::clamp(idle_s, 0.0, wall_s);
}

std::vector<std::string> advised_options(const TrainOptions& options) {
  std::vector<std::string> out;
  const bool shards = !options.data_dir.empty() && names_shards(options.data_dir);
  if (options.feeding.threads > 0) {
    out.push_back(fmt::format("--loader-threads {}", options.feeding.threads));
  } else if (options.feeding.threads == kAutoThreads && shards) {
    out.emplace_back("--loader-threads auto");
  }
  if (shards) out.emplace_back("--data");
  if (options.overlap == mesh::Overlap::Buckets) out.emplace_back("--overlap buckets");
  if (options.overlap == mesh::Overlap::Delayed) out.emplace_back("--overlap delayed");
  if (options.precision != mesh::DType::F32) out.emplace_back("--precision");
  if (options.test_limit > 0) out.push_back(fmt::format("--test-limit {}", options.test_limit));
  return out;
}

base::reports::TimeTable time_table(const RunTimes& times, const mesh::Plan& plan,
                                    const RunLimits& limits) {
  const StepStatistics& s = times.steps;
  const Preparing& p = times.preparing;
  const auto steps = static_cast<double>(s.steps), samples = static_cast<double>(times.samples);
  const double compute_s = std::max(0.0, s.sum_s - s.input_s - s.exposed_s);
  const double prepare_s = p.threads > 0 ? p.busy_s / static_cast<double>(p.threads) : s.input_s;
  base::reports::TimeTable out;
  out.wall_s = times.wall_s;
  out.parts.push_back({"input", s.input_s, per(samples, s.sum_s, 1), per(samples, prepare_s, 1),
                       "samples/s", false});
  if (p.read_bytes > 0) {
    const auto bytes = static_cast<double>(p.read_bytes);
    const double share = p.busy_s > 0 ? p.read_s / p.busy_s : 0;
    out.parts.push_back({"storage", s.input_s * share, per(bytes, s.sum_s, kMillion),
                         per(bytes, p.read_s, kMillion), "MB/s", true});
  }
  if (p.sent_bytes > 0) {
    const auto bytes = static_cast<double>(p.sent_bytes);
    const double share = p.busy_s > 0 ? p.sent_s / p.busy_s : 0;
    out.parts.push_back({"host to device", s.input_s * share, per(bytes, s.sum_s, kBillion),
                         per(bytes, p.sent_s, kBillion), "GB/s", true});
  }
  base::reports::TimePart compute{
      "compute", compute_s, per(plan.totals.flops * steps, compute_s, kBillion),
      {},        "Gflop/s", false};
  const double written = written_bytes(plan) * steps;
  const auto sent = static_cast<double>(plan.totals.sent_bytes) * steps;
  base::reports::TimePart exposed{"exposed communication", s.exposed_s, {}, {}, "GB/s", false};
  if (sent > 0) exposed.rate = per(sent, s.exposed_s + s.reducing_s, kBillion);
  std::optional<base::reports::TimePart> memory;  // its time follows from the limit alone
  if (limits.costs) {
    const mesh::CostModel& costs = *limits.costs;
    compute.limit = costs.flops_per_s / kBillion;
    memory = {"memory bandwidth",
              std::min(compute_s, written / costs.bytes_per_s),
              per(written, compute_s, kBillion),
              costs.bytes_per_s / kBillion,
              "GB/s",
              true};
    if (costs.beta_s_per_byte > 0 && sent > 0) exposed.limit = 1 / costs.beta_s_per_byte / kBillion;
  }
  out.parts.push_back(std::move(compute));
  if (memory) out.parts.push_back(std::move(*memory));
  out.parts.push_back(std::move(exposed));
  if (s.exposed_s > 0)
    out.parts.push_back({"late ranks", std::min(s.late_s, s.exposed_s), {}, {}, "", true});
  base::reports::TimePart checkpoint{"checkpoint", times.checkpoint_s, {}, {}, "MB/s", false};
  if (times.saved_bytes > 0) {
    checkpoint.rate = per(static_cast<double>(times.saved_bytes), times.checkpoint_s, kMillion);
    if (limits.saved_bytes_per_s) checkpoint.limit = *limits.saved_bytes_per_s / kMillion;
  }
  out.parts.push_back(std::move(checkpoint));
  base::reports::TimePart evaluation{"evaluation", times.evaluation_s, {}, {}, "samples/s", false};
  if (times.evaluated > 0) {
    evaluation.rate = per(static_cast<double>(times.evaluated), times.evaluation_s, 1);
    evaluation.limit = limits.evaluated_per_s;
  }
  out.parts.push_back(std::move(evaluation));
  const double known = s.sum_s + times.checkpoint_s + times.evaluation_s;
  const double rest_s = std::max(0.0, times.wall_s - known);
  const double idle_s = std::min(times.idle_s, rest_s);
  out.parts.push_back({"idle", idle_s, {}, {}, "", false});
  out.parts.push_back({"other", rest_s - idle_s, {}, {}, "", false});
  out.intervals = times.intervals;
  return out;
}

base::reports::TimeInterval time_interval(const RunTimes& before, const RunTimes& now,
                                          double begin_s, double end_s, int64_t step) {
  const StepStatistics &a = before.steps, &b = now.steps;
  const double steps_s = b.sum_s - a.sum_s, input_s = b.input_s - a.input_s,
               exposed_s = b.exposed_s - a.exposed_s;
  return {begin_s,
          end_s,
          step,
          {{"input", input_s},
           {"compute", std::max(0.0, steps_s - input_s - exposed_s)},
           {"exposed communication", exposed_s},
           {"evaluation", now.evaluation_s - before.evaluation_s},
           {"checkpoint", now.checkpoint_s - before.checkpoint_s},
           {"idle", now.idle_s - before.idle_s}}};
}

}  // namespace goban::train::trainer
