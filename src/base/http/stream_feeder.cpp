#include "base/http/stream_feeder.hpp"

#include <algorithm>
#include <utility>

#include "base/http/worker_pool.hpp"

namespace goban::base::http {

StreamFeeder::StreamFeeder(size_t streams_max, std::function<void()> wait)
    : streams_max_(streams_max), wait_(std::move(wait)) {
  thread_ = quiet_thread([this] { feed(); });
}

bool StreamFeeder::add(const std::shared_ptr<LiveStream>& stream) {
  const std::scoped_lock lock(mutex_);
  if (stops_ || streams_.size() >= streams_max_) return false;
  streams_.push_back(stream);
  updates_.notify_all();
  return true;
}

int64_t StreamFeeder::size() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<int64_t>(streams_.size());
}

void StreamFeeder::stop() {
  std::vector<std::shared_ptr<LiveStream>> all;
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    all.swap(streams_);
  }
  updates_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const auto& stream : all) stream->end();
}

void StreamFeeder::feed() {
  for (;;) {
    std::vector<std::shared_ptr<LiveStream>> all;
    {
      std::unique_lock lock(mutex_);
      updates_.wait(lock, [this] { return stops_ || !streams_.empty(); });
      if (stops_) return;
      all = streams_;
    }
    std::erase_if(all, [](const auto& stream) { return stream->fill(); });
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(streams_, [&](const auto& stream) {
        return std::find(all.begin(), all.end(), stream) != all.end();
      });
      if (stops_) return;
    }
    all.clear();  // nothing of a stream outlives its reader
    wait_();
  }
}

}  // namespace goban::base::http
