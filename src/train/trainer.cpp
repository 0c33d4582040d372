#include "train/trainer.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "base/number.hpp"
#include "mesh/checkpoint.hpp"
#include "mesh/device.hpp"
#include "train/batches.hpp"
#include "train/evaluation.hpp"
#include "train/progress_socket.hpp"
#include "train/run_files.hpp"
#include "train/training_step.hpp"

namespace goban::train {

std::atomic<bool> stop_requested = false;

namespace {

using namespace mesh;

constexpr int64_t kStopInterval = 8;  // steps between agreements on stopping

/// A run on one rank, from its graphs to its last epoch.
class Run {
 public:
  Run(const TrainOptions& options, comm::Communicator& end) : options_(options), end_(end) {}

  base::Result<std::vector<EpochResult>> all() {
    if (auto s = prepare(); !s) return base::failure(s.error());
    if (options_.explain) return std::vector<EpochResult>{};
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
    return options_.most_steps > 0 ? step_ >= options_.most_steps : epoch_ >= options_.epochs;
  }
  bool interval_ends() const {
    if (options_.most_steps > 0 && step_ >= options_.most_steps) return true;
    return options_.evaluate_every > 0 ? step_ % options_.evaluate_every == 0 : position_ == 0;
  }
  /// Steps of the whole run.
  int64_t all_steps() const {
    return options_.most_steps > 0 ? options_.most_steps : options_.epochs * steps_;
  }

  base::Status prepare() {
    auto step = build_step(options_);
    if (!step) return base::failure(step.error());
    auto layout = choose(options_, **step, end_);
    if (!layout) return base::failure(layout.error());
    predicted_s_ = layout->predicted_step_s;
    if (speaks()) fmt::print("{}", layout->said);
    if (options_.explain) return explain_plan(**step, *layout);
    const auto device = resolve_device(options_.device, end_.local_rank());
    if (!device) return base::failure(device.error());
    memory_ = std::make_unique<DeviceMemory>(options_.memory_limit_bytes, *device);
    auto laid_out = TrainingStep::create(options_, std::move(*step), *layout, end_, *memory_);
    if (!laid_out) return base::failure(laid_out.error());
    whole_ = std::move(*laid_out);
    summary_sums_.assign(whole_->step().summaries.size(), 0);
    if (speaks()) {
      for (const std::string& warning : whole_->plan().warnings) {
        fmt::print(stderr, "warning: {}\n", warning);
      }
    }
    auto batches = open_batches(options_);
    if (!batches) return base::failure(batches.error());
    batches_ = std::move(*batches);
    if (auto s = count_steps(); !s) return s;
    if (end_.rank() == 0) socket_ = ProgressSocket::from_environment();
    return prepare_test();
  }

  /// Needs no ranks: a layout for a large machine is explained on a small one.
  base::Status explain_plan(const StepGraph& step, const ChosenLayout& layout) const {
    const auto plan =
        lower(step.graph, step.roots(), layout.mesh, layout.rules, 0, options_.micro_batches);
    if (!plan) return base::failure(plan.error());
    if (speaks()) fmt::print("{}", explain(step.graph, *plan));
    return {};
  }

