// Watts of a node and its GPUs by state: P(node) = host + sum of its GPUs (EaCO spec 5).
//
// A busy GPU at utilisation U % draws idle + dynamic * (U / 100)^exponent, its part of the host's
// own dynamic power included. With all GPUs alike this is the curve that the spec fits to measured
// nodes; for nodes of which only a part is busy it is our reading.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace goban::core::knowledge {

/// State of a GPU or of a node. A node is Busy if one of its GPUs is; Context is a GPU on which a
/// process holds a context but computes nothing.
enum class PowerState : uint8_t { Off, Sleep, Idle, Context, Busy };

/// A state in which a node computes nothing until it is woken.
struct RestState {
  double power_w = 0;
  double enter_s = 0;  ///< from idle
  double enter_j = 0;
  double wake_s = 0;  ///< to idle
  double wake_j = 0;
};

/// What a limit of a GPU's power does to a typical job, relative to no limit.
struct PowerCap {
  double cap_w = 0;
  double energy_factor = 1;  ///< of the GPU's energy
  double time_factor = 1;    ///< 1.1 = a tenth slower
};

/// Power of one kind of node.
struct PowerModel {
  std::string name;
  std::string gpu_model;   ///< cluster GPU models whose name begins so; empty = any
  int32_t num_gpus = 8;    ///< of the node that was measured
  double host_idle_w = 0;  ///< the node without its GPUs
  double gpu_idle_w = 0;
  double gpu_context_w = 0;
  double gpu_max_w = 0;      ///< limit of the board
  double gpu_dynamic_w = 0;  ///< above idle at 100 % utilisation, with its part of the host's
  double exponent = 1;
  /// Of a GPU with jobs: what they share, so that it does not add up (B of the spec).
  double gpu_share_base_w = 0;
  RestState sleep;
  RestState off;
  std::vector<PowerCap> caps;  ///< descending

  /// Watts of a GPU that computes at `util_pct` (0 to 100, else clamped).
  [[nodiscard]] double gpu_busy_w(double util_pct) const;
  /// Watts of a GPU that runs jobs together, each of which draws `alone_w[j]` by itself, at `speed`
  /// (1 = as fast as alone): base + sum (alone - base) * speed. Not below the context's watts.
  [[nodiscard]] double gpu_shared_w(std::span<const double> alone_w, double speed) const;
  /// Watts of a node whose GPUs all idle.
  [[nodiscard]] double node_idle_w(uint32_t gpus) const { return host_idle_w + gpus * gpu_idle_w; }
  /// Part of the host's idle power that one GPU of the measured node stands for.
  [[nodiscard]] double host_share_w() const { return host_idle_w / num_gpus; }
  [[nodiscard]] const RestState& rest(PowerState state) const {
    return state == PowerState::Off ? off : sleep;
  }
};

/// Joules of a node that rests for `span_s`, transitions inside it; `woken`: the span ends with the
/// wake. A span too short for the transitions costs them all the same.
struct RestEnergy {
  double rest_j = 0;
  double transition_j = 0;
};
[[nodiscard]] RestEnergy rest_energy(const RestState& rest, double span_s, bool woken);

/// Seconds of idleness from which resting costs no more than idling at `idle_w`; infinite if it
/// never pays. A node that waits so long before it rests spends at most twice the optimum.
[[nodiscard]] double break_even_s(const RestState& rest, double idle_w);

/// Utilisation of a GPU whose jobs have these utilisations alone: their sum, at most 100. Against
/// the six measured sets of the spec: mean error 3.0 %, largest 4.6 %.
[[nodiscard]] double joint_util_pct(std::span<const double> alone_pct);

/// The models of a cluster: one for each kind of node.
struct PowerCatalog {
  std::vector<PowerModel> models;
  /// The model whose gpu_model is the longest beginning of the name; null if there is none.
  [[nodiscard]] const PowerModel* find(const std::string& gpu_model) const;
};

}  // namespace goban::core::knowledge
