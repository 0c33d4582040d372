#include "train/trainer/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>

#include "base/clock.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/evaluation.hpp"
#include "train/trainer/progress_socket.hpp"
#include "train/trainer/run_checkpoint.hpp"
#include "train/trainer/run_files.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {

namespace {

using namespace mesh;

constexpr int64_t kStopInterval = 8;  // steps between agreements to stop

/// A run on one rank, from building its graphs to its last epoch.
class Run {
 public:
  Run(const TrainOptions& options, comm::Communicator& end) : options_(options), end_(end) {}

  base::Result<std::vector<EpochResult>> all() {
    if (auto s = prepare(); !s) return base::failure(s.error());
    if (options_.explain || stopped_) return std::vector<EpochResult>{};
    if (auto s = resume(); !s) return base::failure(s.error());
    std::vector<EpochResult> results;
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
    return results;
  }

 private:
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
    return options_.most_steps > 0 ? options_.most_steps : options_.epochs * steps_;
  }

  base::Status prepare() {
    auto step = build_step(options_);
    if (!step) return base::failure(step.error());
    auto layout = choose(options_, **step, end_);
    if (!layout) return base::failure(layout.error());
    if (layout->stopped) {
      stopped_ = true;
      if (speaks()) fmt::print(stderr, "stopped before the first step\n");
      return {};
    }
    predicted_s_ = layout->predicted_step_s;
    if (speaks()) fmt::print("{}", layout->said);
    if (options_.explain) return explain_plan(**step, *layout);
    const auto device = resolve_device(options_.device, end_.local_rank());
    if (!device) return base::failure(device.error());
    memory_ = std::make_unique<DeviceMemory>(options_.memory_limit_bytes, *device);
    auto laid_out = TrainingStep::create(options_, std::move(*step), *layout, end_, *memory_);
    if (!laid_out) return base::failure(laid_out.error());
    whole_ = std::move(*laid_out);
    at_.summary_sums.assign(whole_->step().summaries.size(), 0);
    if (speaks()) {
      for (const std::string& warning : whole_->plan().warnings) {
        fmt::print(stderr, "warning: {}\n", warning);
      }
      const std::string memory = memory_warning(options_, whole_->plan());
      if (!memory.empty()) fmt::print(stderr, "warning: {}\n", memory);
    }
    auto batches = open_batches(options_);
    if (!batches) return base::failure(batches.error());
    batches_ = std::move(*batches);
    if (auto s = count_steps(); !s) return s;
    if (end_.rank() == 0) socket_ = ProgressSocket::from_environment();
    return prepare_test();
  }

  /// Independent of the number of ranks: a layout for a large machine can be explained on a small
  /// one.
  base::Status explain_plan(const StepGraph& step, const ChosenLayout& layout) const {
    const auto plan =
        lower(step.graph, step.roots(), layout.mesh, layout.rules, 0, options_.micro_batches);
    if (!plan) return base::failure(plan.error());
    if (speaks()) fmt::print("{}", explain(step.graph, *plan));
    return {};
  }

  /// Counts the whole batches of an epoch, and prepares the smaller one at its end.
  base::Status count_steps() {
    const int64_t size = batches_->train_size(), rest = size % options_.batch_size;
    whole_steps_ = size / options_.batch_size;
    steps_ = whole_steps_;
    if (steps_ == 0) {
      return base::usage_error(fmt::format("a batch of {} is larger than the {} training samples",
                                           options_.batch_size, size));
    }
    if (rest == 0) return {};
    if (options_.last_batch == LastBatch::Drop) {
      if (speaks()) {
        fmt::print(stderr, "note: {} of {} samples are excluded from each epoch\n", rest, size);
      }
      return {};
    }
    TrainOptions last = options_;
    last.batch_size = rest;
    if (rest % last.micro_batches != 0) last.micro_batches = 1;
    last.lr_scale = LrScale::None;  // keeps the learning rate of a whole batch
    last.optimizer.scale = batch_scale(options_);
    auto smaller = TrainingStep::sharing(last, *whole_);
    if (!smaller) {
      base::Error error = smaller.error();
      error.message =
          fmt::format("the last batch of an epoch has {} samples: {}", rest, error.message);
      error.remedy = "use --last-batch drop, or a batch size that divides the data set";
      return base::failure(error);
    }
    last_ = std::move(*smaller);
    ++steps_;
    return {};
  }

