#include "serve/daemon/reason_teller.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json_fields.hpp"
#include "serve/api/explain.hpp"

namespace goban::serve::daemon {

using live::controller::JobStage;
using live::controller::LiveJob;

namespace {

/// A job of the queue of the engine, for Goban to start.
bool waits(const LiveJob& job) {
  const bool stage = job.stage == JobStage::Waiting || job.stage == JobStage::Depends ||
                     job.stage == JobStage::Held;
  return stage && job.managed && !job.engine_id.empty();
}

}  // namespace

std::map<std::string, std::string> waiting_reasons(const live::loop::SchedulerClient& scheduler,
                                                   size_t most) {
  constexpr size_t kAtATime = 20;
  std::map<std::string, std::string> out;
  core::model::JobId next{0U};
  for (bool more = true; more && out.size() < most;) {
    more = false;
    scheduler.look([&](const live::loop::SchedulerSnapshot& snapshot) {
      size_t count = 0;
      const auto& jobs = snapshot.book.jobs;
      for (auto each = jobs.lower_bound(next); each != jobs.end(); ++each) {
        if (!waits(each->second)) continue;
        if (count == kAtATime || out.size() == most) {
          next = each->first;
          more = true;
          return;
        }
        ++count;
        out[each->second.engine_id] =
            base::text_of(api::explain_job(snapshot, each->second), "text");
      }
    });
  }
  return out;
}

ReasonTeller::ReasonTeller(live::EngineView& view, const live::loop::SchedulerClient& scheduler)
    : view_(view), scheduler_(scheduler), thread_([this] { run(); }) {}

ReasonTeller::~ReasonTeller() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ReasonTeller::run() {
  constexpr size_t kMost = 500;
  constexpr std::chrono::seconds kEvery(10);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kEvery, [this] { return ends_; })) {
    lock.unlock();
    view_.tell_reasons(waiting_reasons(scheduler_, kMost));
    lock.lock();
  }
}

}  // namespace goban::serve::daemon
