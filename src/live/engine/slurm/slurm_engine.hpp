// The engine that has Slurm run what Goban decides (docs/slurm.md). Its thread asks Slurm and
// carries out orders by Slurm's commands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "live/engine/cluster/cluster_engine.hpp"
#include "live/engine/slurm/client.hpp"
#include "live/engine/slurm/questions.hpp"

namespace goban::live::engine::slurm {

struct SlurmOptions {
  std::string conf{};  ///< path of slurm.conf; empty: Slurm's default
  QueueRules rules{};
  std::string_view gres_prefix = "gres:";  ///< version.hpp
  uint64_t epoch = 0;  ///< of the daemon; orders of a lower one are not carried out
  Rhythm rhythm{};
  bool sleep = false;        ///< nodes may be put to sleep
  bool by_priority = false;  ///< the policy orders jobs by their priorities
  double timeout_s = 10;     ///< of each command of Slurm
  cluster::Patience patience{};
};

class SlurmEngine final : public cluster::ClusterEngine {
 public:
  /// Starts nothing before recall() or another call. Ignores SIGPIPE in this process.
  explicit SlurmEngine(SlurmOptions options);
  /// Ends the thread, and a command of Slurm that it waits for.
  ~SlurmEngine() override;
  SlurmEngine(const SlurmEngine&) = delete;
  SlurmEngine& operator=(const SlurmEngine&) = delete;

  void recall(const std::vector<KnownJob>& known) override;
  /// Ends the time after a job's signal; with Kill, kills its processes.
  void hurry(RunId run, StopUrgency urgency) override;
  /// By scontrol suspend, which needs the rights of an operator of Slurm.
  void suspend(RunId run, bool suspended) override;
  /// By Slurm's power states: its SuspendProgram and ResumeProgram are run.
  void rest(const std::string& node) override;
  /// A report NodeUp follows when the node is awake.
  void wake(const std::string& node) override;

  /// Why Slurm could not be asked last; empty: it answers.
  [[nodiscard]] std::string problem() const override;

 private:
  void run() override;
  /// Until the next look is due, or there is something to do.
  void pause();
  /// Orders, then one question to Slurm and what follows from it.
  void step();
  /// Jobs to be started whose owners have changed what they request.
  [[nodiscard]] std::set<std::string> changed_since(const std::vector<cluster::Task>& tasks);
  void carry_out();
  /// Replies to scripts, one each; `unsure`: scontrol did not finish.
  [[nodiscard]] std::vector<std::string> order(const std::vector<std::string>& scripts,
                                               bool& unsure);
  [[nodiscard]] base::Result<std::string> lines_of(const cluster::Task& task) const;
  /// Of a heterogeneous job; its leader is the first of `components`.
  [[nodiscard]] base::Result<std::string> het_lines(const cluster::Task& task,
                                                    const std::vector<std::string>& components,
                                                    const std::string& partitions, bool ran) const;
  /// Why a job cannot have so many shards of the GPU that it was given; empty: it can.
  [[nodiscard]] std::string shards_problem(const cluster::Task& task, int32_t shards) const;
  void let_go_of_others(const std::vector<std::pair<std::string, std::string_view>>& leaves);
  /// A job that asks for a signal before its stop gets it; true: the stop is put off.
  [[nodiscard]] bool signals_first(const cluster::Task& task);
  void set_power(const std::string& node, bool down);
  /// Of nodes that are awake as ordered; orders it again where they sleep on.
  [[nodiscard]] std::vector<Report> woken();

  SlurmOptions options_;
  Client client_;
  std::string problem_;  ///< guarded by mutex_

  // Used by the thread alone.
  Questions questions_;
  int quiet_ = 0;      ///< see pause_s()
  double took_s_ = 0;  ///< the last question, if it was answered
  struct Signalled {
    RunId run{};
    base::TimeNs until_ns = 0;  ///< then it is stopped
  };
  std::map<std::string, Signalled> signalled_;
  std::map<std::string, base::TimeNs> waking_;  ///< nodes, and when they were told last
  base::TimeNs asked_ns_ = -1;
};

}  // namespace goban::live::engine::slurm
