// Placement: which free GPUs a job gets. One file per policy.
#pragma once

#include <cstdint>

#include "core/model/event.hpp"
#include "core/policy/view.hpp"

namespace goban::core::policy {

/// A request to a placement policy.
struct PlacementRequest {
  const model::JobRequest* job = nullptr;
  uint32_t num_gpus = 0;  ///< > 0; of the job, or of one of its instances
  bool one_node = false;  ///< the GPUs must be on one node
  uint64_t seed = 0;      ///< for random policies; differs by job and launch
  model::JobId id{};      ///< invalid: of no job in particular
  TimeNs start_ns = 0;    ///< when the job would start
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
  /// Jobs of more sensitive classes are placed first within a round (PAL: one round, step 4,
  /// docs/papers.md).
  [[nodiscard]] virtual bool class_first() const { return false; }
  /// The same view and job give the same GPUs in every round.
  [[nodiscard]] virtual bool repeatable() const { return true; }
};

}  // namespace goban::core::policy
