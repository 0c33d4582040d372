#include "live/controller/decision_core.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/sha256.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/controller/core_image_json.hpp"
#include "live/controller/id_fields.hpp"
#include "live/controller/input_checks.hpp"
#include "live/controller/part_types.hpp"
#include "live/controller/site_change.hpp"

namespace goban::live::controller {

using base::Result;
using base::Status;
using core::model::ActionKind;
using core::model::EventKind;
using nlohmann::json;

namespace {

/// The first one stays, too: the applications know its knowledge.
constexpr size_t kFormerMax = 16;

constexpr std::array<const char*, 7> kActionNames = {"start", "preempt", "abandon", "observe",
                                                     "cap",   "rest",    "wake"};

json action_json(const core::model::Action& action, const core::scheduler::Core& core) {
  json out{{"do", kActionNames[static_cast<size_t>(action.kind)]}};
  switch (action.kind) {
    case ActionKind::Start: {
      const core::model::Allocation& allocation = core.allocation(action.job);
      out["job"] = action.job.value;
      out["gpus"] = numbers_of(allocation.gpus);
      if (!allocation.hosts.empty()) out["hosts"] = numbers_of(allocation.hosts);
      if (allocation.reason.prediction != 0) out["beside"] = allocation.reason.prediction;
      break;
    }
    case ActionKind::Preempt:
      out["job"] = action.job.value;
      if (action.undo) out["undo"] = true;
      if (action.move) out["move"] = true;
      if (action.resize) out["resize"] = true;
      break;
    case ActionKind::Abandon:
      out["job"] = action.job.value;
      break;
    case ActionKind::Observe:
      out["job"] = action.job.value;
      out["until"] = action.until_ns;
      break;
    case ActionKind::Cap:
      out["gpu"] = action.gpu.value;
      out["cap"] = action.cap;
      break;
    case ActionKind::Rest:
    case ActionKind::Wake:
      out["node"] = action.node.value;
      break;
  }
  return out;
}

void read_action(base::FieldReader& in, RecordedDecision& decision) {
  constexpr uint8_t kLevelMax = std::numeric_limits<uint8_t>::max();
  std::string name;
  in.field("do", name);
  const auto found = std::ranges::find(kActionNames, name);
  if (found == kActionNames.end())
    return in.fail("do", "unknown action; this journal was written by a newer release");
  core::model::Action& action = decision.actions.emplace_back();
  action.kind = static_cast<ActionKind>(found - kActionNames.begin());
  switch (action.kind) {
    case ActionKind::Start: {
      read_id(in, "job", action.job);
      core::model::Allocation& allocation = decision.allocations.emplace_back();
      read_ids(in, "gpus", allocation.gpus);
      read_ids(in, "hosts", allocation.hosts);
      in.field("beside", allocation.reason.prediction, uint8_t{0}, kLevelMax);
      break;
    }
    case ActionKind::Preempt:
      read_id(in, "job", action.job);
      in.field("undo", action.undo);
      in.field("move", action.move);
      in.field("resize", action.resize);
      break;
    case ActionKind::Abandon:
      read_id(in, "job", action.job);
      break;
    case ActionKind::Observe:
      read_id(in, "job", action.job);
      in.field("until", action.until_ns, TimeNs{0}, base::kNever);
      break;
    case ActionKind::Cap:
      read_id(in, "gpu", action.gpu);
      in.field("cap", action.cap, int8_t{-1}, std::numeric_limits<int8_t>::max());
      break;
    case ActionKind::Rest:
    case ActionKind::Wake:
      read_id(in, "node", action.node);
      break;
  }
}

/// The line of the decision that `core` made last.
std::string decision_text(const core::scheduler::Decision& decision,
                          const core::scheduler::Core& core) {
  json actions = json::array();
  for (const core::model::Action& action : decision.actions) {
    actions.push_back(action_json(action, core));
  }
  return json{{"decided", {{"at", decision.at_ns}, {"actions", std::move(actions)}}}}.dump();
}

}  // namespace

Result<RecordedDecision> parse_decision(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return base::bad_data({}, "a decision of the journal is not valid JSON");
  base::FieldReader in(document, "");
  RecordedDecision decision;
  in.object("decided", [&](base::FieldReader& part) {
    part.field("at", decision.at_ns, TimeNs{0}, base::kNever);
    part.list("actions", [&](base::FieldReader& each) { read_action(each, decision); });
  });
  if (auto status = in.status(); !status) return base::failure(status.error());
  return decision;
}

DecisionCore::DecisionCore(Site site, const core::model::ReportedProgress& progress)
    : progress_(progress),
      site_(std::make_shared<Site>(std::move(site))),
      configured_policy_(site_->composition),
      configured_scores_(base::hex(base::sha256(core::knowledge::to_csv(site_->scores)))),
      models_(site_->models),
      applications_(site_->knowledge.get()) {
  make_core();
}

void DecisionCore::make_core() {
  const core::policy::SpeedModel speed{
      .cluster = &site_->cluster, .scores = &site_->scores, .penalties = &site_->penalties};
  const core::policy::RunContext context{
      .progress = &progress_,
      .knowledge = site_->knowledge,
      .speeds = site_->speeds,
      .resize_cost_s = site_->composition.settings.restart_cost_s};
  core::policy::PolicySet policies = site_->composition.make(context);
  caps_power_ = policies.sharing->caps_power();
  core_ = std::make_unique<core::scheduler::Core>(speed, std::move(policies), context, site_->seed);
}

void DecisionCore::make_core_of(const core::scheduler::CoreImage& image) {
  make_core();
  const Status restored = core_->restore(image);
  GOBAN_CHECK(restored.has_value(), "a core refuses its own image");
}

DecisionCore::Actions DecisionCore::apply(const core::model::Event& event) {
  const std::span<const core::model::Action> forced = core_->apply(event);
  return {forced.begin(), forced.end()};
}

core::model::JobRequest DecisionCore::request_for(const LiveJob& job, TimeNs at) const {
  const job::JobSpec& spec = job.spec;
  // The number that an unknown name would get.
  const auto number = [](const base::NameTable& names, const std::string& name) {
    return names.find(name, static_cast<uint32_t>(names.size()));
  };
  core::model::JobRequest request;
  request.submit_ns = at;
  request.walltime_limit_ns = spec.walltime_limit_ns;
  request.num_gpus = spec.num_gpus;
  request.priority = spec.priority;
  request.instances = spec.instances;
  request.stays = !spec.preemptible && spec.stop.signal == 0;
  if (!spec.model.empty()) request.model = core::model::ModelId(number(models_, spec.model));
  request.user = core::model::UserId(number(site_->users, job::full_name(spec.owner)));
  if (!spec.account.empty()) {
    request.account = core::model::AccountId(number(site_->accounts, spec.account));
  }
  if (!spec.partition.empty()) {
    request.partition = core::model::PartitionId(number(site_->partitions, spec.partition));
  }
  if (!spec.qos.empty()) request.qos = core::model::QosId(number(site_->qos, spec.qos));
  if (spec.array_first.valid()) request.array = core::model::ArrayId(spec.array_first.value);
  if (!spec.resource_type.empty()) {
    request.resource_type = site_->cluster.find_resource_type(spec.resource_type);
  } else if (!job.engine_id.empty()) {
    request.resource_type = requested_part_type(spec, site_->cluster);
  }
  request.app_class = job::class_of(spec);
  request.reservation = job.reservation;
  return request;
}

DecisionCore::Actions DecisionCore::submit(const LiveJob& job, TimeNs at) {
  const job::JobSpec& spec = job.spec;
  const auto learn = [](base::NameTable& names, const std::string& name) {
    if (!name.empty()) names.intern(name);
  };
  learn(models_, spec.model);
  site_->users.intern(job::full_name(spec.owner));
  learn(site_->accounts, spec.account);
  learn(site_->partitions, spec.partition);
  learn(site_->qos, spec.qos);
  core::model::JobRequest request = request_for(job, at);
  request.app = applications_.of(spec);
  // A deadline is relative to the submission, however often the job was requeued since.
  core::model::TrainingFacts training = spec.training;
  if (training.deadline_ns >= 0) {
    training.deadline_ns = std::max<TimeNs>(training.deadline_ns - (at - job.submit_ns), 0);
  }
  return apply({.kind = EventKind::JobSubmitted,
                .at_ns = at,
                .job = job.job,
                .request = &request,
                .array = {.max_running = spec.array_limit},
                .training = &training,
                .forecast = job.expected.known() ? job.expected : job.predicted.run});
}

std::string DecisionCore::decide(TimeNs at) { return decision_text(core_->decide(at), *core_); }

void DecisionCore::fill_reason(JobId job, core::model::Allocation& allocation) const {
  const bool known = knows(job) && std::ranges::all_of(allocation.gpus, [&](GpuId gpu) {
                       return gpu.value < site_->cluster.num_gpus();
                     });
  if (!known || allocation.gpus.empty()) return;
  core::model::PlacementReason& reason = allocation.reason;
  reason.level = static_cast<uint8_t>(site_->cluster.span_level(allocation.gpus));
  reason.product = state().speed().slowdown(request_of(job), allocation.gpus);
}

Result<bool> DecisionCore::redo(RecordedDecision recorded, std::string_view decided, TimeNs at,
                                bool compare) {
  if (compare) {
    const core::scheduler::CoreImage image = core_->image();
    if (decide(at) == decided) return true;
    make_core();
    if (auto status = core_->restore(image); !status) return base::failure(status.error());
  }
  size_t starts = 0;
  for (const core::model::Action& action : recorded.actions) {
    if (action.kind != ActionKind::Start) continue;
    fill_reason(action.job, recorded.allocations[starts++]);
  }
  if (auto status = core_->redo(at, recorded.actions, recorded.allocations); !status) {
    return base::failure(status.error());
  }
  return !compare;
}

bool DecisionCore::has_waiting(JobId job) const {
  return knows(job) && state().job(state().slot_of(job)).phase != core::model::JobPhase::Running;
}

std::vector<JobId> DecisionCore::neighbours_of(JobId job) const {
  std::vector<JobId> found;
  if (core_->tenants() == nullptr) return found;
  const auto& gpus = core_->allocation(job).gpus;
  for (const auto& running : state().running()) {
    const JobId other = state().job(running.slot).job;
    const bool is_beside = std::ranges::any_of(running.allocation.gpus, [&](GpuId gpu) {
      return std::ranges::find(gpus, gpu) != gpus.end();
    });
    if (other != job && is_beside) found.push_back(other);
  }
  return found;
}

int8_t DecisionCore::cap_of(GpuId gpu) const {
  const core::model::Tenants* tenants = core_->tenants();
  return tenants != nullptr && caps_power_ ? tenants->cap_of(gpu) : int8_t{-1};
}

const core::model::JobRequest& DecisionCore::request_of(JobId job) const {
  return state().job(state().slot_of(job)).request;
}

Standing DecisionCore::standing_of(const LiveJob& job) const {
  const core::model::JobRequest& request = request_of(job.job);
  const bool capped = std::ranges::any_of(job.gpus, [this](GpuId gpu) { return cap_of(gpu) >= 0; });
  return {.app = request.app,
          .num_gpus = request.num_gpus,
          .slowdown = state().speed().slowdown(request, job.gpus),
          .alone = !has_neighbours(job.job) && !capped};
}

void DecisionCore::take(const ScoresMeasured& scores) {
  if (scores.instead_of != configured_scores_) return;
  auto read = core::knowledge::parse_scores(scores.table, "scores", site_->cluster.num_gpus());
  if (!read) return;
  // The core and its policies hold values derived from the old scores, so they are rebuilt.
  const core::scheduler::CoreImage image = core_->image();
  site_->scores = std::move(*read);
  measured_scores_ = scores.table;
  make_core_of(image);
}

Status DecisionCore::use_policy(const core::policy::Composition& policy) {
  const auto part_name = [](const core::policy::Composition& of) {
    return of.of_part ? of.of_part->name : std::string();
  };
  const core::policy::Composition& present = site_->composition;
  if (policy.name == present.name && policy.part_id == present.part_id &&
      part_name(policy) == part_name(present)) {
    return {};
  }
  const core::scheduler::CoreImage image = core_->image();
  core::policy::Composition former = std::exchange(site_->composition, policy);
  make_core();
  Status taken = core_->restore(image);
  if (taken) return {};
  // Jobs hold what this policy does not know, such as a GPU with others.
  site_->composition = std::move(former);
  make_core_of(image);
  return taken;
}

void DecisionCore::change_cluster(core::model::Cluster cluster,
                                  const core::scheduler::ClusterNumbers& numbers) {
  core::scheduler::CoreImage image = core_->image();
  auto made = std::make_shared<Site>(changed_site(*site_, std::move(cluster), numbers));
  if (!measured_scores_.empty()) measured_scores_ = core::knowledge::to_csv(made->scores);
  core::scheduler::renumber(image, numbers, made->cluster);
  // Clients may still read the cluster that they got before.
  former_.push_back(std::exchange(site_, std::move(made)));
  if (former_.size() > kFormerMax) former_.erase(former_.begin() + 1);
  make_core_of(image);
}

void DecisionCore::write(json& snapshot) const {
  snapshot["names"] = {{"models", names_of(models_)},
                       {"users", names_of(site_->users)},
                       {"accounts", names_of(site_->accounts)},
                       {"partitions", names_of(site_->partitions)},
                       {"qos", names_of(site_->qos)},
                       {"apps", names_of(applications_.names())},
                       {"gpu_types", names_of(applications_.gpu_types())}};
  if (!measured_scores_.empty()) {
    snapshot["scores"] = {{"table", measured_scores_}, {"instead_of", configured_scores_}};
  }
  snapshot["core"] = to_json(core_->image());
}

DecisionCore::Names DecisionCore::read_names(base::FieldReader& snapshot) {
  Names names;
  std::vector<std::string> apps;
  std::vector<std::string> gpu_types;
  snapshot.object("names", [&](base::FieldReader& part) {
    names.people.models = adopt_names<core::model::ModelId>(part, "models", models_);
    names.people.users = adopt_names<core::model::UserId>(part, "users", site_->users);
    names.people.accounts = adopt_names<core::model::AccountId>(part, "accounts", site_->accounts);
    names.people.partitions =
        adopt_names<core::model::PartitionId>(part, "partitions", site_->partitions);
    names.people.qos = adopt_names<core::model::QosId>(part, "qos", site_->qos);
    part.field("apps", apps);
    part.field("gpu_types", gpu_types);
  });
  names.applications = applications_.adopt(apps, gpu_types);
  return names;
}

Status DecisionCore::restore(base::FieldReader& snapshot, const Names& names) {
  ScoresMeasured scores;
  snapshot.object("scores", [&](base::FieldReader& part) {
    part.field("table", scores.table);
    part.field("instead_of", scores.instead_of);
  });
  const json* core = snapshot.find("core");
  if (auto status = snapshot.status(); !status) return status;
  if (!scores.table.empty()) {
    if (auto status = check_scores(scores, *site_); !status) return status;
    take(scores);
  }
  if (core == nullptr) return base::bad_data({}, "the snapshot contains no core state");
  auto image = parse_core_image(*core);
  if (!image) return base::failure(image.error());
  if (names.applications.is_needed()) {
    core::scheduler::renumber(*image, names.applications.apps, names.applications.gpu_types);
  }
  const core::scheduler::PeopleNumbers& people = names.people;
  const bool others = are_renumbered(people.users) || are_renumbered(people.accounts) ||
                      are_renumbered(people.partitions) || are_renumbered(people.qos) ||
                      are_renumbered(people.models);
  if (others) core::scheduler::renumber(*image, people);
  return core_->restore(*image);
}

}  // namespace goban::live::controller
