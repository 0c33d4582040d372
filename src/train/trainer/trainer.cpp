#include "train/trainer/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/output_file.hpp"
#include "train/mesh/measure_costs.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/prepared_run.hpp"
#include "train/trainer/progress_socket.hpp"
#include "train/trainer/run_checkpoint.hpp"
#include "train/trainer/run_files.hpp"
#include "train/trainer/same_on_ranks.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/time_parts.hpp"
#include "train/trainer/write_rate.hpp"

namespace goban::train::trainer {

namespace {

using namespace mesh;

constexpr int64_t kStopInterval = 8;  // steps between agreements to stop

/// A run on one rank, from building its graphs to its last epoch.
class Run {
 public:
  Run(const TrainOptions& options, comm::Communicator& end) : options_(options), end_(end) {}

  base::Result<std::vector<EpochResult>> all() {
    auto prepared = prepare_run(options_, end_);
    if (!prepared) return base::failure(prepared.error());
    if (options_.explain || prepared->stopped) return std::vector<EpochResult>{};
    run_ = std::move(*prepared);
    at_.summary_sums.assign(run_.whole->step().summaries.size(), 0);
    if (end_.rank() == 0) socket_ = ProgressSocket::from_environment();
    if (auto s = resume(); !s) return base::failure(s.error());
    std::vector<EpochResult> results;
    const Moment begins = moment();
    outside_.leave(begins);
    started_s_ = begins.begin_s;
    while (!at_end() && !stopped_) {
      auto result = interval();
      if (!result) {
        socket_.ended("failed");
        return base::failure(result.error());
      }
      if (stopped_) break;
      results.push_back(*result);
    }
    socket_.ended(stopped_ ? "stopped" : "done");
    if (auto s = tell_times(); !s) return base::failure(s.error());
    return results;
  }

 private:
  Moment moment() const { return moment_of(communication_times().exposed_s); }
  void count_idle() {
    outside_.count(moment());
    times_.idle_s = outside_.seconds();
  }
  bool speaks() const { return end_.rank() == 0 && !options_.quiet; }

  bool at_end() const {
    return options_.most_steps > 0 ? at_.step >= options_.most_steps : at_.epoch >= options_.epochs;
  }
  bool interval_ends() const {
    if (options_.most_steps > 0 && at_.step >= options_.most_steps) return true;
    return options_.evaluate_every > 0 ? at_.step % options_.evaluate_every == 0
                                       : at_.position == 0;
  }
  /// Mean training loss since the last evaluation.
  double mean_loss() const {
    return at_.loss_sum / static_cast<double>(std::max<int64_t>(at_.loss_samples, 1));
  }
  /// Number of steps of the whole run.
  int64_t all_steps() const {
    return options_.most_steps > 0 ? options_.most_steps : options_.epochs * run_.steps;
  }

  base::Status resume() {
    checkpoint_ = std::make_unique<RunCheckpoint>(options_, *run_.batches, run_.steps, *run_.whole);
    auto found = checkpoint_->resume();
    if (!found) return base::failure(found.error());
    if (auto s = open_out(found->has_value()); !s) return s;
    if (!*found) return {};
    at_ = std::move(**found);
    replaced_before_ = at_.replaced;
    if (speaks()) {
      fmt::print(stderr, "resumed at epoch {}, step {}\n",
                 std::min<int64_t>(at_.epoch + 1, options_.epochs), at_.step);
    }
    return {};
  }

  /// Before the first step: nobody else writes there, and we can.
  base::Status open_out(bool resumed) {
    if (end_.rank() != 0 || options_.out.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options_.out, error);
    if (error) {
      return base::failed(
          fmt::format("cannot create the folder '{}': {}", options_.out, error.message()),
          "--out must be a writable folder");
    }
    // A checkpoint folder is locked already.
    if (!std::filesystem::equivalent(options_.out, options_.checkpoint, error)) {
      auto lock = FolderLock::take(options_.out, "--out");
      if (!lock) return base::failure(lock.error());
      out_lock_ = std::move(*lock);
    }
    std::filesystem::remove(divergence_mark(options_.out), error);
    if (!resumed) remove_results(options_.out);
    return {};
  }

