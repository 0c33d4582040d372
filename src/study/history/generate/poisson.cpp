#include "study/history/generate/poisson.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "core/knowledge/app_class.hpp"
#include "study/history/generate/samplers.hpp"

namespace goban::study::history {
namespace {

using base::Random;
using base::Status;
using base::usage_error;

Status check(const PoissonOptions& o) {
  const auto need = [](bool fine, std::string_view name, std::string_view range) -> Status {
    if (fine) return {};
    return usage_error(fmt::format("{} is out of range", name), fmt::format("give {}", range));
  };
  const auto within = [](double value, double least, double most) {
    return value >= least && value <= most;
  };
  for (const Status& status :
       {need(o.num_jobs >= 1 && o.num_jobs <= 100'000'000, "number of jobs", "1 to 100000000"),
        need(o.cluster_gpus >= 1 && o.cluster_gpus <= 1 << 24, "number of GPUs", "1 to 16777216"),
        need(within(o.load, 1e-6, 1e6), "load", "1e-6 to 1e6, such as 0.8"),
        need(within(o.horizon_s, 0, 1e9), "horizon", "0 to 1e9 seconds"),
        need(within(o.duration_mean_s, 1, 1e8), "mean duration", "1 to 1e8 seconds"),
        need(within(o.duration_sigma, 0, 5), "sigma of the duration", "0 to 5"),
        need(within(o.duration_max_s, 1, 1e9), "maximum duration", "1 to 1e9 seconds"),
        need(o.num_users >= 1 && o.num_users <= 1'000'000, "number of users", "1 to 1000000"),
        need(within(o.user_skew, 0, 10), "skew of users", "0 to 10")}) {
    if (!status) return status;
  }
  for (const GpuShare& share : o.gpu_shares) {
    auto status = need(share.num_gpus >= 1 && within(share.weight, 1e-9, 1e9),
                       fmt::format("share of jobs of {} GPUs", share.num_gpus),
                       "at least 1 GPU and weights from 1e-9 to 1e9");
    if (!status) return status;
  }
  for (const ModelShare& share : o.models) {
    auto status = need(within(share.weight, 1e-9, 1e9),
                       fmt::format("share of model {}", share.model), "weights from 1e-9 to 1e9");
    if (!status) return status;
  }
  return {};
}

class PoissonWriter {
 public:
  PoissonWriter(const PoissonOptions& options, const TextSink& sink, const WorkProgress& progress)
      : options_(options), progress_(progress), random_(options.seed), writer_(sink) {
    arrival_seed_ = random_();
    for (const GpuShare& share : options.gpu_shares) {
      if (share.num_gpus > options.cluster_gpus) continue;
      sizes_.push_back(share.num_gpus);
      size_choice_.add(share.weight);
      mean_gpus_ += share.num_gpus * share.weight;
    }
    if (!size_choice_.empty()) mean_gpus_ /= size_choice_.total();
    for (int32_t user = 0; user < options.num_users; ++user) {
      user_choice_.add(base::portable_exp(-options.user_skew * base::portable_log(user + 1.0)));
    }
    for (const ModelShare& share : options.models) add_model(share.model, share.weight);
    if (options.models.empty()) {
      for (const core::knowledge::KnownModel& known : core::knowledge::kKnownModels)
        add_model(known.name, 1);
    }
  }

  Status run() {
    if (size_choice_.empty()) {
      return usage_error("no job size fits the cluster",
                         fmt::format("give a size of at most {} GPUs", options_.cluster_gpus));
    }
    const double gap_mean_s = mean_gap_s();
    if (gap_mean_s * static_cast<double>(options_.num_jobs) > base::kMaxSeconds / 2) {
      return usage_error("the history would span more than 70 years",
                         "give fewer jobs, a higher load or shorter jobs");
    }
    writer_.text() = "job_id,submit_time,duration,num_gpus,user,model";
    writer_.text() += options_.walltimes ? ",walltime_s\n" : "\n";
    Random arrivals(arrival_seed_);
    double gaps = 0;  // in units of the mean gap
    for (int64_t job = 0; job < options_.num_jobs; ++job) {
      gaps += draw_exponential(arrivals);
      write_job(job, gaps * gap_mean_s);
      if (writer_.record_done() && progress_) progress_(job, options_.num_jobs);
    }
    writer_.finish();
    return {};
  }

 private:
  void add_model(std::string_view name, double weight) {
    std::string& field = models_.emplace_back();
    base::append_csv_field(field, name);
    model_choice_.add(weight);
  }

  /// Mean seconds between two jobs. With a horizon the gaps are scaled so that one more job would
  /// arrive exactly at its end. The arrivals are then those of a Poisson process given their
  /// number.
  [[nodiscard]] double mean_gap_s() const {
    if (options_.horizon_s == 0) {
      return mean_gpus_ * options_.duration_mean_s /
             (options_.load * static_cast<double>(options_.cluster_gpus));
    }
    Random arrivals(arrival_seed_);
    double gaps = 0;
    for (int64_t job = 0; job <= options_.num_jobs; ++job) gaps += draw_exponential(arrivals);
    return options_.horizon_s / gaps;
  }

  void write_job(int64_t job, double submit_s) {
    constexpr double kMilli = 1e-3;
    constexpr base::TimeNs kMilli_ns = 1'000'000;
    const double sigma = options_.duration_sigma;
    const double drawn_s = options_.duration_mean_s *
                           base::portable_exp(sigma * draw_normal(random_) - sigma * sigma / 2);
    const double duration_s = std::clamp(std::round(drawn_s), 1.0, options_.duration_max_s);
    std::string& out = writer_.text();
    base::append_number(out, job);
    out += ',';
    base::append_seconds(out, static_cast<int64_t>(submit_s / kMilli) * kMilli_ns);
    out += ',';
    base::append_number(out, static_cast<int64_t>(duration_s));
    out += ',';
    base::append_number(out, int64_t{sizes_[size_choice_.draw(random_)]});
    out += ",u";
    base::append_number(out, static_cast<int64_t>(user_choice_.draw(random_)));
    out += ',';
    out += models_[model_choice_.draw(random_)];
    if (options_.walltimes) {
      out += ',';
      base::append_number(out, customary_limit_s(duration_s * (1 + 4 * random_.uniform())));
    }
    out += '\n';
  }

  const PoissonOptions& options_;
  const WorkProgress& progress_;
  Random random_;
  PieceWriter writer_;
  uint64_t arrival_seed_ = 0;
  std::vector<int32_t> sizes_;
  WeightedChoice size_choice_;
  double mean_gpus_ = 0;
  WeightedChoice user_choice_;
  std::vector<std::string> models_;
  WeightedChoice model_choice_;
};

}  // namespace

Status generate_poisson(const PoissonOptions& options, const TextSink& sink,
                        const WorkProgress& progress) {
  if (auto status = check(options); !status) return status;
  return PoissonWriter(options, sink, progress).run();
}

}  // namespace goban::study::history
