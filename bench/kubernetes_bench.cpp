// `goban serve` for Kubernetes against the scripted API server of the tests, over TLS, with the
// default rates but for `requests`: how fast waiting pods are bound, a start with all of them
// known, from the creation of a pod to its binding, and what nothing to do costs. The server runs
// in this process, and its CPU time is not counted.
//
//   kubernetes_bench [NODES=1000] [PODS=10000] [POLICY=fifo+packed]     (of the goban beside it)
//
// A quarter of the pods have no GPUs and are of others; each of the rest waits for one of the 8
// GPUs of a node.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/random.hpp"
#include "base/spawn.hpp"
#include "base/test_folder.hpp"
#include "live/engine/kubernetes/test_api_server.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using goban::live::engine::kubernetes::TestApiServer;
using nlohmann::json;

constexpr int kGpus = 8;  ///< of a node
constexpr int kGang = 4;  ///< pods of a gang

double since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  if (values.empty()) return 0;
  const auto at = static_cast<size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(at, 1, values.size()) - 1];
}

/// What real objects have besides, so that they are as long: 3.2 KB a node, 2.6 KB a pod.
json ballast(size_t bytes) {
  json fields = json::array();
  for (size_t written = 0; written < bytes; written += 150) {
    fields.push_back(
        {{"manager", "kubelet"},
         {"operation", "Update"},
         {"fieldsV1",
          {{"f:status", {{"f:conditions", {{"f:lastHeartbeatTime", json::object()}}}}}}}});
  }
  return fields;
}

json node_of(int number, int64_t heard_s) {
  const std::string name = fmt::format("node{:04}", number);
  const std::string time = fmt::format("2026-01-01T{:02}:{:02}:{:02}Z", heard_s / 3600 % 24,
                                       heard_s / 60 % 60, heard_s % 60);
  json node = json::parse(R"({"status": {"allocatable": {"cpu": "96", "memory": "1024Gi"}}})");
  node["metadata"] = {{"name", name},
                      {"uid", "uid-" + name},
                      {"labels",
                       {{"goban.dev/managed", "true"},
                        {"kubernetes.io/hostname", name},
                        {"topology.kubernetes.io/zone", fmt::format("z{}", number / 100)},
                        {"nvidia.com/gpu.product", "NVIDIA-H100"}}},
                      {"managedFields", ballast(2400)}};
  node["status"]["allocatable"]["nvidia.com/gpu"] = std::to_string(kGpus);
  node["status"]["conditions"] = {
      {{"type", "Ready"}, {"status", "True"}, {"lastHeartbeatTime", time}}};
  return node;
}

json pod_of(const std::string& name, int gpus) {
  json pod =
      json::parse(R"({"spec": {"containers": [{"name": "main", "image": "registry.example/train",
    "resources": {"limits": {}, "requests": {"cpu": "4", "memory": "32Gi"}}}],
    "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
                    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}]},
    "status": {"phase": "Pending"}})");
  pod["metadata"] = {{"namespace", "ml"},
                     {"name", name},
                     {"uid", "uid-" + name},
                     {"managedFields", ballast(1500)}};
  if (gpus > 0) {
    pod["spec"]["schedulerName"] = "goban";
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = std::to_string(gpus);
  }
  return pod;
}

/// The server, and what it heard.
struct Cluster {
  Cluster(const std::string& certificate, const std::string& key) : server(certificate, key) {
    server.set_ears(
        [this](const std::string& method, const std::string& path) {
          ++requests;
          ++of[method + " " + path.substr(path.rfind('/') + 1)];
        },
        [this](const std::string& name) {
          const std::scoped_lock lock(mutex);
          bound[name] = Clock::now();
        });
  }
  void create(const json& pod) {
    {
      const std::scoped_lock lock(mutex);
      created[pod["metadata"]["name"]] = Clock::now();
    }
    server.put_pod(pod);
  }
  size_t count() {
    const std::scoped_lock lock(mutex);
    return bound.size();
  }
  /// False: not within that time.
  bool wait(size_t wanted, double seconds) {
    for (const auto began = Clock::now(); count() < wanted; pause(0.005)) {
      if (since(began) > seconds) return false;
    }
    return true;
  }

  std::mutex mutex;
  std::map<std::string, Clock::time_point> created, bound;
  std::atomic<int64_t> requests{0};
  std::map<std::string, int64_t> of;  ///< by method and last part of the path
  TestApiServer server;               ///< the last one, so that it ends first
};

class Goban {
 public:
  Goban(std::string program, const goban::base::TestFolder& folder)
      : program_(std::move(program)), folder_(folder) {}
  ~Goban() { kill(); }
  Goban(const Goban&) = delete;
  Goban& operator=(const Goban&) = delete;

