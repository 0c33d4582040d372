// What the engine asks Slurm, and how often: the queue at each look; names and requests once a job,
// what it holds once a start; nodes, limits and priorities less often. Used by one thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "live/engine/slurm/client.hpp"
#include "live/engine/slurm/priority.hpp"
#include "live/engine/slurm/queue_view.hpp"
#include "live/engine/slurm/state_watch.hpp"

namespace goban::live::engine::slurm {

struct Rhythm {
  double poll_s = 1;      ///< between two looks at the queue, while something happens
  double rest_s = 5;      ///< the most, when nothing has happened for a while
  double watched_s = 30;  ///< the same, while slurmctld's state folder shows no change
  double nodes_s = 5;     ///< between two lists of nodes, at rest five times the time between looks
  double rules_s = 30;    ///< between two questions for limits, weights, shares, and requests
  double arrays_s = 300;  ///< the same for the bounds of arrays that are known
  double config_s = 300;  ///< the same for what slurm.conf says
};

/// The time from the end of one look to the next, in seconds. `quiet`: looks in a row that showed
/// nothing new, with no order open. `took_s`: what the last one took; a slow slurmctld is asked
/// less. `watched`: a change that slurmctld stores ends the pause after pause_s(rhythm, 0, took_s).
[[nodiscard]] double pause_s(const Rhythm& rhythm, int quiet, double took_s, bool watched = false);

/// A job came, went or changed its state.
[[nodiscard]] bool has_news(std::span<const JobRow> before, std::span<const JobRow> now);

/// A job that ran in `before` waits in `now`.
[[nodiscard]] bool waits_again(std::span<const JobRow> before, std::span<const JobRow> now);

/// Slurm cannot start a job that it was given, because of the nodes that were chosen.
[[nodiscard]] bool lacks_its_nodes(std::span<const JobRow> rows);

class Questions {
 public:
  Questions(const Client& client, const QueueRules& rules, const Rhythm& rhythm)
      : client_(client), rules_(rules), rhythm_(rhythm) {}

  /// Asks what is due. `by_priority`: priorities are of use. Errors: Failed if Slurm does not
  /// answer, BadData if the answer is none; everything keeps its last answer.
  [[nodiscard]] base::Status ask(bool by_priority, int quiet);
  /// slurmctld's state folder; used between two questions.
  [[nodiscard]] const StateWatch& watch() const { return watch_; }

  /// Nodes are about to change: some that fit a job are about to be seen, or one is about to be
  /// given up, of which slurmctld stores nothing.
  [[nodiscard]] bool awaits_nodes() const;

  /// What all answers together mean.
  [[nodiscard]] QueueView view(const cluster::Picture& told);

  [[nodiscard]] const std::vector<JobRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<NodeRow>& nodes() const { return nodes_; }
  /// When they were asked for.
  [[nodiscard]] base::TimeNs nodes_at_ns() const { return nodes_at_ns_; }
  /// The words of a job; null if they were not asked yet.
  [[nodiscard]] const JobWords* words(const std::string& id) const;
  /// Asks the words of these again. Returns those whose request their owner has changed since.
  std::set<std::string> renew(const std::set<std::string>& ids);

 private:
  [[nodiscard]] base::Status ask_nodes();
  [[nodiscard]] base::Status ask_words();
  [[nodiscard]] base::Status ask_words_of(const std::set<std::string>& ids);
  void ask_parts();
  [[nodiscard]] QueueView view(std::span<const JobRow> rows,
                               const std::map<std::string, JobFacts>& facts,
                               const cluster::Picture& told);
  /// Limits of arrays, which scontrol shows with a task.
  void ask_array_limits(bool anew);
  /// What slurm.conf says.
  void ask_config();
  /// Limits of accounting, weights and shares. What cannot be asked keeps its last answer.
  void ask_rules(bool by_priority);
  void remember_outcomes();

  const Client& client_;
  const QueueRules& rules_;
  Rhythm rhythm_;
  std::vector<JobRow> rows_;
  std::vector<NodeRow> nodes_;
  base::TimeNs nodes_at_ns_ = -1;
  bool lacks_nodes_ = false;  ///< nodes that fit a job are about to be seen
  base::TimeNs rules_at_ns_ = -1;
  base::TimeNs words_at_ns_ = -1;
  base::TimeNs arrays_at_ns_ = -1;
  base::TimeNs config_at_ns_ = -1;
  std::string config_;  ///< as scontrol printed it
  StateWatch watch_;
  Limits limits_;
  PriorityRules priorities_;
  std::map<int64_t, int32_t> array_limits_;
  std::map<std::string, JobFacts> facts_;
  Outcomes outcomes_;
};

}  // namespace goban::live::engine::slurm
