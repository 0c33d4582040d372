#include "core/scheduler/sizing.hpp"

#include <algorithm>
#include <limits>

namespace goban::core::scheduler {
namespace {

using model::SpeedLevel;
using policy::Size;
using policy::SizeJob;

class Sizing {
 public:
  Sizing(const State& state, const policy::PolicySet& policies, TimeNs now)
      : state_(state),
        policies_(policies),
        now_(now),
        cluster_(*state.speed().cluster),
        num_models_(static_cast<uint32_t>(cluster_.gpu_models().size())),
        free_(num_models_),
        all_(num_models_) {}

  std::vector<SizeChange> choose() {
    count_free();
    if (state_.num_elastic() > 0) add_running();
    add_waiting();
    std::vector<SizeChange> changes;
    if (state_.num_elastic() == 0) {  // nobody has to wait for an elastic job any longer
      for (const SizeJob& job : jobs_) changes.push_back({.slot = state_.slot_of(job.job->job)});
      return changes;
    }
    std::ranges::stable_sort(later_, {}, &policy::GpuReturn::at_ns);
    std::vector<Size> sizes;
    const bool limited = state_.accounts().has_limits();
    const std::vector<SizeJob> uncut = limited ? jobs_ : std::vector<SizeJob>();
    do {
      sizes.assign(jobs_.size(), {});
      policies_.size->choose({.now = now_,
                              .slot_ns = policies_.round_ns,
                              .jobs = jobs_,
                              .gpus = free_,
                              .later = later_},
                             sizes);
    } while (limited && cut_to_limits(sizes));
    const std::vector<SizeJob>& jobs = limited ? uncut : jobs_;
    for (size_t i = 0; i < jobs.size(); ++i) add_change(jobs[i], sizes[i], changes);
    return changes;
  }

 private:
  /// Nodes with a window or a reservation ahead are left to jobs whose size is not chosen.
  [[nodiscard]] bool is_planned(NodeId node) const {
    const Resources& resources = state_.resources();
    return resources.rooms()[node.index()].open && !resources.has_window(node) &&
           resources.promised().overlapping(node, {now_, base::kNever}) == nullptr;
  }

  void count_free() {
    const auto count = static_cast<uint32_t>(cluster_.nodes().size());
    planned_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      const model::Node& node = cluster_.nodes()[i];
      planned_[i] = is_planned(NodeId(i));
      if (!planned_[i]) {
        others_ = others_ || state_.resources().rooms()[i].open;
        continue;
      }
      free_[node.gpu_model] += state_.resources().rooms()[i].gpus;
      all_[node.gpu_model] += static_cast<int32_t>(node.num_gpus);
    }
  }

  /// The job may be stopped, and its GPUs are its own.
  [[nodiscard]] bool is_resizable(const JobState& job, const Allocation& allocation) const {
    if (!job.elastic || job.request.stays || job.request.reservation.valid()) return false;
    if (job.starts > 1 && now_ - job.run_start_ns < policies_.hold_ns) return false;
    return std::ranges::all_of(allocation.gpus, [&](GpuId gpu) {
      if (!planned_[cluster_.node_of(gpu).index()]) return false;
      if (!state_.has_tenants()) return true;
      const Tenants& tenants = state_.tenants();
      return tenants.group(tenants.group_of(gpu)).jobs.size() == 1;
    });
  }

  void add_running() {
    std::vector<const Running*> running;
    for (const Running& each : state_.running()) running.push_back(&each);
    std::ranges::sort(running, {},
                      [&](const Running* each) { return state_.job(each->slot).arrival; });
    for (const Running* each : running) {
      const JobState& job = state_.job(each->slot);
      if (is_resizable(job, each->allocation)) {
        free_[job.gpu_model] += job.request.num_gpus;
        add(job, true);
        continue;
      }
      add_return(job, each->allocation);
    }
  }

  void add_return(const JobState& job, const Allocation& allocation) {
    const double slowdown = state_.speed().slowdown(job.request, allocation.gpus);
    const TimeNs end = policies_.needs_estimates
                           ? job.predicted_end_ns
                           : base::add_saturating(now_, state_.duration_ns(job, slowdown, now_));
    if (end == base::kNever) return;
    std::vector<int32_t> gpus(num_models_);
    for (const GpuId gpu : allocation.gpus) {
      const NodeId node = cluster_.node_of(gpu);
      if (planned_[node.index()]) ++gpus[cluster_.node(node).gpu_model];
    }
    for (uint32_t m = 0; m < num_models_; ++m) {
      if (gpus[m] > 0) later_.push_back({.at_ns = end, .gpu_model = m, .gpus = gpus[m]});
    }
  }

