// The manifests of the agents: a DaemonSet on managed nodes with an account of its own, which has
// no rights at all, and what the daemon needs to take their reports.
#pragma once

#include <string>

namespace goban::live::engine::kubernetes {

/// YAML, beginning with a separator: service account, Service and DaemonSet. `home`: the namespace;
/// `image`: of goban.
[[nodiscard]] std::string agent_manifests(const std::string& home, const std::string& image);

/// Lines of the daemon's configuration by which it takes reports over TLS, indented for the
/// ConfigMap; its container's mount and the pod's volume of the Secret that holds certificate, key
/// and tokens.
extern const char* const kAgentService;
extern const char* const kAgentMount;
extern const char* const kAgentVolume;

}  // namespace goban::live::engine::kubernetes
