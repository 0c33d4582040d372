#include "live/engine/kubernetes/manifests.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "live/engine/kubernetes/agent_manifests.hpp"

namespace goban::live::engine::kubernetes {

namespace {

constexpr const char* kAccount = R"yaml(apiVersion: v1
kind: Namespace
metadata: {name: @home@}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: goban, namespace: @home@}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: goban-reads}
rules:
- {apiGroups: [""], resources: [nodes, pods], verbs: [get, list, watch]}
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch]}
- {apiGroups: [kubeflow.org], resources: [mpijobs, pytorchjobs], verbs: [get, list, watch]}
- {apiGroups: [jobset.x-k8s.io], resources: [jobsets], verbs: [get, list, watch]}
- {apiGroups: [scheduling.x-k8s.io], resources: [podgroups], verbs: [get, list, watch]}
- {apiGroups: [resource.k8s.io], resources: [resourceslices, deviceclasses, resourceclaims], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: goban-reads}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: goban-reads}
subjects: [{kind: ServiceAccount, name: goban, namespace: @home@}]
)yaml";

constexpr const char* kWrites = R"yaml(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: goban-decides}
rules:
- {apiGroups: [""], resources: [pods/binding, pods/eviction], verbs: [create]}
- {apiGroups: [""], resources: [pods], verbs: [patch, delete]}
- {apiGroups: [""], resources: [pods/status], verbs: [patch]}
- {apiGroups: [""], resources: [events], verbs: [create]}
- {apiGroups: [batch], resources: [jobs], verbs: [patch, delete]}
- {apiGroups: [kubeflow.org], resources: [mpijobs, pytorchjobs], verbs: [patch, delete]}
- {apiGroups: [jobset.x-k8s.io], resources: [jobsets], verbs: [patch, delete]}
- {apiGroups: [resource.k8s.io], resources: [resourceclaims], verbs: [patch]}
- {apiGroups: [resource.k8s.io], resources: [resourceclaims/status, resourceclaims/binding], verbs: [update]}
)yaml";

/// Nobody can restrict the right to create to a name.
constexpr const char* kLeads = R"yaml(---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: goban-leads, namespace: @home@}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [goban], verbs: [get, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: goban-leads, namespace: @home@}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: goban-leads}
subjects: [{kind: ServiceAccount, name: goban, namespace: @home@}]
)yaml";

constexpr const char* kEverywhere = R"yaml(---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: goban-decides}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: goban-decides}
subjects: [{kind: ServiceAccount, name: goban, namespace: @home@}]
)yaml";

constexpr const char* kInNamespace = R"yaml(---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: goban-decides, namespace: @space@}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: goban-decides}
subjects: [{kind: ServiceAccount, name: goban, namespace: @home@}]
)yaml";

/// Kubelets write no annotations of pods but those of pods of their own (mirror pods); what they
/// write of a pod's status changes none. The old resource `bindings` is closed to all others:
/// kube-scheduler does not use it, and a binding does not show whose pod it is for.
constexpr const char* kPolicy = R"yaml(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: goban-writes}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods, pods/binding, pods/status, bindings]}
    - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [jobs]}
    - {apiGroups: [kubeflow.org], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [mpijobs, pytorchjobs]}
    - {apiGroups: [jobset.x-k8s.io], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [jobsets]}
  matchConditions:
  - name: strangers
    expression: "request.userInfo.username != 'system:serviceaccount:@home@:goban'"
  variables:
  - name: notes
    expression: "has(object.metadata.annotations) ? object.metadata.annotations.filter(k, k.startsWith('goban.dev/')).map(k, k + '=' + object.metadata.annotations[k]) : []"
  - name: before
    expression: "oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations.filter(k, k.startsWith('goban.dev/')).map(k, k + '=' + oldObject.metadata.annotations[k]) : []"
  validations:
  - expression: "variables.notes.all(n, n in variables.before) && variables.before.all(n, n in variables.notes)"
    message: "annotations of goban.dev are Goban's to write"
  - expression: "request.kind.kind != 'Job' || !has(object.spec.template.metadata) || !has(object.spec.template.metadata.annotations) || object.spec.template.metadata.annotations.all(k, !k.startsWith('goban.dev/'))"
    message: "annotations of goban.dev are Goban's to write, also those of a template"
  - expression: "request.kind.kind != 'Pod' || request.operation != 'CREATE' || !has(object.spec.schedulerName) || !(object.spec.schedulerName in ['goban', 'goban-exact']) || !has(object.spec.nodeName) || object.spec.nodeName == ''"
    message: "pods with schedulerName goban get their node from Goban"
  - expression: "request.kind.kind != 'Job' || !has(object.spec.template.spec.schedulerName) || !(object.spec.template.spec.schedulerName in ['goban', 'goban-exact']) || !has(object.spec.template.spec.nodeName) || object.spec.template.spec.nodeName == ''"
    message: "pods with schedulerName goban get their node from Goban"
  - expression: "request.resource.resource != 'bindings'"
    message: "goban: whose pod this old resource is for cannot be seen here; post to pods/NAME/binding"
