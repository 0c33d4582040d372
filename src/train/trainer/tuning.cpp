#include "train/trainer/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>

#include "train/mesh/device.hpp"
#include "train/trainer/batches.hpp"
#include "train/trainer/stopping.hpp"

namespace goban::train::trainer {
namespace {

constexpr double kPoints = 100;
constexpr int64_t kPatience = 2;  // times the epochs of the starting point

const char* overlap_name(mesh::Overlap overlap) {
  switch (overlap) {
    case mesh::Overlap::Off:
      return "off";
    case mesh::Overlap::Buckets:
      return "buckets";
    case mesh::Overlap::Delayed:
      return "delayed";
  }
  return "off";
}

std::string precision_name(const TrainOptions& options) {
  if (options.tf32) return "tf32";
  switch (options.precision) {
    case mesh::DType::BF16:
      return "bf16";
    case mesh::DType::F16:
      return "fp16";
    default:
      return "fp32";
  }
}

bool feeds_shards(const TrainOptions& options) {
  return !options.data_dir.empty() && names_shards(options.data_dir);
}

/// Whether two runs differ in nothing that is tried here.
bool same_choice(const TrainOptions& a, const TrainOptions& b) {
  const auto key = [](const TrainOptions& o) {
    // Data in memory have no threads of their own accord, except for GPUs.
    const auto device = mesh::resolve_device(o.device, 0);
    const bool none =
        o.feeding.threads == kAutoThreads && !feeds_shards(o) && device && device->is_cpu();
    return std::tuple(none ? 0 : o.feeding.threads, o.overlap, o.precision, o.tf32, o.batch_size);
  };
  return key(a) == key(b);
}

/// Runs choices and keeps the best.
class Tuner {
 public:
  Tuner(const TrialRunner& run, const TuneOptions& options) : run_(run), options_(options) {
    out_.best = options.train;
    out_.best.last_batch = LastBatch::Drop;
    out_.best_precision = precision_name(options.train);
    threads_ = options.loader_threads;
    if (threads_.empty() && feeds_shards(options.train)) threads_ = {0, 1, 2};
  }

  base::Result<TuneResult> all() {
    if (auto s = start(); !s) return base::failure(s.error());
    for (const int threads : threads_) {
      TrainOptions with = out_.best;
      with.feeding.threads = threads;
      attempt("loader threads", fmt::format("{}", threads), with);
    }
    if (options_.ranks > 1) {
      for (const mesh::Overlap overlap : options_.overlaps) {
        TrainOptions with = out_.best;
        with.overlap = overlap;
        attempt("overlap", overlap_name(overlap), with);
      }
    }
    for (const PrecisionChoice& each : options_.precisions) {
      TrainOptions with = out_.best;
      with.precision = each.activation;
      with.tf32 = each.tf32;
      mesh::allow_tf32(each.tf32);
      if (attempt("precision", each.name, with)) {
        out_.best_precision = each.name;
      } else {
        mesh::allow_tf32(out_.best.tf32);
      }
    }
    for (const int64_t batch : batches()) {
      TrainOptions with = out_.best;
      const double ratio = static_cast<double>(batch) / static_cast<double>(with.batch_size);
      with.batch_size = batch;
      // --lr-scale does that itself.
      if (with.lr_scale == LrScale::None) with.optimizer.scale *= std::sqrt(ratio);
      attempt("batch", fmt::format("{}", batch), with);
    }
    if (stop_requested) return base::failed("stopped before the end of the search");
    say_what_is_not_verified();
    return std::move(out_);
  }

 private:
  std::vector<int64_t> batches() const {
    if (!options_.batches.empty()) return options_.batches;
    const int64_t now = options_.train.batch_size;
    return {now / 2, now * 2, now * 4};
  }

  base::Result<Trial> run(TrainOptions options) {
    const int64_t samples = options.train_limit;
    if (samples > 0) {
      options.evaluate_every =
          std::max<int64_t>(1, samples / options.batch_size / options_.evaluations);
    }
    auto trials = run_seeds(run_, options, options_.ranks, 1);
    if (!trials) return base::failure(trials.error());
    return std::move(trials->front());
  }

  base::Status start() {
    if (auto s = warm_up(run_, out_.best, options_.ranks); !s) return s;
    auto first = run(out_.best);
    if (!first) return base::failure(first.error());
    out_.target_loss = options_.target_loss > 0 ? options_.target_loss : first->test_loss;
    accuracy_ = first->accuracy;
    const auto seconds = first->seconds_to_loss(out_.target_loss);
    out_.rows.push_back({"start", fmt::format("batch {}", out_.best.batch_size), std::move(*first),
                         seconds, true, "starting point"});
    if (!seconds) {
      return base::usage_error(
          fmt::format("the starting point does not reach a test loss of {:g} in {} epochs (its "
                      "last is {:.5g})",
                      out_.target_loss, options_.train.epochs, out_.rows.front().trial.test_loss),
          "give more --epochs or a larger --target-loss");
    }
    out_.start_s = out_.best_s = *seconds;
    return {};
  }

