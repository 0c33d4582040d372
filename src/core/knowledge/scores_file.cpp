#include "core/knowledge/scores_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

#include "base/csv.hpp"
#include "base/number.hpp"

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::CsvReader;
using base::Result;
using base::Status;

constexpr int kClassesMax = 26;
constexpr const char* kIdColumn = "GPU_ID";

std::string raw_column(int app_class) {
  return fmt::format("PerfVar_class{}", static_cast<char>('A' + app_class));
}
std::string bin_column(int app_class) {
  return fmt::format("bin_class{}", static_cast<char>('A' + app_class));
}

/// A class of the table: its columns, and the values read so far in row order.
struct ClassColumns {
  size_t raw = 0;
  std::optional<size_t> bin;
  std::vector<double> raw_values;
  std::vector<double> bin_values;
};

Result<std::optional<size_t>> optional_column(const CsvReader& csv, const std::string& name) {
  if (!csv.column(name)) return std::optional<size_t>();
  const Result<size_t> found = csv.require(name);  // rejects duplicates
  if (!found) return base::failure(found.error());
  return std::optional<size_t>(*found);
}

Result<std::vector<ClassColumns>> class_columns(const CsvReader& csv) {
  std::vector<ClassColumns> classes;
  for (int i = 0; i < kClassesMax; ++i) {
    const auto raw = optional_column(csv, raw_column(i));
    if (!raw) return base::failure(raw.error());
    const auto bin = optional_column(csv, bin_column(i));
    if (!bin) return base::failure(bin.error());
    if (!*raw) {
      if (!*bin) continue;
      return bad_data({csv.file(), 1, 0, bin_column(i)}, "has no column of raw scores",
                      fmt::format("add the column {}", raw_column(i)));
    }
    if (classes.size() != static_cast<size_t>(i)) {
      return bad_data({csv.file(), 1, 0, raw_column(i)},
                      fmt::format("class {} is present, but class {} is not", raw_column(i).back(),
                                  raw_column(i - 1).back()),
                      "classes must be consecutive from A");
    }
    classes.push_back({**raw, *bin, {}, {}});
  }
  if (classes.empty()) {
    const auto missing = csv.require(raw_column(0));
    return base::failure(missing.error());
  }
  return classes;
}

/// Valid values of a column, and its name in messages.
struct Range {
  const char* what;
  double low;
  double high;
};
constexpr Range kScores{"score", kScoreMin, kScoreMax};
constexpr Range kBins{"bin value", 1e-15, 1e15};

Result<double> read_number(const CsvReader& csv, size_t column, const Range& range) {
  const std::optional<double> value = base::parse_double(csv.field(column));
  if (!value || *value < range.low || *value > range.high) {
    return bad_data(csv.place(column),
                    fmt::format("'{}' is not a {} from {} to {}", csv.field(column).substr(0, 40),
                                range.what, range.low, range.high),
                    "1 is the median GPU, 2 is twice as slow; measure the GPU or use 1");
  }
  return *value;
}

Status read_row(const CsvReader& csv, std::vector<ClassColumns>& classes) {
  for (ClassColumns& c : classes) {
    const Result<double> raw = read_number(csv, c.raw, kScores);
    if (!raw) return base::failure(raw.error());
    c.raw_values.push_back(*raw);
    if (!c.bin) continue;
    const Result<double> bin = read_number(csv, *c.bin, kBins);
    if (!bin) return base::failure(bin.error());
    c.bin_values.push_back(*bin);
  }
  return {};
}

// Reads the GPU id of the current row and checks it against the earlier rows.
Result<uint32_t> read_id(const CsvReader& csv, size_t column, std::optional<uint32_t> num_gpus,
                         std::vector<int>& line_of_gpu) {
  const std::optional<int64_t> id = base::parse_int(csv.field(column));
  constexpr int64_t kIdMax = 1 << 24;  // bounds the memory used for an invalid id
  const int64_t limit = num_gpus ? int64_t{*num_gpus} : kIdMax;
  if (!id || *id < 0 || *id >= limit) {
    return bad_data(csv.place(column),
                    fmt::format("'{}' is not a GPU id: must be an integer from 0 to {}",
                                csv.field(column).substr(0, 40), limit - 1),
                    num_gpus
                        ? fmt::format("the cluster has {} GPUs; use its score table", *num_gpus)
                        : "GPU id = position in node order");
  }
  const auto gpu = static_cast<size_t>(*id);
  if (gpu >= line_of_gpu.size()) line_of_gpu.resize(gpu + 1, 0);
  if (line_of_gpu[gpu] != 0) {
    return bad_data(
        csv.place(column),
        fmt::format("duplicate row for GPU {}, first in line {}", gpu, line_of_gpu[gpu]),
        "give each GPU one row");
  }
  line_of_gpu[gpu] = csv.line();
  return static_cast<uint32_t>(gpu);
}

