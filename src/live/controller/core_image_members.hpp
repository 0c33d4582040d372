// The fields of the core's state in snapshots: the members of each struct by name. Reading and
// writing use the same list.
#pragma once

#include <tuple>

#include "live/controller/core_image_json.hpp"

namespace goban::live::controller::core_image {

using core::model::Allocation;
using core::model::JobRequest;
using core::model::JobState;
using core::model::PlacementReason;
using core::model::Tenants;
using core::model::TrainingFacts;
using core::policy::SharingMemory;
using core::scheduler::Accounts;
using core::scheduler::CoreImage;
using core::scheduler::NodePower;
using core::scheduler::PromisedNodes;
using core::scheduler::SharingBooks;

/// A member and the name of its field.
template <typename Struct, typename T>
struct Member {
  const char* name;
  T Struct::* at;
};
template <typename Struct, typename T>
Member(const char*, T Struct::*) -> Member<Struct, T>;

constexpr auto members_of(const JobRequest*) {
  return std::tuple(
      Member{"submit_ns", &JobRequest::submit_ns},
      Member{"walltime_limit_ns", &JobRequest::walltime_limit_ns},
      Member{"num_gpus", &JobRequest::num_gpus}, Member{"priority", &JobRequest::priority},
      Member{"stays", &JobRequest::stays}, Member{"instances", &JobRequest::instances},
      Member{"model", &JobRequest::model}, Member{"user", &JobRequest::user},
      Member{"account", &JobRequest::account}, Member{"partition", &JobRequest::partition},
      Member{"qos", &JobRequest::qos}, Member{"array", &JobRequest::array},
      Member{"resource_type", &JobRequest::resource_type},
      Member{"app_class", &JobRequest::app_class}, Member{"app", &JobRequest::app},
      Member{"reservation", &JobRequest::reservation});
}
constexpr auto members_of(const TrainingFacts*) {
  return std::tuple(
      Member{"deadline_ns", &TrainingFacts::deadline_ns},
      Member{"gpu_mem_bytes", &TrainingFacts::gpu_mem_bytes},
      Member{"gpu_util_pct", &TrainingFacts::gpu_util_pct},
      Member{"epochs", &TrainingFacts::epochs}, Member{"batch_size", &TrainingFacts::batch_size},
      Member{"max_slowdown", &TrainingFacts::max_slowdown},
      Member{"max_wait_ns", &TrainingFacts::max_wait_ns},
      Member{"sharing", &TrainingFacts::sharing}, Member{"gpus_min", &TrainingFacts::gpus_min},
      Member{"gpus_max", &TrainingFacts::gpus_max}, Member{"steps", &TrainingFacts::steps},
      Member{"resize_cost_ns", &TrainingFacts::resize_cost_ns});
}
constexpr auto members_of(const core::model::RunForecast*) {
  using Forecast = core::model::RunForecast;
  return std::tuple(Member{"p10_ns", &Forecast::p10_ns}, Member{"p50_ns", &Forecast::p50_ns},
                    Member{"p90_ns", &Forecast::p90_ns});
}
constexpr auto members_of(const core::scheduler::HeadPromise*) {
  using Promise = core::scheduler::HeadPromise;
  return std::tuple(Member{"job", &Promise::job}, Member{"at_ns", &Promise::at_ns});
}
constexpr auto members_of(const JobState*) {
  return std::tuple(
      Member{"request", &JobState::request}, Member{"training", &JobState::training},
      Member{"forecast", &JobState::forecast}, Member{"job", &JobState::job},
      Member{"arrival", &JobState::arrival},
      Member{"attained_before_ns", &JobState::attained_before_ns},
      Member{"run_start_ns", &JobState::run_start_ns},
      Member{"waiting_since_ns", &JobState::waiting_since_ns},
      Member{"predicted_end_ns", &JobState::predicted_end_ns},
      Member{"running_slot", &JobState::running_slot}, Member{"starts", &JobState::starts},
      Member{"association", &JobState::association}, Member{"phase", &JobState::phase},
      Member{"promoted", &JobState::promoted}, Member{"steps_done", &JobState::steps_done});
}
constexpr auto members_of(const core::policy::OrderKey*) {
  return std::tuple(Member{"tier", &core::policy::OrderKey::tier},
                    Member{"arrival", &core::policy::OrderKey::arrival},
                    Member{"metric", &core::policy::OrderKey::metric});
}
constexpr auto members_of(const PlacementReason*) {
  return std::tuple(Member{"level", &PlacementReason::level},
                    Member{"bin_value", &PlacementReason::bin_value},
                    Member{"product", &PlacementReason::product},
                    Member{"prediction", &PlacementReason::prediction});
}
constexpr auto members_of(const Allocation*) {
  return std::tuple(Member{"gpus", &Allocation::gpus}, Member{"hosts", &Allocation::hosts},
                    Member{"reason", &Allocation::reason});
}
constexpr auto members_of(const CoreImage::Job*) {
  using Job = CoreImage::Job;
  return std::tuple(Member{"slot", &Job::slot}, Member{"state", &Job::state},
                    Member{"queue_key", &Job::queue_key}, Member{"shortest_ns", &Job::shortest_ns},
                    Member{"set_aside_at", &Job::set_aside_at},
                    Member{"last_gpus", &Job::last_gpus}, Member{"allocation", &Job::allocation});
}
constexpr auto members_of(const CoreImage::Array*) {
  return std::tuple(
      Member{"array", &CoreImage::Array::array}, Member{"active", &CoreImage::Array::active},
      Member{"surplus", &CoreImage::Array::surplus}, Member{"held", &CoreImage::Array::held});
}
constexpr auto members_of(const CoreImage::Waiter*) {
  return std::tuple(Member{"since_ns", &CoreImage::Waiter::since_ns},
                    Member{"job", &CoreImage::Waiter::job});
}
constexpr auto members_of(const core::model::HostResources*) {
  using Host = core::model::HostResources;
  return std::tuple(Member{"cores", &Host::cores}, Member{"mem_bytes", &Host::mem_bytes},
                    Member{"ssd_bytes", &Host::ssd_bytes});
}
constexpr auto members_of(const core::model::HostPart*) {
  using Part = core::model::HostPart;
  return std::tuple(Member{"node", &Part::node}, Member{"host", &Part::host});
}
constexpr auto members_of(const core::model::FoundAllocation*) {
  using Found = core::model::FoundAllocation;
  return std::tuple(Member{"gpus", &Found::gpus}, Member{"hosts", &Found::hosts},
                    Member{"until_ns", &Found::until_ns});
}
constexpr auto members_of(const CoreImage::Found*) {
  using Found = CoreImage::Found;
  return std::tuple(Member{"job", &Found::job}, Member{"gpu", &Found::gpu},
                    Member{"held", &Found::held});
}
constexpr auto members_of(const CoreImage::Node*) {
  return std::tuple(Member{"is_open", &CoreImage::Node::is_open},
                    Member{"usable_until_ns", &CoreImage::Node::usable_until_ns});
}
constexpr auto members_of(const PromisedNodes::Promise*) {
  using Promise = PromisedNodes::Promise;
  return std::tuple(Member{"reservation", &Promise::reservation},
                    Member{"start_ns", &Promise::start_ns}, Member{"end_ns", &Promise::end_ns},
                    Member{"nodes", &Promise::nodes});
}
constexpr auto members_of(const Accounts::Usage*) {
  return std::tuple(Member{"account", &Accounts::Usage::account},
                    Member{"user", &Accounts::Usage::user},
                    Member{"usage_gpu_s", &Accounts::Usage::usage_gpu_s},
                    Member{"at_ns", &Accounts::Usage::at_ns});
}
constexpr auto members_of(const Accounts::Usages*) {
  return std::tuple(Member{"associations", &Accounts::Usages::associations},
                    Member{"accounts", &Accounts::Usages::accounts});
}
constexpr auto members_of(const NodePower::Image*) {
  return std::tuple(Member{"states", &NodePower::Image::states},
                    Member{"due_ns", &NodePower::Image::due_ns});
}
constexpr auto members_of(const core::model::TenantTraits*) {
  using Traits = core::model::TenantTraits;
  return std::tuple(Member{"app", &Traits::app}, Member{"util_pct", &Traits::util_pct},
                    Member{"mem_bytes", &Traits::mem_bytes}, Member{"sharing", &Traits::sharing});
}
constexpr auto members_of(const Tenants::Group*) {
  using Group = Tenants::Group;
  return std::tuple(
      Member{"jobs", &Group::jobs}, Member{"traits", &Group::traits}, Member{"gpus", &Group::gpus},
      Member{"kind", &Group::kind}, Member{"cap", &Group::cap}, Member{"locked", &Group::locked},
      Member{"place_in_kind", &Group::place_in_kind}, Member{"changed_ns", &Group::changed_ns});
}
constexpr auto members_of(const Tenants::Kind*) {
  using Kind = Tenants::Kind;
  return std::tuple(Member{"gpu_model", &Kind::gpu_model}, Member{"num_gpus", &Kind::num_gpus},
                    Member{"one_node", &Kind::one_node}, Member{"traits", &Kind::traits},
                    Member{"groups", &Kind::groups}, Member{"place_in_size", &Kind::place_in_size});
}
constexpr auto members_of(const Tenants::Image*) {
  using Image = Tenants::Image;
  return std::tuple(Member{"traits", &Image::traits}, Member{"groups", &Image::groups},
                    Member{"free_groups", &Image::free_groups}, Member{"kinds", &Image::kinds},
                    Member{"free_kinds", &Image::free_kinds},
                    Member{"kinds_by_size", &Image::kinds_by_size},
                    Member{"groups_of_jobs", &Image::groups_of_jobs},
                    Member{"changed", &Image::changed}, Member{"recapped", &Image::recapped});
}
constexpr auto members_of(const core::knowledge::MeasuredSet*) {
  using Set = core::knowledge::MeasuredSet;  // the source is not stored: it is the scheduler itself
  return std::tuple(Member{"gpu_type", &Set::gpu_type}, Member{"size", &Set::size},
                    Member{"never", &Set::never}, Member{"apps", &Set::apps},
                    Member{"slowdown", &Set::slowdown}, Member{"samples", &Set::samples},
                    Member{"rel_std", &Set::rel_std}, Member{"util_pct", &Set::util_pct},
                    Member{"power_w", &Set::power_w}, Member{"mem_bytes", &Set::mem_bytes});
}
constexpr auto members_of(const SharingMemory::Tried*) {
  using Tried = SharingMemory::Tried;
  return std::tuple(Member{"alone", &Tried::alone}, Member{"last_ns", &Tried::last_ns},
                    Member{"sets", &Tried::sets});
}
constexpr auto members_of(const SharingMemory::Image*) {
  using Image = SharingMemory::Image;
  return std::tuple(Member{"learned", &Image::learned}, Member{"tried", &Image::tried},
                    Member{"broken", &Image::broken});
}
constexpr auto members_of(const SharingBooks::Observation*) {
  using Observation = SharingBooks::Observation;
  return std::tuple(Member{"group", &Observation::group}, Member{"jobs", &Observation::jobs},
                    Member{"slowdowns", &Observation::slowdowns},
                    Member{"until_ns", &Observation::until_ns},
                    Member{"announced", &Observation::announced});
}
constexpr auto members_of(const core::model::Breakage*) {
  using Breakage = core::model::Breakage;
  return std::tuple(Member{"at_ns", &Breakage::at_ns}, Member{"job", &Breakage::job},
                    Member{"beside", &Breakage::beside},
                    Member{"out_of_memory", &Breakage::out_of_memory});
}
constexpr auto members_of(const SharingBooks::Image*) {
  using Image = SharingBooks::Image;
  return std::tuple(Member{"now_ns", &Image::now_ns}, Member{"memory", &Image::memory},
                    Member{"observations", &Image::observations}, Member{"broken", &Image::broken},
                    Member{"due", &Image::due}, Member{"due_observed", &Image::due_observed},
                    Member{"uncapped", &Image::uncapped}, Member{"waited", &Image::waited},
                    Member{"caps", &Image::caps}, Member{"num_undone", &Image::num_undone});
}
constexpr auto members_of(const CoreImage*) {
  return std::tuple(
      Member{"policy", &CoreImage::policy}, Member{"part_policy", &CoreImage::part_policy},
      Member{"part_forecasts", &CoreImage::part_forecasts},
      Member{"part_promise", &CoreImage::part_promise}, Member{"jobs", &CoreImage::jobs},
      Member{"free_slots", &CoreImage::free_slots}, Member{"arrays", &CoreImage::arrays},
      Member{"waiters", &CoreImage::waiters}, Member{"arrivals", &CoreImage::arrivals},
      Member{"forecasts", &CoreImage::forecasts}, Member{"head_promise", &CoreImage::head_promise},
      Member{"usages", &CoreImage::usages}, Member{"fair_share", &CoreImage::fair_share},
      Member{"resort_due_ns", &CoreImage::resort_due_ns}, Member{"nodes", &CoreImage::nodes},
      Member{"promises", &CoreImage::promises}, Member{"found", &CoreImage::found},
      Member{"num_gpus", &CoreImage::num_gpus}, Member{"node_power", &CoreImage::node_power},
      Member{"tenants", &CoreImage::tenants}, Member{"sharing", &CoreImage::sharing},
      Member{"disturbed", &CoreImage::disturbed},
      Member{"next_review_ns", &CoreImage::next_review_ns},
      Member{"next_migration_ns", &CoreImage::next_migration_ns},
      Member{"decided_at_ns", &CoreImage::decided_at_ns});
}

}  // namespace goban::live::controller::core_image
