// Turns of the live scheduler: inputs in, journal, decision, and only then effects. No thread and
// no clock: a daemon calls it, and so does a simulation with faults.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "live/controller/controller.hpp"
#include "live/journal/record_log.hpp"

namespace goban::live::loop {

using core::model::ReservationId;

/// What became of an input.
struct Answer {
  JobId first_job{};            ///< Submit
  ReservationId reservation{};  ///< Reserve
  TimeNs at_ns = 0;
};

class Turns {
 public:
  /// `log` and `engine` outlive this.
  Turns(controller::Site site, journal::RecordLog& log, Engine& engine);

  /// What became of the decisions that the log held.
  struct Fold {
    int64_t records = 0;
    int64_t reproduced = 0;    ///< come out as recorded
    int64_t other = 0;         ///< come out otherwise, and were carried out as recorded
    int64_t uncompared = 0;    ///< likewise, without making them again: there were too many
    int64_t first_other = -1;  ///< index of the record
  };
  /// Folds what the log held. Decisions are made again; from the first that comes out otherwise on
  /// (another release or configuration) they are carried out as recorded, for that is what
  /// happened. Errors: BadData if a record does not fit.
  [[nodiscard]] base::Result<Fold> fold(const journal::Recovered& recovered);
  /// Asks the engine how the runs of the book stand, and repeats orders of which nobody knows
  /// whether they arrived. After fold(), and every minute.
  void resume();
  /// Sets the power limits again: how the last daemon left the GPUs, nobody knows. At the start.
  void repeat_limits();

  /// Takes inputs and what the engine reports, decides if something happened or is due, and makes
  /// all of it safe. Answers are by input. If the journal cannot be written, nothing takes effect,
  /// answers are errors and is_stuck() is true; the next turn tries again.
  using Answers = std::vector<base::Result<Answer>>;
  [[nodiscard]] Answers turn(std::vector<controller::Input> inputs, TimeNs now);
  /// The journal cannot be written: nothing is taken until it can.
  [[nodiscard]] bool is_stuck() const { return stuck_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Jobs whose records are to go to the history store, each once.
  [[nodiscard]] std::vector<JobId> take_accounts();
  /// The store has the record of the job: its folders go, and the book may forget it.
  void accounted(JobId id, TimeNs now);

  /// Replaces the journal by a snapshot.
  [[nodiscard]] base::Status compact();
  [[nodiscard]] const controller::Controller& controller() const { return *controller_; }
  [[nodiscard]] int64_t num_inputs() const { return inputs_; }
  [[nodiscard]] int64_t num_decisions() const { return decisions_; }

 private:
  [[nodiscard]] base::Status restore(const journal::Recovered& recovered);
  /// Makes the decisions again, until one comes out otherwise.
  [[nodiscard]] base::Result<Fold> fold_alike(const journal::Recovered& recovered);
  /// Makes those before `fold.first_other` again and carries out the rest.
  [[nodiscard]] base::Status fold_recorded(const journal::Recovered& recovered, Fold& fold);
  base::Result<Answer> take(controller::Input input, TimeNs now);
  void decide(TimeNs now);
  void give_out(std::vector<controller::Order> orders);
  [[nodiscard]] bool commit();

  std::unique_ptr<controller::Controller> controller_;
  journal::RecordLog& log_;
  Engine& engine_;
  std::vector<JobId> accounts_;
  bool stuck_ = false;
  bool changed_ = false;  ///< since the last decision
  bool dirty_ = false;    ///< records were appended since the last commit
  std::string problem_;
  int64_t inputs_ = 0;
  int64_t decisions_ = 0;
};

}  // namespace goban::live::loop
