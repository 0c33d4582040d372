// gandiva as ElasticFlow has it: time slicing on sets of nodes, by the GPUs that jobs asked for.
#include <algorithm>
#include <cmath>
#include <deque>
#include <fmt/format.h>

#include "study/rivals/elasticflow.hpp"
#include "study/rivals/event_list.hpp"
#include "study/rivals/node_classes.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;

constexpr size_t kSlicesMax = 5'000'000;
constexpr double kTurnS = 60;
constexpr int64_t kLongOverheadEvery = 240;
constexpr double kLongOverheadS = 27;

/// Nodes on which jobs of one size take turns.
struct TurnSet {
  std::vector<int32_t> nodes;
  int32_t load = 0;  ///< jobs ever put in
  std::vector<int32_t> jobs;
};

struct SlicedJob {
  double executed_s = 0;
  double overhead_s = 0;
  std::optional<double> start_s{};  ///< none: not put yet
  double pending_s = 0;
  bool was_pending = false;
  bool ended = false;
};

class TimeSlicing {
 public:
  explicit TimeSlicing(const ElasticInputs& inputs)
      : inputs_(inputs), events_(inputs.jobs), jobs_(inputs.jobs.size()) {
    for (int32_t node = 0; node < inputs.num_nodes; ++node) free_.push_back(node);
  }

  Result<ElasticRun> run() {
    for (size_t i = 0; i < inputs_.jobs.size(); ++i) {
      const int32_t gpus = inputs_.jobs[i].gpus;
      if (node_class(gpus) && gpus <= kElasticNodeGpus * inputs_.num_nodes) continue;
      return base::bad_data({}, fmt::format("job {}: no node sets for {} GPUs", i, gpus),
                            "give 1, 2, 4, 8, 16, 32, 64 or 128, up to the cluster's");
    }
    now_s_ = events_.front().time_s;
    while (!events_.empty() || !pending_.empty() || running_ > 0) {
      if (run_.maps.size() >= kSlicesMax) {
        return base::failed("the jobs do not end within 5 million decisions",
                            "correct the durations");
      }
      adjust();
      const bool released = execute();
      start_jobs();
      if (released) start_pending();
      add_map();
      advance();
    }
    return std::move(run_);
  }

 private:
  SlicedJob& job(int32_t id) { return jobs_[static_cast<size_t>(id)]; }
  [[nodiscard]] const ElasticJob& request(int32_t id) const {
    return inputs_.jobs[static_cast<size_t>(id)];
  }
  static int32_t nodes_of(size_t k) {
    return (kNodeClasses[k] + kElasticNodeGpus - 1) / kElasticNodeGpus;
  }
  /// Jobs of the class that run at the same time on a set.
  static size_t places(size_t k) {
    return static_cast<size_t>(kElasticNodeGpus * nodes_of(k) / kNodeClasses[k]);
  }
  static void sort(std::vector<TurnSet>& list) {
    std::ranges::stable_sort(list, {}, &TurnSet::load);
  }

  [[nodiscard]] std::optional<TurnSet> new_set(size_t k) {
    if (free_.size() < static_cast<size_t>(nodes_of(k))) return std::nullopt;
    TurnSet set;
    for (int32_t i = 0; i < nodes_of(k); ++i) {
      set.nodes.push_back(free_.front());
      free_.pop_front();
    }
    return set;
  }
  void free_nodes(const TurnSet& set) {
    free_.insert(free_.end(), set.nodes.begin(), set.nodes.end());
  }

  static void deal(std::vector<TurnSet>& list, const std::vector<int32_t>& jobs) {
    for (const int32_t id : jobs) {
      list.front().jobs.push_back(id);
      ++list.front().load;
      sort(list);
    }
  }