  /// Returns whether the choice was taken.
  bool attempt(const std::string& what, const std::string& value, const TrainOptions& with) {
    if (stop_requested || same_choice(with, out_.best)) return false;
    // A larger batch takes fewer steps in an epoch; it may need more epochs to get there.
    TrainOptions longer = with;
    longer.epochs *= kPatience;
    auto trial = run(longer);
    TuneRow row{what, value, {}, {}, false, {}};
    if (!trial) {
      row.verdict = trial.error().text();
    } else {
      row.trial = std::move(*trial);
      row.seconds = row.trial.seconds_to_loss(out_.target_loss);
      row.taken = is_better(row);
      if (row.taken) {
        out_.best = with;
        out_.best_s = *row.seconds;
      }
    }
    out_.rows.push_back(std::move(row));
    return out_.rows.back().taken;
  }

  bool is_better(TuneRow& row) const {
    if (!row.seconds) {
      row.verdict = "does not reach the loss";
      return false;
    }
    const double lost = accuracy_ - row.trial.accuracy_at_loss(out_.target_loss);
    if (lost > options_.tolerance) {
      row.verdict = fmt::format("{:.2f} points less accuracy", kPoints * lost);
      return false;
    }
    const double gain = 1 - *row.seconds / out_.best_s;
    row.verdict = fmt::format("{:+.0f} % time", -kPoints * gain);
    return gain >= options_.least_gain;
  }

  void say_what_is_not_verified() {
    auto& list = out_.not_verified;
    list.emplace_back("one run each: differences of a few percent can be the machine's other load");
    if (options_.ranks == 1) list.emplace_back("overlap: there is one rank (--threads)");
    if (threads_.empty()) {
      list.emplace_back("loader threads: the data are in memory (give shards as --data)");
    }
    if (options_.train.device == "cpu" || options_.train.device == "auto") {
      list.emplace_back(
          "GPUs: on processors fp16 is emulated and bf16 may lack instructions, so their speed "
          "says "
          "nothing about GPUs");
    }
    list.emplace_back("the accuracy after more epochs than were run here");
  }

  const TrialRunner& run_;
  const TuneOptions& options_;
  std::vector<int> threads_;  ///< of the loader, to try
  TuneResult out_;
  double accuracy_ = 0;
};

}  // namespace

base::Result<TuneResult> tune(const TrialRunner& run, const TuneOptions& options) {
  return Tuner(run, options).all();
}

std::string tune_text(const TuneResult& result) {
  std::string out =
      fmt::format("time to a test loss of {:.5g}\n{:<16}{:>10}{:>12}{:>10}{:>12}  {}\n",
                  result.target_loss, "choice", "", "samples/s", "seconds", "accuracy", "");
  for (const TuneRow& row : result.rows) {
    out += fmt::format("{:<16}{:>10}{:>12.0f}{:>10}{:>12.4f}  {}{}\n", row.what, row.value,
                       row.trial.samples_per_s,
                       row.seconds ? fmt::format("{:.2f}", *row.seconds) : "-",
                       row.trial.accuracy_at_loss(result.target_loss), row.verdict,
                       row.taken && &row != &result.rows.front() ? ", taken" : "");
  }
  const TrainOptions& best = result.best;
  out += fmt::format("{:.2f} s to {:.2f} s: --batch-size {} --precision {} --overlap {}",
                     result.start_s, result.best_s, best.batch_size, result.best_precision,
                     overlap_name(best.overlap));
  if (best.feeding.threads != kAutoThreads) {
    out += fmt::format(" --loader-threads {}", best.feeding.threads);
  }
  if (best.optimizer.scale != 1) {
    out += fmt::format(" --lr-factor {:.6g}", best.optimizer.scale);
  }
  out += "\nnot verified here:\n";
  for (const std::string& each : result.not_verified) out += fmt::format("  {}\n", each);
  return out;
}

std::string tune_json(const TuneResult& result) {
  nlohmann::json rows = nlohmann::json::array();
  for (const TuneRow& row : result.rows) {
    nlohmann::json each = {{"what", row.what},
                           {"value", row.value},
                           {"samples_per_s", row.trial.samples_per_s},
                           {"accuracy", row.trial.accuracy_at_loss(result.target_loss)},
                           {"taken", row.taken},
                           {"verdict", row.verdict}};
    if (row.seconds) each["seconds"] = *row.seconds;
    rows.push_back(std::move(each));
  }
  const nlohmann::json out = {{"version", 1},
                              {"target_loss", result.target_loss},
                              {"rows", std::move(rows)},
                              {"batch_size", result.best.batch_size},
                              {"precision", result.best_precision},
                              {"overlap", overlap_name(result.best.overlap)},
                              {"learning_rate_factor", result.best.optimizer.scale},
                              {"seconds_before", result.start_s},
                              {"seconds_after", result.best_s},
                              {"not_verified", result.not_verified}};
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace goban::train::trainer
