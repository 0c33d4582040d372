#include "cli/shell/csv_as_json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number.hpp"

namespace goban::cli {

void CsvAsJson::take(std::string_view text) {
  rest_ += text;
  size_t begin = 0;
  for (size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    take_line(std::string_view(rest_).substr(begin, end - begin));
  }
  rest_.erase(0, begin);
}

void CsvAsJson::finish() { fmt::print("{}", is_first_ ? "[]\n" : "\n]\n"); }

void CsvAsJson::take_line(std::string_view line) {
  if (!splitter_.split(line)) return;
  const auto cells = splitter_.fields();
  if (columns_.empty()) {
    columns_.assign(cells.begin(), cells.end());
    return;
  }
  nlohmann::ordered_json row;
  for (size_t i = 0; i < std::min(columns_.size(), cells.size()); ++i) {
    const bool is_name =
        std::ranges::find(columns_of_names_, columns_[i]) != columns_of_names_.end();
    const auto number = is_name ? std::nullopt : base::parse_double(cells[i]);
    if (number) {
      row[columns_[i]] = *number;
    } else {
      row[columns_[i]] = std::string(cells[i]);
    }
  }
  fmt::print("{}{}", std::exchange(is_first_, false) ? "[\n" : ",\n",
             row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace goban::cli