Status check_complete(const std::string& file, std::optional<uint32_t> num_gpus,
                      const std::vector<int>& line_of_gpu) {
  const size_t wanted = num_gpus.value_or(static_cast<uint32_t>(line_of_gpu.size()));
  for (size_t gpu = 0; gpu < std::max<size_t>(wanted, 1); ++gpu) {
    if (gpu < line_of_gpu.size() && line_of_gpu[gpu] != 0) continue;
    return bad_data({file, 0, 0, kIdColumn}, fmt::format("GPU {} of {} has no row", gpu, wanted),
                    "give every GPU of the cluster one row; use score 1 if it was not measured");
  }
  return {};
}

Result<ClassScores> complete_class(const ClassColumns& columns, const std::vector<uint32_t>& ids,
                                   int app_class, const std::string& file,
                                   const BinningOptions& binning) {
  std::vector<double> raw(ids.size());
  for (size_t row = 0; row < ids.size(); ++row) raw[ids[row]] = columns.raw_values[row];
  if (!columns.bin) return bin_scores(std::move(raw), binning).scores;
  std::vector<double> bins(ids.size());
  for (size_t row = 0; row < ids.size(); ++row) bins[ids[row]] = columns.bin_values[row];
  if (std::set<double>(bins.begin(), bins.end()).size() > Binning::kBinsMax) {
    return bad_data({file, 0, 0, bin_column(app_class)},
                    fmt::format("has more than {} distinct bins", Binning::kBinsMax),
                    "omit the column; the scores are then binned automatically");
  }
  return class_from_values(std::move(raw), bins);
}

}  // namespace

Result<PmScores> parse_scores(std::string_view text, const std::string& file,
                              std::optional<uint32_t> num_gpus, const BinningOptions& binning) {
  CsvReader csv(text, file);
  const Result<size_t> id_column = csv.require(kIdColumn);
  if (!id_column) return base::failure(id_column.error());
  Result<std::vector<ClassColumns>> classes = class_columns(csv);
  if (!classes) return base::failure(classes.error());
  std::vector<uint32_t> ids;
  std::vector<int> line_of_gpu;
  while (csv.next()) {
    const Result<uint32_t> id = read_id(csv, *id_column, num_gpus, line_of_gpu);
    if (!id) return base::failure(id.error());
    ids.push_back(*id);
    if (Status row = read_row(csv, *classes); !row) return base::failure(row.error());
  }
  if (Status read = csv.status(); !read) return base::failure(read.error());
  if (Status complete = check_complete(file, num_gpus, line_of_gpu); !complete) {
    return base::failure(complete.error());
  }
  std::vector<ClassScores> scores;
  for (size_t i = 0; i < classes->size(); ++i) {
    auto one = complete_class((*classes)[i], ids, static_cast<int>(i), file, binning);
    if (!one) return base::failure(one.error());
    scores.push_back(std::move(*one));
  }
  return PmScores(std::move(scores));
}

std::string to_csv(const PmScores& scores) {
  std::string out = kIdColumn;
  const int num_classes = static_cast<int>(scores.num_classes());
  for (int i = 0; i < num_classes; ++i) out += "," + raw_column(i);
  for (int i = 0; i < num_classes; ++i) out += "," + bin_column(i);
  out += '\n';
  for (uint32_t gpu = 0; gpu < scores.num_gpus(); ++gpu) {
    base::append_number(out, int64_t{gpu});
    for (int i = 0; i < num_classes; ++i) {
      out += ',';
      base::append_number(out, scores.of({static_cast<uint8_t>(i)}).raw[gpu]);
    }
    for (int i = 0; i < num_classes; ++i) {
      const ClassScores& one = scores.of({static_cast<uint8_t>(i)});
      out += ',';
      base::append_number(out, one.bin_values[one.bin[gpu]]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace goban::core::knowledge
