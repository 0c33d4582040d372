// edf: elastic jobs in order of their deadlines, without admission control.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "study/rivals/elastic_plan.hpp"
#include "study/rivals/elasticflow.hpp"
#include "study/rivals/event_list.hpp"
#include "study/rivals/node_classes.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;
using base::Status;

struct ElasticEdfJob {
  ElasticLevels levels;
  double left = 0;  ///< steps
  int32_t gpus = 0;
  double end_s = 0;
  bool started = false;
  double start_s = 0;
};

class ElasticEdf {
 public:
  explicit ElasticEdf(const ElasticInputs& inputs)
      : inputs_(inputs), events_(inputs.jobs), num_gpus_(kElasticNodeGpus * inputs.num_nodes) {}

  Result<ElasticRun> run() {
    for (size_t i = 0; i < inputs_.jobs.size(); ++i) {
      if (auto loaded = load(i); !loaded) return base::failure(loaded.error());
    }
    now_s_ = events_.front().time_s;
    while (!events_.empty()) {
      credit();
      const bool has_starts = !events_.front().starts.empty();
      take_event();
      plan(has_starts);
      if (auto placed = place(); !placed) return base::failure(placed.error());
      events_.pop_front();
      events_.sort();
      events_.coalesce(now_s_);
      if (events_.empty()) break;
      gap_s_ = std::trunc(events_.front().time_s - now_s_);
      now_s_ = events_.front().time_s;
    }
    if (!runnable_.empty()) {
      return base::failed(fmt::format("job {} does not end", runnable_.front()),
                          "the published program loses it as well; change the trace");
    }
    return std::move(run_);
  }

 private:
  ElasticEdfJob& job(int32_t id) { return jobs_[static_cast<size_t>(id)]; }
  [[nodiscard]] const ElasticJob& request(int32_t id) const {
    return inputs_.jobs[static_cast<size_t>(id)];
  }

  Status load(size_t id) {
    const ElasticJob& from = inputs_.jobs[id];
    ElasticEdfJob to;
    to.left = from.iterations;
    constexpr int32_t kLevelMax = 64;
    const int32_t most = std::min({kLevelMax, from.batch, num_gpus_});
    for (const int32_t gpus : inputs_.rates.levels(from.model, from.batch)) {
      if (gpus > most || !std::has_single_bit(static_cast<uint32_t>(gpus))) continue;
      to.levels.rates.emplace_back(gpus, *inputs_.rates.find(from.model, from.batch, gpus));
    }
    if (to.levels.rates.empty() || to.levels.rates.front().first != 1) {
      return base::failure(
          inputs_.rates.missing(from.model, from.batch, 1, fmt::format("job {}", id)));
    }
    jobs_.push_back(std::move(to));
    return {};
  }

  /// Steps done since the last decision; jobs whose last steps these are end now.
  void credit() {
    for (const int32_t id : runnable_) {
      ElasticEdfJob& each = job(id);
      if (each.gpus == 0) continue;
      const double rate = each.levels.rate(each.gpus);
      const double ran_s = gap_s_ - std::max(0.0, now_s_ - each.end_s);
      double steps = ran_s * rate;
      if (each.left <= steps && each.end_s > now_s_) {
        const double end_s = now_s_ - gap_s_ + std::ceil(each.left / rate);
        steps = (each.end_s - now_s_ + gap_s_) * rate;
        events_.move_end(id, each.end_s, now_s_);
        each.end_s = end_s;
      }
      each.left -= steps;
    }
  }

  void take_event() {
    const SlotEvent event = events_.front();
    ended_.clear();
    for (const int32_t id : event.ends) {
      if (std::erase(runnable_, id) == 0) continue;
      ended_.push_back(id);
      const ElasticEdfJob& each = job(id);
      run_.rows.push_back({.logged_s = now_s_,
                           .job = id,
                           .gpus = each.gpus,
                           .start_s = each.start_s,
                           .end_s = each.end_s,
                           .pending_s = each.start_s - request(id).submit_s});
    }
    runnable_.insert(runnable_.end(), event.starts.begin(), event.starts.end());
  }

  void plan(bool has_starts) {
    std::vector<int32_t> order = runnable_;
    std::ranges::stable_sort(order, {}, [this](int32_t id) { return request(id).deadline_s; });
    // Without new jobs the artifact sorts the list itself.
    if (!has_starts) runnable_ = order;
    ElasticPlan plan(now_s_, num_gpus_);
    std::vector<double> ends(jobs_.size(), 0.0);
    for (const int32_t id : order) {
      const PlannedJob planned = plan.add(job(id).levels, job(id).left);
      job(id).gpus = planned.gpus_now;
      ends[static_cast<size_t>(id)] = planned.end_s;
    }
    for (const int32_t id : runnable_) {
      ElasticEdfJob& each = job(id);
      const double end_s = ends[static_cast<size_t>(id)];
      if (each.started) {
        events_.move_end(id, each.end_s, end_s);
      } else if (each.gpus > 0) {
        each.started = true;
        each.start_s = now_s_;
        events_.add_end(id, end_s);
      }
      each.end_s = end_s;
    }
  }

  Status place() {
    std::vector<PlacedJob> placed;
    for (const int32_t id : runnable_) {
      if (job(id).gpus > 0) placed.push_back({id, job(id).gpus});
    }
    auto holdings = place_elastic(placed, inputs_.num_nodes);
    if (!holdings) {
      return base::failed(fmt::format("the plan at {} s does not fit the nodes", now_s_),
                          "change the trace");
    }
    run_.maps.push_back({now_s_, std::move(*holdings), ended_});
    return {};
  }

  const ElasticInputs& inputs_;
  EventList events_;
  int32_t num_gpus_;
  std::vector<ElasticEdfJob> jobs_;
  std::vector<int32_t> runnable_;
  std::vector<int32_t> ended_;  ///< at this event
  double now_s_ = 0;
  double gap_s_ = 0;
  ElasticRun run_;
};

}  // namespace

Result<ElasticRun> run_elastic_edf(const ElasticInputs& inputs) {
  if (inputs.jobs.empty()) return base::failed("no jobs");
  auto run = ElasticEdf(inputs).run();
  if (!run) return run;
  run->finish(inputs.jobs);
  return run;
}

}  // namespace goban::study::rivals
