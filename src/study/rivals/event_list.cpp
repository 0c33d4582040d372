#include "study/rivals/event_list.hpp"

#include <algorithm>
#include <map>

#include "study/rivals/elasticflow.hpp"

namespace goban::study::rivals {

EventList::EventList(const std::vector<ElasticJob>& jobs) {
  std::map<double, std::vector<int32_t>> starts;
  for (size_t i = 0; i < jobs.size(); ++i) {
    starts[jobs[i].submit_s].push_back(static_cast<int32_t>(i));
  }
  for (auto& [time_s, ids] : starts) events_.push_back({time_s, std::move(ids), {}});
}

std::vector<SlotEvent>::iterator EventList::at(double time_s) {
  return std::ranges::find(events_, time_s, &SlotEvent::time_s);
}

void EventList::add_end(int32_t job, double end_s) {
  const auto event = at(end_s);
  if (event == events_.end()) {
    events_.push_back({end_s, {}, {job}});
  } else if (std::ranges::find(event->ends, job) == event->ends.end()) {
    event->ends.push_back(job);
  }
}

void EventList::move_end(int32_t job, double old_s, double new_s) {
  if (old_s == new_s) return;
  if (const auto event = at(old_s); event != events_.end()) {
    std::erase(event->ends, job);
    if (event->starts.empty() && event->ends.empty()) events_.erase(event);
  }
  add_end(job, new_s);
}

void EventList::sort() { std::ranges::stable_sort(events_, {}, &SlotEvent::time_s); }

void EventList::join(double now_s, bool whole_slots) {
  if (events_.empty()) return;
  const auto gap = [now_s](double time_s) { return static_cast<int64_t>(time_s - now_s); };
  constexpr auto kSlot = static_cast<int64_t>(kElasticSlotS);
  double at_s = events_.front().time_s;
  while (gap(at_s) <= kSlot && events_.size() >= 2) {
    SlotEvent& first = events_[0];
    SlotEvent& second = events_[1];
    first.time_s = now_s + kElasticSlotS;
    if (second.time_s - now_s > kElasticSlotS) {
      at_s = whole_slots ? now_s + kElasticSlotS : at_s;
      break;
    }
    at_s = second.time_s;
    first.starts.insert(first.starts.end(), second.starts.begin(), second.starts.end());
    first.ends.insert(first.ends.end(), second.ends.begin(), second.ends.end());
    events_.erase(events_.begin() + 1);
  }
  if (whole_slots && gap(at_s) < kSlot) events_.front().time_s = now_s + kElasticSlotS;
}

}  // namespace goban::study::rivals
