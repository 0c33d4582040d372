// themis as ElasticFlow has it: leases of a slot, by finish-time fairness.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "study/rivals/elasticflow.hpp"
#include "study/rivals/event_list.hpp"
#include "study/rivals/node_classes.hpp"
#include "study/rivals/shares.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;
using base::Status;

constexpr size_t kLeasesMax = 5'000'000;

struct LeasedJob {
  double rate = 1;
  double left = 0;  ///< steps
  double remaining_s = 0;
  double told_s = 0;     ///< time of an isolated share so far
  double told_left = 0;  ///< steps left at the last slot
  double isolated = 0;   ///< the isolated share then; 0: none yet
};

class Leases {
 public:
  explicit Leases(const ElasticInputs& inputs)
      : inputs_(inputs), events_(inputs.jobs), num_gpus_(kElasticNodeGpus * inputs.num_nodes) {}

  Result<ElasticRun> run() {
    for (size_t i = 0; i < inputs_.jobs.size(); ++i) {
      if (auto loaded = load(i); !loaded) return base::failure(loaded.error());
    }
    now_s_ = stamp_s_ = events_.front().time_s;
    while (!events_.empty() || !runnable_.empty()) {
      if (run_.maps.size() >= kLeasesMax) {
        return base::failed("the jobs do not end within 5 million slots", "correct the trace");
      }
      take_event();
      if (!runnable_.empty()) {
        if (auto sorted = order_by_share(); !sorted) return base::failure(sorted.error());
      }
      const auto placed = place();
      if (!placed) return base::failure(placed.error());
      events_.coalesce_slot(now_s_);
      for (const PlacedJob& each : *placed) lease(each.job);
      now_s_ += kElasticSlotS;
    }
    if (inputs_.shares) {
      if (auto end = inputs_.shares->check_end(run_.shares.size()); !end) {
        return base::failure(end.error());
      }
    }
    return std::move(run_);
  }

 private:
  LeasedJob& job(int32_t id) { return jobs_[static_cast<size_t>(id)]; }
  [[nodiscard]] const ElasticJob& request(int32_t id) const {
    return inputs_.jobs[static_cast<size_t>(id)];
  }

  Status load(size_t id) {
    const ElasticJob& from = inputs_.jobs[id];
    const auto k = node_class(from.gpus);
    if (!k || from.gpus > num_gpus_) {
      return base::bad_data({}, fmt::format("job {}: no node sets for {} GPUs", id, from.gpus),
                            "give 1, 2, 4, 8, 16, 32, 64 or 128, up to the cluster's");
    }
    const auto rate = inputs_.rates.find(from.model, from.batch, from.gpus);
    if (!rate) {
      return base::failure(
          inputs_.rates.missing(from.model, from.batch, from.gpus, fmt::format("job {}", id)));
    }
    LeasedJob to;
    to.rate = *rate;
    to.left = from.iterations;
    to.remaining_s = from.duration_s;
    jobs_.push_back(to);
    return {};
  }

  void take_event() {
    ended_.clear();
    if (events_.empty() || events_.front().time_s != now_s_) return;
    const SlotEvent event = events_.front();
    events_.pop_front();
    stamp_s_ = now_s_;
    for (const int32_t id : event.ends) {
      if (std::erase(runnable_, id) == 0) continue;
      ended_.push_back(id);
      const double end_s = ends_s_[static_cast<size_t>(id)];
      run_.rows.push_back({.logged_s = end_s,
                           .job = id,
                           .gpus = request(id).gpus,
                           .start_s = std::nullopt,
                           .end_s = end_s,
                           .pending_s = 0});
    }
    runnable_.insert(runnable_.end(), event.starts.begin(), event.starts.end());
  }

  /// Computes the shares; the list of runnable jobs stays in their order.
  Status order_by_share() {
    ShareProblem problem;
    problem.capacity = num_gpus_;
    const double each_gpus =
        std::ceil(static_cast<double>(num_gpus_) / static_cast<double>(runnable_.size()));
    for (const int32_t id : runnable_) {
      LeasedJob& each = job(id);
      if (each.isolated > 0) each.told_s += (each.told_left - each.left) / each.isolated;
      const double part = each_gpus / request(id).gpus;
      each.isolated = part / std::max(part, 1.0);
      each.told_left = each.left;
      problem.gpus.push_back(request(id).gpus);
      problem.rate.push_back(each.rate);
      problem.left.push_back(each.left);
      problem.waited_s.push_back(stamp_s_ - request(id).submit_s);
      problem.told_s.push_back(each.told_s);
      problem.alone.push_back(each.isolated);
    }
    std::vector<double> shares;
    if (inputs_.shares) {
      auto recorded = inputs_.shares->take(run_.shares.size(), now_s_, runnable_);
      if (!recorded) return base::failure(recorded.error());
      shares = std::move(*recorded);
    } else {
      shares = fair_ratio_shares(problem).shares;
    }
    run_.shares.push_back({now_s_, runnable_, shares});
    std::vector<size_t> order(runnable_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      const double x = 1e9 * shares[a];
      const double y = 1e9 * shares[b];
      return x != y ? x > y : shares[a] > shares[b];
    });
    std::vector<int32_t> sorted;
    for (const size_t i : order) sorted.push_back(runnable_[i]);
    runnable_ = std::move(sorted);
    return {};
  }

  /// Who fits, in the order of the list; logs the map.
  Result<std::vector<PlacedJob>> place() {
    std::vector<PlacedJob> placed;
    int32_t room = num_gpus_;
    for (const int32_t id : runnable_) {
      if (request(id).gpus > room) continue;
      room -= request(id).gpus;
      placed.push_back({id, request(id).gpus});
    }
    auto holdings = place_elastic(placed, inputs_.num_nodes);
    if (!holdings) {
      return base::failed(fmt::format("the jobs at {} s do not fit the nodes", now_s_),
                          "change the trace");
    }
    run_.maps.push_back({now_s_, std::move(*holdings), ended_});
    return placed;
  }

  /// A slot of work.
  void lease(int32_t id) {
    LeasedJob& each = job(id);
    const double slot_end_s = now_s_ + kElasticSlotS;
    double end_s = now_s_ + each.remaining_s;
    each.remaining_s = std::max(0.0, each.remaining_s - kElasticSlotS);
    each.left -= kElasticSlotS * each.rate;
    if (each.left <= 0) {
      each.remaining_s = 0;
      end_s = slot_end_s;
    }
    if (end_s > slot_end_s) return;
    ends_s_[static_cast<size_t>(id)] = end_s;
    if (!events_.empty() && events_.front().time_s == slot_end_s) {
      events_.front().ends.push_back(id);
    } else {
      events_.push_front({slot_end_s, {}, {id}});
    }
  }

  const ElasticInputs& inputs_;
  EventList events_;
  int32_t num_gpus_;
  std::vector<LeasedJob> jobs_;
  std::vector<double> ends_s_ = std::vector<double>(inputs_.jobs.size(), 0.0);
  std::vector<int32_t> runnable_;
  std::vector<int32_t> ended_;  ///< at this slot
  double now_s_ = 0;
  double stamp_s_ = 0;  ///< of the last event
  ElasticRun run_;
};

}  // namespace

Result<ElasticRun> run_elastic_themis(const ElasticInputs& inputs) {
  if (inputs.jobs.empty()) return base::failed("no jobs");
  auto run = Leases(inputs).run();
  if (!run) return run;
  run->finish(inputs.jobs);
  return run;
}

}  // namespace goban::study::rivals
