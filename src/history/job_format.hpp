// The formats of job histories, by name. A format is told by its first line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "history/field_reader.hpp"
#include "history/history_builder.hpp"
#include "history/job_reader.hpp"

namespace goban::history {

/// The names of the columns, in the order of the file.
using Header = std::vector<std::string>;

/// How lines are made up.
enum class Layout : uint8_t {
  HeaderCsv,  ///< a header line, then records of as many fields, with commas between
  Swf,        ///< no header; at least kSwfFields fields with blanks between; `;` begins a comment
};
inline constexpr size_t kSwfFields = 18;

/// Turns the fields of one record into a JobRecord; one per file.
class RecordParser {
 public:
  virtual ~RecordParser() = default;
  /// `fields` has as many fields as the header. What is wrong is left in `fields.problem()` or
  /// returned; empty = nothing.
  [[nodiscard]] virtual std::string parse(FieldReader& fields, JobRecord& record) = 0;
  /// A comment line of the layout Swf, with its `;`. Returns what makes the file unreadable; empty
  /// = nothing.
  [[nodiscard]] virtual std::string take_comment(std::string_view) { return {}; }
  /// True if the file has a place for walltime limits, and leaving it empty asks for the default.
  [[nodiscard]] virtual bool has_walltimes() const { return false; }
  /// Columns of the header that the format does not use.
  [[nodiscard]] virtual std::vector<std::string> ignored_columns() const { return {}; }
  /// What someone should know of the records read so far, such as times without a zone.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// What a format sees when a file is opened.
struct FormatInput {
  const Header& header;  ///< empty in the layout Swf
  base::Place place;     ///< of the first line
  const ReadOptions& options;
};

struct JobFormat {
  std::string_view name;
  std::string_view header;  ///< what the header line looks like, for people
  /// True if a file with that header is read as this format when none is named.
  bool (*recognises)(const Header& header);
  /// Errors: BadData if a column is missing.
  base::Result<std::unique_ptr<RecordParser>> (*open)(const FormatInput& input);
  Layout layout = Layout::HeaderCsv;
};

/// All formats, in the order in which they are asked.
[[nodiscard]] std::span<const JobFormat> job_formats();
/// "generic, pal, ...", for help texts.
[[nodiscard]] std::string list_job_formats();

/// Position of a column.
[[nodiscard]] std::optional<size_t> find_column(const Header& header, std::string_view name);

extern const JobFormat kPalCsv;          // formats/pal_csv.cpp
extern const JobFormat kSwf;             // formats/swf.cpp
extern const JobFormat kPhillyAttempts;  // formats/philly_csv.cpp
extern const JobFormat kPhillySia;
extern const JobFormat kChronus;
extern const JobFormat kLumos;  // formats/lumos_csv.cpp
extern const JobFormat kLumosIntervals;
extern const JobFormat kOpenb;       // formats/openb_csv.cpp
extern const JobFormat kHelios;      // formats/helios_csv.cpp
extern const JobFormat kGenericCsv;  // formats/generic_csv.cpp

}  // namespace goban::history
