#include "serve/api/event_feed.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "serve/api/cluster_view.hpp"

namespace goban::serve::api {

using nlohmann::json;

namespace {
constexpr base::TimeNs kWait_ns = 250'000'000;
constexpr std::chrono::milliseconds kLeast(100);
constexpr std::chrono::seconds kHeartbeat(15);
constexpr size_t kNamedMax = 200;

std::string event(const char* name, uint64_t version, const std::string& data) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", version, name, data);
}
}  // namespace

/// Sends the current version, then every change, and a comment as a heartbeat in between.
class EventFeed::Listener final : public base::http::BodyStream {
 public:
  explicit Listener(EventFeed& feed) : feed_(feed) {}

  bool fill(std::string& out, size_t bytes_max) override {
    constexpr size_t kRoom = 16 << 10;
    if (bytes_max < kRoom) return true;  // a slow reader gets one event for all changes later
    const std::scoped_lock lock(feed_.mutex_);
    const uint64_t now = feed_.seen_;
    if (!begun_) {
      begun_ = true;
      out += event("hello", now, json{{"version", now}}.dump());
    } else if (now != sent_) {
      out += event("change", now,
                   sent_ == feed_.before_
                       ? feed_.change_
                       : json{{"version", now}, {"all", true}, {"jobs", json::array()}}.dump());
    } else if (Clock::now() - last_ >= kHeartbeat) {
      out += ": still here\n\n";
    } else {
      return true;
    }
    sent_ = now;
    last_ = Clock::now();
    return true;
  }

 private:
  EventFeed& feed_;
  bool begun_ = false;
  uint64_t sent_ = 0;
  Clock::time_point last_{};
};

uint64_t EventFeed::fingerprint(const live::controller::LiveJob& job) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t sum = 0xcbf29ce484222325;
  for (const uint64_t each :
       {static_cast<uint64_t>(job.stage), static_cast<uint64_t>(job.result), uint64_t{job.runs},
        static_cast<uint64_t>(job.progress_ns), uint64_t{job.preemptions}, uint64_t{job.shares}}) {
    sum = (sum ^ each) * kPrime;
  }
  return sum;
}

void EventFeed::look_around() {
  std::vector<uint64_t> changed;
  bool nodes_changed = false;
  // Read the version first: changes during the comparison are then reported again.
  const uint64_t version = scheduler_.version();
  std::map<core::model::JobId, uint64_t> jobs;
  scheduler_.look([&](const live::loop::SchedulerSnapshot& snapshot) {
    for (const auto& [id, job] : snapshot.book.jobs) {
      jobs.emplace_hint(jobs.end(), id, fingerprint(job));
    }
    ClusterView view = view_cluster(snapshot, false);
    std::map<core::model::ReservationId, live::controller::ReservationState> reservations;
    for (const auto& [id, each] : snapshot.book.reservations) reservations.emplace(id, each.state);
    nodes_changed = drained_ != snapshot.drained || open_ != view.is_open ||
                    asleep_ != view.is_asleep || reservations_ != reservations;
    if (!nodes_changed) return;
    drained_ = snapshot.drained;
    open_ = std::move(view.is_open);
    asleep_ = std::move(view.is_asleep);
    reservations_ = std::move(reservations);
  });
  for (const auto& [id, mark] : jobs) {
    const auto known = jobs_.find(id);
    if (known == jobs_.end() || known->second != mark) changed.push_back(live::job::job_number(id));
  }
  for (const auto& [id, mark] : jobs_) {
    if (!jobs.contains(id)) changed.push_back(live::job::job_number(id));
  }
  const bool all = !has_looked_ || changed.size() > kNamedMax;
  if (all) changed.clear();
  has_looked_ = true;
  jobs_ = std::move(jobs);
  before_ = seen_;
  seen_ = version;
  change_ = json{{"version", version},
                 {"all", all},
                 {"jobs", std::move(changed)},
                 {"nodes", nodes_changed}}
                .dump();
}

void EventFeed::wait() {
  if (const auto since = Clock::now() - last_; since < kLeast) {
    std::this_thread::sleep_for(kLeast - since);
  }
  uint64_t seen = 0;
  {
    const std::scoped_lock lock(mutex_);
    seen = seen_;
  }
  if (scheduler_.wait_for_change(seen, kWait_ns) != seen) {
    const std::scoped_lock lock(mutex_);
    look_around();
  }
  last_ = Clock::now();
}

std::unique_ptr<base::http::BodyStream> EventFeed::listen() {
  const std::scoped_lock lock(mutex_);
  // Without listeners wait() is not called, so the stored state may be old.
  if (scheduler_.version() != seen_) look_around();
  return std::make_unique<Listener>(*this);
}

}  // namespace goban::serve::api
