#include "live/engine/cluster/picture.hpp"

#include <algorithm>
#include <string_view>

namespace goban::live::engine::cluster {

bool same_job(const JobSeen& a, const JobSeen& b) {
  return a.id == b.id && a.managed == b.managed && a.state == b.state && a.run == b.run &&
         a.spec == b.spec && a.array == b.array && a.blocked == b.blocked &&
         a.submit_ns == b.submit_ns && a.start_ns == b.start_ns && a.parts == b.parts;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The order of numbers in ids: job 9 before job 10, task 10_9 before 10_10.
bool is_before(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    const auto digits = [](std::string_view text) {
      return static_cast<size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    };
    const size_t size = std::max<size_t>(digits(one), 1);
    const size_t other_size = std::max<size_t>(digits(other), 1);
    if (is_digit(one[0]) && is_digit(other[0]) && size != other_size) return size < other_size;
    const std::string_view part = one.substr(0, size);
    const std::string_view other_part = other.substr(0, other_size);
    if (part != other_part) return part < other_part;
    one.remove_prefix(size);
    other.remove_prefix(other_size);
  }
  return one.size() < other.size();
}

}  // namespace

std::vector<EngineEvent> diff(const Picture& before, const Picture& after) {
  std::vector<EngineEvent> events;
  if (before.cluster != after.cluster) events.emplace_back(after.cluster);
  for (const auto& [id, job] : before.jobs) {
    if (after.jobs.contains(id)) continue;
    const auto how = after.ended.find(id);
    events.emplace_back(how == after.ended.end() ? JobGone{.id = id} : how->second);
  }
  std::vector<const JobSeen*> changed;
  for (const auto& [id, job] : after.jobs) {
    const auto old = before.jobs.find(id);
    if (old == before.jobs.end() || !same_job(old->second, job)) changed.push_back(&job);
  }
  // Those that appeared queue in this order.
  std::ranges::stable_sort(changed, [](const JobSeen* one, const JobSeen* other) {
    if (one->submit_ns != other->submit_ns) return one->submit_ns < other->submit_ns;
    return is_before(one->id, other->id);
  });
  for (const JobSeen* job : changed) events.emplace_back(*job);
  return events;
}

void apply(Picture& picture, const EngineEvent& event) {
  if (const auto* cluster = std::get_if<ClusterSeen>(&event)) picture.cluster = *cluster;
  if (const auto* seen = std::get_if<JobSeen>(&event)) picture.jobs[seen->id] = *seen;
  if (const auto* gone = std::get_if<JobGone>(&event)) {
    picture.jobs.erase(gone->id);
    picture.ended[gone->id] = *gone;
  }
}

}  // namespace goban::live::engine::cluster