  base::Status prepare_test() {
    auto evaluation = Evaluation::create(options_, *whole_, batches_->test_size());
    if (!evaluation) return base::failure(evaluation.error());
    evaluation_ = std::move(*evaluation);
    if (evaluation_->left_out() > 0 && speaks()) {
      fmt::print(stderr,
                 "note: {} of {} test samples are excluded: the layout does not divide them\n",
                 evaluation_->left_out(), batches_->test_size());
    }
    return {};
  }

  base::Status resume() {
    checkpoint_ =
        std::make_unique<RunCheckpoint>(options_, batches_->train_size(), steps_, *whole_);
    auto found = checkpoint_->resume();
    if (!found) return base::failure(found.error());
    if (!*found) return {};
    at_ = std::move(**found);
    if (speaks()) fmt::print(stderr, "resumed at epoch {}, step {}\n", at_.epoch, at_.step);
    return {};
  }

  /// The error of a run with non-finite values; nothing of it is saved.
  base::Status no_number(const std::string& what) const {
    return base::failed(what, options_.checkpoint.empty()
                                  ? "lower the learning rate or use fp32"
                                  : "lower the learning rate or use fp32; the last checkpoint is "
                                    "intact");
  }

  /// Checks that all variables are finite. The loss of a step is computed before its update, so it
  /// does not show the effect of the last update. Collective, and equal on all ranks.
  base::Status check_variables() {
    const auto bad = whole_->variables().first_not_finite();
    if (!bad) return base::failure(bad.error());
    if (bad->empty()) return {};
    return no_number(fmt::format("'{}' contains NaN or infinity after step {}", *bad, at_.step));
  }

  /// Runs one step at `at_.position`: batches, program, statistics. Returns the number of samples.
  base::Result<int64_t> one_step() {
    TrainingStep& part = at_.position < whole_steps_ ? *whole_ : *last_;
    const double before = base::steady_s();
    const int64_t micro = part.step().micro_batch, begin = at_.position * options_.batch_size;
    std::vector<Feeds> feeds;
    double asked = 0;
    for (int i = 0; i < part.micro_batches(); ++i) {
      feeds.push_back(batches_->train(at_.epoch, begin + i * micro, micro));
      asked += predictions_of(feeds.back());
    }
    const double fed = base::steady_s();
    const auto values = part.run(feeds, at_.step);
    if (!values) return base::failure(values.error());
    if (!std::isfinite(values->loss)) {
      return base::failure(no_number(fmt::format("the loss of step {} (epoch {}) is {}", at_.step,
                                                 at_.epoch + 1, values->loss))
                               .error());
    }
    const int64_t samples = micro * part.micro_batches();
    for (size_t i = 0; i < values->summaries.size(); ++i) {
      at_.summary_sums[i] += values->summaries[i];
    }
    ++at_.summary_steps;
    at_.loss_sum += values->loss * asked;
    at_.loss_samples += std::llround(asked);
    right_ += values->correct;
    predictions_ += asked;
    ++at_.step;
    if (++at_.position == steps_) {
      at_.position = 0;
      ++at_.epoch;
    }
    const double taken = base::steady_s() - before;
    statistics_.steps += 1;
    statistics_.sum_s += taken;
    statistics_.sum_s2 += taken * taken;
    statistics_.input_s += fed - before;
    return samples;
  }

