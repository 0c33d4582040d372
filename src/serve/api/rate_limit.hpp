// Limits the requests per second of each user with a token bucket. Costly requests count as
// several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace goban::serve::api {

class RateLimit {
 public:
  /// `per_s`: sustained requests per second; `burst`: requests at once.
  RateLimit(double per_s, double burst) : per_s_(per_s), burst_(burst) {}

  /// Counts one request at `now_s`, in seconds of a monotonic clock. Returns 0 if it is allowed,
  /// otherwise the seconds until the next one is.
  [[nodiscard]] double take(const std::string& user, double now_s) {
    const std::scoped_lock lock(mutex_);
    if (buckets_.size() >= kBucketsMax) forget_full(now_s);
    const auto [found, is_new] = buckets_.try_emplace(user, Bucket{.level = burst_, .at_s = now_s});
    Bucket& bucket = found->second;
    bucket.level = std::min(burst_, bucket.level + (now_s - bucket.at_s) * per_s_);
    bucket.at_s = now_s;
    if (bucket.level < 1) return (1 - bucket.level) / per_s_;
    bucket.level -= 1;
    return 0;
  }

  /// Counts an answered request as `more` requests more. The bucket may go below empty: the user
  /// waits until it has filled again.
  void charge(const std::string& user, double more) {
    const std::scoped_lock lock(mutex_);
    const auto found = buckets_.find(user);
    if (found != buckets_.end()) found->second.level -= more;
  }

 private:
  static constexpr size_t kBucketsMax = 10'000;
  struct Bucket {
    double level = 0;
    double at_s = 0;
  };
  /// Removes full buckets: a missing bucket counts as full.
  void forget_full(double now_s) {
    std::erase_if(buckets_, [&](const auto& each) {
      return each.second.level + (now_s - each.second.at_s) * per_s_ >= burst_;
    });
  }
  double per_s_;
  double burst_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace goban::serve::api
