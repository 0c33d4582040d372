#include "study/history/fillers.hpp"

#include <array>
#include <fmt/format.h>

#include "base/csv.hpp"
#include "base/text_file.hpp"
#include "site/records/column_reader.hpp"

namespace goban::study::history {

using base::Result;

Result<FillerSource> FillerSource::read(const std::string& path) {
  const auto text = base::read_text_file(path);
  if (!text) return base::failure(text.error());
  return parse(*text, base::input_name(path));
}

Result<FillerSource> FillerSource::parse(std::string_view text, const std::string& file) {
  FillerSource source;
  source.file_ = file;
  base::CsvReader csv(text, file);
  const auto k_column = csv.require("k");
  if (!k_column) return base::failure(k_column.error());
  const auto gap_column = csv.require("inter_arrival_s");
  if (!gap_column) return base::failure(gap_column.error());
  // ColumnReader names the field in its own messages.
  const auto nameless = [&csv](size_t column) {
    base::Place place = csv.place(column);
    place.field.clear();
    return place;
  };
  base::TimeNs since_last_ns = 0;
  while (csv.next()) {
    const std::array<std::string_view, 2> texts = {csv.field(*k_column), csv.field(*gap_column)};
    site::records::ColumnReader fields(texts);
    const auto expected = static_cast<int64_t>(source.size());
    const int64_t k = fields.whole(0, "k", 0, INT64_MAX);
    if (fields.problem().empty() && k != expected) {
      return base::bad_data(csv.place(*k_column), fmt::format("found {}, expected {}", k, expected),
                            "number the rows 0, 1, 2, ...");
    }
    if (!fields.problem().empty()) {
      return base::bad_data(nameless(*k_column), fields.problem(), "number the rows 0, 1, 2, ...");
    }
    since_last_ns += fields.seconds(1, "inter_arrival_s");
    if (!fields.problem().empty()) {
      return base::bad_data(nameless(*gap_column), fields.problem(),
                            "give seconds since the previous filler");
    }
    if (since_last_ns > base::from_seconds(base::kMaxSeconds)) {
      return base::bad_data(csv.place(*gap_column), "submit times of fillers exceed 4.6e9 seconds",
                            "end the list here");
    }
    source.since_last_ns_.push_back(since_last_ns);
  }
  if (auto status = csv.status(); !status) return base::failure(status.error());
  return source;
}

Result<core::model::Job> FillerSource::job(size_t k, const core::model::JobHistory& history) const {
  if (history.jobs.empty()) return base::bad_data({}, "a history without jobs has no fillers");
  if (k >= size()) {
    return base::bad_data({.file = file_, .line = 0, .column = 0, .field = {}},
                          fmt::format("all {} filler jobs were used", size()),
                          "give a longer list of inter-arrival times");
  }
  core::model::Job filler = history.jobs[k % history.jobs.size()];
  filler.request.submit_ns = history.jobs.back().request.submit_ns + since_last_ns_[k];
  return filler;
}

}  // namespace goban::study::history
