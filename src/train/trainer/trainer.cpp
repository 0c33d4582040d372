#include "train/trainer/trainer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>

#include "base/clock.hpp"
#include "base/file_checksum.hpp"
#include "base/output_file.hpp"
#include "train/mesh/device.hpp"
#include "train/mesh/measure_costs.hpp"
#include "train/mesh/tensor_checksum.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/evaluation.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/progress_socket.hpp"
#include "train/trainer/run_checkpoint.hpp"
#include "train/trainer/run_files.hpp"
#include "train/trainer/same_on_ranks.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/time_parts.hpp"
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
    started_s_ = base::steady_s();
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
    Facts options = facts_of(options_);
    options.emplace_back("--fixed-order", end_.options().fixed_order ? "given" : "not given");
    if (auto s = same_options(end_, options); !s) return s;
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
    auto batches = open_batches(options_, fed_part(whole_->plan()));
    if (!batches) return base::failure(batches.error());
    batches_ = std::move(*batches);
    if (auto s = count_steps(); !s) return s;
    if (end_.rank() == 0) socket_ = ProgressSocket::from_environment();
    if (auto s = prepare_test(); !s) return s;
    return compare_plan_and_data();
  }

  /// Plan and data of all ranks. Collective.
  base::Status compare_plan_and_data() {
    if (end_.size() == 1) return {};
    const StepGraph& step = whole_->step();
    const Plan& mine = whole_->plan();
    const auto plan =
        lower(step.graph, step.roots(), mine.mesh, mine.rules, 0, options_.micro_batches);
    if (!plan) return base::failure(plan.error());
    Facts facts = facts_of(*batches_);
    facts.emplace_back("mesh", mine.mesh.text());
    facts.emplace_back("layout", mine.rules.text());
    facts.emplace_back("checksum of the plan",
                       fmt::format("{:08x}", base::crc32_of(explain(step.graph, *plan))));
    return same_on_ranks(end_, facts, "the ranks have different plans or data",
                         "give all ranks the same program and the same data files");
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
    if (options_.overlap == Overlap::Delayed && options_.last_batch == LastBatch::Keep) {
      return base::usage_error(
          fmt::format("--overlap delayed needs batches of one size; the last one has {}", rest),
          "use --last-batch drop");
    }
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
    checkpoint_ = std::make_unique<RunCheckpoint>(options_, *batches_, steps_, *whole_);
    auto found = checkpoint_->resume();
    if (!found) return base::failure(found.error());
    if (auto s = open_out(); !s) return s;
    if (!*found) return {};
    at_ = std::move(**found);
    if (speaks()) fmt::print(stderr, "resumed at epoch {}, step {}\n", at_.epoch, at_.step);
    return {};
  }

  /// Before the first step: nobody else writes there, and we can.
  base::Status open_out() {
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
    const auto bad = whole_->variables().first_not_finite();
    if (!bad) return base::failure(bad.error());
    if (bad->empty()) return check_copies();
    return no_number(fmt::format("'{}' contains NaN or infinity after step {}", *bad, at_.step));
  }

  /// Checks that ranks which hold the same part of a variable hold the same values. Collective.
  base::Status check_copies() {
    const auto unequal = whole_->variables().unequal_copies();
    if (!unequal) return base::failure(unequal.error());
    if (!*unequal) return {};
    return base::failed(
        fmt::format("rank {} and rank {} have different copies of '{}' after step {}",
                    (*unequal)->rank, (*unequal)->other, (*unequal)->name, at_.step),
        "nothing was saved; one of them computes wrongly: check processor, memory and libraries of "
        "its machine");
  }

  /// Prints and writes where the time went, with the limits of the machine. Collective.
  base::Status tell_times() {
    if (options_.quiet || statistics_.steps == 0) return {};
    times_.wall_s = base::steady_s() - started_s_;
    times_.steps = statistics_;
    times_.preparing = batches_->preparing();
    std::optional<CostModel> limits;
    if (!stopped_) {
      if (auto measured = measure_costs(end_, memory_->device())) limits = *measured;
    }
    if (end_.rank() != 0) return {};
    const auto table = time_table(times_, whole_->plan(), limits);
    fmt::print("{}", base::reports::to_text(table));
    if (options_.out.empty()) return {};
    if (auto s = write_profile(options_, last_result_, statistics_, whole_->plan(),
                               options_.micro_batches, *memory_, &table);
        !s) {
      return s;
    }
    return base::write_file(options_.out + "/time_table.json", base::reports::to_json(table));
  }

  struct CommunicationTimes {
    double exposed_s = 0, reducing_s = 0;
  };
  CommunicationTimes communication_times() const {
    const comm::AsyncReducer* reducer = whole_->reducer();
    if (reducer == nullptr) return {end_.traffic().spent_s, 0};
    return {end_.traffic().spent_s + reducer->waited_s(), reducer->reducing_s()};
  }

  /// "communication: 1.2 ms of a step exposed (3.4 %), ..."; empty for one rank.
  std::string communication_text() const {
    if (end_.size() == 1) return {};
    const auto steps = static_cast<double>(statistics_.steps);
    std::string out = fmt::format("communication: {:.3g} ms of a step exposed ({:.1f} %)",
                                  1e3 * statistics_.exposed_s / steps,
                                  100 * statistics_.exposed_s / statistics_.sum_s);
    const comm::AsyncReducer* reducer = whole_->reducer();
    if (reducer != nullptr && statistics_.reducing_s > 0) {
      const double hidden = std::max(0.0, statistics_.reducing_s - reducer->waited_s());
      out +=
          fmt::format("; {:.0f} % of {:.3g} ms in overlapping all-reduces hidden",
                      100 * hidden / statistics_.reducing_s, 1e3 * statistics_.reducing_s / steps);
    }
    return out + "\n";
  }

  /// Ranks that feed the same part of the batch must have the same samples. Collective.
  base::Status check_fed_alike(const Feeds& feeds) {
    if (end_.size() == 1) return {};
    uint32_t sum = 0;
    for (const auto& [name, tensor] : feeds) sum ^= checksum_of(tensor.contiguous());
    const std::array<int64_t, 2> mine = {batches_->parts() > 1 ? fed_part(whole_->plan()).part : 0,
                                         sum};
    std::vector<int64_t> all(2 * static_cast<size_t>(end_.size()));
    if (auto s = end_.all_gather(comm::whole_world(end_.size()), std::as_bytes(std::span(mine)),
                                 std::as_writable_bytes(std::span(all)), "checksums of the feeds");
        !s) {
      return s;
    }
    for (size_t i = 0; i < all.size(); i += 2) {
      if (all[i] != mine[0] || all[i + 1] == mine[1]) continue;
      return base::failed(
          fmt::format("rank {} and rank {} feed part {} of the batch with different "
                      "samples",
                      end_.rank(), i / 2, mine[0]),
          "give all ranks the same shards and the same index");
    }
    return {};
  }

  /// Runs one step at `at_.position`: batches, program, statistics. Returns the number of samples.
  base::Result<int64_t> one_step() {
    TrainingStep& part = at_.position < whole_steps_ ? *whole_ : *last_;
    const double before = base::steady_s();
    const double waited_s = batches_->waited_s().value_or(0);
    const int64_t micro = part.step().micro_batch, begin = at_.position * options_.batch_size;
    std::vector<Feeds> feeds;
    double asked = 0;
    for (int i = 0; i < part.micro_batches(); ++i) {
      auto fed = batches_->train(at_.epoch, begin + i * micro, micro);
      if (!fed) return base::failure(fed.error());
      feeds.push_back(std::move(*fed));
      // Equal in all parts: a masked batch, whose parts differ, is fed whole.
      asked += predictions_of(feeds.back()) * static_cast<double>(batches_->parts());
    }
    if (at_.position == 0 || at_.step == 0) {
      if (auto s = check_fed_alike(feeds.front()); !s) return base::failure(s.error());
    }
    const double fed = base::steady_s();
    const CommunicationTimes times = communication_times();
    const auto values = part.run(feeds, at_.step);
    if (!values) return base::failure(values.error());
    statistics_.exposed_s += communication_times().exposed_s - times.exposed_s;
    statistics_.reducing_s += communication_times().reducing_s - times.reducing_s;
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
    // A thread that is displaced while it wakes the loader does not wait for input.
    const auto waits_s = batches_->waited_s();
    statistics_.input_s += waits_s ? *waits_s - waited_s : fed - before;
    return samples;
  }

  /// Trains from one evaluation to the next.
  base::Result<EpochResult> interval() {
    const double start = base::steady_s();
    RunTimes earlier = times_;
    earlier.intervals.clear();
    earlier.steps = statistics_;
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
    const double trained_s = base::steady_s();
    if (auto s = evaluate(result); !s) return base::failure(s.error());
    const double evaluated_s = base::steady_s();
    if (auto s = checkpoint_->save(at_); !s) return base::failure(s.error());
    times_.evaluation_s += evaluated_s - trained_s;
    times_.checkpoint_s += base::steady_s() - evaluated_s;
    times_.steps = statistics_;
    times_.intervals.push_back(time_interval(earlier, times_, start - started_s_,
                                             base::steady_s() - started_s_, at_.step));
    last_result_ = result;
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
      fmt::print("input_stall_pct {:.2f}{}\n", 100 * statistics_.input_s / statistics_.sum_s,
                 batches_->skipped() == 0
                     ? ""
                     : fmt::format(", {} corrupt samples replaced", batches_->skipped()));
      fmt::print("{}", communication_text());
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
  std::optional<FolderLock> out_lock_;
  double right_ = 0, predictions_ = 0;
  StepStatistics statistics_;
  RunTimes times_;
  EpochResult last_result_;
  double started_s_ = 0;
  bool stopped_ = false;
};

}  // namespace

base::Result<std::vector<EpochResult>> train(const TrainOptions& options, comm::Communicator& end) {
  return Run(options, end).all();
}

}  // namespace goban::train::trainer
