// What an administrator applies to a cluster, so that Goban may decide for it and nobody else may
// write what it writes.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "live/engine/kubernetes/gangs.hpp"

namespace goban::live::engine::kubernetes {

struct ManifestOptions {
  Mode mode = Mode::Observe;
  std::vector<std::string> namespaces{};  ///< with Mode::Namespaces
  std::string home = "goban";             ///< namespace of Goban itself
  std::string image{};                    ///< empty: only the rights, without a Deployment
  bool agents = false;                    ///< also agents on all managed nodes; needs `image`
  bool scores = false;     ///< the Deployment reads scores of GPUs from the ConfigMap goban-scores
  std::string watchdog{};  ///< image of kube-scheduler, which decides while no daemon of ours does
};

/// YAML for kubectl apply: namespace, service account and rights, for other modes than Observe also
/// the policy that keeps users off Goban's annotations. Errors: Usage, if a namespace or the image
/// is not a name that Kubernetes accepts, or namespaces do not fit the mode.
[[nodiscard]] base::Result<std::string> manifests(const ManifestOptions& options);

}  // namespace goban::live::engine::kubernetes