  /// The error of a run with non-finite values; nothing of it is saved, and --out is marked.
  base::Status no_number(const std::string& what) const {
    if (end_.rank() == 0 && !options_.out.empty()) {
      if (const auto s = base::write_file(divergence_mark(options_.out), what + "\n"); !s) {
        fmt::print(stderr, "warning: {}\n", s.error().text());
      }
    }
    return base::failed(what, checkpoint_->exists()
                                  ? "lower the learning rate or use fp32; the last checkpoint is "
                                    "intact"
                                  : "lower the learning rate or use fp32");
  }

  /// Checks that all variables are finite. The loss of a step is computed before its update, so it
  /// does not show the effect of the last update. Collective, and equal on all ranks.
  base::Status check_variables() {
    const auto bad = run_.whole->variables().first_not_finite();
    if (!bad) return base::failure(bad.error());
    if (bad->empty()) return check_copies(run_.whole->variables(), at_.step);
    return no_number(fmt::format("'{}' contains NaN or infinity after step {}", *bad, at_.step));
  }

  /// Prints and writes where the time went, with the limits of the machine. Collective.
  base::Status tell_times() {
    if (options_.quiet || statistics_.steps == 0) return {};
    count_idle();
    times_.wall_s = base::steady_s() - started_s_;
    times_.steps = statistics_;
    times_.preparing = run_.batches->preparing();
    RunLimits limits;
    if (run_.evaluation->fastest_per_s() > 0)
      limits.evaluated_per_s = run_.evaluation->fastest_per_s();
    if (!stopped_) {
      if (auto measured = measure_costs(end_, run_.memory->device())) limits.costs = *measured;
    }
    if (end_.rank() != 0) return {};
    if (!stopped_ && times_.saved_bytes > 0) {
      limits.saved_bytes_per_s = measured_write_rate(options_.checkpoint, checkpoint_->bytes());
    }
    auto table = time_table(times_, run_.whole->plan(), limits);
    table.options = advised_options(options_);
    base::reports::join_neighbours(table.intervals);
    fmt::print("{}", base::reports::to_text(table));
    if (options_.out.empty()) return {};
    if (auto s = write_profile(options_, last_result_, statistics_, run_.whole->plan(),
                               options_.micro_batches, *run_.memory, &table);
        !s) {
      return s;
    }
    return base::write_file(options_.out + "/time_table.json", base::reports::to_json(table));
  }

  struct CommunicationTimes {
    double exposed_s = 0, reducing_s = 0, late_s = 0, moving_s = 0;
  };
  CommunicationTimes communication_times() const {
    const comm::AsyncReducer* reducer = run_.whole->reducer();
    const comm::Traffic& own = end_.traffic();
    if (reducer == nullptr) return {own.spent_s, 0, own.late_s, 0};
    return {own.spent_s + reducer->waited_s(), reducer->reducing_s(),
            own.late_s + reducer->late_s(), reducer->moving_s()};
  }

  /// "communication: 1.2 ms of a step exposed (3.4 %), ..."; empty for one rank.
  std::string communication_text() const {
    if (end_.size() == 1) return {};
    const StepStatistics& s = statistics_;
    const double ms = 1e3 / static_cast<double>(s.steps);
    std::string out = fmt::format(
        "communication: {:.3g} ms of a step exposed ({:.1f} %), of it {:.3g} ms until "
        "the last rank arrived",
        ms * s.exposed_s, 100 * s.exposed_s / s.sum_s, ms * s.late_s);
    const comm::AsyncReducer* reducer = run_.whole->reducer();
    if (reducer == nullptr || s.reducing_s <= 0) return out + "\n";
    const auto hidden = [](double all_s, double waited_s) {
      return 100 * std::max(0.0, all_s - waited_s) / std::max(all_s, 1e-9);
    };
    const double waited_s = reducer->waited_s(), late_s = reducer->late_s();
    out += fmt::format("; {:.0f} % of {:.3g} ms in overlapping all-reduces hidden",
                       hidden(s.reducing_s, waited_s), ms * s.reducing_s);
    return out + fmt::format(", {:.0f} % of the {:.3g} ms after the last rank arrived\n",
                             hidden(s.moving_s, waited_s - late_s), ms * s.moving_s);
  }

