// The formats of job histories, by name. A format is told by its header line.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "history/field_reader.hpp"
#include "history/history_builder.hpp"

namespace goban::history {

/// The names of the columns, in the order of the file.
using Header = std::vector<std::string>;

/// Turns the fields of one record into a JobRecord; one per file.
class RecordParser {
 public:
  virtual ~RecordParser() = default;
  /// `fields` has as many fields as the header. What is wrong is left in `fields.problem()` or
  /// returned; empty = nothing.
  [[nodiscard]] virtual std::string parse(FieldReader& fields, JobRecord& record) = 0;
  /// True if the file has a place for walltime limits.
  [[nodiscard]] virtual bool has_walltimes() const { return false; }
  /// Columns of the header that the format does not know, and ignores.
  [[nodiscard]] virtual std::vector<std::string> ignored_columns() const { return {}; }
};

struct JobFormat {
  std::string_view name;
  std::string_view header;  ///< what the header line looks like, for people
  /// True if a file with that header is read as this format when none is named.
  bool (*recognises)(const Header& header);
  /// Errors: BadData if a column is missing; the place is that of the header line.
  base::Result<std::unique_ptr<RecordParser>> (*open)(const Header& header,
                                                      const base::Place& place);
};

[[nodiscard]] std::span<const JobFormat> job_formats();

/// Position of a column.
[[nodiscard]] std::optional<size_t> find_column(const Header& header, std::string_view name);

extern const JobFormat kPalCsv;      // pal_csv.cpp
extern const JobFormat kGenericCsv;  // generic_csv.cpp

}  // namespace goban::history
