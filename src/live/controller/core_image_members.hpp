// The fields of the core's state in snapshots: the members of each struct by name. Reading and
// writing use the same list.
#pragma once

#include <tuple>

#include "live/controller/core_image_json.hpp"

namespace goban::live::controller {

/// A member and the name of its field.
template <typename Struct, typename T>
struct Member {
  const char* name;
  T Struct::* at;
};
template <typename Struct, typename T>
Member(const char*, T Struct::*) -> Member<Struct, T>;

constexpr auto members_of(const core::model::JobRequest*) {
  return std::tuple(Member{"submit_ns", &core::model::JobRequest::submit_ns},
                    Member{"walltime_limit_ns", &core::model::JobRequest::walltime_limit_ns},
                    Member{"num_gpus", &core::model::JobRequest::num_gpus},
                    Member{"priority", &core::model::JobRequest::priority},
                    Member{"stays", &core::model::JobRequest::stays},
                    Member{"instances", &core::model::JobRequest::instances},
                    Member{"model", &core::model::JobRequest::model},
                    Member{"user", &core::model::JobRequest::user},
                    Member{"account", &core::model::JobRequest::account},
                    Member{"partition", &core::model::JobRequest::partition},
                    Member{"qos", &core::model::JobRequest::qos},
                    Member{"array", &core::model::JobRequest::array},
                    Member{"resource_type", &core::model::JobRequest::resource_type},
                    Member{"app_class", &core::model::JobRequest::app_class},
                    Member{"app", &core::model::JobRequest::app},
                    Member{"reservation", &core::model::JobRequest::reservation});
}
constexpr auto members_of(const core::model::TrainingFacts*) {
  return std::tuple(Member{"deadline_ns", &core::model::TrainingFacts::deadline_ns},
                    Member{"gpu_mem_bytes", &core::model::TrainingFacts::gpu_mem_bytes},
                    Member{"gpu_util_pct", &core::model::TrainingFacts::gpu_util_pct},
                    Member{"epochs", &core::model::TrainingFacts::epochs},
                    Member{"batch_size", &core::model::TrainingFacts::batch_size},
                    Member{"max_slowdown", &core::model::TrainingFacts::max_slowdown},
                    Member{"max_wait_ns", &core::model::TrainingFacts::max_wait_ns},
                    Member{"sharing", &core::model::TrainingFacts::sharing},
                    Member{"gpus_min", &core::model::TrainingFacts::gpus_min},
                    Member{"gpus_max", &core::model::TrainingFacts::gpus_max},
                    Member{"steps", &core::model::TrainingFacts::steps},
                    Member{"resize_cost_ns", &core::model::TrainingFacts::resize_cost_ns});
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
constexpr auto members_of(const core::model::JobState*) {
  return std::tuple(Member{"request", &core::model::JobState::request},
                    Member{"training", &core::model::JobState::training},
                    Member{"forecast", &core::model::JobState::forecast},
                    Member{"job", &core::model::JobState::job},
                    Member{"arrival", &core::model::JobState::arrival},
                    Member{"attained_before_ns", &core::model::JobState::attained_before_ns},
                    Member{"run_start_ns", &core::model::JobState::run_start_ns},
                    Member{"waiting_since_ns", &core::model::JobState::waiting_since_ns},
                    Member{"predicted_end_ns", &core::model::JobState::predicted_end_ns},
                    Member{"running_slot", &core::model::JobState::running_slot},
                    Member{"starts", &core::model::JobState::starts},
                    Member{"association", &core::model::JobState::association},
                    Member{"phase", &core::model::JobState::phase},
                    Member{"promoted", &core::model::JobState::promoted},
                    Member{"steps_done", &core::model::JobState::steps_done});
}
constexpr auto members_of(const core::policy::OrderKey*) {
  return std::tuple(Member{"tier", &core::policy::OrderKey::tier},
                    Member{"arrival", &core::policy::OrderKey::arrival},
                    Member{"metric", &core::policy::OrderKey::metric});
}
constexpr auto members_of(const core::model::PlacementReason*) {
  return std::tuple(Member{"level", &core::model::PlacementReason::level},
                    Member{"bin_value", &core::model::PlacementReason::bin_value},
                    Member{"product", &core::model::PlacementReason::product},
                    Member{"prediction", &core::model::PlacementReason::prediction});
}
constexpr auto members_of(const core::model::Allocation*) {
  return std::tuple(Member{"gpus", &core::model::Allocation::gpus},
                    Member{"hosts", &core::model::Allocation::hosts},
                    Member{"reason", &core::model::Allocation::reason});
}
constexpr auto members_of(const core::scheduler::CoreImage::Job*) {
  using Job = core::scheduler::CoreImage::Job;
  return std::tuple(Member{"slot", &Job::slot}, Member{"state", &Job::state},
                    Member{"queue_key", &Job::queue_key}, Member{"shortest_ns", &Job::shortest_ns},
                    Member{"set_aside_at", &Job::set_aside_at},
                    Member{"last_gpus", &Job::last_gpus}, Member{"allocation", &Job::allocation});
}
constexpr auto members_of(const core::scheduler::CoreImage::Array*) {
  return std::tuple(Member{"array", &core::scheduler::CoreImage::Array::array},
                    Member{"active", &core::scheduler::CoreImage::Array::active},
                    Member{"surplus", &core::scheduler::CoreImage::Array::surplus},
                    Member{"held", &core::scheduler::CoreImage::Array::held});
}
constexpr auto members_of(const core::scheduler::CoreImage::Waiter*) {
  return std::tuple(Member{"since_ns", &core::scheduler::CoreImage::Waiter::since_ns},
                    Member{"job", &core::scheduler::CoreImage::Waiter::job});
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
constexpr auto members_of(const core::scheduler::CoreImage::Found*) {
  using Found = core::scheduler::CoreImage::Found;
  return std::tuple(Member{"job", &Found::job}, Member{"gpu", &Found::gpu},
                    Member{"held", &Found::held});
}
constexpr auto members_of(const core::scheduler::CoreImage::Node*) {
  return std::tuple(Member{"is_open", &core::scheduler::CoreImage::Node::is_open},
                    Member{"usable_until_ns", &core::scheduler::CoreImage::Node::usable_until_ns});
}
constexpr auto members_of(const core::scheduler::PromisedNodes::Promise*) {
  using Promise = core::scheduler::PromisedNodes::Promise;
  return std::tuple(Member{"reservation", &Promise::reservation},
                    Member{"start_ns", &Promise::start_ns}, Member{"end_ns", &Promise::end_ns},
                    Member{"nodes", &Promise::nodes});
}
constexpr auto members_of(const core::scheduler::Accounts::Usage*) {
  return std::tuple(Member{"account", &core::scheduler::Accounts::Usage::account},
                    Member{"user", &core::scheduler::Accounts::Usage::user},
                    Member{"usage_gpu_s", &core::scheduler::Accounts::Usage::usage_gpu_s},
                    Member{"at_ns", &core::scheduler::Accounts::Usage::at_ns});
}
constexpr auto members_of(const core::scheduler::Accounts::Usages*) {
  return std::tuple(Member{"associations", &core::scheduler::Accounts::Usages::associations},
                    Member{"accounts", &core::scheduler::Accounts::Usages::accounts});
}
constexpr auto members_of(const core::scheduler::NodePower::Image*) {
  return std::tuple(Member{"states", &core::scheduler::NodePower::Image::states},
                    Member{"due_ns", &core::scheduler::NodePower::Image::due_ns});
}
constexpr auto members_of(const core::model::TenantTraits*) {
  using Traits = core::model::TenantTraits;
  return std::tuple(Member{"app", &Traits::app}, Member{"util_pct", &Traits::util_pct},
                    Member{"mem_bytes", &Traits::mem_bytes}, Member{"sharing", &Traits::sharing});
}
constexpr auto members_of(const core::model::Tenants::Group*) {
  using Group = core::model::Tenants::Group;
  return std::tuple(
      Member{"jobs", &Group::jobs}, Member{"traits", &Group::traits}, Member{"gpus", &Group::gpus},
      Member{"kind", &Group::kind}, Member{"cap", &Group::cap}, Member{"locked", &Group::locked},
      Member{"place_in_kind", &Group::place_in_kind}, Member{"changed_ns", &Group::changed_ns});
}
constexpr auto members_of(const core::model::Tenants::Kind*) {
  using Kind = core::model::Tenants::Kind;
  return std::tuple(Member{"gpu_model", &Kind::gpu_model}, Member{"num_gpus", &Kind::num_gpus},
                    Member{"one_node", &Kind::one_node}, Member{"traits", &Kind::traits},
                    Member{"groups", &Kind::groups}, Member{"place_in_size", &Kind::place_in_size});
}
constexpr auto members_of(const core::model::Tenants::Image*) {
  using Image = core::model::Tenants::Image;
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
constexpr auto members_of(const core::policy::SharingMemory::Tried*) {
  using Tried = core::policy::SharingMemory::Tried;
  return std::tuple(Member{"alone", &Tried::alone}, Member{"last_ns", &Tried::last_ns},
                    Member{"sets", &Tried::sets});
}
constexpr auto members_of(const core::policy::SharingMemory::Image*) {
  using Image = core::policy::SharingMemory::Image;
  return std::tuple(Member{"learned", &Image::learned}, Member{"tried", &Image::tried},
                    Member{"broken", &Image::broken});
}
constexpr auto members_of(const core::scheduler::SharingBooks::Observation*) {
  using Watched = core::scheduler::SharingBooks::Observation;
  return std::tuple(Member{"group", &Watched::group}, Member{"jobs", &Watched::jobs},
                    Member{"slowdowns", &Watched::slowdowns},
                    Member{"until_ns", &Watched::until_ns},
                    Member{"announced", &Watched::announced});
}
constexpr auto members_of(const core::model::Breakage*) {
  using Breakage = core::model::Breakage;
  return std::tuple(Member{"at_ns", &Breakage::at_ns}, Member{"job", &Breakage::job},
                    Member{"beside", &Breakage::beside},
                    Member{"out_of_memory", &Breakage::out_of_memory});
}
constexpr auto members_of(const core::scheduler::SharingBooks::Image*) {
  using Image = core::scheduler::SharingBooks::Image;
  return std::tuple(Member{"now_ns", &Image::now_ns}, Member{"memory", &Image::memory},
                    Member{"observations", &Image::observations}, Member{"broken", &Image::broken},
                    Member{"due", &Image::due}, Member{"due_observed", &Image::due_observed},
                    Member{"uncapped", &Image::uncapped}, Member{"waited", &Image::waited},
                    Member{"caps", &Image::caps}, Member{"num_undone", &Image::num_undone});
}
constexpr auto members_of(const core::scheduler::CoreImage*) {
  return std::tuple(Member{"policy", &core::scheduler::CoreImage::policy},
                    Member{"part_policy", &core::scheduler::CoreImage::part_policy},
                    Member{"part_forecasts", &core::scheduler::CoreImage::part_forecasts},
                    Member{"part_promise", &core::scheduler::CoreImage::part_promise},
                    Member{"jobs", &core::scheduler::CoreImage::jobs},
                    Member{"free_slots", &core::scheduler::CoreImage::free_slots},
                    Member{"arrays", &core::scheduler::CoreImage::arrays},
                    Member{"waiters", &core::scheduler::CoreImage::waiters},
                    Member{"arrivals", &core::scheduler::CoreImage::arrivals},
                    Member{"forecasts", &core::scheduler::CoreImage::forecasts},
                    Member{"head_promise", &core::scheduler::CoreImage::head_promise},
                    Member{"usages", &core::scheduler::CoreImage::usages},
                    Member{"fair_share", &core::scheduler::CoreImage::fair_share},
                    Member{"resort_due_ns", &core::scheduler::CoreImage::resort_due_ns},
                    Member{"nodes", &core::scheduler::CoreImage::nodes},
                    Member{"promises", &core::scheduler::CoreImage::promises},
                    Member{"found", &core::scheduler::CoreImage::found},
                    Member{"num_gpus", &core::scheduler::CoreImage::num_gpus},
                    Member{"node_power", &core::scheduler::CoreImage::node_power},
                    Member{"tenants", &core::scheduler::CoreImage::tenants},
                    Member{"sharing", &core::scheduler::CoreImage::sharing},
                    Member{"disturbed", &core::scheduler::CoreImage::disturbed},
                    Member{"next_review_ns", &core::scheduler::CoreImage::next_review_ns},
                    Member{"next_migration_ns", &core::scheduler::CoreImage::next_migration_ns},
                    Member{"decided_at_ns", &core::scheduler::CoreImage::decided_at_ns});
}

}  // namespace goban::live::controller
