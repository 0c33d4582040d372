#include "study/history/generate/series/abci_series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "base/field_splitter.hpp"
#include "base/number.hpp"
#include "base/output_file.hpp"
#include "base/random.hpp"
#include "site/records/record_csv.hpp"
#include "site/series/store_writer.hpp"
#include "study/history/generate/series/placement.hpp"
#include "study/history/generate/series/shapes.hpp"

namespace goban::study::history {
namespace {

constexpr int64_t kMinute_s = 60;
constexpr int64_t kMinutesPerDay = 1440;
constexpr int64_t kDay_s = kMinutesPerDay * kMinute_s;

/// First columns of the generator's CSV.
enum Column : uint8_t {
  kId,
  kSubmit,
  kDuration,
  kGpus,
  kUser,
  kAccount,
  kModel,
  kLimit,
  kType,
  kInstances,
  kPopulation
};

struct YearJob {
  std::string_view id, user, account, type, population;
  int64_t submit_s = 0;
  int64_t duration_s = 0;
  int64_t limit_s = 0;
  int32_t gpus = 0;
  int32_t instances = 0;
};

/// Values of one GPU of a job, computed from its samples alone.
struct GpuTruth {
  int64_t samples = 0;
  double mean = 0;
  double trimmed_max = 0;
};

/// The use of a GPU by one job.
struct Stint {
  int64_t start_s = 0;
  int64_t end_s = 0;
  GpuShape shape;
};

GpuTruth truth_of(const std::array<int64_t, 101>& counts) {
  GpuTruth truth;
  double sum = 0;
  double squares = 0;
  for (size_t percent = 0; percent < counts.size(); ++percent) {
    const auto times = static_cast<double>(counts[percent]);
    const auto value = static_cast<double>(percent);
    truth.samples += counts[percent];
    sum += times * value;
    squares += times * value * value;
  }
  if (truth.samples == 0) return truth;
  const auto n = static_cast<double>(truth.samples);
  truth.mean = sum / n;
  const double sd = std::sqrt(std::max(0.0, squares / n - truth.mean * truth.mean));
  constexpr double kTolerance = 1e-6;  // the values are integers: none lies this close to the bound
  for (size_t percent = counts.size(); percent-- > 0;) {
    if (counts[percent] == 0) continue;
    if (std::abs(static_cast<double>(percent) - truth.mean) > 2 * sd + kTolerance) continue;
    truth.trimmed_max = static_cast<double>(percent);
    break;
  }
  return truth;
}

class Year {
 public:
  explicit Year(const SeriesYearOptions& options)
      : options_(options),
        placement_(options.nodes),
        stints_(static_cast<size_t>(options.nodes) * Placement::kGpusPerNode) {
    for (int32_t node = 0; node < options.nodes; ++node) {
      names_.push_back(fmt::format("g{:04}", node + 1));
      constexpr uint64_t kPhases_s = 50;  // cron does not run at the same second on all nodes
      phases_s_.push_back(static_cast<int64_t>(
          base::Random(options.abci.seed + static_cast<uint64_t>(node)).below(kPhases_s)));
    }
  }

  base::Result<SeriesYearCounts> run() {
    if (const auto opened = open(); !opened) return base::failure(opened.error());
    const auto generated = generate_abci(
        options_.abci, [this](std::string_view text) { take_text(text); }, options_.on_progress);
    if (!generated) return base::failure(generated.error());
    // Jobs still run after the last submission.
    while (status_ && day_start_s() <= counts_.last_end_s) write_day();
    if (stopped()) return base::failed("interrupted");
    if (!status_) return base::failure(status_.error());
    if (const auto finished = store_->finish(); !finished) return base::failure(finished.error());
    if (const auto kept = jobs_->commit(); !kept) return base::failure(kept.error());
    if (const auto kept = truth_->commit(); !kept) return base::failure(kept.error());
    counts_.samples = store_->counts().written;
    return counts_;
  }

 private:
  base::Status open() {
    constexpr uint32_t kStep_ms = 60'000;
    auto store =
        site::series::StoreWriter::open(options_.folder + "/series", {kStep_ms, options_.sync});
    if (!store) return base::failure(store.error());
    store_ = std::move(*store);
    auto jobs = base::OutputFile::create(options_.folder + "/jobs.csv");
    if (!jobs) return base::failure(jobs.error());
    jobs_ = std::make_unique<base::OutputFile>(std::move(*jobs));
    jobs_->buffer() = site::records::records_csv_header();
    auto truth = base::OutputFile::create(options_.folder + "/truth.csv");
    if (!truth) return base::failure(truth.error());
    truth_ = std::make_unique<base::OutputFile>(std::move(*truth));
    truth_->buffer() =
        "job_id,gpus,used_gpus,samples,used_mean_pct,used_sd_points,trimmed_max_pct\n";
    return {};
  }

  [[nodiscard]] bool stopped() const {
    return options_.interrupted != nullptr && *options_.interrupted;
  }
  [[nodiscard]] int64_t day_start_s() const { return kYearStart_s + day_ * kDay_s; }

