#include "train/comm/async_reducer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace goban::train::comm {

base::Result<std::unique_ptr<AsyncReducer>> AsyncReducer::start(Communicator& end) {
  auto own = end.companion();
  if (!own) return base::failure(own.error());
  return std::unique_ptr<AsyncReducer>(new AsyncReducer(std::move(*own)));
}

AsyncReducer::AsyncReducer(std::unique_ptr<Communicator> end) : end_(std::move(end)) {
  thread_ = std::thread([this] { work(); });
}

AsyncReducer::~AsyncReducer() {
  constexpr auto kPatience = std::chrono::seconds(2);
  bool idle = false;
  {
    std::unique_lock lock(mutex_);
    idle = changed_.wait_for(lock, kPatience, [&] { return done_ == begun_; });
    stop_ = true;
  }
  changed_.notify_all();
  if (!idle) end_->abandon("it ends while its gradients are reduced");
  thread_.join();
}

AsyncReducer::Ticket AsyncReducer::begin(Group group, Data data, Reduction reduction,
                                         std::string what) {
  Ticket ticket = 0;
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back({std::move(group), std::move(data), reduction, std::move(what)});
    ticket = ++begun_;
  }
  changed_.notify_all();
  return ticket;
}

base::Status AsyncReducer::wait(Ticket ticket) {
  const double begin_s = base::steady_s();
  std::unique_lock lock(mutex_);
  wait_begin_s_ = begin_s;
  changed_.wait(lock, [&] { return done_ >= ticket; });
  wait_begin_s_ = -1;
  waited_s_ += base::steady_s() - begin_s;
  return status_;
}

double AsyncReducer::moving_s() const {
  const std::scoped_lock lock(mutex_);
  return moving_s_;
}

double AsyncReducer::late_s() const {
  const std::scoped_lock lock(mutex_);
  return late_s_;
}

double AsyncReducer::reducing_s() const {
  const std::scoped_lock lock(mutex_);
  return reducing_s_;
}

base::Status AsyncReducer::reduce(Job& job) {
  std::optional<Communicator::DeviceData> on_device;
  if (job.data.written) {
    job.data.written();
    on_device.emplace(*end_);
  }
  return end_->all_reduce(job.group, job.data.bytes, job.data.element, job.reduction, job.what);
}

void AsyncReducer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job& job = jobs_.front();  // references into a deque stay valid while others are appended
    const bool usable = status_.has_value() && !stop_;
    lock.unlock();
    const double begin_s = base::steady_s(), late_before_s = end_->traffic().late_s;
    base::Status done;
    if (usable) done = reduce(job);
    const double taken_s = base::steady_s() - begin_s;
    const double met_s = begin_s + end_->traffic().late_s - late_before_s;
    lock.lock();
    if (wait_begin_s_ >= 0) late_s_ += std::max(0.0, met_s - std::max(begin_s, wait_begin_s_));
    if (status_ && !done) status_ = done;
    reducing_s_ += taken_s;
    moving_s_ += begin_s + taken_s - met_s;
    jobs_.pop_front();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace goban::train::comm