  /// Trains from one evaluation to the next.
  base::Result<EpochResult> interval() {
    const double start = base::steady_s();
    int64_t seen = 0;
    right_ = predictions_ = 0;
    const int64_t shown_epoch = at_.epoch + 1;
    ProgressBar bar(speaks(), shown_epoch, options_.epochs, steps_);
    do {
      if (at_.position % kStopInterval == 0) {
        const auto stop = agreed_to_stop(end_);
        if (!stop) return base::failure(stop.error());
        if (*stop) {
          stopped_ = true;
          if (auto s = check_variables(); !s) return base::failure(s.error());
          if (auto s = checkpoint_->save(at_); !s) return base::failure(s.error());
          if (speaks())
            fmt::print(stderr, "stopped at epoch {}, step {}\n", at_.epoch + 1, at_.step);
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
      bar.show(at_.position == 0 ? steps_ : at_.position, now);
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
      result.summaries.emplace_back(whole_->step().summaries[i].name,
                                    at_.summary_sums[i] / static_cast<double>(at_.summary_steps));
      at_.summary_sums[i] = 0;
    }
    at_.summary_steps = 0;
    if (auto s = check_variables(); !s) return base::failure(s.error());
    if (auto s = evaluate(result); !s) return base::failure(s.error());
    if (auto s = checkpoint_->save(at_); !s) return base::failure(s.error());
    return report(result);
  }

  base::Status evaluate(EpochResult& result) {
    const auto values = evaluation_->run(*batches_, *memory_);
    if (!values) return base::failure(values.error());
    if (!std::isfinite(values->loss)) {
      return no_number(
          fmt::format("the loss of the test set after step {} is {}", at_.step, values->loss));
    }
    result.test_loss = values->loss;
    result.test_accuracy = values->accuracy;
    return {};
  }

  base::Result<EpochResult> report(const EpochResult& result) {
    if (end_.rank() != 0) return result;
    if (speaks()) {
      fmt::print(
          "epoch {} step {} train_loss {:.5f} test_acc {:.4f} test_loss {:.5f} "
          "train {:.1f} s {:.0f}/s\n",
          result.epoch, result.step, result.train_loss, result.test_accuracy, result.test_loss,
          result.train_s, result.samples_per_s);
      if (predicted_s_ > 0) {
        const double measured = statistics_.sum_s / static_cast<double>(statistics_.steps);
        fmt::print("planner: {:.4g} s per step measured, {:.4g} s predicted ({:.2f} times)\n",
                   measured, predicted_s_, measured / predicted_s_);
      }
      if (options_.memory_limit_bytes > 0) {
        fmt::print("memory of device 0: peak {} bytes measured, {} planned, limit {}\n",
                   memory_->peak_bytes(), needed_bytes(whole_->plan()),
                   options_.memory_limit_bytes);
      }
      std::fflush(stdout);
    }
    if (auto s = write_metrics(options_, result); !s) return base::failure(s.error());
    if (auto s = write_profile(options_, result, statistics_, whole_->plan(),
                               options_.micro_batches, *memory_);
        !s) {
      return base::failure(s.error());
    }
    return result;
  }

  const TrainOptions& options_;
  comm::Communicator& end_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<TrainingStep> whole_, last_;  // for whole batches; for an epoch's last batch
  std::unique_ptr<Evaluation> evaluation_;
  std::unique_ptr<Batches> batches_;
  ProgressSocket socket_;
  int64_t whole_steps_ = 0, steps_ = 0;
  double predicted_s_ = 0;
  Standing at_;
  std::unique_ptr<RunCheckpoint> checkpoint_;
  double right_ = 0, predictions_ = 0;
  StepStatistics statistics_;
  bool stopped_ = false;
};

}  // namespace

base::Result<std::vector<EpochResult>> train(const TrainOptions& options, comm::Communicator& end) {
  return Run(options, end).all();
}

}  // namespace goban::train::trainer
