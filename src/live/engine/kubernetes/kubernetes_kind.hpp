// The row of the Kubernetes engine in the table of engines.
#pragma once

#include "live/engine/kubernetes/kubernetes_engine.hpp"
#include "live/engine_kind.hpp"

namespace goban::live::engine::kubernetes {

struct KubernetesChoice {
  KubernetesOptions options{};  ///< without access
  std::string kubeconfig{};     ///< path; empty: as a pod of the cluster
  std::string context{};
  bool any_version = false;  ///< also one that was not tried
};

/// Reads all keys of the table [kubernetes] and refuses wrong values:
///   mode        observe (no pod is ours, nothing is written), namespaces, all; must be given
///   namespaces  the managed ones, with mode = "namespaces"
///   kubeconfig  path; if absent, the service account of this pod
///   context     of the kubeconfig; if absent, its current one
///   scheduler   schedulerName of managed pods (goban)
///   indices     counts (if absent), exact
///   sharing     none (if absent), labelled: pods with goban.dev/share=true may share GPUs
///   driver      the DRA driver whose devices are GPUs, and its DeviceClass (gpu.nvidia.com)
///   requests    to the API server, a second at most (200)
///   start       how long the containers of a gang may take to start (10 min)
///   sleep       path of a program: PROGRAM sleep NODE, PROGRAM wake NODE; empty: no node sleeps
///   grace       of pods that are taken back: most time from the signal to the kill (5 min)
///   lease       NAMESPACE/NAME of the Lease that the daemon that decides holds (goban/goban)
///   takeover    without a sign of life for so long a stand-by takes over (15 s)
///   version     any: also a version of Kubernetes that was not tried
[[nodiscard]] KubernetesChoice read_kubernetes(base::TableReader& table);

/// How to reach the cluster. Errors: those of access.hpp.
[[nodiscard]] base::Result<Access> access_of(const KubernetesChoice& choice);

/// `said`: the body of GET /version. Errors: Failed if this version was not tried.
[[nodiscard]] base::Status check_version(std::string_view said, bool any);

/// Whether pods are its own in the table's mode.
[[nodiscard]] bool starts_pods(const EngineChoice& choice);

/// Whether the table names a command that puts nodes to sleep.
[[nodiscard]] bool nodes_may_sleep(const EngineChoice& choice);

/// Errors: those above. An API server that does not answer yet, or not to us, is a note.
[[nodiscard]] base::Result<EngineParts> make_kubernetes(const EngineSetup& setup);

inline constexpr EngineKind kKubernetesKind{
    .name = "kubernetes",
    .submit_with = "kubectl",
    .parts_share_nodes = true,
    .fences_nodes = starts_pods,
    .suspends_jobs = false,
    .rests_nodes = nodes_may_sleep,
    .check = [](base::TableReader& table) { (void)read_kubernetes(table); },
    .make = make_kubernetes};

}  // namespace goban::live::engine::kubernetes
