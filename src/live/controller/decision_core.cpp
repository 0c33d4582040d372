#include "live/controller/decision_core.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.hpp"
#include "base/sha256.hpp"
#include "core/knowledge/scores_file.hpp"
#include "live/controller/core_image_json.hpp"
#include "live/controller/input_checks.hpp"

namespace goban::live::controller {

using base::Result;
using base::Status;
using core::model::ActionKind;
using core::model::EventKind;
using nlohmann::json;

namespace {

json names_json(const base::NameTable& names) {
  json out = json::array();
  for (size_t i = 0; i < names.size(); ++i) out.push_back(names[i]);
  return out;
}

/// Adds the snapshot's names to those of the configuration. Returns their current ids.
template <typename Id>
std::vector<Id> adopt_names(base::FieldReader& in, const char* name, base::NameTable& names) {
  std::vector<std::string> of_snapshot;
  in.field(name, of_snapshot);
  std::vector<Id> numbers;
  for (const std::string& each : of_snapshot) numbers.emplace_back(names.intern(each));
  return numbers;
}

template <typename Id>
bool are_renumbered(const std::vector<Id>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].index() != i) return true;
  }
  return false;
}

}  // namespace

DecisionCore::DecisionCore(Site site, const core::model::ReportedProgress& progress)
    : progress_(progress),
      site_(std::move(site)),
      configured_scores_(base::hex(base::sha256(core::knowledge::to_csv(site_.scores)))),
      applications_(site_.knowledge.get()) {
  make_core();
}

void DecisionCore::make_core() {
  const core::policy::SpeedModel speed{
      .cluster = &site_.cluster, .scores = &site_.scores, .penalties = &site_.penalties};
  const core::policy::RunContext context{.progress = &progress_, .knowledge = site_.knowledge};
  core::policy::PolicySet policies = site_.composition.make(context);
  caps_power_ = policies.sharing->caps_power();
  core_ = std::make_unique<core::scheduler::Core>(speed, std::move(policies), context, site_.seed);
}

DecisionCore::Actions DecisionCore::apply(const core::model::Event& event) {
  const std::span<const core::model::Action> forced = core_->apply(event);
  return {forced.begin(), forced.end()};
}

DecisionCore::Actions DecisionCore::submit(const LiveJob& job, TimeNs at) {
  const job::JobSpec& spec = job.spec;
  core::model::JobRequest request;
  request.submit_ns = at;
  request.walltime_limit_ns = spec.walltime_limit_ns;
  request.num_gpus = spec.num_gpus;
  request.priority = spec.priority;
  request.instances = spec.instances;
  request.stays = !spec.preemptible && spec.stop.signal == 0;
  if (!spec.model.empty()) request.model = core::model::ModelId(models_.intern(spec.model));
  request.user = core::model::UserId(site_.users.intern(spec.owner.user));
  if (!spec.account.empty()) {
    request.account = core::model::AccountId(site_.accounts.intern(spec.account));
  }
  if (!spec.partition.empty()) {
    request.partition = core::model::PartitionId(site_.partitions.intern(spec.partition));
  }
  if (!spec.qos.empty()) request.qos = core::model::QosId(site_.qos.intern(spec.qos));
  if (spec.array_first.valid()) request.array = core::model::ArrayId(spec.array_first.value);
  if (!spec.resource_type.empty()) {
    request.resource_type = site_.cluster.find_resource_type(spec.resource_type);
  }
  request.app_class = job::class_of(spec);
  request.reservation = job.reservation;
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
                .training = &training});
}

std::string DecisionCore::decide(TimeNs at) { return decision_text(core_->decide(at), *core_); }

void DecisionCore::fill_reason(JobId job, core::model::Allocation& allocation) const {
  const bool known = knows(job) && std::ranges::all_of(allocation.gpus, [&](GpuId gpu) {
                       return gpu.value < site_.cluster.num_gpus();
                     });
  if (!known || allocation.gpus.empty()) return;
  core::model::PlacementReason& reason = allocation.reason;
  reason.level = static_cast<uint8_t>(site_.cluster.span_level(allocation.gpus));
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

std::vector<JobId> DecisionCore::take_disturbed() { return core_->take_disturbed(); }

bool DecisionCore::has_waiting(JobId job) const {
  return knows(job) && state().job(state().slot_of(job)).phase != core::model::JobPhase::Running;
}

bool DecisionCore::has_neighbours(JobId job) const {
  if (core_->tenants() == nullptr) return false;
  const auto& gpus = core_->allocation(job).gpus;
  return std::ranges::any_of(state().running(), [&](const auto& running) {
    if (state().job(running.slot).job == job) return false;
    return std::ranges::any_of(running.allocation.gpus, [&](GpuId gpu) {
      return std::ranges::find(gpus, gpu) != gpus.end();
    });
  });
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
  auto read = core::knowledge::parse_scores(scores.table, "scores", site_.cluster.num_gpus());
  if (!read) return;
  // The core and its policies hold values derived from the old scores, so they are rebuilt.
  const core::scheduler::CoreImage image = core_->image();
  site_.scores = std::move(*read);
  measured_scores_ = scores.table;
  make_core();
  const Status restored = core_->restore(image);
  GOBAN_CHECK(restored.has_value(), "a core refuses its own image");
}

void DecisionCore::write(json& snapshot) const {
  snapshot["names"] = {{"models", names_json(models_)},
                       {"users", names_json(site_.users)},
                       {"accounts", names_json(site_.accounts)},
                       {"partitions", names_json(site_.partitions)},
                       {"qos", names_json(site_.qos)},
                       {"apps", names_json(applications_.names())},
                       {"gpu_types", names_json(applications_.gpu_types())}};
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
    (void)adopt_names<core::model::ModelId>(part, "models", models_);
    names.people.users = adopt_names<core::model::UserId>(part, "users", site_.users);
    names.people.accounts = adopt_names<core::model::AccountId>(part, "accounts", site_.accounts);
    names.people.partitions =
        adopt_names<core::model::PartitionId>(part, "partitions", site_.partitions);
    names.people.qos = adopt_names<core::model::QosId>(part, "qos", site_.qos);
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
    if (auto status = check_scores(scores, site_); !status) return status;
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
                      are_renumbered(people.partitions) || are_renumbered(people.qos);
  if (others) core::scheduler::renumber(*image, people);
  return core_->restore(*image);
}

}  // namespace goban::live::controller
