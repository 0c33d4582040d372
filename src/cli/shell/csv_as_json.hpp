// CSV that a layer writes in pieces, printed as a JSON array of objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/field_splitter.hpp"

namespace goban::cli {

/// Turns rows of CSV, the first of which names the columns, into the elements of an array. Numbers
/// become numbers, except in the columns of names.
class CsvAsJson {
 public:
  explicit CsvAsJson(std::vector<std::string> columns_of_names)
      : columns_of_names_(std::move(columns_of_names)) {}

  void take(std::string_view text);
  /// Prints the end of the array.
  void finish();

 private:
  void take_line(std::string_view line);

  std::vector<std::string> columns_of_names_;
  base::FieldSplitter splitter_{};
  std::string rest_{};
  std::vector<std::string> columns_{};
  bool is_first_ = true;
};

}  // namespace goban::cli