  /// Runs one step at `at_.position`: batches, program, statistics. Returns the number of samples.
  base::Result<int64_t> one_step() {
    TrainingStep& part = at_.position < run_.whole_steps ? *run_.whole : *run_.last;
    const Moment begins = moment();
    outside_.enter(begins);
    const double before = begins.end_s;
    const double waited_s = run_.batches->waited_s().value_or(0);
    const int64_t micro = part.step().micro_batch, begin = at_.position * options_.batch_size;
    std::vector<Feeds> feeds;
    double asked = 0;
    for (int i = 0; i < part.micro_batches(); ++i) {
      auto fed = run_.batches->train(at_.epoch, begin + i * micro, micro);
      if (!fed) return base::failure(fed.error());
      feeds.push_back(std::move(*fed));
      // Equal in all parts: a masked batch, whose parts differ, is fed whole.
      asked += predictions_of(feeds.back()) * static_cast<double>(run_.batches->parts());
    }
    if (at_.position == 0 || at_.step == 0) {
      if (auto s = check_fed_alike(end_, *run_.batches, run_.whole->plan(), feeds.front()); !s) {
        return base::failure(s.error());
      }
    }
    const double fed = base::steady_s();
    const CommunicationTimes before_step = communication_times();
    const auto values = part.run(feeds, at_.step);
    if (!values) return base::failure(values.error());
    const CommunicationTimes after_step = communication_times();
    statistics_.exposed_s += after_step.exposed_s - before_step.exposed_s;
    statistics_.reducing_s += after_step.reducing_s - before_step.reducing_s;
    statistics_.late_s += after_step.late_s - before_step.late_s;
    statistics_.moving_s += after_step.moving_s - before_step.moving_s;
    if (!std::isfinite(values->loss)) {
      return base::failure(no_number(fmt::format("the loss of step {} (epoch {}) is {}", at_.step,
                                                 at_.epoch + 1, values->loss))
                               .error());
    }
    const int64_t samples = micro * part.micro_batches();
    times_.samples += samples;
    for (size_t i = 0; i < values->summaries.size(); ++i) {
      at_.summary_sums[i] += values->summaries[i];
    }
    ++at_.summary_steps;
    if (values->is_skipped) ++at_.skipped;
    at_.loss_sum += values->loss * asked;
    at_.loss_samples += std::llround(asked);
    right_ += values->correct;
    predictions_ += asked;
    ++at_.step;
    if (++at_.position == run_.steps) {
      at_.position = 0;
      ++at_.epoch;
    }
    const Moment ends = moment();
    outside_.leave(ends);
    const double taken = ends.begin_s - before;
    statistics_.steps += 1;
    statistics_.sum_s += taken;
    statistics_.sum_s2 += taken * taken;
    // A thread that is displaced while it wakes the loader does not wait for input.
    const auto waits_s = run_.batches->waited_s();
    statistics_.input_s += waits_s ? *waits_s - waited_s : fed - before;
    return samples;
  }