  void add_waiting() {
    const WaitQueue& queue = state_.queue();
    for (const auto* entry = queue.first(); entry != nullptr; entry = queue.after(entry->key)) {
      const JobState& job = state_.job(entry->slot);
      const bool typed = job.request.resource_type.valid();
      if (job.request.num_gpus > 0 && !typed && !is_kept_out(job)) add(job, false);
    }
  }

  /// A hard limit forbids even the least size now.
  [[nodiscard]] bool is_kept_out(const JobState& job) const {
    const int32_t least = job.elastic ? job.training.gpus_min : job.request.num_gpus;
    return state_.accounts().blocking(job.association, least) != Accounts::kNone;
  }

  void add(const JobState& job, bool runs) {
    SizeJob out{.job = &job, .runs = runs};
    out.levels.resize(num_models_);
    bool any = false;
    for (uint32_t m = 0; m < num_models_; ++m) {
      std::vector<SpeedLevel>& levels = out.levels[m];
      if (!job.elastic) {
        // A job that spans GPU models is not planned.
        if (job.request.num_gpus <= all_[m]) levels = {{job.request.num_gpus, 1.0}};
      } else {
        const auto known = state_.elastic().levels(job, m);
        levels.assign(known.begin(), known.end());
      }
      any = any || !levels.empty();
    }
    if (!any) return;
    if (job.elastic) {
      out.steps_left = state_.elastic().steps_left(job, state_.gpus_of(job), now_);
    } else {
      const TimeNs left = state_.duration_ns(job, 1.0, now_);
      out.steps_left =
          left == base::kNever ? std::numeric_limits<double>::infinity() : base::to_seconds(left);
    }
    if (job.elastic) cut_to_walltime(out);
    if (job.training.deadline_ns >= 0) {
      out.deadline_ns = base::add_saturating(job.request.submit_ns, job.training.deadline_ns);
    }
    jobs_.push_back(std::move(out));
  }

  /// A job that must end by its walltime limit keeps the sizes with which it does, if there are
  /// any. A placement that slows it down more than the best one may still be too slow.
  void cut_to_walltime(SizeJob& job) const {
    const JobState& state = *job.job;
    if (state.request.walltime_limit_ns <= 0) return;
    const double limit_s =
        base::to_seconds(state.request.walltime_limit_ns - state.attained_ns(now_));
    const double slowdown = state_.lowest_slowdown(state);
    const auto is_late = [&](const SpeedLevel& level, uint32_t gpu_model) {
      const bool goes_on =
          job.runs ? state.gpu_model == gpu_model && state.request.num_gpus == level.gpus
                   : state.starts == 0;
      const double cost_s = goes_on ? 0 : state_.elastic().resize_cost_s(state);
      return cost_s + job.steps_left / level.steps_per_s * slowdown > limit_s;
    };
    std::vector<std::vector<SpeedLevel>> kept = job.levels;
    bool any = false;
    for (uint32_t m = 0; m < num_models_; ++m) {
      std::erase_if(kept[m], [&](const SpeedLevel& level) { return is_late(level, m); });
      any = any || !kept[m].empty();
    }
    if (any) job.levels = std::move(kept);
  }

  /// GPUs that another job of the association may take.
  [[nodiscard]] static int32_t room(const Accounts& accounts, uint32_t association) {
    int32_t gpus = std::numeric_limits<int32_t>::max();
    for (Accounts::Node node = accounts.leaf(association); node != Accounts::kNone;
         node = accounts.parent(node)) {
      gpus = std::min(gpus, accounts.headroom_gpus(node));
    }
    return gpus;
  }

  static bool cut(SizeJob& job, int32_t most) {
    size_t count = 0;
    for (std::vector<SpeedLevel>& levels : job.levels) {
      count += std::erase_if(levels, [&](const SpeedLevel& level) { return level.gpus > most; });
    }
    return count > 0;
  }

