// Placement: which free GPUs a job gets. One file a policy.
#pragma once

#include <cstdint>

#include "core/model/action.hpp"
#include "core/policy/view.hpp"

namespace goban::core::policy {

/// One question to a placement policy.
struct PlacementRequest {
  const model::JobRequest* job = nullptr;
  uint32_t num_gpus = 0;  ///< > 0; may be one instance's share of the job
  bool one_node = false;  ///< the GPUs must lie on one node
  uint64_t seed = 0;      ///< for policies that draw; differs by job and launch
};

/// Chooses GPUs; a pure function of view and request.
class Placement {
 public:
  virtual ~Placement() = default;

  /// Fills `out.gpus` (in selection order) and `out.reason`, or returns false and leaves `out`
  /// empty. `out.gpus` is empty on entry.
  [[nodiscard]] virtual bool place(const PlacementView& view, const PlacementRequest& request,
                                   model::Allocation& out) const = 0;

  /// Reads PlacementView::bins.
  [[nodiscard]] virtual bool uses_bins() const { return false; }
  /// Jobs of more sensitive classes choose first within one round (PAL spec 4.4).
  [[nodiscard]] virtual bool class_first() const { return false; }
  /// The same view and job give the same GPUs in the next round, too.
  [[nodiscard]] virtual bool repeatable() const { return true; }
};

}  // namespace goban::core::policy
