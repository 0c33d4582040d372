// Placement: which free GPUs a job gets. One file a policy; registered in policy/registry.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

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

  /// Succeeds whenever enough GPUs are free, wherever they are (requests that need not lie on
  /// one node). Reservations of backfill then only count GPUs.
  [[nodiscard]] virtual bool fungible() const { return true; }
  /// Reads PlacementView::bins.
  [[nodiscard]] virtual bool uses_bins() const { return false; }
  /// Jobs of more sensitive classes choose first within one round (PAL spec 4.4).
  [[nodiscard]] virtual bool class_first() const { return false; }
  /// The same view and job give the same GPUs in the next round, too.
  [[nodiscard]] virtual bool repeatable() const { return true; }
};

std::unique_ptr<Placement> make_packed();
std::unique_ptr<Placement> make_consolidated();
std::unique_ptr<Placement> make_spread();
std::unique_ptr<Placement> make_random();
std::unique_ptr<Placement> make_any();
std::unique_ptr<Placement> make_pm_first();

struct PalOptions {
  /// As the paper and its artifact: only "within a node" and "across nodes", locality ignored for
  /// jobs larger than a node. Otherwise every topology level takes part.
  bool two_levels = false;
};
std::unique_ptr<Placement> make_pal(PalOptions options);

}  // namespace goban::core::policy
