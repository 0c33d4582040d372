#include "study/history/generate/gavel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "base/portable_math.hpp"
#include "base/random.hpp"
#include "base/time.hpp"
#include "study/history/generate/samplers.hpp"

namespace goban::study::history {
namespace {

using base::Random;
using base::Status;
using base::usage_error;

/// A job type of Gavel and its use of one GPU. Where `like` names a row, utilisation and memory
/// were measured on an RTX 3090 without mixed precision (Hu et al., Lucid, ASPLOS 2023,
/// single_data.csv). The others are interpolated and extrapolated by assumption.
struct JobType {
  std::string_view model;
  int32_t batch_size;  ///< 0 = not given by Gavel
  bool distributed;
  double util_pct;
  int64_t mem_mib;
  std::string_view like;
};
constexpr std::array kGavelTypes = {
    JobType{"ResNet-18", 16, true, 40, 2250, ""},
    JobType{"ResNet-18", 32, true, 58.7, 2360, "ResNet18 32"},
    JobType{"ResNet-18", 64, true, 80.7, 2660, "ResNet18 64"},
    JobType{"ResNet-18", 128, true, 96.3, 3072, "ResNet18 128"},
    JobType{"ResNet-18", 256, true, 98, 4000, ""},
    JobType{"ResNet-50", 16, true, 95, 4000, ""},
    JobType{"ResNet-50", 32, true, 100, 5518, "ResNet50 32"},
    JobType{"ResNet-50", 64, true, 100, 8570, "ResNet50 64"},
    JobType{"ResNet-50", 128, true, 100, 13326, "ResNet50 128"},
    JobType{"Transformer", 16, true, 38, 11900, ""},
    JobType{"Transformer", 32, true, 53.6, 11949, "Transformer 32"},
    JobType{"Transformer", 64, true, 75.2, 11801, "Transformer 64"},
    JobType{"Transformer", 128, true, 90, 12200, ""},
    JobType{"Transformer", 256, true, 98, 13000, ""},
    JobType{"LM", 5, true, 50, 2200, ""},
    JobType{"LM", 10, true, 60, 2400, ""},
    JobType{"LM", 20, true, 75, 2800, ""},
    JobType{"LM", 40, true, 90, 3300, ""},
    JobType{"LM", 80, true, 97, 4300, ""},
    JobType{"Recommendation", 512, false, 20, 2100, ""},
    JobType{"Recommendation", 1024, false, 28, 2300, ""},
    JobType{"Recommendation", 2048, false, 38, 2700, ""},
    JobType{"Recommendation", 4096, false, 50, 3500, ""},
    JobType{"Recommendation", 8192, false, 62, 5100, ""},
    JobType{"A3C", 0, false, 12.4, 2051, "PPO 32"},
    JobType{"CycleGAN", 0, false, 95, 6000, ""},
};

struct Size {
  int32_t num_gpus;
  double weight;
};
constexpr std::array kSizes = {Size{1, 0.70}, Size{2, 0.10}, Size{4, 0.15}, Size{8, 0.05}};

/// Durations: 10 to a uniform exponent, in minutes.
struct Exponents {
  double low;
  double high;
};
constexpr Exponents kShort{1.5, 3};
constexpr Exponents kLong{3, 4};
constexpr double kShortShare = 0.8;
constexpr double kMinute_s = 60;

/// Tenths of the duration, with equal probability.
constexpr std::array<int64_t, 3> kDeadlineTenths = {12, 20, 100};

/// All four models of EaCO's tables take 0.39 to 0.40 h per epoch; assumed for every type.
constexpr double kEpoch_s = 1440;

double power_of_ten(double x) { return base::portable_exp(x * base::portable_log(10)); }

/// Mean of 10^U(low, high) minutes, in seconds.
double mean_s(const Exponents& e) {
  return kMinute_s * (power_of_ten(e.high) - power_of_ten(e.low)) /
         ((e.high - e.low) * base::portable_log(10));
}

Status check(const GavelOptions& o) {
  if (o.num_jobs < 1 || o.num_jobs > 100'000'000) {
    return usage_error("number of jobs is out of range", "give 1 to 100000000");
  }
  if (o.cluster_gpus < 1 || o.cluster_gpus > 1 << 24) {
    return usage_error("number of GPUs is out of range", "give 1 to 16777216");
  }
  if (!(o.load >= 1e-6 && o.load <= 1e6)) {
    return usage_error("load is out of range", "give 1e-6 to 1e6, such as 0.8");
  }
  return {};
}

class GavelWriter {
 public:
  GavelWriter(const GavelOptions& options, const TextSink& sink, const WorkProgress& progress)
      : options_(options), progress_(progress), random_(options.seed), writer_(sink) {
    double mean_gpus = 0;
    for (const Size& size : kSizes) {
      if (size.num_gpus > options.cluster_gpus) continue;
      sizes_.push_back(size.num_gpus);
      size_choice_.add(size.weight);
      mean_gpus += size.num_gpus * size.weight;
    }
    mean_gpus /= size_choice_.total();
    const double duration_s = kShortShare * mean_s(kShort) + (1 - kShortShare) * mean_s(kLong);
    gap_s_ = mean_gpus * duration_s / (options.load * static_cast<double>(options.cluster_gpus));
  }

