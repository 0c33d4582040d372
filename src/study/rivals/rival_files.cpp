#include "study/rivals/rival_files.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>

#include "base/csv.hpp"
#include "base/number.hpp"

namespace goban::study::rivals {
namespace {

using base::Result;

constexpr int64_t kBatchMax = 1'000'000;
constexpr int64_t kGpusMax = 4096;
constexpr int64_t kStepsMax = 1'000'000'000'000;
constexpr double kSecondsMax = 1e10;
constexpr double kRateMax = 1e9;
constexpr double kShareSlack = 1e-6;  ///< by which a solver may leave 0 to 1

/// The named columns of a CSV text; remembers the first field that is wrong.
class Table {
 public:
  Table(std::string_view text, const std::string& file, std::initializer_list<const char*> columns)
      : csv_(text, file) {
    for (const char* name : columns) {
      const auto column = csv_.require(name);
      if (!column) {
        if (!error_) error_ = column.error();
        columns_.push_back(0);
        continue;
      }
      columns_.push_back(*column);
    }
  }

  [[nodiscard]] bool next() { return !error_ && csv_.next(); }
  [[nodiscard]] std::string_view text(size_t column) {
    const std::string_view field = csv_.field(columns_[column]);
    if (field.empty()) fail(column, "is empty", "fill it in");
    return field;
  }
  [[nodiscard]] int64_t whole(size_t column, int64_t low, int64_t high) {
    const auto value = base::parse_int(csv_.field(columns_[column]));
    if (value && *value >= low && *value <= high) return *value;
    fail(column, fmt::format("'{}' is not a whole number", shown(column)),
         fmt::format("give {} to {}", low, high));
    return low;
  }
  [[nodiscard]] int32_t whole32(size_t column, int64_t low, int64_t high) {
    return static_cast<int32_t>(whole(column, low, high));
  }
  [[nodiscard]] double number(size_t column, double low, double high) {
    const auto value = base::parse_double(csv_.field(columns_[column]));
    if (value && *value >= low && *value <= high) return *value;
    fail(column, fmt::format("'{}' is not a valid number", shown(column)),
         fmt::format("give {} to {}", low, high));
    return low;
  }
  /// The id of a job, which must be the number of its row.
  void check_id(size_t column, size_t expected) {
    const auto id = base::parse_int(csv_.field(columns_[column]));
    if (id && *id == static_cast<int64_t>(expected)) return;
    fail(column, fmt::format("'{}' where job {} is due", shown(column), expected),
         "number the jobs 0, 1, ... in the order of the file");
  }
  void fail(size_t column, std::string message, std::string remedy) {
    if (error_) return;
    error_ =
        base::bad_data(csv_.place(columns_[column]), std::move(message), std::move(remedy)).value();
  }
  [[nodiscard]] base::Status status() const {
    return error_ ? base::failure(*error_) : csv_.status();
  }
  /// The status; an error as well if nothing was read.
  [[nodiscard]] base::Status status(size_t rows) const {
    if (auto read = status(); !read) return read;
    if (rows > 0) return {};
    return base::bad_data({csv_.file(), 1, 0, {}}, "no rows after the header", "give the data");
  }

 private:
  [[nodiscard]] std::string shown(size_t column) const {
    return std::string(csv_.field(columns_[column]).substr(0, 40));
  }