  /// Consumes pieces of the generator's CSV: complete lines, in submit order.
  void take_text(std::string_view text) {
    while (!text.empty() && status_ && !stopped()) {
      const size_t end = std::min(text.find('\n'), text.size());
      if (header_seen_) take_line(text.substr(0, end));
      header_seen_ = true;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void take_line(std::string_view line) {
    const bool good = splitter_.split(line) && splitter_.fields().size() >= kPopulation;
    GOBAN_CHECK(good);
    const auto fields = splitter_.fields();
    const auto whole = [&](Column column) { return base::parse_int(fields[column]).value_or(0); };
    YearJob job{.id = fields[kId],
                .user = fields[kUser],
                .account = fields[kAccount],
                .type = fields[kType],
                .population = fields.size() > kPopulation ? fields[kPopulation] : "dl"};
    job.submit_s = kYearStart_s +
                   static_cast<int64_t>(std::ceil(base::parse_double(fields[kSubmit]).value_or(0)));
    job.duration_s = whole(kDuration);
    job.limit_s = whole(kLimit);
    job.gpus = static_cast<int32_t>(whole(kGpus));
    job.instances = static_cast<int32_t>(whole(kInstances));
    run_job(job);
  }

  void run_job(const YearJob& job) {
    if (job.gpus == 0) return write_record(job, {job.submit_s, {}});
    const int32_t nodes = job.gpus < Placement::kGpusPerNode ? 0 : job.instances;
    if (nodes > options_.nodes) {
      ++counts_.too_large;
      return;
    }
    const Placement::Start start = placement_.start(job.submit_s, job.duration_s, nodes);
    // Jobs start in order, so earlier days are complete.
    while (status_ && start.start_s >= day_start_s() + kDay_s) write_day();
    counts_.waited += start.start_s > job.submit_s ? 1 : 0;
    counts_.job_gpus += job.gpus;
    const JobUse use = job.population != "dl" ? JobUse::NoLearning
                       : nodes == 0           ? JobUse::OneGpu
                       : nodes == 1           ? JobUse::OneNode
                                              : JobUse::ManyNodes;
    const auto shapes = shapes_of_job(options_.abci.seed, counts_.jobs, use, job.gpus);
    std::vector<GpuTruth> truths;
    for (size_t i = 0; i < start.gpus.size(); ++i) {
      const PlacedGpu gpu = start.gpus[i];
      const Stint stint{start.start_s, start.start_s + job.duration_s, shapes[i]};
      truths.push_back(truth_of(stint, gpu.node));
      stints_[index_of(gpu)].push_back(stint);
    }
    write_record(job, start);
    write_truth(job, truths);
  }

  static size_t index_of(PlacedGpu gpu) {
    return static_cast<size_t>(gpu.node) * Placement::kGpusPerNode + static_cast<size_t>(gpu.gpu);
  }

  /// Minutes [first, last] whose samples on a node lie within a stint.
  [[nodiscard]] std::pair<int64_t, int64_t> minutes_of(const Stint& stint, int32_t node) const {
    const int64_t origin_s = kYearStart_s + phases_s_[static_cast<size_t>(node)];
    const int64_t from_s = stint.start_s - origin_s;
    const int64_t first = std::max<int64_t>(0, (from_s + kMinute_s - 1) / kMinute_s);
    const int64_t to_s = stint.end_s - origin_s;
    return {first, to_s < 0 ? -1 : to_s / kMinute_s};
  }

  [[nodiscard]] GpuTruth truth_of(const Stint& stint, int32_t node) const {
    std::array<int64_t, 101> counts{};
    const auto [first, last] = minutes_of(stint, node);
    for (int64_t minute = first; minute <= last; ++minute) {
      const ShapedSample sample = stint.shape.at(minute);
      if (!sample.missing && !sample.stale) ++counts[sample.percent];
    }
    return history::truth_of(counts);
  }

  void write_day() {
    for (int32_t node = 0; node < options_.nodes && status_; ++node) {
      const int64_t start_ms = (day_start_s() + phases_s_[static_cast<size_t>(node)]) * 1000;
      for (int32_t gpu = 0; gpu < Placement::kGpusPerNode && status_; ++gpu) {
        fill_day(stints_[index_of({node, gpu})], node);
        status_ = store_->add_codes({names_[static_cast<size_t>(node)], std::to_string(gpu), ""},
                                    site::series::Metric::GpuUtilization, start_ms, codes_);
      }
    }
    ++day_;
    if (stopped()) status_ = base::failed("interrupted");
  }

  void fill_day(std::vector<Stint>& stints, int32_t node) {
    codes_.assign(kMinutesPerDay, 0);
    const int64_t day_minute = day_ * kMinutesPerDay;
    for (const Stint& stint : stints) {
      auto [first, last] = minutes_of(stint, node);
      first = std::max(first, day_minute);
      last = std::min(last, day_minute + kMinutesPerDay - 1);
      for (int64_t minute = first; minute <= last; ++minute) {
        const ShapedSample sample = stint.shape.at(minute);
        codes_[static_cast<size_t>(minute - day_minute)] = sample.missing
                                                               ? site::series::kMissingCode
                                                           : sample.stale ? site::series::kStaleCode
                                                                          : sample.percent;
      }
    }
    const int64_t next_day_s = day_start_s() + kDay_s;
    std::erase_if(stints, [next_day_s](const Stint& stint) { return stint.end_s < next_day_s; });
  }

  void write_record(const YearJob& job, const Placement::Start& start) {
    constexpr std::array<std::string_view, 1> kSoftware{"cuda/10.1/10.1.243"};
    static constexpr std::array<std::string_view, Placement::kGpusPerNode> kIndex{"0", "1", "2",
                                                                                  "3"};
    site::records::AccountingRecord record;
    record.id = job.id;
    record.user = job.user;
    record.account = job.account;
    record.resource_type = job.type;
    record.submit_ns = job.submit_s * base::kSecond;
    record.start_ns = start.start_s * base::kSecond;
    record.end_ns = (start.start_s + job.duration_s) * base::kSecond;
    record.walltime_limit_ns = job.limit_s * base::kSecond;
    const bool exceeded = job.limit_s > 0 && job.duration_s >= job.limit_s;
    record.state =
        exceeded ? site::records::RecordedState::TimedOut : site::records::RecordedState::Completed;
    record.exit_code = exceeded ? 137 : 0;
    record.kind = site::records::JobKind::Batch;
    record.num_gpus = job.gpus;
    record.instances = job.instances;
    nodes_.clear();
    gpus_.clear();
    int32_t last_node = -1;
    for (const PlacedGpu gpu : start.gpus) {
      const std::string& name = names_[static_cast<size_t>(gpu.node)];
      gpus_.push_back({.node = name, .gpu = kIndex[static_cast<size_t>(gpu.gpu)]});
      if (gpu.node == last_node) continue;
      if (last_node >= 0) nodes_ += ',';
      nodes_ += name;
      last_node = gpu.node;
    }
    record.num_nodes = job.gpus == 0 ? -1 : std::max(1, job.instances);
    if (job.gpus > 0 && job.gpus < Placement::kGpusPerNode) record.num_nodes = 1;
    record.node_list = nodes_;
    record.gpus = gpus_;
    if (job.gpus > 0) record.software = kSoftware;
    site::records::append_records_csv(jobs_->buffer(), record);
    jobs_->write_out();
    ++counts_.jobs;
    counts_.last_end_s = std::max(counts_.last_end_s, start.start_s + job.duration_s);
  }

  void write_truth(const YearJob& job, const std::vector<GpuTruth>& gpus) {
    constexpr double kBusy = 5;  // condition 5 of the paper
    int64_t samples = 0;
    int64_t used = 0;
    double sum = 0;
    double trimmed_max = 0;
    for (const GpuTruth& gpu : gpus) {
      samples += gpu.samples;
      trimmed_max = std::max(trimmed_max, gpu.trimmed_max);
      if (gpu.samples == 0 || gpu.trimmed_max < kBusy) continue;
      ++used;
      sum += gpu.mean;
    }
    const double mean = used > 0 ? sum / static_cast<double>(used) : 0;
    double squares = 0;
    for (const GpuTruth& gpu : gpus) {
      if (gpu.samples == 0 || gpu.trimmed_max < kBusy) continue;
      squares += (gpu.mean - mean) * (gpu.mean - mean);
    }
    std::string& out = truth_->buffer();
    out += fmt::format("{},{},{},{}", job.id, gpus.size(), used, samples);
    const double sd = used > 0 ? std::sqrt(squares / static_cast<double>(used)) : 0;
    for (const double value : {mean, sd, trimmed_max}) {
      out += ',';
      if (used > 0 || value == trimmed_max) base::append_number(out, value);
    }
    out += '\n';
    truth_->write_out();
  }

  const SeriesYearOptions& options_;
  Placement placement_;
  std::vector<std::vector<Stint>> stints_;  ///< by GPU
  std::vector<std::string> names_;          ///< by node
  std::vector<int64_t> phases_s_;           ///< offset of a node's samples within the minute
  std::unique_ptr<site::series::StoreWriter> store_;
  std::unique_ptr<base::OutputFile> jobs_;
  std::unique_ptr<base::OutputFile> truth_;
  base::FieldSplitter splitter_;
  bool header_seen_ = false;
  int64_t day_ = 0;
  base::Status status_;
  SeriesYearCounts counts_;
  std::vector<uint16_t> codes_;
  std::string nodes_;
  std::vector<site::records::HeldGpu> gpus_;
};

}  // namespace

base::Result<SeriesYearCounts> generate_series_year(const SeriesYearOptions& options) {
  if (options.nodes < 1)
    return base::usage_error("number of nodes is out of range", "give at least 1");
  return Year(options).run();
}

}  // namespace goban::study::history
