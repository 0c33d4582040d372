// Power of a node and its GPUs by state, in watts: P(node) = host + sum of its GPUs (EaCO: power
// model, docs/papers.md).
//
// A busy GPU at utilisation U % draws idle + dynamic * (U / 100)^exponent, including its part of
// the host's dynamic power. With equal utilisation of all GPUs this is the curve fitted to the
// measured rows of EaCO; its use for partly busy nodes is our assumption.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace goban::core::knowledge {

/// State of a GPU or of a node. A node is Busy if one of its GPUs is. Context: a process holds a
/// context on the GPU but computes nothing.
enum class PowerState : uint8_t { Off, Sleep, Idle, Context, Busy };

/// A low-power state: the node runs no jobs until it is woken.
struct RestState {
  double power_w = 0;
  double enter_s = 0;  ///< from idle
  double enter_j = 0;
  double wake_s = 0;  ///< to idle
  double wake_j = 0;
};

/// Effect of a GPU power limit on a typical job, relative to no limit.
struct PowerCap {
  double cap_w = 0;
  double energy_factor = 1;  ///< of the GPU's energy
  double time_factor = 1;    ///< 1.1 = a tenth slower
};

/// Power of one kind of node.
struct PowerModel {
  std::string name;
  std::string gpu_model;   ///< prefix of the cluster's GPU models; empty = any
  int32_t num_gpus = 8;    ///< of the measured node
  double host_idle_w = 0;  ///< the node without its GPUs
  double gpu_idle_w = 0;
  double gpu_context_w = 0;
  double gpu_max_w = 0;      ///< limit of the board
  double gpu_dynamic_w = 0;  ///< above idle at 100 % utilisation, including its part of the host's
  double exponent = 1;
  /// Power of a GPU that its jobs share and that does not add up (B in EaCO: power model,
  /// docs/papers.md).
  double gpu_share_base_w = 0;
  RestState sleep;
  RestState off;
  std::vector<PowerCap> caps;  ///< descending

  /// Power of a GPU at `util_pct` (clamped to 0 to 100).
  [[nodiscard]] double gpu_busy_w(double util_pct) const;
  /// Power of a GPU that runs jobs together at `speed` (1 = as fast as alone), where job j draws
  /// `alone_w[j]` alone: base + sum (alone - base) * speed, at least gpu_context_w.
  [[nodiscard]] double gpu_shared_w(std::span<const double> alone_w, double speed) const;
  /// Power of a node whose GPUs are all idle.
  [[nodiscard]] double node_idle_w(uint32_t gpus) const { return host_idle_w + gpus * gpu_idle_w; }
  /// The host's idle power per GPU of the measured node.
  [[nodiscard]] double host_share_w() const { return host_idle_w / num_gpus; }
  [[nodiscard]] const RestState& rest(PowerState state) const {
    return state == PowerState::Off ? off : sleep;
  }
};

/// Energy of a node in a low-power state for `span_s`, including transitions; `woken`: the span
/// ends with waking. A span shorter than the transitions is charged their full energy.
struct RestEnergy {
  double rest_j = 0;
  double transition_j = 0;
};
[[nodiscard]] RestEnergy rest_energy(const RestState& rest, double span_s, bool woken);

/// Idle time in seconds from which sleeping costs no more energy than idling at `idle_w`; infinite
/// if it never does. A node that waits for this time before it sleeps uses at most twice the
/// optimum.
[[nodiscard]] double break_even_s(const RestState& rest, double idle_w);

/// Utilisation of a GPU whose jobs have these utilisations alone: their sum, at most 100. Error on
/// the six measured sets of EaCO's Tables 3 and 4: mean 3.0 %, maximum 4.6 %.
[[nodiscard]] double joint_util_pct(std::span<const double> alone_pct);

/// The power models of a cluster: one per kind of node.
struct PowerCatalog {
  std::vector<PowerModel> models;
  /// The model whose gpu_model is the longest prefix of the name; null if there is none.
  [[nodiscard]] const PowerModel* find(const std::string& gpu_model) const;
};

}  // namespace goban::core::knowledge
