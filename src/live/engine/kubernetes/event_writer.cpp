#include "live/engine/kubernetes/event_writer.hpp"

#include "base/clock.hpp"

namespace goban::live::engine::kubernetes {

namespace {

constexpr int kNoRight = 403;

}  // namespace

EventWriter::EventWriter(const Access& access, double timeout_s)
    : credentials_(std::make_shared<Credentials>(access, kRate)),
      timeout_s_(timeout_s),
      thread_([this] { run(); }) {}

EventWriter::~EventWriter() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void EventWriter::say(const Told& told) {
  {
    const std::scoped_lock lock(mutex_);
    const TimeNs now_ns = base::steady_ns();
    if (now_ns < quiet_ns_) return;
    if (waiting_.size() >= kWaitMost) {
      ++dropped_;
      return;
    }
    const int32_t count = filter_.take(told, now_ns);
    if (count == 0) return;
    waiting_.push_back({events_path(told), event_body(told, count, base::wall_ns())});
  }
  wake_.notify_all();
}

size_t EventWriter::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

void EventWriter::run() {
  Api api(credentials_, ending_, timeout_s_);
  for (;;) {
    Waiting next;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    // Whether it arrived does not matter: none is repeated.
    const ApiAnswer answer = api.write("POST", next.path, std::move(next.body));
    if (answer.status != kNoRight) continue;
    const std::scoped_lock lock(mutex_);
    quiet_ns_ = base::steady_ns() + base::kMinute;
    waiting_.clear();
  }
}

}  // namespace goban::live::engine::kubernetes
