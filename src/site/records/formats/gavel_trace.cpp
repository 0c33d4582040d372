// Format `gavel-trace`: the .trace files of Gavel and Shockwave. No header; fields between tabs:
//
//   job type, command, working directory, steps argument, needs data, total steps, GPUs[, mode],
//   priority weight, SLO[, duration], arrival
//
// 12 fields have both optional ones, 11 the mode only, 10 neither. The job type is
// `MODEL (batch size B)` or `MODEL`. SLO -1 = none, else the deadline is SLO x duration after the
// arrival. Seconds. Jobs have no names: the row number from 0 is the id. The command is never kept,
// not even in the list of rejected lines. Lines without a duration need measured rates and are
// rejected.
#include <array>
#include <fmt/format.h>

#include "base/number.hpp"
#include "site/records/record_format.hpp"

namespace goban::site::records {
namespace {

constexpr size_t kGavelFieldsLeast = 10;
constexpr size_t kGavelFieldsMost = 12;

/// The fields of a line; more than kGavelFieldsMost are counted only.
struct GavelFields {
  std::array<std::string_view, kGavelFieldsMost> fields{};
  size_t count = 0;

  explicit GavelFields(std::string_view line) {
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find('\t', begin), line.size());
      if (count < kGavelFieldsMost) fields[count] = line.substr(begin, end - begin);
      ++count;
      begin = end + 1;
    }
  }
  [[nodiscard]] bool fits() const {
    return count >= kGavelFieldsLeast && count <= kGavelFieldsMost;
  }
};

enum GavelField : size_t { kJobType = 0, kTotalSteps = 5, kScale = 6, kModeOrWeight = 7 };

/// `MODEL (batch size B)`.
struct JobType {
  std::string_view model;
  std::optional<int64_t> batch{};
  bool damaged = false;

  explicit JobType(std::string_view text) : model(text) {
    constexpr std::string_view kBatch = " (batch size ";
    const size_t found = text.find(kBatch);
    if (found == text.npos) return;
    model = text.substr(0, found);
    const std::string_view rest = text.substr(found + kBatch.size());
    if (rest.ends_with(')')) batch = base::parse_int(rest.substr(0, rest.size() - 1));
    damaged = !batch || *batch < 1 || *batch > INT32_MAX;
  }
};

class GavelParser final : public LineParser {
 public:
  void take(const base::Line& line, RecordOutput& out) override {
    const int64_t row = out.records();
    out.count_record();
    const GavelFields fields(line.text);
    AccountingRecord record;
    record.line = line.number;
    id_.clear();
    base::append_number(id_, row);
    record.id = id_;
    const std::string problem = line.too_long ? "the line is too long" : read(fields, record);
    if (!problem.empty()) return out.reject(line.number, problem, without_command(fields));
    out.put(record, without_command(fields));
  }
  std::vector<std::string> notes() const override {
    if (weighted_ == 0) return {};
    return {fmt::format("{} jobs have a priority weight other than 1: not used", weighted_)};
  }

 private:
  std::string read(const GavelFields& line, AccountingRecord& record) {
    if (!line.fits()) {
      return fmt::format("{} fields between tabs instead of {} to {}", line.count,
                         kGavelFieldsLeast, kGavelFieldsMost);
    }
    const JobType type(line.fields[kJobType]);
    if (type.damaged || type.model.empty()) {
      return fmt::format("job type \"{}\" is not MODEL or MODEL (batch size B)",
                         line.fields[kJobType].substr(0, 40));
    }
    record.model = type.model;
    record.training.batch_size = static_cast<int32_t>(type.batch.value_or(0));
    ColumnReader fields(std::span(line.fields).first(line.count));
    if (fields.whole(kTotalSteps, "total steps", 0, INT64_MAX) == 0 && fields.problem().empty()) {
      return "total steps is 0";
    }
    record.num_gpus = fields.whole(kScale, "GPUs", 1, INT32_MAX);
    const size_t weight = kModeOrWeight + (line.count > kGavelFieldsLeast ? 1 : 0);
    const bool weighted = fields.number(weight, "priority weight") != 1;
    const std::string_view slo = line.fields[weight + 1];
    const auto factor = base::parse_double(slo);
    if (!factor || (*factor < 0 && *factor != -1)) {
      return fmt::format("SLO \"{}\" is neither -1 nor a number from 0 on", slo.substr(0, 40));
    }
    record.submit_ns = fields.seconds(line.count - 1, "arrival");
    if (!fields.problem().empty()) return fields.problem();
    if (line.count < kGavelFieldsMost) {
      return fmt::format("{} fields: without a duration, which measured rates would have to give",
                         line.count);
    }
    record.work_s = fields.number(line.count - 2, "duration");
    if (!fields.problem().empty()) return fields.problem();
    if (*factor >= 0) {
      const double deadline_s = *factor * record.work_s;
      if (!(deadline_s <= base::kMaxSeconds)) return "SLO x duration exceeds 4.6e9 seconds";
      record.training.deadline_ns = base::from_seconds(deadline_s);
    }
    weighted_ += weighted ? 1 : 0;
    return {};
  }

  /// The line as the list of rejected ones may show it.
  std::string_view without_command(const GavelFields& line) {
    shown_.clear();
    for (size_t i = 0; i < std::min(line.count, kGavelFieldsMost); ++i) {
      if (i == 1 || i == 2) continue;  // command, working directory
      if (i > 0) shown_ += '\t';
      shown_ += line.fields[i];
    }
    return shown_;
  }

  std::string id_;
  std::string shown_;
  int64_t weighted_ = 0;
};

bool recognises_gavel(std::string_view first_line) {
  const GavelFields line(first_line);
  if (!line.fits()) return false;
  const auto is_number = [&](size_t i) { return base::parse_double(line.fields[i]).has_value(); };
  return !line.fields[kJobType].empty() && base::parse_int(line.fields[kTotalSteps]) &&
         base::parse_int(line.fields[kScale]) && is_number(line.count - 1) &&
         is_number(kModeOrWeight + (line.count > kGavelFieldsLeast ? 1 : 0));
}

base::Result<std::unique_ptr<LineParser>> open_gavel(const FormatInput&, std::string_view) {
  return std::make_unique<GavelParser>();
}

}  // namespace

const RecordFormat kGavelTrace = {
    .name = "gavel-trace",
    .header = "no header line: 10 to 12 fields between tabs",
    .layout = Layout::Lines,
    .recognises_text = recognises_gavel,
    .open_lines = open_gavel,
    .ids_are_rows = true,
};

}  // namespace goban::site::records