  base::CsvReader csv_;
  std::vector<size_t> columns_;
  std::optional<base::Error> error_;
};

std::optional<BatchMode> batch_mode(std::string_view name) {
  if (name == "static") return BatchMode::Static;
  if (name == "accordion") return BatchMode::Accordion;
  if (name == "gns") return BatchMode::GradientNoise;
  return std::nullopt;
}

tl::unexpected<base::Error> bad_share(const std::string& file, size_t line, std::string message) {
  return base::bad_data({file, static_cast<int>(line), 0, {}}, std::move(message),
                        "a line is [now, [[job, share], ...]]");
}

Result<ShareSet> parse_share_line(std::string_view line, const std::string& file, size_t number) {
  const auto document = nlohmann::json::parse(line, nullptr, false);
  if (!document.is_array() || document.size() != 2 || !document[0].is_number() ||
      !document[1].is_array()) {
    return bad_share(file, number, "not a list of a time and of shares");
  }
  ShareSet set{.now_s = document[0].get<double>(), .jobs = {}, .shares = {}};
  for (const auto& pair : document[1]) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() ||
        !pair[1].is_number()) {
      return bad_share(file, number, "not a pair of a job and its share");
    }
    const auto job = pair[0].get<int64_t>();
    const auto share = pair[1].get<double>();
    if (job < 0 || job > INT32_MAX) return bad_share(file, number, "no such job");
    if (!(share >= -kShareSlack && share <= 1 + kShareSlack)) {
      return bad_share(file, number, fmt::format("job {}: the share is not in 0 to 1", job));
    }
    set.jobs.push_back(static_cast<int32_t>(job));
    set.shares.push_back(share);
  }
  return set;
}

}  // namespace

bool RateTable::add(std::string_view model, int32_t batch, int32_t gpus, double steps_per_s) {
  return rates_.emplace(Key{std::string(model), batch, gpus}, steps_per_s).second;
}

std::optional<double> RateTable::find(std::string_view model, int32_t batch, int32_t gpus) const {
  const auto found = rates_.find(Key{std::string(model), batch, gpus});
  if (found == rates_.end()) return std::nullopt;
  return found->second;
}

std::vector<int32_t> RateTable::levels(std::string_view model, int32_t batch) const {
  std::vector<int32_t> levels;
  for (auto at = rates_.lower_bound(Key{std::string(model), batch, 0}); at != rates_.end(); ++at) {
    if (std::get<0>(at->first) != model || std::get<1>(at->first) != batch) break;
    levels.push_back(std::get<2>(at->first));
  }
  return levels;
}

base::Error RateTable::missing(std::string_view model, int32_t batch, int32_t gpus,
                               const std::string& used_by) const {
  return base::bad_data({file_, 0, 0, "steps_per_s"},
                        fmt::format("no rate of {} with batch size {} on {} GPUs, which {} needs",
                                    model, batch, gpus, used_by),
                        "add its row")
      .value();
}

Result<RateTable> parse_rates(std::string_view text, const std::string& file) {
  Table table(text, file, {"model", "batch_size", "num_gpus", "steps_per_s"});
  RateTable rates;
  rates.set_file(file);
  while (table.next()) {
    const std::string_view model = table.text(0);
    const int32_t batch = table.whole32(1, 1, kBatchMax);
    const int32_t gpus = table.whole32(2, 1, kGpusMax);
    const double rate = table.number(3, 0, kRateMax);
    if (rate == 0) continue;  // could not be run
    if (!rates.add(model, batch, gpus, rate)) {
      table.fail(0, "duplicate row for this model, batch size and number of GPUs",
                 "remove one of them");
    }
  }
  if (auto read = table.status(rates.size()); !read) return base::failure(read.error());
  return rates;
}

Result<std::vector<ShockwaveJob>> parse_shockwave_trace(std::string_view text,
                                                        const std::string& file) {
  Table table(text, file,
              {"job_id", "model", "batch_size", "num_gpus", "mode", "total_steps", "submit_s"});
  std::vector<ShockwaveJob> jobs;
  while (table.next()) {
    table.check_id(0, jobs.size());
    ShockwaveJob job;
    job.model = table.text(1);
    job.batch = table.whole32(2, 1, kBatchMax);
    job.gpus = table.whole32(3, 1, kGpusMax);
    const std::string_view name = table.text(4);
    const auto mode = batch_mode(name);
    if (mode) {
      job.mode = *mode;
    } else {
      table.fail(4, fmt::format("'{}' is not a mode", name.substr(0, 40)),
                 "give static, accordion or gns");
    }
    job.steps = table.whole(5, 1, kStepsMax);
    job.submit_s = table.number(6, 0, kSecondsMax);
    if (!jobs.empty() && job.submit_s < jobs.back().submit_s) {
      table.fail(6, "before that of the job before", "sort the jobs by submission");
    }
    jobs.push_back(std::move(job));
  }
  if (auto read = table.status(jobs.size()); !read) return base::failure(read.error());
  return jobs;
}