  Status run() {
    if (gap_s_ * static_cast<double>(options_.num_jobs) > base::kMaxSeconds / 2) {
      return usage_error("the history would span more than 70 years",
                         "give fewer jobs or a higher load");
    }
    writer_.text() =
        "job_id,submit_time,duration,num_gpus,user,model,batch_size,epochs,gpu_mem_bytes,"
        "gpu_util_pct,deadline_s\n";
    double submit_s = 0;
    for (int64_t job = 0; job < options_.num_jobs; ++job) {
      submit_s += draw_exponential(random_) * gap_s_;
      write_job(job, submit_s);
      if (writer_.record_done() && progress_) progress_(job, options_.num_jobs);
    }
    writer_.finish();
    return {};
  }

 private:
  const JobType& draw_type(int32_t num_gpus) {
    while (true) {
      const JobType& type = kGavelTypes[random_.below(kGavelTypes.size())];
      if (num_gpus == 1 || type.distributed) return type;
    }
  }

  void write_job(int64_t job, double submit_s) {
    constexpr double kMillis = 1e3;
    constexpr base::TimeNs kMilli_ns = 1'000'000;
    constexpr int64_t kMib = int64_t{1} << 20;
    const Exponents& e = random_.uniform() < kShortShare ? kShort : kLong;
    const double minutes = power_of_ten(e.low + (e.high - e.low) * random_.uniform());
    const auto duration_s = static_cast<int64_t>(std::round(minutes * kMinute_s));
    const int32_t num_gpus = sizes_[size_choice_.draw(random_)];
    const JobType& type = draw_type(num_gpus);
    const int64_t tenths = kDeadlineTenths[random_.below(kDeadlineTenths.size())];
    std::string& out = writer_.text();
    base::append_number(out, job);
    out += ',';
    base::append_seconds(out, static_cast<int64_t>(submit_s * kMillis) * kMilli_ns);
    out += ',';
    base::append_number(out, duration_s);
    out += ',';
    base::append_number(out, int64_t{num_gpus});
    out += ",gavel,";
    out += type.model;
    out += ',';
    if (type.batch_size > 0) base::append_number(out, int64_t{type.batch_size});
    out += ',';
    const double epochs = std::round(static_cast<double>(duration_s) / kEpoch_s);
    base::append_number(out, std::max(int64_t{1}, static_cast<int64_t>(epochs)));
    out += ',';
    base::append_number(out, type.mem_mib * kMib);
    out += ',';
    base::append_number(out, type.util_pct);
    out += ',';
    base::append_seconds(out, duration_s * tenths * (base::kSecond / 10));
    out += '\n';
  }

  const GavelOptions& options_;
  const WorkProgress& progress_;
  Random random_;
  PieceWriter writer_;
  std::vector<int32_t> sizes_;
  WeightedChoice size_choice_;
  double gap_s_ = 0;
};

}  // namespace

Status generate_gavel(const GavelOptions& options, const TextSink& sink,
                      const WorkProgress& progress) {
  if (auto status = check(options); !status) return status;
  return GavelWriter(options, sink, progress).run();
}

}  // namespace goban::study::history
