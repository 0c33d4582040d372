// The manifests of the agents: a DaemonSet on managed nodes with an account of its own, which has
// no rights at all, and what the daemon needs to take their reports.
#pragma once

namespace goban::live::engine::kubernetes {

/// YAML, beginning with a separator: service account, Service and DaemonSet. Without the values of
/// @home@, the namespace, and @image@, of goban.
extern const char* const kAgents;

/// Lines of the daemon's configuration by which it takes reports over TLS, indented for the
/// ConfigMap; its container's mount and the pod's volume of the Secret that holds certificate, key
/// and tokens.
extern const char* const kAgentService;
extern const char* const kAgentMount;
extern const char* const kAgentVolume;

}  // namespace goban::live::engine::kubernetes
