#include "core/knowledge/profile_runs.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "core/knowledge/median.hpp"
#include "core/knowledge/scores_file.hpp"

namespace goban::core::knowledge {
namespace {

using base::bad_data;
using base::CsvReader;
using base::Result;

// Times in any unit, bounded so that later products do not overflow.
constexpr double kPerfMin = 1e-18;
constexpr double kPerfMax = 1e30;

struct Row {
  size_t gpu;
  double perf;
  int line;
  int column;
};

Result<double> read_perf(const CsvReader& csv, size_t column) {
  const std::optional<double> perf = base::parse_double(csv.field(column));
  if (!perf || *perf < kPerfMin || *perf > kPerfMax) {
    return bad_data(csv.place(column),
                    fmt::format("'{}' is not a time above 0", csv.field(column).substr(0, 40)),
                    "remove failed runs");
  }
  return *perf;
}

}  // namespace

Result<ProfileRuns> parse_profile_runs(std::string_view text, const std::string& file) {
  CsvReader csv(text, file);
  const Result<size_t> uuid_column = csv.require("uuid");
  if (!uuid_column) return base::failure(uuid_column.error());
  const Result<size_t> perf_column = csv.require("perf");
  if (!perf_column) return base::failure(perf_column.error());

  ProfileRuns profile;
  std::vector<Row> rows;
  std::vector<double> perfs;
  std::unordered_map<std::string, size_t> gpu_of_uuid;
  while (csv.next()) {
    std::string uuid(csv.field(*uuid_column));
    if (uuid.empty()) {
      return bad_data(csv.place(*uuid_column), "is empty", "give the uuid of the GPU");
    }
    const Result<double> perf = read_perf(csv, *perf_column);
    if (!perf) return base::failure(perf.error());
    const auto [known, added] = gpu_of_uuid.try_emplace(uuid, profile.uuids.size());
    if (added) profile.uuids.push_back(std::move(uuid));
    const base::Place place = csv.place(*perf_column);
    rows.push_back({known->second, *perf, place.line, place.column});
    perfs.push_back(*perf);
  }
  if (base::Status read = csv.status(); !read) return base::failure(read.error());
  if (rows.empty()) return bad_data({file, 0, 0, {}}, "contains no runs", "add at least one row");

  profile.median_perf = median(std::move(perfs));
  profile.runs.resize(profile.uuids.size());
  for (const Row& row : rows) {
    const double score = row.perf / profile.median_perf;
    if (score < kScoreMin || score > kScoreMax) {
      return bad_data(
          {file, row.line, row.column, "perf"},
          fmt::format("{} is {} times the median time {}", row.perf, score, profile.median_perf),
          "all rows must have the same unit");
    }
    profile.runs[row.gpu].push_back(score);
  }
  return profile;
}

std::vector<double> median_scores(const ProfileRuns& profile) {
  std::vector<double> scores;
  scores.reserve(profile.num_gpus());
  for (const std::vector<double>& runs : profile.runs) scores.push_back(median(runs));
  return scores;
}

}  // namespace goban::core::knowledge
