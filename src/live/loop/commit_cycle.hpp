// Commit cycles of the live scheduler: takes inputs, decides, writes the journal, and only then
// applies effects. No thread and no clock: called by the daemon and by fault tests.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/controller/controller.hpp"
#include "live/journal/record_log.hpp"

namespace goban::live::loop {

using core::model::ReservationId;

/// The result of an input that was taken.
struct Answer {
  JobId first_job{};            ///< Submit
  ReservationId reservation{};  ///< Reserve
  TimeNs at_ns = 0;
};

class CommitCycle {
 public:
  /// `log` and `engine` outlive this.
  CommitCycle(controller::Site site, journal::RecordLog& log, Engine& engine);

  /// Outcome of folding the decisions of a log.
  struct Fold {
    int64_t records = 0;
    int64_t reproduced = 0;  ///< same result as recorded
    int64_t other = 0;       ///< different result; carried out as recorded
    int64_t uncompared = 0;  ///< carried out as recorded without comparison, as there were too many
    int64_t first_other = -1;  ///< index of the record
  };
  /// Folds the content of the log. Decisions are made again. From the first one with a different
  /// result on (another release or configuration) they are carried out as recorded, as that is what
  /// happened. Errors: BadData if a record does not fit.
  /// `then`: the rules of staging that held when the log was written, if they were others; what
  /// follows obeys those of the site, and rests on them, so a snapshot must be written.
  [[nodiscard]] base::Result<Fold> fold(
      const journal::Recovered& recovered,
      const std::optional<controller::StagingRules>& then = std::nullopt);
  /// Too few runs have ended here to predict run times. Once, after fold().
  [[nodiscard]] bool needs_past() const;
  /// Learns from the site's history. What follows rests on it, so a snapshot must be written.
  void teach(const std::vector<controller::EarlierJob>& past);
  /// Queries the state of all launched runs from the engine, and repeats unanswered orders. Called
  /// after fold() and every minute.
  void resume();
  /// Tells the engine what the job table holds of the jobs of its queue. Once, after fold().
  void recall();
  /// Sets all power limits again at the start, as the state that the last daemon left is unknown.
  void repeat_limits();

  /// Takes inputs and engine reports, decides if something changed or is due, and commits. Answers
  /// are by input. If the journal cannot be written, nothing takes effect, answers are errors and
  /// is_stuck() is true; the next cycle retries.
  using Answers = std::vector<base::Result<Answer>>;
  [[nodiscard]] Answers run(std::vector<controller::Input> inputs, TimeNs now);
  /// The journal cannot be written: no input is taken until it can.
  [[nodiscard]] bool is_stuck() const { return stuck_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Jobs whose records are to be written to the history store, each once.
  [[nodiscard]] std::vector<JobId> take_accounts();
  /// The store has the record of the job: removes its folders and allows its removal from the job
  /// table.
  void accounted(JobId id, TimeNs now);

  /// Replaces the journal by a snapshot.
  [[nodiscard]] base::Status compact();
  [[nodiscard]] const controller::Controller& controller() const { return *controller_; }
  [[nodiscard]] int64_t num_inputs() const { return inputs_; }
  [[nodiscard]] int64_t num_decisions() const { return decisions_; }

 private:
  [[nodiscard]] base::Status restore(const journal::Recovered& recovered);
  /// Makes the decisions again until one differs.
  [[nodiscard]] base::Result<Fold> fold_alike(const journal::Recovered& recovered);
  /// Makes the decisions before `fold.first_other` again and carries out the remaining ones.
  [[nodiscard]] base::Status fold_recorded(const journal::Recovered& recovered, Fold& fold);
  base::Result<Answer> take(controller::Input input, TimeNs now);
  void take_event(EngineEvent event, TimeNs now);
  /// Lets a pilot go on to its next period, or fall back.
  void step_pilot(TimeNs now);
  /// Writes the input into the journal and applies it. What the journal could not give back is left
  /// out, or the input is.
  void apply(controller::TimedInput timed);
  void decide(TimeNs now);
  void give_out(std::vector<controller::Order> orders);
  [[nodiscard]] bool commit();

  std::unique_ptr<controller::Controller> controller_;
  journal::RecordLog& log_;
  Engine& engine_;
  std::vector<JobId> accounts_;
  bool stuck_ = false;
  bool changed_ = false;   ///< since the last decision
  TimeNs weighed_ns_ = 0;  ///< when a pilot's stop rules were last looked at
  bool dirty_ = false;     ///< records were appended since the last commit
  std::string problem_;
  int64_t inputs_ = 0;
  int64_t decisions_ = 0;
};

}  // namespace goban::live::loop
