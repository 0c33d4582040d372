// The engine that has Kubernetes run what Goban decides (docs/kubernetes.md). Watches keep a copy
// of the cluster; the engine's thread compares it with the orders and carries them out over several
// connections.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/engine/cluster/cluster_engine.hpp"
#include "live/engine/kubernetes/bindings.hpp"
#include "live/engine/kubernetes/event_writer.hpp"
#include "live/engine/kubernetes/lease_keeper.hpp"
#include "live/engine/kubernetes/mirror.hpp"
#include "live/engine/kubernetes/node_sleep.hpp"

namespace goban::live::engine::kubernetes {

/// Why gangs wait, by their ids; from the daemon's view of the engine to the engine.
struct WaitReasons {
  std::mutex mutex{};
  std::map<std::string, std::string> texts{};
};

/// Pods of gangs: by the pod's uid, the gang's id; from the engine to the daemon's view of it.
struct PodsOfGangs {
  std::mutex mutex{};
  std::map<std::string, std::string> gangs{};
};

class KubernetesView final : public EngineView {
 public:
  /// No reasons: nothing is said to the cluster's users.
  explicit KubernetesView(std::shared_ptr<WaitReasons> reasons,
                          std::shared_ptr<PodsOfGangs> pods = nullptr)
      : reasons_(std::move(reasons)), pods_(std::move(pods)) {}
  [[nodiscard]] std::map<std::string, std::string> parts_of_jobs() const override {
    if (pods_ == nullptr) return {};
    const std::scoped_lock lock(pods_->mutex);
    return pods_->gangs;
  }
  [[nodiscard]] bool wants_reasons() const override { return reasons_ != nullptr; }
  void tell_reasons(std::map<std::string, std::string>&& reasons) override {
    if (reasons_ == nullptr) return;
    const std::scoped_lock lock(reasons_->mutex);
    reasons_->texts = std::move(reasons);
  }

 private:
  std::shared_ptr<WaitReasons> reasons_;
  std::shared_ptr<PodsOfGangs> pods_;
};

struct KubernetesOptions {
  Access access{};
  Rules rules{};
  uint64_t epoch = 0;     ///< of the daemon; orders of a lower one are not carried out
  double timeout_s = 10;  ///< of a write
  uint32_t connections = 8;
  double settle_s = 0.02;  ///< after a change, before it is looked at
  double look_s = 1;       ///< between two looks without a change
  MirrorTimes mirror{};
  base::TimeNs grace_ns = 300 * base::kSecond;  ///< of pods that are taken back, at most
  double requests_s = 200;                      ///< at most, of all connections
  std::shared_ptr<WaitReasons> reasons{};       ///< null: pods are not told why they wait
  std::shared_ptr<PodsOfGangs> pods{};          ///< null: nobody asks for them
  bool tells = false;                           ///< users of the cluster what was done, by Events
  std::string sleep{};                          ///< command of node_sleep.hpp; empty: none sleeps
  std::string lease{};  ///< NAMESPACE/NAME; empty: this daemon is the only one
  LeaseTerms terms{};   ///< of the Lease
  /// A gang whose containers do not start, as an image is missing, is taken back.
  cluster::Patience patience{.start_ns = 600 * base::kSecond,
                             .hopeless_ns = base::kSecond / 2,
                             .repeat_ns = 10 * base::kSecond};
};

class KubernetesEngine final : public cluster::ClusterEngine {
 public:
  /// Asks nothing before recall() or another call.
  explicit KubernetesEngine(KubernetesOptions options);
  ~KubernetesEngine() override;
  KubernetesEngine(const KubernetesEngine&) = delete;
  KubernetesEngine& operator=(const KubernetesEngine&) = delete;

  void recall(const std::vector<KnownJob>& known) override;
  void fence(const std::string& node, base::TimeNs at_ns) override;
  void rest(const std::string& node) override;
  void wake(const std::string& node) override;
  void beat() override;
  [[nodiscard]] bool is_shut_out() const override;

  /// Why the API server could not be asked last; empty: it answers.
  [[nodiscard]] std::string problem() const override;
  [[nodiscard]] std::string refusal() const override;

 private:
  using Gangs = std::map<std::string, Gang>;
  static constexpr const char* kNotLeading = "another daemon may hold the Lease";

  /// What was bound, until the watch shows it.
  struct Assumed {
    std::string node{};
    std::string gpus{};
    std::string mark{};
    bool shares = false;
    bool seen_by(const Pod& pod) const { return !pod.node.empty(); }
  };
  /// A request to the API server and what came of it.
  struct Write {
    std::string method{};
    std::string path{};
    std::string body{};
    ApiAnswer answer{};
  };
  struct Outcome {
    std::string problem{};
    bool unsure = false;
    std::vector<NodePart> because{};  ///< what of an order is the reason; empty: all
  };

  /// A gang that the API server refused to bind.
  struct Refused {
    std::string words{};
    base::TimeNs until_ns = 0;  ///< it is not tried again before
    base::TimeNs pause_ns = 0;
  };

  /// A gang while its pods are bound.
  struct Start {
    size_t task = 0;  ///< its place among the tasks
    cluster::Mark mark{};
    std::vector<Binding> bindings{};
    std::vector<ApiAnswer> answers{};
  };

