// Compares conservative backfill with one that gives every waiting job a reservation and searches
// all of the profile for it.
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/random.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/part.hpp"
#include "core/policy/select/select.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::core::scheduler {
namespace {

using base::TimeNs;
using policy::Board;

class ReserveForAll final : public policy::Select {
 public:
  void run(Board& board) const override {
    Board::Job job = policy::start_prefix(board);
    if (job == nullptr || board.full()) return;
    std::map<TimeNs, int32_t> free{{board.now(), board.free_gpus()}};  // from this time on
    board.visit_ends([&free](TimeNs end, int32_t gpus) { take(free, end, base::kNever, -gpus); });
    for (; job != nullptr && !board.full(); job = board.after(job)) {
      const int32_t gpus = job->request.num_gpus;
      TimeNs duration = std::max<TimeNs>(board.estimate_ns(job), 1);
      const TimeNs start = earliest(free, gpus, duration);
      if (start == base::kNever) continue;
      const TimeNs until = first_below(free, gpus, start);
      policy::Gap gap{gpus, until == base::kNever ? until : until - start, 0};
      if (start == board.now() && board.start_in_gap(job, gap)) {
        duration = std::max<TimeNs>(job->predicted_end_ns - board.now(), 1);
      }
      take(free, start, base::add_saturating(start, duration), gpus);
    }
  }

 private:
  using Profile = std::map<TimeNs, int32_t>;

  static TimeNs first_below(const Profile& free, int32_t gpus, TimeNs from) {
    for (auto step = free.lower_bound(from); step != free.end(); ++step) {
      if (step->second < gpus) return step->first;
    }
    return base::kNever;
  }

  static TimeNs earliest(const Profile& free, int32_t gpus, TimeNs duration) {
    for (const auto& [from, count] : free) {
      const TimeNs until = first_below(free, gpus, from);
      if (until == base::kNever || until - from >= duration) return from;
    }
    return base::kNever;
  }

  static void take(Profile& free, TimeNs from, TimeNs until, int32_t gpus) {
    for (const TimeNs at : {from, until}) {
      if (at != base::kNever) free.emplace(at, std::prev(free.upper_bound(at))->second);
    }
    for (auto step = free.lower_bound(from); step != free.end() && step->first < until; ++step) {
      step->second -= gpus;
    }
  }
};

constexpr policy::Part kReserveForAll = {
    .kind = policy::PartKind::Select,
    .name = "reserve-for-all",
    .description = "",
    .install = policy::put<&policy::PolicySet::select, ReserveForAll>,
    .needs_estimates = true};

model::JobHistory draw_history(base::Random& random, uint32_t gpus) {
  model::JobHistory history;
  TimeNs submit = 0;
  const uint64_t pause_s = 1 + random.below(100);
  for (uint64_t i = 0; i < 150; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(pause_s)));
    job.request.submit_ns = submit;
    job.request.num_gpus = static_cast<int32_t>(1 + random.below(1 + random.below(gpus)));
    job.work_s = static_cast<double>(random.below(600));
    // Many jobs end before their limits, and a few are ended by them.
    if (random.below(2) == 0) {
      job.request.walltime_limit_ns =
          base::from_seconds(1 + job.work_s * (0.9 + 2 * random.uniform()));
    }
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(i));
  }
  return history;
}

TEST(ConservativeBackfill, DecidesAsIfAllJobsHadReservations) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const model::Cluster cluster = model::make_preset(random.below(2) == 0 ? "4x4" : "3x2").value();
    const model::JobHistory history = draw_history(random, cluster.num_gpus());
    const auto scores = knowledge::PmScores::uniform(cluster.num_gpus());
    const knowledge::LocalityPenalties penalties(cluster, random.below(2) == 0 ? 1.0 : 1.7);
    auto composition = policy::compose("conservative-backfill+packed").value();
    study::simulator::SimulationOptions options;
    options.settings = composition.settings;
    const policy::SpeedModel speed{&cluster, &scores, &penalties};
    const auto ours = study::simulator::simulate(history, speed, composition, options);
    composition.parts[static_cast<size_t>(policy::PartKind::Select)] = &kReserveForAll;
    const auto plain = study::simulator::simulate(history, speed, composition, options);
    RC_ASSERT(ours.has_value() && plain.has_value());
    for (size_t i = 0; i < history.jobs.size(); ++i) {
      RC_ASSERT(ours->outcomes[i].start_ns == plain->outcomes[i].start_ns);
      RC_ASSERT(ours->outcomes[i].finish_ns == plain->outcomes[i].finish_ns);
    }
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