  /// Trains from one evaluation to the next.
  base::Result<EpochResult> interval() {
    const double start = base::steady_s();
    count_idle();
    auto intervals = std::exchange(times_.intervals, {});
    RunTimes earlier = times_;
    times_.intervals = std::move(intervals);
    earlier.steps = statistics_;
    int64_t seen = 0;
    right_ = predictions_ = 0;
    const int64_t shown_epoch = at_.epoch + 1;
    ProgressBar bar(speaks(), shown_epoch, options_.epochs, run_.steps);
    do {
      if (at_.position % kStopInterval == 0) {
        const auto stop = agreed_to_stop(end_);
        if (!stop) return base::failure(stop.error());
        if (*stop) {
          stopped_ = true;
          if (auto s = check_variables(); !s) return base::failure(s.error());
          if (auto s = count_replaced(); !s) return base::failure(s.error());
          if (auto s = save(); !s) return base::failure(s.error());
          if (seen > 0) add_interval(earlier, start);
          if (speaks())
            fmt::print(stderr, "stopped at epoch {}, step {}{}{}\n", at_.epoch + 1, at_.step,
                       skipped_text(", "), replaced_text());
          return EpochResult{};
        }
      }
      const auto samples = one_step();
      if (!samples) return base::failure(samples.error());
      seen += *samples;
      Progress now;
      now.epoch = shown_epoch;
      now.epochs = options_.epochs;
      now.step = at_.step;
      now.steps = all_steps();
      now.loss = mean_loss();
      now.accuracy = right_ / std::max(predictions_, 1.0);
      now.samples_per_s = static_cast<double>(seen) / (base::steady_s() - start);
      now.eta_s =
          static_cast<double>((all_steps() - at_.step) * options_.batch_size) / now.samples_per_s;
      if (statistics_.sum_s > 0) {
        now.input_stall_pct = 100 * statistics_.input_s / statistics_.sum_s;
      }
      bar.show(at_.position == 0 ? run_.steps : at_.position, now);
      socket_.report(now);
    } while (!interval_ends());
    EpochResult result;
    result.train_s = base::steady_s() - start;
    result.samples_per_s = static_cast<double>(seen) / result.train_s;
    result.train_loss = mean_loss();
    result.epoch = at_.epoch + (at_.position > 0 ? 1 : 0);
    result.step = at_.step;
    at_.loss_sum = 0;
    at_.loss_samples = 0;
    for (size_t i = 0; i < at_.summary_sums.size(); ++i) {
      result.summaries.emplace_back(run_.whole->step().summaries[i].name,
                                    at_.summary_sums[i] / static_cast<double>(at_.summary_steps));
      at_.summary_sums[i] = 0;
    }
    if (auto s = check_variables(); !s) return base::failure(s.error());
    if (auto s = check_skipped(); !s) return base::failure(s.error());
    if (auto s = count_replaced(); !s) return base::failure(s.error());
    const std::string skipped = skipped_text("");
    at_.summary_steps = at_.skipped = 0;
    if (auto s = evaluate(result); !s) return base::failure(s.error());
    if (auto s = save(); !s) return base::failure(s.error());
    add_interval(earlier, start);
    last_result_ = result;
    return report(result, skipped);
  }

  /// Empty if there were none.
  [[nodiscard]] std::string skipped_text(const char* before) const {
    if (at_.skipped == 0) return "";
    return fmt::format("{}{} of {} steps were skipped: their gradients were not finite in fp16",
                       before, at_.skipped, at_.summary_steps);
  }
  [[nodiscard]] std::string replaced_text() const {
    return at_.replaced == 0 ? "" : fmt::format(", {} corrupt samples replaced", at_.replaced);
  }

  /// Of all ranks. Collective.
  base::Status count_replaced() {
    if (!options_.feeding.skip_corrupt) return {};
    const auto count =
        comm::reduced(end_, run_.batches->skipped(), comm::Reduction::Sum, "corrupt samples");
    if (!count) return base::failure(count.error());
    const int64_t ranks_of_a_part = std::max<int64_t>(1, end_.size() / run_.batches->parts());
    at_.replaced = replaced_before_ + *count / ranks_of_a_part;
    return {};
  }

  /// Errors: Failed if nothing was learned since the last report.
  [[nodiscard]] base::Status check_skipped() const {
    // Fewer may be skipped while the loss scale is being found.
    constexpr int64_t kFew = 16;
    if (at_.skipped < at_.summary_steps) return {};
    if (options_.loss_scale == 0 && at_.summary_steps <= kFew) return {};
    return base::failed(
        fmt::format("all {} steps up to step {} were skipped: their gradients were not finite in "
                    "fp16",
                    at_.skipped, at_.step),
        options_.loss_scale > 0 ? "use a smaller --loss-scale, or 0, which finds it while training"
                                : "lower the learning rate, or use bf16");
  }

