// Compares EASY backfill with one that tries every job that might fit its gap, on GPUs of unequal
// speed: jobs that are short enough on the fastest ones may be too long on those that are free.
#include <gtest/gtest.h>
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

class TryAll final : public policy::Select {
 public:
  void run(Board& board) const override {
    const Board::Job head = policy::start_prefix(board);
    if (head == nullptr || board.full()) return;
    const policy::BackfillReservation reserved = board.earliest_start(head);
    policy::Gap gap{.duration_ns = reserved.start_ns == base::kNever
                                       ? base::kNever
                                       : reserved.start_ns - board.now(),
                    .spare_gpus = reserved.spare_gpus};
    for (Board::Job job = board.after(head); job != nullptr; job = board.after(job)) {
      gap.free_gpus = board.free_gpus();
      if (job->request.num_gpus <= gap.free_gpus) board.start_in_gap(job, gap);
    }
  }
};

constexpr policy::Part kTryAll = {.kind = policy::PartKind::Select,
                                  .name = "try-all",
                                  .description = "",
                                  .install = policy::put<&policy::PolicySet::select, TryAll>,
                                  .needs_estimates = true};

/// Three GPU sizes, two classes, a third of the jobs with walltime limits.
model::JobHistory draw_jobs(base::Random& random, uint32_t gpus) {
  model::JobHistory history;
  TimeNs submit = 0;
  const uint64_t pause_s = 1 + random.below(60);
  for (uint64_t i = 0; i < 200; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(pause_s)));
    job.request.submit_ns = submit;
    job.request.num_gpus =
        static_cast<int32_t>(uint64_t{1} << random.below(random.below(8) == 0 ? 4 : 2));
    job.request.num_gpus = std::min(job.request.num_gpus, static_cast<int32_t>(gpus));
    job.request.app_class = {static_cast<uint8_t>(random.below(2))};
    job.work_s = random.below(5) == 0 ? 100 : static_cast<double>(random.below(600));
    if (random.below(3) == 0) {
      job.request.walltime_limit_ns = base::from_seconds(1 + job.work_s * (0.9 + random.uniform()));
    }
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(i));
  }
  return history;
}

knowledge::PmScores draw_scores(base::Random& random, uint32_t gpus) {
  std::vector<knowledge::ClassScores> classes;
  for (int each = 0; each < 2; ++each) {
    std::vector<double> raw;
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) {
      raw.push_back(0.9 + 0.1 * static_cast<double>(random.below(6)));
    }
    classes.push_back(knowledge::class_from_values(raw, raw));
  }
  return knowledge::PmScores(std::move(classes));
}

TEST(EasyBackfill, DecidesAsIfAllJobsWereTried) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const model::Cluster cluster = model::make_preset(random.below(2) == 0 ? "4x4" : "6x2").value();
    const model::JobHistory history = draw_jobs(random, cluster.num_gpus());
    const knowledge::PmScores scores = draw_scores(random, cluster.num_gpus());
    const knowledge::LocalityPenalties penalties(cluster, random.below(2) == 0 ? 1.0 : 1.7);
    const char* const placement =
        random.below(3) == 0 ? "easy-backfill+pal" : "easy-backfill+packed";
    auto composition = policy::compose(placement).value();
    study::simulator::SimulationOptions options;
    options.settings = composition.settings;
    const policy::SpeedModel speed{&cluster, &scores, &penalties};
    const auto ours = study::simulator::simulate(history, speed, composition, options);
    composition.parts[static_cast<size_t>(policy::PartKind::Select)] = &kTryAll;
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
