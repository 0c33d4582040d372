// ElasticFlow's list of events, with its rule for joining what falls into one slot (ElasticFlow:
// artifact, docs/studies/rivals.md).
#pragma once

#include <cstdint>
#include <vector>

#include "study/rivals/rival_files.hpp"

namespace goban::study::rivals {

struct SlotEvent {
  double time_s = 0;
  std::vector<int32_t> starts;
  std::vector<int32_t> ends;
};

/// Events in order of time. The list begins with an event for each distinct time of submission.
class EventList {
 public:
  explicit EventList(const std::vector<ElasticJob>& jobs);

  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] SlotEvent& front() { return events_.front(); }
  void pop_front() { events_.erase(events_.begin()); }
  void push_front(SlotEvent event) { events_.insert(events_.begin(), std::move(event)); }
  /// Adds a job's end to the event of that very time, else as a new event at the end of the list.
  void add_end(int32_t job, double end_s);
  /// Takes the job's end from the event at `old_s`, if there is one, and adds it at `new_s`.
  void move_end(int32_t job, double old_s, double new_s);
  void sort();
  /// After a decision at `now_s`: what falls into the slot after it happens at its end.
  void coalesce(double now_s) { join(now_s, false); }
  /// The same as themis does it: a single event within the slot is moved as well.
  void coalesce_slot(double now_s) { join(now_s, true); }

 private:
  void join(double now_s, bool whole_slots);
  [[nodiscard]] std::vector<SlotEvent>::iterator at(double time_s);

  std::vector<SlotEvent> events_;
};

}  // namespace goban::study::rivals