Result<BatchPhases> parse_batch_sizes(std::string_view text, const std::string& file) {
  Table table(text, file, {"model", "batch_size", "num_gpus", "from_epoch", "factor"});
  BatchPhases phases;
  while (table.next()) {
    const std::string model(table.text(0));
    const int32_t batch = table.whole32(1, 1, kBatchMax);
    const int32_t gpus = table.whole32(2, 1, kGpusMax);
    const BatchPhase phase{.from_epoch = table.whole(3, 1, 1'000'000),
                           .factor = table.whole32(4, 1, 1024)};
    std::vector<BatchPhase>& of_job = phases[{model, batch, gpus}];
    if (!of_job.empty() && of_job.back().from_epoch >= phase.from_epoch) {
      table.fail(3, "not after that of the phase before", "sort the phases by epoch");
    }
    of_job.push_back(phase);
  }
  if (auto read = table.status(); !read) return base::failure(read.error());
  return phases;
}

Result<std::vector<ElasticJob>> parse_elasticflow_trace(std::string_view text,
                                                        const std::string& file) {
  Table table(text, file,
              {"job_id", "submit_time", "iteration", "model_name", "ddl", "batch_size", "num_gpu",
               "duration", "best_effort"});
  std::vector<ElasticJob> jobs;
  while (table.next()) {
    table.check_id(0, jobs.size());
    ElasticJob job;
    // Whole numbers of seconds, as the published program reads them.
    job.submit_s = static_cast<double>(table.whole(1, 0, int64_t{1} << 33));
    job.iterations = static_cast<double>(table.whole(2, 1, kStepsMax));
    job.model = table.text(3);
    job.deadline_s = static_cast<double>(table.whole(4, 0, int64_t{1} << 40));
    job.batch = table.whole32(5, 1, kBatchMax);
    job.gpus = table.whole32(6, 1, kGpusMax);
    job.duration_s = static_cast<double>(table.whole(7, 1, int64_t{1} << 33));
    if (table.whole(8, 0, 1) != 0) {
      table.fail(8, "best-effort jobs are not reproduced", "give 0");
    }
    jobs.push_back(std::move(job));
  }
  if (auto read = table.status(jobs.size()); !read) return base::failure(read.error());
  return jobs;
}

Result<ShareRecord> parse_shares(std::string_view text, const std::string& file) {
  ShareRecord record{.sets = {}, .file = file};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    auto set = parse_share_line(text.substr(0, end), file, record.sets.size() + 1);
    if (!set) return base::failure(set.error());
    record.sets.push_back(std::move(*set));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return record;
}

Result<std::vector<double>> ShareRecord::take(size_t index, double now_s,
                                              const std::vector<int32_t>& jobs) const {
  const auto wrong = [&](std::string message) {
    return base::bad_data({file, static_cast<int>(index + 1), 0, {}}, std::move(message),
                          "give the record of this trace and policy");
  };
  if (index >= sets.size()) {
    return wrong(
        fmt::format("the record ends before the shares at {} s", base::number_text(now_s)));
  }
  const ShareSet& set = sets[index];
  if (set.now_s != now_s) {
    return wrong(fmt::format("shares at {} s where those at {} s are due",
                             base::number_text(set.now_s), base::number_text(now_s)));
  }
  if (set.jobs != jobs) {
    const size_t same =
        static_cast<size_t>(std::ranges::mismatch(set.jobs, jobs).in1 - set.jobs.begin());
    return wrong(same < jobs.size() ? fmt::format("job {} is due as number {}", jobs[same], same)
                                    : fmt::format("more than the {} jobs due", jobs.size()));
  }
  return set.shares;
}

base::Status ShareRecord::check_end(size_t used) const {
  if (used >= sets.size()) return {};
  return base::bad_data({file, static_cast<int>(used + 1), 0, {}},
                        "shares after the last computation",
                        "give the record of this trace and policy");
}

}  // namespace goban::study::rivals