  void run() override;
  void step();
  /// No order, and nothing that is to be repeated after a while, is open.
  [[nodiscard]] bool is_at_rest() const;
  /// Nobody else writes to the cluster now.
  [[nodiscard]] bool may_write() const { return lease_ == nullptr || lease_->may_write(); }
  /// True: we may write, and see what was written before.
  [[nodiscard]] bool leads();
  /// Remembers whose starts are told.
  void note_started(const std::map<std::string, cluster::JobStand>& stands,
                    const std::vector<EngineEvent>& events);
  /// A copy of all objects, with what was bound since.
  [[nodiscard]] Objects objects_now();
  void carry_out(const Gangs& gangs, const Objects& objects);
  [[nodiscard]] base::Result<std::vector<Binding>> plan(const cluster::Task& task, const Gang& gang,
                                                        const Objects& objects) const;
  /// What of an order is on nodes where the gang may not run.
  [[nodiscard]] static std::vector<NodePart> forbidden(const cluster::Task& task, const Gang& gang,
                                                       const Objects& objects);
  [[nodiscard]] ApiAnswer grant_and_bind(Api& api, const Binding& binding,
                                         const cluster::Mark& mark);
  void bind_all(std::vector<Start>& starts);
  [[nodiscard]] Outcome outcome_of(const Start& start);
  /// A start that the API server refuses, for want of rights or by an admission policy: the gang is
  /// tried again after a while, and nothing else waits for it.
  void note_refusal(const std::string& id, const Start& start);
  void name_refused(View& view);
  /// What the API server says of a kind of request, for administrators.
  void note_answer(const std::string& method, const std::string& path, const ApiAnswer& answer);
  /// Tells the cluster's users how it went.
  void tell_start(const Gang& gang, const Start& start);
  void tell(const Gang& gang, Happened what, std::string words);
  using ClusterEngine::tell;
  [[nodiscard]] ApiAnswer bind(Api& api, const Binding& binding, const cluster::Mark& mark);
  [[nodiscard]] Outcome take_back(const Gang& gang);
  [[nodiscard]] Outcome set_suspended(const Gang& gang, bool suspended);
  [[nodiscard]] Outcome cancel(const Gang& gang);
  [[nodiscard]] Outcome mark(const Gang& gang, RunId run);
  [[nodiscard]] Outcome carry_out(const cluster::Task& task, const Gang& gang);
  [[nodiscard]] Outcome send(std::vector<Write> writes);
  /// Gangs that lost pods, and Jobs that are to go on.
  void mend(const Gangs& gangs);
  /// Nodes that were told to sleep or to wake, and those that are awake again.
  void tend_sleep(const Objects& objects);
  /// Adds a report for each node that was to wake and is awake.
  void report_awake(const Objects& objects, std::vector<EngineEvent>& events);
  /// Pods that are taken back get no more grace than the site gives.
  void hurry(const Gangs& gangs);
  using ClusterEngine::hurry;
  /// A node of which an operator vouches that nothing ran there.
  struct Fenced {
    base::TimeNs at_ns = 0;                  ///< by the wall clock
    base::TimeNs removed_ns = base::kNever;  ///< when its pods were removed last; kNever: not yet
  };
  /// Removes pods of nodes that were fenced and have not come back. Jobs are suspended first: a pod
  /// that is removed would count as a failure.
  void remove_fenced(const Objects& objects, const Gangs& gangs);
  /// Whether a pod on a fenced node can be removed now; suspends its Job if it is not.
  [[nodiscard]] bool may_remove(const Pod& pod, const Gang& gang);
  /// What is gone while one of its nodes is fenced was not cancelled: the node failed. Also what a
  /// daemon before this one removed.
  void name_fenced(View& view);
  /// Claims that were allocated for a start that failed are free again.
  void release_claims(const Objects& objects);
  /// Which pods belong to which gangs, once a second.
  void name_pods(const Gangs& gangs);
  /// Writes to pods that wait why they do, some at a time.
  void say_reasons(const Gangs& gangs);
  /// Something has changed; by any thread.
  void look_again();
  /// Calls `each` for 0 to count - 1 over the connections.
  void spread(size_t count, const std::function<void(Api&, size_t)>& each);

  KubernetesOptions options_;
  std::shared_ptr<Credentials> credentials_;
  bool changed_ = false;                         ///< guarded by mutex_
  std::map<std::string, std::string> refusals_;  ///< by kind of request; guarded by mutex_
  // Written under mutex_, by the thread.
  std::unique_ptr<LeaseKeeper> lease_;
  std::unique_ptr<Mirror> mirror_;

  // Used by the thread alone.
  std::unique_ptr<EventWriter> events_;  ///< null: nothing is told
  std::vector<std::unique_ptr<Api>> connections_;
  std::map<std::string, RunId> started_;
  std::map<std::string, Assumed> assumed_;                          ///< by the pod's uid
  std::map<std::string, std::pair<bool, base::TimeNs>> mended_ns_;  ///< id: goes on, when
  std::map<std::string, base::TimeNs> said_ns_;        ///< pod's uid: not told anew before
  base::TimeNs named_ns_ = -base::kSecond;             ///< when pods were named
  std::map<std::string, Fenced> fenced_;               ///< by node
  std::map<std::string, base::TimeNs> granted_ns_;     ///< claim's uid: not released before
  std::unique_ptr<SleepCommand> sleep_;                ///< null: none sleeps
  std::map<std::string, SleepOrder> to_sleep_;         ///< by node
  std::set<std::string> awaited_;                      ///< nodes: to be reported when awake
  std::set<std::string> marked_;                       ///< nodes: told to sleep by this daemon
  std::set<std::string> commanded_;                    ///< nodes: the sleep command ran or runs
  std::map<std::string, base::TimeNs> woken_ns_;       ///< node: last told that it is awake
  std::set<std::string> evicted_;                      ///< uids of pods
  std::map<std::string, base::TimeNs> hurried_ns_;     ///< pod's uid: when
  std::map<std::string, base::TimeNs> taken_back_ns_;  ///< by mend(): id, when
  std::map<std::string, Refused> refused_;             ///< by id
};

}  // namespace goban::live::engine::kubernetes