  /// Gives each class nodes in proportion to its demand.
  void adjust() {
    std::array<int64_t, kNodeClasses.size()> demand{};
    int64_t all = 0;
    for (size_t k = 0; k < kNodeClasses.size(); ++k) {
      for (const TurnSet& set : lists_[k]) {
        demand[k] += static_cast<int64_t>(set.jobs.size()) * kNodeClasses[k];
      }
      all += demand[k];
    }
    const double gpus = kElasticNodeGpus * inputs_.num_nodes;
    for (size_t k = 0; k < kNodeClasses.size(); ++k) {
      if (demand[k] == 0) continue;
      int64_t held = 0;
      for (const TurnSet& set : lists_[k]) {
        held += kElasticNodeGpus * static_cast<int64_t>(set.nodes.size());
      }
      const double part = static_cast<double>(demand[k]) / static_cast<double>(all) * gpus;
      const int64_t missing = std::min(static_cast<int64_t>(part), demand[k]) - held;
      const int64_t size = kNodeClasses[k];
      if (missing > 0) grow(k, (missing + size - 1) / size);
      if (missing < 0) shrink(k, (-missing + size - 1) / size);
    }
  }

  void grow(size_t k, int64_t times) {
    std::vector<TurnSet>& list = lists_[k];
    bool made_single = false;
    for (int64_t i = 0; i < times; ++i) {
      auto set = new_set(k);
      made_single = set && set->nodes.size() == 1;
      if (!set) break;  // the later times would not find nodes either
      list.push_back(std::move(*set));
    }
    if (made_single) return;  // the artifact deals jobs to new sets of several nodes only
    std::vector<int32_t> jobs;
    for (TurnSet& set : list) {
      jobs.insert(jobs.end(), set.jobs.begin(), set.jobs.end());
      set.jobs.clear();
      set.load = 0;
    }
    deal(list, jobs);
  }

  void shrink(size_t k, int64_t times) {
    std::vector<TurnSet>& list = lists_[k];
    const int64_t dissolved = std::min(times, static_cast<int64_t>(list.size()) - 1);
    std::vector<int32_t> jobs;
    for (int64_t i = 0; i < dissolved; ++i) {
      jobs.insert(jobs.end(), list.front().jobs.begin(), list.front().jobs.end());
      free_nodes(list.front());
      list.erase(list.begin());
    }
    deal(list, jobs);
  }

  /// Credits the time since the last decision; true if a set was given back.
  bool execute() {
    ended_.clear();
    bool released = false;
    for (size_t k = 0; k < kNodeClasses.size(); ++k) {
      for (TurnSet& set : lists_[k]) execute(set, places(k));
      const auto is_idle = [](const TurnSet& set) { return set.jobs.empty(); };
      for (const TurnSet& set : lists_[k]) {
        if (!is_idle(set)) continue;
        free_nodes(set);
        released = true;
      }
      std::erase_if(lists_[k], is_idle);
    }
    for (SlicedJob& each : jobs_) {
      if (each.was_pending) each.overhead_s = 0;
    }
    return released;
  }

  void execute(TurnSet& set, size_t places_max) {
    const size_t active = std::min(set.jobs.size(), places_max);
    for (size_t i = 0; i < active; ++i) {
      const int32_t id = set.jobs[i];
      SlicedJob& each = job(id);
      each.executed_s += std::max(gap_s_ - each.overhead_s, 0.0);
      each.overhead_s = 0;
      const double over_s = each.executed_s - request(id).duration_s;
      if (over_s < 0) continue;
      each.ended = true;
      --running_;
      ended_.push_back(id);
      run_.rows.push_back({.logged_s = now_s_,
                           .job = id,
                           .gpus = request(id).gpus,
                           .start_s = each.start_s,
                           .end_s = now_s_ - over_s,
                           .pending_s = each.pending_s});
    }
    if (std::fmod(now_s_, kTurnS) == 0 && set.jobs.size() > active) {
      std::ranges::rotate(set.jobs, set.jobs.begin() + static_cast<int64_t>(active));
    }
    std::erase_if(set.jobs, [this](int32_t id) { return job(id).ended; });
  }

