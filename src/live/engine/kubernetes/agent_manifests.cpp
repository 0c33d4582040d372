#include "live/engine/kubernetes/agent_manifests.hpp"

namespace goban::live::engine::kubernetes {

/// The agent reads processes of all pods of its node: hostPID, and two capabilities to read the
/// environment and the libraries of other users' processes. It asks the API server nothing.
const char* const kAgents = R"yaml(---
apiVersion: v1
kind: ServiceAccount
metadata: {name: goban-agent, namespace: @home@}
automountServiceAccountToken: false
---
apiVersion: v1
kind: Service
metadata: {name: goban, namespace: @home@}
spec:
  selector: {app: goban}
  ports: [{name: https, port: 6818}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: goban-agent, namespace: @home@}
spec:
  selector: {matchLabels: {app: goban-agent}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: "10%"}}
  template:
    metadata: {labels: {app: goban-agent}}
    spec:
      serviceAccountName: goban-agent
      automountServiceAccountToken: false
      hostPID: true
      nodeSelector: {goban.dev/managed: "true"}
      tolerations: [{operator: Exists}]
      containers:
      - name: agent
        image: "@image@"
        args: [agent, --server, "https://goban.@home@.svc:6818", --node, $(NODE), --token-file, /etc/goban/token, --ca-file, /etc/goban/ca.crt]
        env:
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: NVIDIA_VISIBLE_DEVICES, value: all}
        - {name: NVIDIA_DRIVER_CAPABILITIES, value: utility}
        resources: {requests: {cpu: 20m, memory: 64Mi}, limits: {memory: 256Mi}}
        securityContext:
          runAsUser: 0
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL], add: [SYS_PTRACE, DAC_READ_SEARCH]}
        volumeMounts:
        - {name: secret, mountPath: /etc/goban, readOnly: true}
        - {name: sockets, mountPath: /run/goban}
      volumes:
      - {name: secret, secret: {secretName: goban-agent}}
      - {name: sockets, hostPath: {path: /run/goban, type: DirectoryOrCreate}}
)yaml";

const char* const kAgentService = R"yaml(    [service]
    listen = "0.0.0.0:6818"
    certificate = "/etc/goban-service/tls.crt"
    key = "/etc/goban-service/tls.key"
    tokens = "/etc/goban-service/tokens"
)yaml";
const char* const kAgentMount =
    "        - {name: service, mountPath: /etc/goban-service, readOnly: true}\n";
const char* const kAgentVolume = "      - {name: service, secret: {secretName: goban-service}}\n";

}  // namespace goban::live::engine::kubernetes
