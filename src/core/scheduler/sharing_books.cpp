#include "core/scheduler/sharing_books.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/policy/sharing/promises.hpp"
#include "core/scheduler/decision.hpp"

namespace goban::core::scheduler {

using model::ActionKind;

namespace {

std::shared_ptr<const policy::SiteKnowledge> knowledge_of(const policy::RunContext& context,
                                                          const model::Cluster& cluster) {
  if (context.knowledge != nullptr) return context.knowledge;
  return std::make_shared<policy::SiteKnowledge>(policy::SiteKnowledge::none(cluster));
}

}  // namespace

SharingBooks::SharingBooks(const State& state, const policy::PolicySet& policies,
                           const policy::RunContext& context, uint64_t seed)
    : state_(state),
      sharing_(*policies.sharing),
      progress_(context.progress),
      knowledge_(knowledge_of(context, *state.speed().cluster)),
      memory_(knowledge_->colocation, knowledge_->predictor),
      seed_(seed),
      caps_(state.speed().cluster->num_gpus(), -1) {}

SharingBooks::Image SharingBooks::image() const {
  return {.now_ns = now_,
          .memory = memory_.image(knowledge_->colocation),
          .observations = observations_,
          .broken = broken_,
          .due = {due_.begin(), due_.end()},
          .due_observed = {due_observed_.begin(), due_observed_.end()},
          .uncapped = {uncapped_.begin(), uncapped_.end()},
          .waited = waited_,
          .caps = caps_,
          .num_undone = num_undone_};
}

void SharingBooks::restore(const Image& image) {
  now_ = image.now_ns;
  memory_.restore(image.memory);
  observations_ = image.observations;
  broken_ = image.broken;
  due_ = {image.due.begin(), image.due.end()};
  due_observed_ = {image.due_observed.begin(), image.due_observed.end()};
  uncapped_ = {image.uncapped.begin(), image.uncapped.end()};
  waited_ = image.waited;
  caps_ = image.caps;
  num_undone_ = image.num_undone;
}

double SharingBooks::work_left_s(const JobState& job) const {
  return progress_ == nullptr ? -1 : progress_->reported_left_s(job.job, now_);
}

double SharingBooks::work_total_s(const JobState& job) const {
  return progress_ == nullptr ? -1 : progress_->reported_total_s(job.job);
}

double SharingBooks::alone_slowdown(const JobState& job, std::span<const GpuId> gpus) const {
  return state_.speed().slowdown(job.request, gpus);
}

double SharingBooks::alone_slowdown(const JobState& job) const {
  return alone_slowdown(job, state_.allocation(state_.slot_of(job.job)).gpus);
}

double SharingBooks::alone_slowdown_max(const JobState& job) const {
  const policy::SpeedModel& speed = state_.speed();
  double penalty = speed.penalties->at(0, job.request);
  for (size_t level = 1; job.request.num_gpus > 1 && level < speed.penalties->num_levels();
       ++level) {
    penalty = std::max(penalty, speed.penalties->at(level, job.request));
  }
  return penalty * std::ranges::max(speed.scores->of(job.request.app_class).raw);
}

uint64_t SharingBooks::seed(JobId job) const { return placement_seed(seed_, job, now_); }

bool SharingBooks::choose(const JobState& job, Allocation& out) const {
  out = {};
  // Instances of resource types also hold host resources; they never share.
  if (job.request.num_gpus <= 0 || job.request.resource_type.valid()) return false;
  const std::optional<policy::SharedPlace> place = sharing_.choose(*this, job);
  if (!place) return false;
  const Tenants::Group& group = tenants().group(place->group);
  const auto count = static_cast<size_t>(job.request.num_gpus);
  GOBAN_CHECK(!group.locked && group.gpus.size() >= count,
              "a policy joined a group that it may not join");
  out.gpus.assign(group.gpus.begin(), group.gpus.begin() + static_cast<std::ptrdiff_t>(count));
  const TimeNs limit = job.request.walltime_limit_ns;
  const HoldSpan hold{
      now_, limit > 0 ? base::add_saturating(now_, limit - job.attained_ns(now_)) : base::kNever};
  for (const GpuId gpu : out.gpus) {
    const NodeId node = state_.speed().cluster->node_of(gpu);
    if (state_.resources().has_window(node) ||
        !state_.resources().promised().allows(node, job.request.reservation, hold)) {
      out = {};
      return false;
    }
  }
  out.reason.prediction = static_cast<uint8_t>(place->level);
  return true;
}

void SharingBooks::begin(JobId joined, Tenants& tenants) {
  if (!sharing_.observes()) return;
  const TimeNs until = base::add_saturating(now_, sharing_.observe_max_ns());
  const std::vector<GroupId> groups(tenants.groups_of(joined).begin(),
                                    tenants.groups_of(joined).end());
  for (const GroupId id : groups) {
    const Tenants::Group& group = tenants.group(id);
    if (group.jobs.size() < 2) continue;
    tenants.set_cap(id, -1);
    observations_.push_back({.group = id,
                             .jobs = group.jobs,
                             .slowdowns = std::vector<double>(group.jobs.size()),
                             .until_ns = until});
    tenants.set_locked(id, true);
  }
}

void SharingBooks::announce(std::vector<Action>& actions) {
  for (Observation& each : observations_) {
    if (std::exchange(each.announced, true)) continue;
    for (const JobId job : each.jobs) {
      actions.push_back({.kind = ActionKind::Observe, .job = job, .until_ns = each.until_ns});
    }
  }
}

void SharingBooks::observed(JobId job, double slowdown) {
  for (Observation& observation : observations_) {
    const auto at = std::ranges::find(observation.jobs, job) - observation.jobs.begin();
    if (at == std::ssize(observation.jobs)) continue;
    double& measured = observation.slowdowns[static_cast<size_t>(at)];
    if (measured == 0) measured = slowdown;
  }
}

void SharingBooks::submitted(const JobState& job) {
  const model::AloneUse said{.gpu_util_pct = static_cast<double>(job.training.gpu_util_pct),
                             .gpu_mem_bytes = job.training.gpu_mem_bytes};
  for (const knowledge::GpuTypeId type : knowledge_->gpu_types) {
    memory_.declared(type, job.request.app, said);
  }
}

void SharingBooks::measured_alone(const JobState& job, const model::AloneUse& use) {
  const model::Cluster& cluster = *state_.speed().cluster;
  const auto& gpus = state_.allocation(state_.slot_of(job.job)).gpus;
  if (gpus.empty()) return;
  const uint32_t gpu_model = cluster.node(cluster.node_of(gpus.front())).gpu_model;
  model::AloneUse seen = use;
  // The history has the power of a full node / its number of GPUs.
  if (seen.gpu_power_w >= 0) {
    const bool known = gpu_model < knowledge_->power.size();
    seen.gpu_power_w += known ? knowledge_->power[gpu_model].host_share_w() : 0;
    if (!known) seen.gpu_power_w = -1;
  }
  memory_.measured_alone(knowledge_->gpu_types[gpu_model], job.request.app, seen);
}

void SharingBooks::started(JobId job) {
  for (const GroupId group : tenants().groups_of(job)) uncapped_.insert(group);
}

void SharingBooks::neighbours_changed(std::span<const JobId> jobs) {
  for (const JobId job : jobs) {
    for (const GroupId group : tenants().groups_of(job)) {
      due_.insert(group);
      uncapped_.insert(group);
    }
  }
}

void SharingBooks::broke(const JobState& job, std::span<const JobId> neighbours,
                         bool out_of_memory) {
  if (neighbours.empty()) return;
  std::vector<model::AppId> apps;
  for (const JobId each : neighbours) apps.push_back(this->job(each).request.app);
  memory_.broke(job.request.app, apps, out_of_memory);
  memory_.keep_alone(job.job);
  broken_.push_back({.at_ns = now_,
                     .job = job.job,
                     .beside = {neighbours.begin(), neighbours.end()},
                     .out_of_memory = out_of_memory});
}

bool SharingBooks::can_keep_promise(const JobState& job) const {
  return policy::slack_s(*this, {.job = &job, .alone_slowdown = alone_slowdown(job)}).has_value();
}

bool SharingBooks::stands(const Observation& observation) const {
  const Tenants::Group& group = tenants().group(observation.group);
  return group.locked && group.jobs == observation.jobs;
}

bool SharingBooks::complete(const Observation& observation) const {
  return std::ranges::none_of(observation.slowdowns, [](double s) { return s == 0; });
}

bool SharingBooks::shares_elsewhere(JobId job, GroupId group) const {
  return std::ranges::any_of(tenants().groups_of(job), [&](GroupId other) {
    return other != group && tenants().group(other).jobs.size() > 1;
  });
}

void SharingBooks::learn(const Observation& observation) {
  const Tenants::Group& group = tenants().group(observation.group);
  // A job is as slow as on its slowest GPUs, which may be in another group.
  const bool blurred = std::ranges::any_of(
      group.jobs, [&](JobId job) { return shares_elsewhere(job, observation.group); });
  if (blurred) return;
  std::vector<model::AppId> apps;
  for (const JobId job : observation.jobs) apps.push_back(this->job(job).request.app);
  const uint32_t gpu_model = tenants().kind(group.kind).gpu_model;
  memory_.observed(knowledge_->gpu_types[gpu_model], apps, observation.slowdowns);
}

void SharingBooks::settle(Tenants& tenants) {
  std::vector<Observation> over;
  std::vector<Observation> going_on;
  for (Observation& each : observations_) {
    const bool goes_on = stands(each) && !complete(each) && each.until_ns > now_;
    (goes_on ? going_on : over).push_back(std::move(each));
  }
  observations_ = std::move(going_on);
  for (const Observation& each : over) {
    const bool measured = stands(each) && complete(each);
    if (measured) learn(each);
    const bool still_locked =
        std::ranges::find(observations_, each.group, &Observation::group) != observations_.end();
    if (still_locked || tenants.group(each.group).jobs.empty()) continue;
    tenants.set_locked(each.group, false);
    (measured ? due_observed_ : due_).insert(each.group);
    uncapped_.insert(each.group);
  }
}

std::optional<SharingBooks::Leaver> SharingBooks::next_to_leave() {
  for (std::set<GroupId>* due : {&due_observed_, &due_}) {
    while (!due->empty()) {
      const GroupId id = *due->begin();
      const Tenants::Group& group = tenants().group(id);
      if (group.jobs.size() >= 2 && !group.locked) {
        if (const auto leaves = sharing_.review(*this, id, due == &due_observed_)) {
          Leaver leaver{*leaves, group.jobs};
          std::erase(leaver.beside, *leaves);
          std::ranges::sort(leaver.beside);
          return leaver;
        }
      }
      due->erase(due->begin());
    }
  }
  return {};
}

void SharingBooks::undone(const Leaver& leaver) {
  ++num_undone_;
  memory_.undone(leaver.job, leaver.beside, now_);
}

std::vector<JobId> SharingBooks::partners(JobId job) const {
  std::set<JobId> all;
  for (const GroupId group : tenants().groups_of(job)) {
    all.insert(tenants().group(group).jobs.begin(), tenants().group(group).jobs.end());
  }
  all.erase(job);
  return {all.begin(), all.end()};
}

void SharingBooks::choose_caps(Tenants& tenants, std::vector<Action>& actions) {
  if (!sharing_.caps_power()) return;
  if (std::exchange(waited_, someone_waits()) != someone_waits()) uncap_all();
  for (const GroupId id : std::exchange(uncapped_, {})) {
    const Tenants::Group& group = tenants.group(id);
    if (group.jobs.empty() || group.locked) continue;
    tenants.set_cap(id, sharing_.choose_cap(*this, id));
  }
  // Limits also change when groups end or merge.
  for (const GpuId gpu : tenants.take_recapped()) {
    const int8_t cap = tenants.cap_of(gpu);
    if (std::exchange(caps_[gpu.index()], cap) == cap) continue;
    actions.push_back({.kind = ActionKind::Cap, .cap = cap, .gpu = gpu});
  }
}

void SharingBooks::reviewed(Tenants& tenants) {
  due_.clear();
  due_observed_.clear();
  uncapped_.clear();
  if (!sharing_.caps_power()) return;
  waited_ = someone_waits();
  // The recorded decision has no action for a limit that did not change.
  for (size_t gpu = 0; gpu < caps_.size(); ++gpu) {
    const GroupId group = tenants.group_of(GpuId(gpu));
    if (group.valid()) tenants.set_cap(group, caps_[gpu]);
  }
  (void)tenants.take_recapped();
}

void SharingBooks::review_all() {
  for (const Running& running : state_.running()) {
    const auto groups = tenants().groups_of(state_.job(running.slot).job);
    due_.insert(groups.begin(), groups.end());
  }
  uncap_all();
}

void SharingBooks::uncap_all() {
  for (const Running& running : state_.running()) {
    const auto groups = tenants().groups_of(state_.job(running.slot).job);
    uncapped_.insert(groups.begin(), groups.end());
  }
}

TimeNs SharingBooks::next_deadline_ns() const {
  TimeNs next = base::kNever;
  for (const Observation& each : observations_) next = std::min(next, each.until_ns);
  return next;
}

}  // namespace goban::core::scheduler