  /// False if there is no room for the job.
  bool put(int32_t id) {
    const size_t k = *node_class(request(id).gpus);
    std::vector<TurnSet>& list = lists_[k];
    const auto take = [&](TurnSet& set) {
      set.jobs.push_back(id);
      ++set.load;
      sort(list);
    };
    if (!list.empty()) {
      std::ranges::rotate(list, list.begin() + 1);
      if (static_cast<size_t>(list.back().load) + 1 < places(k)) {
        take(list.back());
        return true;
      }
    }
    if (auto set = new_set(k)) {
      list.push_back(std::move(*set));
      take(list.back());
      return true;
    }
    if (list.empty()) return false;
    std::ranges::rotate(list, list.begin() + 1);
    take(list.back());
    return true;
  }

  bool start(int32_t id) {
    if (!put(id)) return false;
    job(id).start_s = now_s_;
    ++running_;
    return true;
  }

  void start_jobs() {
    if (events_.empty() || events_.front().time_s != now_s_) return;
    for (const int32_t id : events_.front().starts) {
      if (start(id)) continue;
      job(id).was_pending = true;
      pending_.push_back(id);
    }
    events_.pop_front();
  }

  void start_pending() {
    // The artifact removes from the list that it walks, and so passes over the job behind.
    for (size_t i = 0; i < pending_.size(); ++i) {
      const int32_t id = pending_[i];
      if (!start(id)) continue;
      job(id).pending_s = now_s_ - request(id).submit_s;
      pending_.erase(pending_.begin() + static_cast<int64_t>(i));
    }
  }

  void add_map() {
    Decision decision{.now_s = now_s_, .holdings = {}, .ended = ended_};
    for (size_t k = 0; k < kNodeClasses.size(); ++k) {
      const int32_t size = kNodeClasses[k];
      for (const TurnSet& set : lists_[k]) {
        for (size_t i = 0; i < std::min(set.jobs.size(), places(k)); ++i) {
          Holding holding{set.jobs[i], {}};
          if (size < kElasticNodeGpus) {
            append_node_gpus(holding.gpus, set.nodes.front(), static_cast<int32_t>(i) * size, size);
          } else {
            for (const int32_t node : set.nodes) {
              append_node_gpus(holding.gpus, node, 0, kElasticNodeGpus);
            }
          }
          std::ranges::sort(holding.gpus);
          decision.holdings.push_back(std::move(holding));
        }
      }
    }
    std::ranges::sort(decision.holdings, {}, &Holding::job);
    run_.maps.push_back(std::move(decision));
  }

  void advance() {
    if (events_.empty()) {
      now_s_ += kElasticSlotS;
      gap_s_ = kElasticSlotS;
      return;
    }
    const bool is_long = decisions_ > 0 && decisions_ % kLongOverheadEvery == 0;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (!jobs_[i].start_s || jobs_[i].ended) continue;
      jobs_[i].overhead_s =
          2 + 2 * (std::log2(inputs_.jobs[i].gpus) + 1) + (is_long ? kLongOverheadS : 0);
    }
    ++decisions_;
    events_.sort();
    events_.coalesce(now_s_);
    gap_s_ = std::trunc(events_.front().time_s - now_s_);
    now_s_ = events_.front().time_s;
  }

  const ElasticInputs& inputs_;
  EventList events_;
  std::vector<SlicedJob> jobs_;
  std::array<std::vector<TurnSet>, kNodeClasses.size()> lists_;
  std::deque<int32_t> free_;
  std::vector<int32_t> pending_;
  std::vector<int32_t> ended_;  ///< at this decision
  size_t running_ = 0;
  int64_t decisions_ = 0;  ///< with events to come
  double now_s_ = 0;
  double gap_s_ = 0;
  ElasticRun run_;
};

}  // namespace

Result<ElasticRun> run_elastic_gandiva(const ElasticInputs& inputs) {
  if (inputs.jobs.empty()) return base::failed("no jobs");
  auto run = TimeSlicing(inputs).run();
  if (!run) return run;
  run->finish(inputs.jobs);
  return run;
}

}  // namespace goban::study::rivals
