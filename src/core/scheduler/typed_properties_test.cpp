// Invariants of jobs with resource types, on small random sites.
#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>

#include "base/random.hpp"
#include "core/model/cluster_file.hpp"
#include "study/simulator/simulation.hpp"

namespace goban::core::scheduler {
namespace {

using base::TimeNs;

model::Cluster small_site(uint64_t nodes) {
  return model::parse_cluster(fmt::format(R"(
    [[nodes]]
    count = {}
    gpus = 4
    cores = 40
    memory = "384 GiB"
    [[resource_type]]
    name = "full"
    gpus = 4
    cores = 40
    memory = "360 GiB"
    max_instances = 8
    [[resource_type]]
    name = "small"
    gpus = 1
    cores = 8
    memory = "60 GiB"
    max_instances = 3
    [[resource_type]]
    name = "cpu"
    gpus = 0
    cores = 12
    memory = "100 GiB"
    max_instances = 2
  )",
                                          nodes),
                              "site")
      .value();
}

/// The same with parts that lie apart, and parts that lie on every other node.
model::Cluster with_places(const model::Cluster& site) {
  model::ClusterBuilder builder("places");
  builder.add_gpu_model({.name = "test"});
  std::vector<bool> every_other;
  for (const model::Node& node : site.nodes()) {
    every_other.push_back(every_other.size() % 2 == 0);
    model::ClusterBuilder::Placed placed;
    placed.node = node;
    builder.add_node(std::move(placed));
  }
  for (model::ResourceType type : site.resource_types()) {
    type.apart = type.name == "small";
    if (type.name == "full") type.nodes = every_other;
    builder.add_resource_type(std::move(type));
  }
  return builder.build().value();
}

model::JobHistory typed_jobs(base::Random& random, const model::Cluster& cluster) {
  model::JobHistory history;
  TimeNs submit = 0;
  for (uint64_t i = 0; i < 80; ++i) {
    model::Job job;
    submit += base::from_seconds(static_cast<double>(random.below(60)));
    model::JobRequest& request = job.request;
    request.submit_ns = submit;
    request.resource_type = model::ResourceTypeId(random.below(3));
    const model::ResourceType& type = cluster.resource_type(request.resource_type);
    uint64_t nodes = cluster.nodes().size();
    if (!type.nodes.empty()) nodes = static_cast<uint64_t>(std::ranges::count(type.nodes, true));
    const uint64_t most = std::min<uint64_t>(static_cast<uint64_t>(type.max_instances), nodes);
    request.instances = static_cast<int32_t>(1 + random.below(most));
    request.num_gpus = request.instances * type.gpus;
    job.work_s = 1 + static_cast<double>(random.below(1000));
    request.walltime_limit_ns =
        base::from_seconds(job.work_s + static_cast<double>(random.below(500)));
    history.jobs.push_back(job);
    history.job_names.add(std::to_string(i));
  }
  return history;
}

/// After each decision, computes the first waiting job's start by trying every end of a running job
/// on a copy of the resources, and compares it with the counted reservation.
class Promises final : public study::simulator::Observer {
 public:
  void decided(const Decision& decision, const Core& core) override {
    const auto* head = core.state().queue().first();
    if (head == nullptr) return;
    const model::JobState& job = core.state().job(head->slot);
    const TimeNs tried = by_trial(core.state(), job);
    const TypedBackfillReservation counted(core.state(), job, decision.at_ns);
    RC_ASSERT(counted.start_ns() == tried);
    const auto [entry, is_new] = promised_.try_emplace(job.job, tried);
    if (!is_new) entry->second = std::min(entry->second, tried);
  }
  [[nodiscard]] const std::map<JobId, TimeNs>& promised() const { return promised_; }

 private:
  static TimeNs by_trial(const State& state, const model::JobState& job) {
    Resources trial = state.resources();
    for (const auto& [end, slot] : state.ends()) {
      trial.give(state.job(slot).request, state.allocation(slot));
      model::Allocation found;
      if (trial.find(job.request, {}, 1, found)) return end;
    }
    return base::kNever;
  }
  std::map<JobId, TimeNs> promised_;
};

TEST(TypedProperty, TheReservedJobStartsAsPromised) {
  EXPECT_TRUE(rc::check([] {
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    const model::Cluster plain = small_site(1 + random.below(5));
    const model::Cluster cluster = random.below(2) == 0 ? plain : with_places(plain);
    const model::JobHistory history = typed_jobs(random, cluster);
    const knowledge::PmScores scores = knowledge::PmScores::uniform(cluster.num_gpus());
    const knowledge::LocalityPenalties penalties(cluster, 1.0);
    Promises promises;
    study::simulator::SimulationOptions options;
    options.observer = &promises;
    const char* policy = random.below(2) == 0 ? "easy-backfill+packed" : "easy-backfill+spread";
    const auto result = study::simulator::simulate(history, {&cluster, &scores, &penalties},
                                                   policy::compose(policy).value(), options);
    RC_ASSERT(result.has_value());
    for (const auto& [job, promised_ns] : promises.promised()) {
      RC_ASSERT(result->outcomes[job.index()].start_ns <= promised_ns);
    }
  }));
}

}  // namespace
}  // namespace goban::core::scheduler