  /// The interval that began at `begin_s`, when `earlier` was measured, and ends now.
  void add_interval(const RunTimes& earlier, double begin_s) {
    count_idle();
    times_.steps = statistics_;
    times_.intervals.push_back(time_interval(earlier, times_, begin_s - started_s_,
                                             base::steady_s() - started_s_, at_.step));
    if (times_.intervals.size() > 2 * base::reports::kMostIntervals) {
      base::reports::join_neighbours(times_.intervals);
    }
  }

  base::Status save() {
    const Moment begins = moment();
    outside_.enter(begins);
    if (auto s = checkpoint_->save(at_); !s) return s;
    const Moment ends = moment();
    outside_.leave(ends);
    times_.checkpoint_s += ends.begin_s - begins.end_s;
    times_.saved_bytes += checkpoint_->bytes();
    return {};
  }

  base::Status evaluate(EpochResult& result) {
    const Moment begins = moment();
    outside_.enter(begins);
    const auto values = run_.evaluation->run(*run_.batches, *run_.memory);
    if (!values) return base::failure(values.error());
    if (!std::isfinite(values->loss)) {
      return no_number(
          fmt::format("the loss of the test set after step {} is {}", at_.step, values->loss));
    }
    result.test_loss = values->loss;
    result.test_accuracy = values->accuracy;
    const Moment ends = moment();
    outside_.leave(ends);
    times_.evaluation_s += ends.begin_s - begins.end_s;
    times_.evaluated += run_.evaluation->evaluated();
    return {};
  }

  base::Result<EpochResult> report(const EpochResult& result, const std::string& skipped) {
    if (end_.rank() != 0) return result;
    if (speaks()) {
      fmt::print(
          "epoch {} step {} train_loss {:.5f} test_acc {:.4f} test_loss {:.5f} "
          "train {:.1f} s {:.0f}/s\n",
          result.epoch, result.step, result.train_loss, result.test_accuracy, result.test_loss,
          result.train_s, result.samples_per_s);
      if (run_.predicted_s > 0) {
        const double measured = statistics_.sum_s / static_cast<double>(statistics_.steps);
        fmt::print("planner: {:.4g} s per step measured, {:.4g} s predicted ({:.2f} times)\n",
                   measured, run_.predicted_s, measured / run_.predicted_s);
      }
      if (options_.memory_limit_bytes > 0) {
        fmt::print("memory of device 0: peak {} bytes measured, {} planned, limit {}\n",
                   run_.memory->peak_bytes(), needed_bytes(run_.whole->plan()),
                   options_.memory_limit_bytes);
      }
      if (!skipped.empty()) fmt::print("{}\n", skipped);
      fmt::print("input_stall_pct {:.2f}{}\n", 100 * statistics_.input_s / statistics_.sum_s,
                 replaced_text());
      fmt::print("{}", communication_text());
      std::fflush(stdout);
    }
    if (auto s = write_metrics(options_, result); !s) return base::failure(s.error());
    if (auto s = write_profile(options_, result, statistics_, run_.whole->plan(),
                               options_.micro_batches, *run_.memory);
        !s) {
      return base::failure(s.error());
    }
    return result;
  }

  const TrainOptions& options_;
  comm::Communicator& end_;
  PreparedRun run_;
  ProgressSocket socket_;
  Standing at_;
  std::unique_ptr<RunCheckpoint> checkpoint_;
  std::optional<FolderLock> out_lock_;
  double right_ = 0, predictions_ = 0;
  int64_t replaced_before_ = 0;  ///< the continuation of this run
  StepStatistics statistics_;
  RunTimes times_;
  IdleTime outside_;
  EpochResult last_result_;
  double started_s_ = 0;
  bool stopped_ = false;
};

}  // namespace

base::Result<std::vector<EpochResult>> train(const TrainOptions& options, comm::Communicator& end) {
  return Run(options, end).all();
}

}  // namespace goban::train::trainer
