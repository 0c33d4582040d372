#include "serve/api/overview.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"
#include "base/statistics/summary.hpp"
#include "serve/api/job_view.hpp"

namespace goban::serve::api {

using base::TimeNs;
using live::controller::JobStage;
using live::controller::LiveJob;
using live::controller::PastRun;

OverviewSums::OverviewSums(const OverviewPeriod& period) : period_(period) {
  GOBAN_CHECK(period.from_ns < period.to_ns && period.num_steps > 0, "the period is empty");
  out_.held_gpus.assign(period.num_steps, 0);
  out_.waiting_jobs.assign(period.num_steps, 0);
  out_.waiting_gpus.assign(period.num_steps, 0);
}

void OverviewSums::spread(std::vector<double>& steps, TimeNs from_ns, TimeNs to_ns,
                          double value) const {
  const double step_ns =
      static_cast<double>(period_.to_ns - period_.from_ns) / static_cast<double>(steps.size());
  const auto begin = static_cast<double>(std::max(from_ns, period_.from_ns) - period_.from_ns);
  const auto end = static_cast<double>(std::min(to_ns, period_.to_ns) - period_.from_ns);
  for (auto i = static_cast<size_t>(std::max(0.0, begin / step_ns)); i < steps.size(); ++i) {
    const double left = std::max(begin, static_cast<double>(i) * step_ns);
    const double right = std::min(end, static_cast<double>(i + 1) * step_ns);
    if (right <= left) break;
    steps[i] += value * (right - left) / step_ns;
  }
}

void OverviewSums::hold(const std::vector<core::model::GpuId>& gpus, TimeNs from_ns, TimeNs to_ns) {
  const TimeNs from = std::max(from_ns, period_.from_ns);
  const TimeNs to = std::min(to_ns, period_.to_ns);
  if (from >= to) return;
  for (const core::model::GpuId gpu : gpus) {
    held_.push_back({.gpu = gpu.value, .from_ns = from, .to_ns = to});
  }
}

void OverviewSums::add(const LiveJob& job) {
  const bool is_over = job.stage == JobStage::Done;
  const TimeNs end = is_over ? job.end_ns : period_.to_ns;
  if (end < period_.from_ns || job.submit_ns >= period_.to_ns) return;
  const auto is_in = [&](TimeNs at) { return at >= period_.from_ns && at < period_.to_ns; };
  TimeNs waits_since = std::max(job.submit_ns, job.spec.begin_ns);
  const auto wait_until = [&](TimeNs until) {
    spread(out_.waiting_jobs, waits_since, until, 1);
    spread(out_.waiting_gpus, waits_since, until, job.spec.num_gpus);
  };
  const auto run = [&](const std::vector<core::model::GpuId>& gpus, TimeNs from, TimeNs to) {
    wait_until(from);
    hold(gpus, from, to);
    waits_since = std::max(waits_since, to);
  };
  for (const PastRun& each : job.past) {
    if (each.start_ns < 0) continue;
    run(each.gpus, each.start_ns, each.end_ns);
    if (is_in(each.end_ns) && each.usage.energy_j >= 0) {
      out_.ended_energy_j = std::max(0.0, out_.ended_energy_j) + each.usage.energy_j;
    }
  }
  if (holds_gpus(job.stage) && job.run_start_ns >= 0) {
    run(job.gpus, job.run_start_ns, period_.to_ns);
  } else if (!holds_gpus(job.stage)) {
    wait_until(end);
  }
  if (is_in(job.submit_ns)) ++out_.submitted;
  if (is_over && is_in(job.end_ns)) ++out_.ended[std::string(result_name(job.result))];
  if (job.first_start_ns >= 0 && is_in(job.first_start_ns)) {
    const TimeNs eligible = std::max(job.submit_ns, job.spec.begin_ns);
    waits_s_.push_back(base::to_seconds(std::max<TimeNs>(0, job.first_start_ns - eligible)));
  }
}

Overview OverviewSums::take() {
  std::ranges::sort(held_, [](const Held& a, const Held& b) {
    return std::tie(a.gpu, a.from_ns) < std::tie(b.gpu, b.from_ns);
  });
  double held_s = 0;
  for (size_t i = 0; i < held_.size();) {
    Held span = held_[i];
    for (++i; i < held_.size() && held_[i].gpu == span.gpu && held_[i].from_ns <= span.to_ns; ++i) {
      span.to_ns = std::max(span.to_ns, held_[i].to_ns);
    }
    spread(out_.held_gpus, span.from_ns, span.to_ns, 1);
    held_s += base::to_seconds(span.to_ns - span.from_ns);
  }
  out_.gpu_hours = held_s / static_cast<double>(base::kHour_s);
  std::ranges::sort(waits_s_);
  out_.waits = {.jobs = waits_s_.size(),
                .p50_s = base::statistics::quantile(waits_s_, 0.5).value_or(0),
                .p90_s = base::statistics::quantile(waits_s_, 0.9).value_or(0),
                .max_s = waits_s_.empty() ? 0 : waits_s_.back()};
  return std::move(out_);
}

}  // namespace goban::serve::api