@exact@---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: goban-writes}
spec: {policyName: goban-writes, validationActions: [Deny]}
)yaml";

constexpr const char* kDeployment = R"yaml(---
apiVersion: v1
kind: ConfigMap
metadata: {name: goban, namespace: @home@}
data:
  goban.toml: |
    engine = "kubernetes"
@scores@    [kubernetes]
    mode = "@mode@"
    lease = "@home@/goban"
@namespaces@@service@---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: goban, namespace: @home@}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 10Gi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: goban, namespace: @home@}
spec:
  replicas: 2
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: goban}}
  template:
    metadata: {labels: {app: goban}}
    spec:
      serviceAccountName: goban
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: goban}}}
      containers:
      - name: goban
        image: "@image@"
        args: [serve, --config, /etc/goban/goban.toml, --state, /var/lib/goban, --standby]
        resources: {requests: {cpu: "1", memory: 1Gi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts:
        - {name: config, mountPath: /etc/goban}
        - {name: state, mountPath: /var/lib/goban}
@mount@@scores-mount@      volumes:
      - {name: config, configMap: {name: goban}}
      - {name: state, persistentVolumeClaim: {claimName: goban}}
@volume@@scores-volume@)yaml";

/// Scores are in the order of the nodes of a cluster file.
constexpr const char* kScores = R"toml(    cluster = "/etc/goban-scores/cluster.toml"
    scores = "/etc/goban-scores/scores.csv"
)toml";
constexpr const char* kScoresMount =
    "        - {name: scores, mountPath: /etc/goban-scores, readOnly: true}\n";
constexpr const char* kScoresVolume = "      - {name: scores, configMap: {name: goban-scores}}\n";

/// A scheduler that knows nothing of annotations would start such pods without their GPUs.
constexpr const char* kExact =
    R"yaml(  - expression: "request.kind.kind != 'Pod' || request.operation != 'CREATE' || !has(object.metadata.labels) || !('goban.dev/gpus' in object.metadata.labels) || !has(object.spec.schedulerName) || object.spec.schedulerName != 'goban'"
    message: "pods with the label goban.dev/gpus need schedulerName goban-exact, which the watchdog leaves alone"
  - expression: "request.kind.kind != 'Job' || !has(object.spec.template.metadata) || !has(object.spec.template.metadata.labels) || !('goban.dev/gpus' in object.spec.template.metadata.labels) || !has(object.spec.template.spec.schedulerName) || object.spec.template.spec.schedulerName != 'goban'"
    message: "pods with the label goban.dev/gpus need schedulerName goban-exact, which the watchdog leaves alone"
)yaml";

/// It waits for our Lease: leaseDuration is what we wait for in turn when we take it back.
constexpr const char* kWatchdog = R"yaml(---
apiVersion: v1
kind: ServiceAccount
metadata: {name: goban-watchdog, namespace: @home@}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: goban-watchdog}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:kube-scheduler}
subjects: [{kind: ServiceAccount, name: goban-watchdog, namespace: @home@}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: goban-watchdog-volumes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:volume-scheduler}
subjects: [{kind: ServiceAccount, name: goban-watchdog, namespace: @home@}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: goban-watchdog, namespace: @home@}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: goban-leads}
subjects: [{kind: ServiceAccount, name: goban-watchdog, namespace: @home@}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: goban-watchdog, namespace: @home@}
data:
  scheduler.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    leaderElection:
      leaderElect: true
      resourceLock: leases
      resourceNamespace: @home@
      resourceName: goban
      leaseDuration: 15s
      renewDeadline: 10s
      retryPeriod: 2s
    profiles: [{schedulerName: goban}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: goban-watchdog, namespace: @home@}
