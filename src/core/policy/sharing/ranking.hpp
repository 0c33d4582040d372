// Ranking: the order in which a job tries kinds of groups. Equal groups are evaluated once, as a
// kind. A kind is taken from the heap only if all before it were refused.
#pragma once

#include <optional>
#include <vector>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

struct RankedKind {
  double key = 0;  ///< larger first
  model::KindId kind;
};

struct RankRules {
  ShareRanking ranking = ShareRanking::Highest;
  int32_t jobs_per_gpu_max = 2;
  double util_max_pct = 100;
};

/// Kinds whose GPUs a job may take according to the number of jobs and the utilisation: first those
/// with the number of GPUs it requests, then larger ones within a node; each by rank. Ties: on one
/// node first, then the lower id.
class RankedKinds {
 public:
  /// `buffer` is work space; it must outlive the object.
  RankedKinds(const SharingView& view, const RankRules& rules, const TenantTraits& job,
              uint32_t num_gpus, std::vector<RankedKind>& buffer);
  /// The next kind; it has at least one group.
  [[nodiscard]] std::optional<model::KindId> next();

 private:
  void collect(uint32_t num_gpus);
  [[nodiscard]] bool before(const RankedKind& a, const RankedKind& b) const;

  const SharingView& view_;
  RankRules rules_;
  TenantTraits job_;
  uint32_t num_gpus_;
  std::vector<RankedKind>& heap_;
  bool larger_ = false;  ///< larger kinds were added
};

}  // namespace goban::core::policy
