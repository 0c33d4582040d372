// Requests per second of each user: a token bucket each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace goban::serve::api {

class RateLimit {
 public:
  /// `per_s` requests a second for good, `burst` at once.
  RateLimit(double per_s, double burst) : per_s_(per_s), burst_(burst) {}

  /// Takes one request at this moment, in seconds of a clock that never goes back. Returns 0, or
  /// after how many seconds one is allowed again.
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

 private:
  static constexpr size_t kBucketsMax = 10'000;
  struct Bucket {
    double level = 0;
    double at_s = 0;
  };
  /// Full buckets are as good as none.
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
