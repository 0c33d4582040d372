#include "live/loop/bookkeeper.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace goban::live::loop {
namespace {

constexpr auto kAccountRetry = std::chrono::seconds(1);

}  // namespace

Bookkeeper::Bookkeeper(std::unique_ptr<Accounting> accounting, std::function<void(std::string)> say,
                       std::function<bool()> is_ours)
    : accounting_(std::move(accounting)),
      say_(std::move(say)),
      is_ours_(std::move(is_ours)),
      thread_([this] { work(); }) {}

Bookkeeper::~Bookkeeper() {
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Bookkeeper::add(const controller::LiveJob& job,
                     std::shared_ptr<const core::model::Cluster> cluster) {
  {
    const std::scoped_lock lock(mutex_);
    if (!known_.insert(job.job).second) return;
    todo_.push_back({.job = job, .cluster = std::move(cluster)});
  }
  wake_.notify_all();
}

std::vector<JobId> Bookkeeper::take_done() {
  const std::scoped_lock lock(mutex_);
  for (const JobId job : done_) known_.erase(job);
  return std::exchange(done_, {});
}

void Bookkeeper::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stops_ || !todo_.empty(); });
    if (stops_) return;
    std::vector<FinishedJob> jobs = std::exchange(todo_, {});
    lock.unlock();
    if (!is_ours_()) return;
    const base::Status status = accounting_->record(jobs);
    lock.lock();
    if (status) {
      failing_ = false;
      for (const FinishedJob& each : jobs) done_.push_back(each.job.job);
      continue;
    }
    std::ranges::move(todo_, std::back_inserter(jobs));
    todo_ = std::move(jobs);
    if (!std::exchange(failing_, true)) {
      say_(fmt::format("cannot write to the history store: {}; retrying", status.error().text()));
    }
    wake_.wait_for(lock, kAccountRetry, [this] { return stops_; });
  }
}

}  // namespace goban::live::loop
