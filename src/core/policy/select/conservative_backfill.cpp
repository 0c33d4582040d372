// Conservative backfill (Feitelson and Weil 1998): every waiting job, up to a depth, gets a
// backfill reservation; a job starts now only if it delays none of the earlier reservations.
#include <algorithm>
#include <vector>

#include "core/policy/compose.hpp"
#include "core/policy/select/select.hpp"

namespace goban::core::policy {
namespace {

/// Free GPUs over time, as steps: `free` applies from `from_ns` to the next step.
class Availability {
 public:
  Availability(TimeNs now, int32_t free) : steps_{{now, free}} {}

  void add_end(TimeNs end, int32_t gpus) {
    const TimeNs at = std::max(end, steps_.front().from_ns);
    if (steps_.back().from_ns == at) {
      steps_.back().free += gpus;
    } else if (at != base::kNever) {
      steps_.push_back({at, steps_.back().free + gpus});
    }
  }

  /// Earliest time from which `gpus` are free for `duration`; kNever if never.
  [[nodiscard]] TimeNs earliest(int32_t gpus, TimeNs duration) const {
    for (size_t i = 0; i < steps_.size();) {
      const TimeNs start = steps_[i].from_ns;
      const TimeNs end = base::add_saturating(start, duration);
      size_t j = i;
      while (j < steps_.size() && steps_[j].from_ns < end && steps_[j].free >= gpus) ++j;
      if (j == steps_.size() || steps_[j].from_ns >= end) return start;
      i = j + 1;
    }
    return base::kNever;
  }

  /// Time from now for which `gpus` stay free; kNever = forever.
  [[nodiscard]] TimeNs free_for(int32_t gpus) const {
    const auto ends = [gpus](const Step& step) { return step.free < gpus; };
    const auto found = std::ranges::find_if(steps_, ends);
    return found == steps_.end() ? base::kNever : found->from_ns - steps_.front().from_ns;
  }

  void reserve(TimeNs start, TimeNs duration, int32_t gpus) {
    const TimeNs end = base::add_saturating(start, duration);
    const size_t first = split(start);
    const size_t last = end == base::kNever ? steps_.size() : split(end);
    for (size_t i = first; i < last; ++i) steps_[i].free -= gpus;
  }

 private:
  struct Step {
    TimeNs from_ns;
    int32_t free;
  };

  /// Index of the step that begins at `at`; inserted if there is none.
  size_t split(TimeNs at) {
    const auto found = std::ranges::lower_bound(steps_, at, {}, &Step::from_ns);
    const auto index = static_cast<size_t>(found - steps_.begin());
    if (found != steps_.end() && found->from_ns == at) return index;
    steps_.insert(found, {at, steps_[index - 1].free});
    return index;
  }

  std::vector<Step> steps_;
};

/// Maximum number of waiting jobs with reservations; later jobs wait for another decision.
constexpr int32_t kDepth = 1000;

class ConservativeBackfill final : public Select {
 public:
  void run(Board& board) const override {
    Board::Job job = start_prefix(board);
    if (job == nullptr || board.full()) return;
    Availability available(board.now(), board.free_gpus());
    board.visit_ends([&](TimeNs end, int32_t gpus) { available.add_end(end, gpus); });
    for (int32_t i = 0; i < kDepth && job != nullptr; ++i, job = board.after(job)) {
      const int32_t gpus = job->request.num_gpus;
      // A job without work still needs its GPUs for a positive time.
      TimeNs duration = std::max<TimeNs>(board.estimate_ns(job), 1);
      const TimeNs start = available.earliest(gpus, duration);
      if (start == base::kNever) continue;
      if (start == board.now()) {
        // The placement determines the actual duration, which may be up to the whole gap. A job
        // that cannot be placed (host resources, a drained node, slow GPUs) keeps its reservation.
        Gap gap{gpus, available.free_for(gpus), 0};
        if (board.start_in_gap(job, gap)) {
          duration = std::max<TimeNs>(job->predicted_end_ns - board.now(), 1);
        }
      }
      available.reserve(start, duration, gpus);
    }
  }
};

base::Status check_counting(const Composition& c) {
  if (c.part(PartKind::Placement).fungible) return {};
  return base::usage_error(
      "conservative-backfill counts free GPUs, but consolidated cannot use every free GPU",
      "use easy-backfill, or placement packed");
}

}  // namespace

extern const Part kConservativeBackfill = {
    .kind = PartKind::Select,
    .name = "conservative-backfill",
    .description = "every waiting job gets a backfill reservation",
    .install = put<&PolicySet::select, ConservativeBackfill>,
    .needs_estimates = true,
    .check = check_counting};

}  // namespace goban::core::policy