  void start() {
    const int log =
        ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    pid_ = goban::base::spawn(
        {program_, "serve", "--state", folder_ / "state", "--config", folder_ / "goban.toml"},
        {.out = log, .err = log});
    ::close(log);
    if (pid_ == 0) std::exit(1);
  }
  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    goban::base::wait_for(pid_);
    pid_ = 0;
  }
  [[nodiscard]] double cpu_s() const {
    const std::string stat = read("stat");
    constexpr int kUser = 11;  // after the name: state, ppid, ...; utime and stime
    std::istringstream words(stat.substr(stat.rfind(')') + 2));
    std::string word;
    double ticks = 0;
    for (int i = 0; words >> word && i <= kUser + 1; ++i) {
      if (i >= kUser) ticks += std::stod(word);
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  [[nodiscard]] double peak_mib() const {
    const std::string status = read("status");
    const size_t at = status.find("VmHWM:");
    return at == status.npos ? 0 : std::stod(status.substr(at + 6)) / 1024;
  }

 private:
  [[nodiscard]] std::string read(const char* name) const {
    return goban::base::TestFolder::read(fmt::format("/proc/{}/{}", pid_, name));
  }
  std::string program_;
  const goban::base::TestFolder& folder_;
  pid_t pid_ = 0;
};

[[noreturn]] void give_up(const goban::base::TestFolder& folder, const std::string& what) {
  const std::string log = goban::base::TestFolder::read(folder / "log");
  fmt::print(stderr, "{}\n{}\n", what, log.substr(log.size() - std::min<size_t>(log.size(), 3000)));
  std::exit(1);
}

void write_files(const goban::base::TestFolder& folder, const std::string& policy) {
  const std::string made = fmt::format(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -keyout "
      "{0}/key "
      "-out {0}/crt -subj /CN=bench -addext subjectAltName=IP:127.0.0.1 2>/dev/null",
      folder.path());
  if (std::system(made.c_str()) != 0) give_up(folder, "openssl failed");
  folder.write(
      "goban.toml",
      fmt::format("engine = \"kubernetes\"\npolicy = \"{}\"\n\n[kubernetes]\nmode = \"all\"\n"
                  "kubeconfig = \"{}\"\nrequests = 5000\n",
                  policy, folder / "kubeconfig"));
}

void write_kubeconfig(const goban::base::TestFolder& folder, const std::string& url) {
  const json config = {
      {"current-context", "c"},
      {"clusters",
       {{{"name", "c"}, {"cluster", {{"server", url}, {"certificate-authority", "crt"}}}}}},
      {"users", {{{"name", "c"}, {"user", {{"token", "t"}}}}}},
      {"contexts", {{{"name", "c"}, {"context", {{"cluster", "c"}, {"user", "c"}}}}}}};
  folder.write("kubeconfig", config.dump());
}

/// Pods that arrive at random times, one in ten a gang; from the creation of the last pod of each
/// to its last binding.
void arrivals(Cluster& cluster, const Goban& goban, int count, double rate) {
  goban::base::Random random(1);
  std::map<std::string, std::vector<std::string>> gangs;
  const size_t before = cluster.count();
  const double cpu_s = goban.cpu_s();
  const int64_t requests = cluster.requests;
  const auto began = Clock::now();
  size_t pods = 0;
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("new{}", i);
    const bool is_gang = i % 10 == 9;
    for (int k = 0; k < (is_gang ? kGang : 1); ++k, ++pods) {
      json pod = pod_of(fmt::format("{}-{}", name, k), 1);
      if (is_gang) {
        pod["metadata"]["labels"] = {{"goban.dev/gang", name},
                                     {"goban.dev/gang-size", std::to_string(kGang)}};
      }
      gangs[name].push_back(pod["metadata"]["name"]);
      cluster.create(pod);
    }
    pause(-std::log(1 - random.uniform()) / rate);
  }
  if (!cluster.wait(before + pods, 60)) fmt::print("not all were bound\n");
  const double took_s = since(began);
  std::map<bool, std::vector<double>> spans;
  for (const auto& [name, names] : gangs) {
    Clock::time_point created;
    Clock::time_point bound;
    for (const std::string& each : names) {
      created = std::max(created, cluster.created[each]);
      bound = std::max(bound, cluster.bound[each]);
    }
    spans[names.size() > 1].push_back(std::chrono::duration<double>(bound - created).count());
  }
  for (const auto& [is_gang, values] : spans) {
    fmt::print("created to bound, {} {}: median {:.0f} ms, p99 {:.0f} ms, longest {:.0f} ms\n",
               values.size(), is_gang ? "gangs of 4 pods" : "single pods",
               1e3 * quantile(values, 0.5), 1e3 * quantile(values, 0.99),
               1e3 * quantile(values, 1));
  }
  fmt::print(
      "  {:.1f} pods a second arrived; {:.2f} requests a pod, daemon {:.3f} CPU s a second, {:.1f} "
      "CPU ms a pod\n",
      static_cast<double>(pods) / took_s,
      static_cast<double>(cluster.requests - requests) / static_cast<double>(pods),
      (goban.cpu_s() - cpu_s) / took_s, 1e3 * (goban.cpu_s() - cpu_s) / static_cast<double>(pods));
}