  /// Takes away the levels that hard limits of accounts and users forbid beside the other jobs that
  /// got GPUs: of the jobs with the later deadlines if the policy withholds, else of those that
  /// come last, after all have their least. True if some job got such a level, so that the sizes
  /// are to be chosen again.
  [[nodiscard]] bool cut_to_limits(std::span<const Size> sizes) {
    Accounts accounts = state_.accounts();
    std::vector<size_t> order(jobs_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (policies_.size->withholds()) {
      std::ranges::stable_sort(order, {}, [&](size_t i) { return jobs_[i].deadline_ns; });
    }
    for (const SizeJob& job : jobs_) {
      if (job.runs) accounts.stopped(job.job->association, job.job->request.num_gpus, now_);
    }
    std::vector<int32_t> granted(jobs_.size());
    const auto grant = [&](size_t i, int32_t gpus) {
      const uint32_t association = jobs_[i].job->association;
      if (granted[i] > 0) accounts.stopped(association, granted[i], now_);
      const auto* level = model::level_at_most(jobs_[i].levels[sizes[i].gpu_model],
                                               std::min(gpus, room(accounts, association)));
      granted[i] = level == nullptr ? 0 : level->gpus;
      if (level != nullptr) accounts.started(association, level->gpus, now_);
    };
    for (const size_t i : order) {
      if (sizes[i].gpus == 0 || policies_.size->withholds()) continue;
      grant(i, jobs_[i].levels[sizes[i].gpu_model].front().gpus);
    }
    bool again = false;
    for (const size_t i : order) {
      if (sizes[i].gpus == 0) continue;
      grant(i, sizes[i].gpus);
      again = (granted[i] < sizes[i].gpus && cut(jobs_[i], granted[i])) || again;
    }
    if (!again) return false;
    for (const size_t i : order) {  // they would only be tried in vain
      if (sizes[i].gpus == 0) (void)cut(jobs_[i], room(accounts, jobs_[i].job->association));
    }
    return true;
  }

  /// The least size of a job: on the GPU model that it has, else where that is fastest.
  [[nodiscard]] static Size least(const SizeJob& job) {
    Size best;
    double steps_per_s = -1;
    for (uint32_t m = 0; m < job.levels.size(); ++m) {
      if (job.levels[m].empty() || job.levels[m].front().steps_per_s <= steps_per_s) continue;
      steps_per_s = job.levels[m].front().steps_per_s;
      best = {.gpus = job.levels[m].front().gpus, .gpu_model = m};
    }
    return best;
  }

  /// True if the step to a larger size takes longer than it saves.
  [[nodiscard]] bool is_vain(const SizeJob& job, Size size) const {
    const JobState& state = *job.job;
    if (size.gpu_model == state.gpu_model && size.gpus <= state.request.num_gpus) return false;
    const auto speed = [&](int32_t gpus, uint32_t gpu_model) {
      const auto level = std::ranges::find(job.levels[gpu_model], gpus, &SpeedLevel::gpus);
      return level == job.levels[gpu_model].end() ? 0.0 : level->steps_per_s;
    };
    const double before = speed(state.request.num_gpus, state.gpu_model);
    if (before <= 0) return false;  // its range was altered
    const double saved_s =
        job.steps_left / before - job.steps_left / speed(size.gpus, size.gpu_model);
    return saved_s <= state_.elastic().resize_cost_s(state);
  }

  void add_change(const SizeJob& job, Size size, std::vector<SizeChange>& changes) const {
    const bool none = size.gpus == 0;
    // Elsewhere there may be GPUs for it: who gets those is up to the selection.
    const bool withholds = policies_.size->withholds() && !others_;
    const Slot slot = state_.slot_of(job.job->job);
    SizeChange change{.slot = slot,
                      .runs = job.runs,
                      .waits = none && withholds,
                      .size = none ? least(job) : size};
    if (!job.runs) {
      changes.push_back(change);
      return;
    }
    if (none && !withholds) return;
    const Size now{.gpus = job.job->request.num_gpus, .gpu_model = job.job->gpu_model};
    if (!change.waits && (change.size == now || is_vain(job, change.size))) return;
    changes.push_back(change);
  }

  const State& state_;
  const policy::PolicySet& policies_;
  TimeNs now_;
  const model::Cluster& cluster_;
  uint32_t num_models_;
  std::vector<int32_t> free_;  ///< by GPU model: for the jobs that are planned
  std::vector<int32_t> all_;   ///< by GPU model, on planned nodes
  std::vector<bool> planned_;  ///< by node
  bool others_ = false;        ///< some open nodes are not planned
  std::vector<SizeJob> jobs_;
  std::vector<policy::GpuReturn> later_;
};

}  // namespace

std::vector<SizeChange> choose_sizes(const State& state, const policy::PolicySet& policies,
                                     TimeNs now) {
  return Sizing(state, policies, now).choose();
}

}  // namespace goban::core::scheduler