  /// Whole batches of an epoch, and the smaller one at its end.
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
        fmt::print(stderr, "note: {} of {} samples are left out of each epoch\n", rest, size);
      }
      return {};
    }
    TrainOptions last = options_;
    last.batch_size = rest;
    if (rest % last.micro_batches != 0) last.micro_batches = 1;
    last.lr_scale = LrScale::None;  // the rate is that of the whole batch
    last.optimizer.scale = batch_scale(options_);
    auto smaller = TrainingStep::sharing(last, *whole_);
    if (!smaller) {
      base::Error error = smaller.error();
      error.message =
          fmt::format("the last batch of an epoch has {} samples: {}", rest, error.message);
      error.remedy = "--last-batch drop leaves them out; or a batch size that divides the data set";
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
                 "note: {} of {} test samples are left out: the layout does not divide them\n",
                 evaluation_->left_out(), batches_->test_size());
    }
    return {};
  }

  std::string checkpoint_path() const { return options_.checkpoint + "/checkpoint.goban"; }

  base::Status resume() {
    if (options_.checkpoint.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(options_.checkpoint, error);
    if (!std::filesystem::exists(checkpoint_path())) return {};
    auto bookmark = load_checkpoint(checkpoint_path(), whole_->variables());
    if (!bookmark) return base::failure(bookmark.error());
    const auto number = [&](const char* key) {
      const auto found = bookmark->find(key);
      return found == bookmark->end() ? std::nullopt : base::parse_int(found->second);
    };
    const auto epoch = number("epoch"), position = number("position"), step = number("step");
    const auto seen = number("loss_samples");
    if (!epoch || !position || !step || !seen || number("batch") != options_.batch_size ||
        number("seed") != static_cast<int64_t>(options_.seed)) {
      return base::bad_data({checkpoint_path(), 0, 0, ""},
                            "is of a run with another batch size or seed",
                            "use an empty --checkpoint folder, or the same options");
    }
    epoch_ = *epoch;
    position_ = *position;
    step_ = *step;
    loss_samples_ = *seen;
    loss_sum_ = std::strtod((*bookmark)["loss_sum"].c_str(), nullptr);
    summary_steps_ = number("summary_steps").value_or(0);
    for (size_t i = 0; i < summary_sums_.size(); ++i) {
      const std::string key = "summary:" + whole_->step().summaries[i].name;
      summary_sums_[i] = std::strtod((*bookmark)[key].c_str(), nullptr);
    }
    if (speaks()) fmt::print(stderr, "resumed at epoch {}, step {}\n", epoch_, step_);
    return {};
  }

  /// The error of a run whose numbers are none: nothing is saved of it.
  base::Status no_number(const std::string& what) const {
    return base::failed(what, options_.checkpoint.empty()
                                  ? "lower the learning rate or use fp32"
                                  : "lower the learning rate or use fp32; the last checkpoint is "
                                    "intact");
  }

  /// The loss of a step is that before its update: what the last update made of the variables shows
  /// only in them. Collective, and equal on all ranks.
  base::Status check_variables() {
    const auto bad = whole_->variables().first_not_finite();
    if (!bad) return base::failure(bad.error());
    if (bad->empty()) return {};
    return no_number(
        fmt::format("'{}' holds values that are no finite numbers after step {}", *bad, step_));
  }

  base::Status save() {
    if (options_.checkpoint.empty()) return {};
    std::map<std::string, std::string> bookmark = {{"epoch", std::to_string(epoch_)},
                                                   {"position", std::to_string(position_)},
                                                   {"step", std::to_string(step_)},
                                                   {"batch", std::to_string(options_.batch_size)},
                                                   {"seed", std::to_string(options_.seed)},
                                                   {"loss_samples", std::to_string(loss_samples_)},
                                                   {"loss_sum", fmt::format("{:a}", loss_sum_)}};
    for (size_t i = 0; i < summary_sums_.size(); ++i) {
      bookmark["summary_steps"] = std::to_string(summary_steps_);
      bookmark["summary:" + whole_->step().summaries[i].name] =
          fmt::format("{:a}", summary_sums_[i]);
    }
    return save_checkpoint(checkpoint_path(), whole_->variables(), bookmark);
  }

  /// True on all ranks if a signal came to any.
  base::Result<bool> agreed_to_stop() {
    std::array<int64_t, 1> stop = {stop_requested ? 1 : 0};
    const auto status =
        end_.all_reduce(comm::whole_world(end_.size()), std::as_writable_bytes(std::span(stop)),
                        comm::Element::I64, comm::Reduction::Max, "stop?");
    if (!status) return base::failure(status.error());
    return stop[0] != 0;
  }

  /// One step at `position_`: batches, program, statistics. The number of samples.
  base::Result<int64_t> one_step() {
    TrainingStep& part = position_ < whole_steps_ ? *whole_ : *last_;
    const double before = now_s();
    const int64_t micro = part.step().micro_batch, begin = position_ * options_.batch_size;
    std::vector<Feeds> feeds;
    for (int i = 0; i < part.micro_batches(); ++i) {
      feeds.push_back(batches_->train(epoch_, begin + i * micro, micro));
    }
    const double fed = now_s();
    const auto values = part.run(feeds, step_);
    if (!values) return base::failure(values.error());
    if (!std::isfinite(values->loss)) {
      return base::failure(no_number(fmt::format("the loss of step {} (epoch {}) is {}", step_,
                                                 epoch_ + 1, values->loss))
                               .error());
    }
    const int64_t samples = micro * part.micro_batches();
    for (size_t i = 0; i < values->summaries.size(); ++i) {
      summary_sums_[i] += values->summaries[i];
    }
    ++summary_steps_;
    loss_sum_ += values->loss * static_cast<double>(samples);
    loss_samples_ += samples;
    right_ += values->correct;
    predictions_ += part.step().predictions;
    ++step_;
    if (++position_ == steps_) {
      position_ = 0;
      ++epoch_;
    }
    const double taken = now_s() - before;
    statistics_.steps += 1;
    statistics_.sum_s += taken;
    statistics_.sum_s2 += taken * taken;
    statistics_.input_s += fed - before;
    return samples;
  }

  /// From one evaluation to the next.
  base::Result<EpochResult> interval() {
    const double start = now_s();
    int64_t seen = 0;
    right_ = predictions_ = 0;
    const int64_t shown_epoch = epoch_ + 1;
    ProgressBar bar(speaks(), shown_epoch, options_.epochs, steps_);
    do {
      if (position_ % kStopInterval == 0) {
        const auto stop = agreed_to_stop();
        if (!stop) return base::failure(stop.error());
        if (*stop) {
          stopped_ = true;
          if (auto s = check_variables(); !s) return base::failure(s.error());
          if (auto s = save(); !s) return base::failure(s.error());
          if (speaks()) fmt::print(stderr, "stopped at epoch {}, step {}\n", epoch_ + 1, step_);
          return EpochResult{};
        }
      }
      const auto samples = one_step();
      if (!samples) return base::failure(samples.error());
      seen += *samples;
      Progress now;
      now.epoch = shown_epoch;
      now.epochs = options_.epochs;
      now.step = step_;
      now.steps = all_steps();
      now.loss = loss_sum_ / static_cast<double>(loss_samples_);
      now.accuracy = right_ / predictions_;
      now.samples_per_s = static_cast<double>(seen) / (now_s() - start);
      now.eta_s =
          static_cast<double>((all_steps() - step_) * options_.batch_size) / now.samples_per_s;
      if (statistics_.sum_s > 0) {
        now.input_stall_pct = 100 * statistics_.input_s / statistics_.sum_s;
      }
      bar.show(position_ == 0 ? steps_ : position_, now);
      socket_.report(now);
    } while (!interval_ends());
    EpochResult result;
    result.train_s = now_s() - start;
    result.samples_per_s = static_cast<double>(seen) / result.train_s;
    result.train_loss = loss_sum_ / static_cast<double>(loss_samples_);
    result.epoch = epoch_ + (position_ > 0 ? 1 : 0);
    result.step = step_;
    loss_sum_ = 0;
    loss_samples_ = 0;
    for (size_t i = 0; i < summary_sums_.size(); ++i) {
      result.summaries.emplace_back(whole_->step().summaries[i].name,
                                    summary_sums_[i] / static_cast<double>(summary_steps_));
      summary_sums_[i] = 0;
    }
    summary_steps_ = 0;
    if (auto s = check_variables(); !s) return base::failure(s.error());
    if (auto s = evaluate(result); !s) return base::failure(s.error());
    if (auto s = save(); !s) return base::failure(s.error());
    return report(result);
  }

  base::Status evaluate(EpochResult& result) {
    const auto values = evaluation_->run(*batches_, *memory_);
    if (!values) return base::failure(values.error());
    if (!std::isfinite(values->loss)) {
      return no_number(
          fmt::format("the loss of the test set after step {} is {}", step_, values->loss));
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
        fmt::print("planner: {:.4g} s a step measured, {:.4g} s predicted ({:.2f} times)\n",
                   measured, predicted_s_, measured / predicted_s_);
      }
      if (options_.memory_limit_bytes > 0) {
        fmt::print("memory of device 0: {} bytes at most measured, {} planned, limit {}\n",
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
  std::unique_ptr<TrainingStep> whole_, last_;  // batches of the whole size, the epoch's last one
  std::unique_ptr<Evaluation> evaluation_;
  std::unique_ptr<Batches> batches_;
  ProgressSocket socket_;
  int64_t whole_steps_ = 0, steps_ = 0;
  double predicted_s_ = 0;
  int64_t epoch_ = 0, position_ = 0, step_ = 0;
  double loss_sum_ = 0;  // of samples since the last evaluation
  int64_t loss_samples_ = 0;
  std::vector<double> summary_sums_;  // of steps since the last evaluation
  int64_t summary_steps_ = 0;
  double right_ = 0, predictions_ = 0;
  StepStatistics statistics_;
  bool stopped_ = false;
};

}  // namespace

base::Result<std::vector<EpochResult>> train(const TrainOptions& options, comm::Communicator& end) {
  return Run(options, end).all();
}

}  // namespace goban::train
