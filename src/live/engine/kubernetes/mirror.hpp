// A copy of all nodes, pods and Jobs of the cluster, kept up to date by a list and a watch of each.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "live/engine/kubernetes/api.hpp"
#include "live/engine/kubernetes/gangs.hpp"
#include "live/engine/kubernetes/objects.hpp"

namespace goban::live::engine::kubernetes {

struct MirrorTimes {
  double silence_s = 120;  ///< a stream without a word for so long is dead
  double pause_s = 0.5;    ///< before the first new attempt after a failure; it doubles
  double pause_most_s = 20;
  uint32_t page = 500;    ///< objects of a list at a time
  double timeout_s = 30;  ///< of a page
};

class Mirror {
 public:
  /// `changed` is called by other threads after each change.
  Mirror(std::shared_ptr<Credentials> credentials, MirrorTimes times,
         std::function<void()> changed);
  /// Ends the threads.
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// True when everything was listed once.
  [[nodiscard]] bool is_complete() const;
  /// Why something is not up to date; empty: it is.
  [[nodiscard]] std::string problem() const;
  /// Lists since the start.
  [[nodiscard]] int64_t lists() const { return lists_; }
  /// `look` must be quick: nothing changes meanwhile.
  void read(const std::function<void(const Objects&)>& look) const;

 private:
  /// One kind of object.
  struct Kind {
    std::string path{};
    bool is_optional = false;  ///< not every cluster has such objects, nor may we read them
    std::string devices{};     ///< of resource.k8s.io: the plural; the API server says its version
    std::string problem{};
    bool listed = false;
  };
  [[nodiscard]] static Kind kind_of(GroupKind kind);
  [[nodiscard]] std::vector<const Kind*> kinds() const;
  template <typename Object, typename Parse>
  void follow(Kind& kind, std::map<std::string, Object> Objects::* objects, Parse parse);
  template <typename Object, typename Parse>
  bool list(Api& api, Kind& kind, std::map<std::string, Object> Objects::* objects, Parse parse,
            std::string& version, double& wait_s);
  template <typename Object, typename Parse>
  bool watch(Api& api, Kind& kind, std::map<std::string, Object> Objects::* objects, Parse parse,
             std::string& version);
  /// Sets the path of a kind of resource.k8s.io.
  [[nodiscard]] ApiAnswer find_path(Api& api, Kind& kind);
  void fail(Kind& kind, const std::string& problem);
  void pause(double seconds);

  std::shared_ptr<Credentials> credentials_;
  MirrorTimes times_;
  std::function<void()> changed_;
  std::atomic<bool> ending_{false};
  std::atomic<int64_t> lists_{0};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Objects objects_;
  Kind nodes_{.path = "/api/v1/nodes"};
  Kind pods_{.path = "/api/v1/pods"};
  Kind works_{.path = "/apis/batch/v1/jobs"};
  Kind mpi_jobs_ = kind_of(GroupKind::MpiJob);
  Kind mpi2_jobs_ = kind_of(GroupKind::MpiJob2);
  Kind pytorch_jobs_ = kind_of(GroupKind::PyTorchJob);
  Kind job_sets_ = kind_of(GroupKind::JobSet);
  Kind pod_groups_{.path = kPodGroupsPath, .is_optional = true};
  Kind slices_{.is_optional = true, .devices = "resourceslices"};
  Kind classes_{.is_optional = true, .devices = "deviceclasses"};
  Kind claims_{.is_optional = true, .devices = "resourceclaims"};
  std::vector<std::thread> threads_;
};

}  // namespace goban::live::engine::kubernetes
