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

  /// Earliest time, from `from` on, from which `gpus` are free for `duration`; kNever if never.
  [[nodiscard]] TimeNs earliest(int32_t gpus, TimeNs duration, TimeNs from) const {
    for (size_t i = step_at(from); i < steps_.size();) {
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

  /// Index of the first step that begins at `at` or later.
  [[nodiscard]] size_t step_at(TimeNs at) const {
    if (at <= steps_.front().from_ns) return 0;
    const auto found = std::ranges::lower_bound(steps_, at, {}, &Step::from_ns);
    return static_cast<size_t>(found - steps_.begin());
  }

  /// Index of the step that begins at `at`; inserted if there is none.
  size_t split(TimeNs at) {
    const size_t index = step_at(at);
    if (index < steps_.size() && steps_[index].from_ns == at) return index;
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(index),
                  {at, steps_[index - 1].free});
    return index;
  }

  std::vector<Step> steps_;
};

/// The starts found so far. Reservations only take GPUs away, so a job that needs as many GPUs for
/// as long as an earlier one cannot start before it: the search begins there.
class Starts {
 public:
  [[nodiscard]] TimeNs bound(int32_t gpus, TimeNs duration) const {
    TimeNs bound = 0;
    for (const Size& size : sizes_) {
      if (size.gpus > gpus) break;
      const auto longer = std::ranges::upper_bound(size.starts, duration, {}, &Start::duration_ns);
      if (longer != size.starts.begin()) bound = std::max(bound, std::prev(longer)->at_ns);
    }
    return bound;
  }

  void add(int32_t gpus, TimeNs duration, TimeNs start) {
    auto size = std::ranges::lower_bound(sizes_, gpus, {}, &Size::gpus);
    if (size == sizes_.end() || size->gpus != gpus) size = sizes_.insert(size, {gpus, {}});
    // Later starts of shorter jobs say more.
    std::vector<Start>& starts = size->starts;
    const auto from = std::ranges::lower_bound(starts, duration, {}, &Start::duration_ns);
    const auto says_less = [start](const Start& each) { return each.at_ns <= start; };
    const auto to = std::find_if_not(from, starts.end(), says_less);
    starts.insert(starts.erase(from, to), {duration, start});
  }

 private:
  struct Start {
    TimeNs duration_ns;
    TimeNs at_ns;
  };
  struct Size {
    int32_t gpus;
    std::vector<Start> starts;  ///< both members ascend
  };
  std::vector<Size> sizes_;  ///< by GPUs
};

/// Maximum number of waiting jobs with reservations; later jobs wait for another decision.
constexpr int32_t kDepth = 1000;

/// The reservations of one decision.
class Plan {
 public:
  explicit Plan(Board& board) : board_(board), available_(board.now(), board.free_gpus()) {
    board.visit_ends([this](TimeNs end, int32_t gpus) { available_.add_end(end, gpus); });
  }

  /// False: the job cannot start now, and could not if more jobs had reservations.
  [[nodiscard]] bool may_start(Board::Job job) const {
    return available_.free_for(job->request.num_gpus) >= duration_of(job);
  }

  [[nodiscard]] TimeNs end_if_started(Board::Job job) const {
    return base::add_saturating(board_.now(), duration_of(job));
  }

  /// The first job after `job` that may start now; null if none.
  [[nodiscard]] Board::Job candidate_after(Board::Job job) const {
    while (!board_.full()) {
      // What jobs of a reservation may hold shrinks with its time, so the queue knows no bound of
      // theirs.
      job = job->request.reservation.valid()
                ? board_.after(job)
                : board_.after_fitting(job, {board_.free_gpus(), available_.free_for(1), 0});
      if (job == nullptr || may_start(job)) return job;
    }
    return nullptr;
  }

  /// Starts the job or gives it a reservation. Returns its start, kNever: neither.
  TimeNs start_or_reserve(Board::Job job) {
    const int32_t gpus = job->request.num_gpus;
    TimeNs duration = duration_of(job);
    const TimeNs start = available_.earliest(gpus, duration, starts_.bound(gpus, duration));
    if (start == base::kNever) return start;
    starts_.add(gpus, duration, start);
    if (start == board_.now()) {
      // The placement determines the actual duration, which may be up to the whole gap. A job
      // that cannot be placed (host resources, a drained node, slow GPUs) keeps its reservation.
      Gap gap{gpus, available_.free_for(gpus), 0};
      if (board_.start_in_gap(job, gap)) {
        duration = std::max<TimeNs>(job->predicted_end_ns - board_.now(), 1);
      }
    }
    available_.reserve(start, duration, gpus);
    return start;
  }

 private:
  /// A job without work still needs its GPUs for a positive time.
  [[nodiscard]] TimeNs duration_of(Board::Job job) const {
    return std::max<TimeNs>(board_.estimate_ns(job), 1);
  }

  Board& board_;
  Availability available_;
  Starts starts_;
};

class ConservativeBackfill final : public Select {
 public:
  void run(Board& board) const override {
    Board::Job job = start_prefix(board);
    if (job == nullptr || board.full()) return;
    Plan plan(board);
    // Reservations last for one decision. They are only needed up to the last job that may start
    // now, as far as can be seen from those made so far.
    Board::Job candidate = job;
    for (int32_t i = 0; i < kDepth && job != nullptr; ++i, job = board.after(job)) {
      const TimeNs reserved_ns = plan.start_or_reserve(job);
      const bool still_may = candidate != job && (reserved_ns >= plan.end_if_started(candidate) ||
                                                  plan.may_start(candidate));
      if (still_may) continue;
      candidate = plan.candidate_after(candidate);
      if (candidate == nullptr || board.follows_by_more_than(job, candidate, kDepth - 1 - i))
        return;
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
