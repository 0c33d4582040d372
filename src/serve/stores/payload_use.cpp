#include "serve/stores/payload_use.hpp"

#include <fmt/format.h>

namespace goban::serve::stores {
namespace {

constexpr int64_t kBlock = 4096;  ///< of the usual file systems

int64_t occupied(size_t bytes) {
  const auto blocks = (static_cast<int64_t>(bytes) + kBlock - 1) / kBlock;
  return (blocks + 1) * kBlock;
}

double mib_of(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

base::Status PayloadUse::add(const live::job::Owner& owner, const std::string& name, size_t bytes) {
  const int64_t more = occupied(bytes);
  const std::scoped_lock lock(mutex_);
  int64_t& used = sums_[owner.uid];
  if (most_bytes_ > 0 && used + more > most_bytes_) {
    return base::usage_error(
        fmt::format("scripts and environments of unfinished jobs of {} use {:.2f} MiB; {:.2f} MiB "
                    "more would exceed the limit of {:.2f} MiB",
                    owner.user, mib_of(used), mib_of(more), mib_of(most_bytes_)),
        "wait until some finish, cancel some, keep data in files, or ask an operator to raise "
        "bytes_per_user");
  }
  used += more;
  stored_[name] = {.uid = owner.uid, .bytes = more};
  return {};
}

void PayloadUse::count(uint32_t uid, const std::string& name, size_t bytes) {
  remove(name);
  const std::scoped_lock lock(mutex_);
  stored_[name] = {.uid = uid, .bytes = occupied(bytes)};
  sums_[uid] += occupied(bytes);
}

void PayloadUse::remove(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto found = stored_.find(name);
  if (found == stored_.end()) return;
  const auto sum = sums_.find(found->second.uid);
  sum->second -= found->second.bytes;
  if (sum->second == 0) sums_.erase(sum);
  stored_.erase(found);
}

int64_t PayloadUse::bytes_of(uint32_t uid) const {
  const std::scoped_lock lock(mutex_);
  const auto found = sums_.find(uid);
  return found == sums_.end() ? 0 : found->second;
}

}  // namespace goban::serve::stores