/// Nothing happens, but for status of nodes that kubelets write every five minutes.
void idle(Cluster& cluster, const Goban& goban, int nodes, bool heartbeats) {
  constexpr double kWatched_s = 30;
  constexpr double kHeartbeat_s = 300;
  constexpr double kEventsMost_s = 22;  // a hundred that wait, five a second
  pause(heartbeats ? 2 : kEventsMost_s);
  const double cpu_s = goban.cpu_s();
  const int64_t requests = cluster.requests;
  const int64_t bytes = cluster.server.bytes();
  const auto began = Clock::now();
  if (heartbeats) {
    const double every_s = kHeartbeat_s / nodes;
    for (int i = 0; since(began) < kWatched_s; ++i) {
      cluster.server.put_node(node_of(i % nodes, 1000 + i));
      pause(std::max(0.0, (i + 1) * every_s - since(began)));
    }
  } else {
    pause(kWatched_s);
  }
  const double took_s = since(began);
  fmt::print("idle{}: {:.2f} requests and {:.0f} bytes a second, daemon {:.4f} CPU s a second\n",
             heartbeats ? fmt::format(", {:.1f} nodes a second report", nodes / kHeartbeat_s) : "",
             static_cast<double>(cluster.requests - requests) / took_s,
             static_cast<double>(cluster.server.bytes() - bytes) / took_s,
             (goban.cpu_s() - cpu_s) / took_s);
}

}  // namespace

int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int pods = argc > 2 ? std::atoi(argv[2]) : 10'000;
  const goban::base::TestFolder folder("kubernetes_bench");
  write_files(folder, argc > 3 ? argv[3] : "fifo+packed");
  Cluster cluster(folder / "crt", folder / "key");
  write_kubeconfig(folder, cluster.server.url());
  const int others = pods / 4;
  const int ours = std::min(pods - others, nodes * kGpus * 15 / 16);
  for (int i = 0; i < nodes; ++i) cluster.server.put_node(node_of(i, 0));
  for (int i = 0; i < others; ++i) {
    json pod = pod_of(fmt::format("other{}", i), 0);
    pod["spec"]["nodeName"] = fmt::format("node{:04}", i % nodes);
    pod["status"]["phase"] = "Running";
    cluster.server.put_pod(pod);
  }
  for (int i = 0; i < ours; ++i) cluster.create(pod_of(fmt::format("pod{}", i), 1));

  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  Goban goban(here / "goban", folder);
  auto began = Clock::now();
  goban.start();
  if (!cluster.wait(1, 300)) give_up(folder, "no pod was bound");
  const double first_s = since(began);
  if (!cluster.wait(static_cast<size_t>(ours), 600)) give_up(folder, "not all pods were bound");
  const double all_s = since(began);
  fmt::print(
      "{} nodes, {} pods, {} of them wait: the first is bound after {:.2f} s, all after {:.2f} s "
      "({:.0f} a "
      "second), daemon {:.2f} CPU s, {:.0f} MiB at most\n",
      nodes, others + ours, ours, first_s, all_s, ours / (all_s - first_s), goban.cpu_s(),
      goban.peak_mib());
  int64_t bindings = cluster.of["POST binding"];
  fmt::print("  requests a bound pod: {:.2f} ({} bindings, {} others in all)\n",
             static_cast<double>(cluster.requests) / ours, bindings, cluster.requests - bindings);

  pause(2);
  goban.kill();
  cluster.create(pod_of("first", 1));
  const size_t before = cluster.count();
  began = Clock::now();
  goban.start();
  if (!cluster.wait(before + 1, 300)) give_up(folder, "no pod was bound after the start");
  fmt::print(
      "killed and started with {} pods: one that waits is bound after {:.2f} s, {:.2f} CPU s, "
      "{:.0f} MiB at most\n",
      others + ours + 1, since(began), goban.cpu_s(), goban.peak_mib());
  pause(3);
  arrivals(cluster, goban, std::min(350, nodes), 20);
  idle(cluster, goban, nodes, false);
  idle(cluster, goban, nodes, true);
  return 0;
}
