// Ranking: which kinds of groups a job looks at first. Groups alike are judged once, as a kind; a
// kind is taken out of a heap only if all before it were refused.
#pragma once

#include <optional>
#include <vector>

#include "core/policy/sharing/sharing.hpp"

namespace goban::core::policy {

struct RankedKind {
  double key = 0;  ///< larger goes first
  model::KindId kind;
};

struct RankRules {
  ShareRanking ranking = ShareRanking::Highest;
  int32_t jobs_per_gpu_max = 2;
  double util_max_pct = 100;
};

/// Kinds that a job may take GPUs of, as far as numbers of jobs and utilisations say: those of as
/// many GPUs as it asks for first, then larger ones within a node; each by rank. Equal ranks: on
/// one node first, then the lower number.
class RankedKinds {
 public:
  /// `buffer` is work space that outlives this.
  RankedKinds(const SharingView& view, const RankRules& rules, const TenantTraits& job,
              uint32_t num_gpus, std::vector<RankedKind>& buffer);
  /// The next kind; it has groups.
  [[nodiscard]] std::optional<model::KindId> next();

 private:
  void collect(uint32_t num_gpus);
  [[nodiscard]] bool before(const RankedKind& a, const RankedKind& b) const;

  const SharingView& view_;
  RankRules rules_;
  TenantTraits job_;
  uint32_t num_gpus_;
  std::vector<RankedKind>& heap_;
  bool larger_ = false;  ///< larger kinds are in
};

}  // namespace goban::core::policy
