// The orders of the core to a cluster, until each is answered by what the cluster shows. An order
// is carried out by others (tasks), may fail, and is only believed when a later look at the cluster
// shows its effect. Pure: no clock, thread or process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live/engine.hpp"

namespace goban::live::engine::cluster {

/// Where a job stands at the cluster.
enum class Stand : uint8_t {
  Absent,    ///< not listed
  Held,      ///< waits, and the cluster does not start it
  Released,  ///< waits; the cluster may start it
  Running,
  Ended,
};

struct JobStand {
  Stand stand = Stand::Absent;
  RunId run{};                    ///< as stored with the order that started it; invalid: none
  std::vector<NodePart> parts{};  ///< Running: what it holds
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  bool ran = false;  ///< Ended: it had started
  int32_t exit_code = -1;
  int32_t signal = 0;
  bool out_of_memory = false;
  bool timed_out = false;
  bool cancelled = false;  ///< Ended: by its user or an administrator, there
  bool node_failed = false;
  bool hopeless = false;  ///< Released: it cannot start as it is
  /// One of its nodes does not answer. Released: its start is awaited from when they all do.
  bool on_silent_node = false;
  /// Released: because of its nodes as a whole. Held: these refused `run`, and it waits again.
  bool nodes_closed = false;
  std::vector<std::string> closed_nodes{};  ///< which of them; empty = unknown
  /// Released: none of its nodes is the reason that it cannot start.
  bool is_blameless = false;
  /// Released: why it has not started. Ended, Absent: why, if that is not its own.
  std::string reason{};
  TimeNs cycle_ns = 0;  ///< Released: it starts only in cycles of the cluster that are so long
};

enum class Act : uint8_t {
  Start,     ///< place it and let the cluster start it
  TakeBack,  ///< it waits: it does not start any more
  Requeue,   ///< end what runs of it; it waits again, held
  Cancel,    ///< end the job
  Mark,      ///< store the run with a job that runs
};

struct Task {
  std::string id{};
  Act act = Act::Start;
  Stand stand = Stand::Held;  ///< where it was seen last
  LaunchOrder order{};        ///< Start, Mark
};

struct Patience {
  TimeNs start_ns = 30 * base::kSecond;    ///< of a released job until it runs
  int64_t cycles = 3;                      ///< further ones of a job that starts only in cycles
  TimeNs hopeless_ns = 2 * base::kSecond;  ///< the same, if the cluster says that it cannot
  TimeNs repeat_ns = 10 * base::kSecond;   ///< until an order without effect is repeated
};

class Ledger {
 public:
  explicit Ledger(Patience patience = {}) : patience_(patience) {}

  void launch(const LaunchOrder& order);
  /// A run of which the cluster is asked again; also one that somebody else started.
  void resume(const LaunchOrder& order);
  void stop(RunId run, StopReason reason);
  void withdraw(const std::string& id);

  /// What is to be done now. Each task is answered by done().
  [[nodiscard]] std::vector<Task> take_tasks(TimeNs now_ns);
  /// `problem` is empty: it was carried out. Otherwise for users: nothing was, or with `unsure`
  /// that is unknown, as after a time-out. `because`: what of the order is the reason; empty = all,
  /// one part without a name = nothing of it.
  void done(const Task& task, const std::string& problem, TimeNs now_ns, bool unsure = false,
            std::vector<NodePart> because = {});
  /// A task that was taken is put off: it is taken again at `until_ns`. May be repeated.
  void put_off(const Task& task, TimeNs until_ns);
  /// Answers orders by what the cluster showed at `asked_ns`; a job that is not listed is Absent.
  /// What was asked before an order was carried out says nothing about it.
  [[nodiscard]] std::vector<Report> look(const std::map<std::string, JobStand>& jobs,
                                         TimeNs asked_ns, TimeNs now_ns);

  /// The run of a job that is not answered to its end; invalid: none.
  [[nodiscard]] RunId run_of(const std::string& id) const;
  /// The runs that are not answered to their end, by their jobs.
  [[nodiscard]] std::map<std::string, RunId> runs() const;
  /// What the order of a job that is not answered to its end names; empty: there is none.
  [[nodiscard]] std::vector<NodePart> parts_of(const std::string& id) const;
  /// The job of a run that is not answered to its end; empty: none.
  [[nodiscard]] std::string id_of(RunId run) const;
  /// Something is to be carried out, or what was carried out has not shown its effect.
  [[nodiscard]] bool has_open() const;
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  enum class Goal : uint8_t { Run, Wait, Gone };
  struct Entry {
    RunId run{};  ///< invalid: nothing to report
    LaunchOrder order{};
    Goal goal = Goal::Run;
    Stand stand = Stand::Held;       ///< seen last
    bool launch = false;             ///< it is to be started by us
    bool started = false;            ///< reported
    bool repeat = false;             ///< report its start again
    bool mark = false;               ///< the run is to be stored with the job
    bool stopped = false;            ///< by an order, not because it did not start
    std::vector<NodePart> closed{};  ///< nodes because of which it did not start
    std::optional<Act> sent{};       ///< the last task that was carried out
    bool busy = false;               ///< a task was taken and not answered
    TimeNs sent_ns = -1;
    TimeNs believe_ns = -1;  ///< what was asked until then says nothing
    std::string detail{};
  };

  Entry* find(RunId run);
  [[nodiscard]] std::optional<Act> wanted(const Entry& entry) const;
  /// True: the entry is settled and removed.
  bool settle(Entry& entry, const JobStand& job, TimeNs now_ns, std::vector<Report>& reports);
  static bool settle_running(Entry& entry, const JobStand& job, std::vector<Report>& reports);
  static bool settle_held(Entry& entry, const JobStand& job, std::vector<Report>& reports);
  bool settle_released(Entry& entry, const JobStand& job, TimeNs now_ns,
                       std::vector<Report>& reports) const;

  Patience patience_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, RunId> shown_;  ///< by job: the run that the last look showed, not held
  std::vector<Report> early_;           ///< answers that need no look
};

}  // namespace goban::live::engine::cluster