spec:
  replicas: 1
  selector: {matchLabels: {app: goban-watchdog}}
  template:
    metadata: {labels: {app: goban-watchdog}}
    spec:
      serviceAccountName: goban-watchdog
      containers:
      - name: kube-scheduler
        image: "@watchdog@"
        command: [kube-scheduler, --config=/etc/goban/scheduler.yaml]
        resources: {requests: {cpu: 100m, memory: 256Mi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: config, mountPath: /etc/goban}]
      volumes: [{name: config, configMap: {name: goban-watchdog}}]
)yaml";

using Words = std::vector<std::pair<std::string_view, std::string_view>>;

/// The text with what stands for each @word@.
std::string filled(std::string text, const Words& words) {
  for (const auto& [word, value] : words) {
    const std::string mark = fmt::format("@{}@", word);
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size()) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

/// An RFC 1123 label.
bool is_namespace(std::string_view name) {
  constexpr size_t kMost = 63;
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kMost && fits(name.front()) && fits(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return fits(c) || c == '-'; });
}

bool is_image(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._/:@").find(c) != std::string_view::npos;
  });
}

std::string deployment(const ManifestOptions& options) {
  constexpr std::array kModes = {"observe", "namespaces", "all"};
  std::string namespaces;
  for (const std::string& space : options.namespaces) {
    namespaces += fmt::format("{}\"{}\"", namespaces.empty() ? "" : ", ", space);
  }
  if (!namespaces.empty()) namespaces = fmt::format("    namespaces = [{}]\n", namespaces);
  return filled(kDeployment, {{"home", options.home},
                              {"mode", kModes.at(static_cast<size_t>(options.mode))},
                              {"namespaces", namespaces},
                              {"service", options.agents ? kAgentService : ""},
                              {"mount", options.agents ? kAgentMount : ""},
                              {"volume", options.agents ? kAgentVolume : ""},
                              {"scores", options.scores ? kScores : ""},
                              {"scores-mount", options.scores ? kScoresMount : ""},
                              {"scores-volume", options.scores ? kScoresVolume : ""},
                              {"image", options.image}});
}

}  // namespace

base::Result<std::string> manifests(const ManifestOptions& options) {
  std::vector<std::string> names = options.namespaces;
  names.push_back(options.home);
  for (const std::string& name : names) {
    if (is_namespace(name)) continue;
    return base::usage_error(
        fmt::format("\"{}\" is not a valid name of a namespace", name.substr(0, 80)),
        "lower-case letters, digits and hyphens, at most 63");
  }
  if (options.namespaces.empty() == (options.mode == Mode::Namespaces)) {
    return base::usage_error("--namespaces goes with --mode namespaces, and only with it");
  }
  if (!is_image(options.image)) return base::usage_error("--image is not a valid image reference");
  if (!is_image(options.watchdog)) {
    return base::usage_error("--watchdog is not a valid image reference");
  }
  if (options.agents && options.image.empty()) {
    return base::usage_error("--agents needs the image that they run", "name it with --image");
  }
  if (options.scores && options.image.empty()) {
    return base::usage_error("--scores needs the image of the daemon that reads them",
                             "name it with --image");
  }
  const bool watches = !options.watchdog.empty();
  if (watches && options.mode == Mode::Observe) {
    return base::usage_error("--watchdog takes over decisions, and --mode observe makes none");
  }
  const Words home{{"home", options.home}};
  std::string out = filled(kAccount, home);
  if (options.mode != Mode::Observe) out += kWrites + filled(kLeads, home);
  if (options.mode == Mode::All) out += filled(kEverywhere, home);
  for (const std::string& space : options.namespaces) {
    out += filled(kInNamespace, {{"home", options.home}, {"space", space}});
  }
  if (options.mode != Mode::Observe) {
    out += filled(filled(kPolicy, {{"exact", watches ? kExact : ""}}), home);
  }
  if (watches) out += filled(kWatchdog, {{"home", options.home}, {"watchdog", options.watchdog}});
  if (!options.image.empty()) out += deployment(options);
  if (options.agents) out += filled(kAgents, {{"home", options.home}, {"image", options.image}});
  return out;
}

}  // namespace goban::live::engine::kubernetes
