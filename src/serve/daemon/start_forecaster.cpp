#include "serve/daemon/start_forecaster.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "serve/api/look_ahead.hpp"

namespace goban::serve::daemon {

using base::TimeNs;
using core::model::JobId;
using core::model::StartInterval;
using Steady = std::chrono::steady_clock;

void StartForecasts::learn_starts(const live::controller::JobBook& book) {
  std::erase_if(tracked_, [&](const auto& each) {
    const live::controller::LiveJob* job = book.find(each.first);
    if (job == nullptr) return true;
    if (job->first_start_ns < 0) return job->stage == live::controller::JobStage::Done;
    calibration_.learn(each.second.raw, job->first_start_ns);
    ++known_;
    if (each.second.shown.holds(job->first_start_ns)) ++inside_;
    return true;
  });
}

std::vector<core::knowledge::StartForecastAt> StartForecasts::waiting() const {
  std::vector<core::knowledge::StartForecastAt> out;
  for (const auto& [job, tracked] : tracked_) out.push_back(tracked.raw);
  std::ranges::sort(out, std::greater(), &core::knowledge::StartForecastAt::made_ns);
  return out;
}

api::StartTable StartForecasts::forecast(const live::loop::SchedulerClient& scheduler,
                                         const std::atomic<bool>& ends) {
  api::AheadState copy;
  bool is_needed = false;
  std::map<JobId, bool> is_new;  // it has not run before
  scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    learn_starts(snapshot.book);
    is_needed = api::can_look_ahead(snapshot) && snapshot.core->num_waiting() > 0;
    if (!is_needed) return;
    copy = api::copy_for_ahead(snapshot);
    for (const auto& job : copy.image.jobs) {
      const live::controller::LiveJob* found = snapshot.book.find(job.state.job);
      if (found != nullptr) is_new.emplace(job.state.job, found->first_start_ns < 0);
    }
  });
  api::StartTable out{.made_ns = copy.now_ns,
                      .calibration = calibration_.with_overdue(waiting(), copy.now_ns),
                      .known = known_,
                      .inside = inside_};
  if (!is_needed) return out;
  const auto from = Steady::now();
  const core::scheduler::StartForecasts made = core::scheduler::forecast_starts(
      copy.site(), copy.image, copy.now_ns,
      {.decisions_max = api::kAheadDecisionsMax, .stop = [&ends] { return ends.load(); }});
  out.runs = made.runs;
  out.took_s = std::chrono::duration<double>(Steady::now() - from).count();
  for (const auto& [job, raw] : made.starts) {
    core::knowledge::StartForecastAt at{.made_ns = copy.now_ns, .interval = raw};
    at.moved = out.calibration.moved(at);
    const StartInterval shown = out.calibration.shown(at);
    out.starts.emplace_hint(out.starts.end(), job, shown);
    const auto found = is_new.find(job);
    if (found != is_new.end() && found->second) {
      tracked_.try_emplace(job, Tracked{.raw = at, .shown = shown});
    }
  }
  return out;
}

StartForecaster::StartForecaster(const live::loop::SchedulerClient& scheduler)
    : scheduler_(scheduler), thread_([this] { work(); }) {}

StartForecaster::~StartForecaster() {
  ends_ = true;
  // On a busy machine the rest of a decision takes a nice thread half a minute. Only root may do
  // this.
  if (const id_t thread = thread_id_; thread != 0) (void)::setpriority(PRIO_PROCESS, thread, 0);
  thread_.join();
}

std::shared_ptr<const api::StartTable> StartForecaster::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

void StartForecaster::work() {
  constexpr TimeNs kWait_ns = base::kSecond / 5;  // also until the end is noticed
  constexpr double kLeast_s = 1;
  constexpr double kOldest_s = 30;
  constexpr double kRests = 9;  // at most a tenth of one processor
  constexpr int kNice = 19;
  // Of this thread only. If it fails, the thread is as important as others.
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  (void)::setpriority(PRIO_PROCESS, thread, kNice);
  thread_id_ = thread;
  StartForecasts forecasts;
  uint64_t seen = 0;
  auto made = Steady::now() - std::chrono::hours(1);
  double took_s = 0;
  while (!ends_) {
    const uint64_t version = scheduler_.wait_for_change(seen, kWait_ns);
    const double age_s = std::chrono::duration<double>(Steady::now() - made).count();
    const bool due = version != seen ? age_s > kLeast_s : age_s > kOldest_s;
    if (!due || age_s < kRests * took_s) {
      if (version != seen) std::this_thread::sleep_for(std::chrono::nanoseconds(kWait_ns));
      continue;
    }
    seen = version;
    const auto from = Steady::now();
    auto table = std::make_shared<const api::StartTable>(forecasts.forecast(scheduler_, ends_));
    made = Steady::now();
    took_s = std::chrono::duration<double>(made - from).count();
    const std::scoped_lock lock(mutex_);
    latest_ = std::move(table);
  }
}

}  // namespace goban::serve::daemon
