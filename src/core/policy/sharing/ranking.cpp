#include "core/policy/sharing/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "core/policy/sharing/tenant_set.hpp"

namespace goban::core::policy {
namespace {

/// Sum of the utilisations alone; negative if one is unknown.
double joint_util_pct(const SharingView& view, const Tenants::Kind& kind) {
  double sum = 0;
  for (const model::TraitsId id : kind.traits) {
    const float util = view.tenants().traits(id).util_pct;
    // The history may have what the job does not declare.
    if (util < 0) return TenantSet(view, kind.gpu_model, kind.traits).joint_util_pct();
    sum += util;
  }
  return sum;
}

double job_util_pct(const SharingView& view, const Tenants::Kind& kind, const TenantTraits& job) {
  if (job.util_pct >= 0) return job.util_pct;
  TenantSet alone(view, kind.gpu_model);
  alone.add(job);
  return alone.joint_util_pct();
}

double rank_key(ShareRanking ranking, double joint_pct, double job_pct) {
  if (ranking == ShareRanking::Highest) return joint_pct;
  const double distance = std::abs(joint_pct - std::max(0.0, job_pct));
  return ranking == ShareRanking::Similar ? -distance : distance;
}

}  // namespace

RankedKinds::RankedKinds(const SharingView& view, const RankRules& rules, const TenantTraits& job,
                         uint32_t num_gpus, std::vector<RankedKind>& buffer)
    : view_(view), rules_(rules), job_(job), num_gpus_(num_gpus), heap_(buffer) {
  heap_.clear();
  collect(num_gpus);
  std::ranges::make_heap(heap_, [this](const auto& a, const auto& b) { return before(a, b); });
}

bool RankedKinds::before(const RankedKind& a, const RankedKind& b) const {
  if (a.key != b.key) return a.key < b.key;
  const bool one_node_a = view_.tenants().kind(a.kind).one_node;
  const bool one_node_b = view_.tenants().kind(b.kind).one_node;
  return one_node_a != one_node_b ? one_node_b : b.kind < a.kind;
}

void RankedKinds::collect(uint32_t num_gpus) {
  const Tenants& tenants = view_.tenants();
  for (const model::KindId id : tenants.kinds_of_size(num_gpus)) {
    const Tenants::Kind& kind = tenants.kind(id);
    if (static_cast<int64_t>(kind.traits.size()) >= rules_.jobs_per_gpu_max) continue;
    if (num_gpus != num_gpus_ && !kind.one_node) continue;
    const double joint_pct = joint_util_pct(view_, kind);
    const double job_pct = job_util_pct(view_, kind, job_);
    if (joint_pct + job_pct > rules_.util_max_pct) continue;
    heap_.push_back({rank_key(rules_.ranking, joint_pct, job_pct), id});
  }
}

std::optional<model::KindId> RankedKinds::next() {
  if (heap_.empty() && !larger_) {
    larger_ = true;
    const uint32_t largest =
        std::min(view_.tenants().largest_size(), view_.tenants().cluster().node_gpus_max());
    for (uint32_t size = num_gpus_ + 1; size <= largest; ++size) collect(size);
    std::ranges::make_heap(heap_, [this](const auto& a, const auto& b) { return before(a, b); });
  }
  if (heap_.empty()) return {};
  std::ranges::pop_heap(heap_, [this](const auto& a, const auto& b) { return before(a, b); });
  const model::KindId kind = heap_.back().kind;
  heap_.pop_back();
  return kind;
}

}  // namespace goban::core::policy
