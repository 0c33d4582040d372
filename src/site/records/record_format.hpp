// The formats of accounting records, by name. A format is told by its first line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_reader.hpp"
#include "base/result.hpp"
#include "site/records/field_reader.hpp"
#include "site/records/record_output.hpp"
#include "site/records/record_reader.hpp"

namespace goban::site::records {

/// The names of the columns, in the order of the file.
using Header = std::vector<std::string>;

/// How an input is made up.
enum class Layout : uint8_t {
  HeaderCsv,  ///< a header line, then records of as many fields, with commas between
  Swf,        ///< no header; at least kSwfFields fields with blanks between; `;` begins a comment
  Lines,      ///< lines that the format takes apart itself
  Json,       ///< objects: in an array, in `items` of a list, or one behind the other
  Folder,     ///< several tables in a folder
};
inline constexpr size_t kSwfFields = 18;

/// What someone should know of a format's reading, beside the records.
class ParserFacts {
 public:
  virtual ~ParserFacts() = default;
  /// True if the file has a place for walltime limits, and leaving it empty asks for the default.
  [[nodiscard]] virtual bool has_walltimes() const { return false; }
  /// Columns of the header that the format does not use.
  [[nodiscard]] virtual std::vector<std::string> ignored_columns() const { return {}; }
  /// What someone should know of the records read so far, such as times without a zone.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Turns the fields of one record into an AccountingRecord; one per file.
class RecordParser : public ParserFacts {
 public:
  /// `fields` has as many fields as the header. What is wrong is left in `fields.problem()` or
  /// returned; empty = nothing.
  [[nodiscard]] virtual std::string parse(FieldReader& fields, AccountingRecord& record) = 0;
  /// A comment line of the layout Swf, with its `;`. Returns what makes the file unreadable; empty
  /// = nothing.
  [[nodiscard]] virtual std::string take_comment(std::string_view) { return {}; }
};

/// Takes whole lines, the first one too; one per file. Records may be put later than their line.
class LineParser : public ParserFacts {
 public:
  /// A line that is not blank.
  virtual void take(const base::Line& line, RecordOutput& out) = 0;
  /// The input is over: puts what is held back.
  virtual void finish(RecordOutput&) {}
};

/// Takes the text of one JSON object after the other.
class ObjectParser : public ParserFacts {
 public:
  virtual void take(std::string_view object, int64_t line, RecordOutput& out) = 0;
  virtual void finish(RecordOutput&) {}
};

/// What a format sees when a file is opened.
struct FormatInput {
  const Header& header;  ///< empty unless the layout is HeaderCsv
  base::Place place;     ///< of the first line
  const ReadOptions& options;
};

struct RecordFormat {
  std::string_view name;
  std::string_view header;  ///< what the header line looks like, for people
  /// HeaderCsv: true if a file with that header is read as this format when none is named.
  bool (*recognises)(const Header& header) = nullptr;
  /// HeaderCsv, Swf. Errors: BadData if a column is missing.
  base::Result<std::unique_ptr<RecordParser>> (*open)(const FormatInput& input) = nullptr;
  Layout layout = Layout::HeaderCsv;
  /// The others: told by the first line that is not blank, or (Json) the first 64 KiB.
  bool (*recognises_text)(std::string_view text) = nullptr;
  base::Result<std::unique_ptr<LineParser>> (*open_lines)(const FormatInput& input,
                                                          std::string_view first_line) = nullptr;
  base::Result<std::unique_ptr<ObjectParser>> (*open_objects)(const FormatInput& input) = nullptr;
  /// Folder: true if the tables are there.
  bool (*recognises_folder)(const std::string& path) = nullptr;
  /// Returns notes. Errors: Failed, BadData.
  base::Result<std::vector<std::string>> (*read_folder)(const std::string& path,
                                                        const ReadOptions& options,
                                                        RecordOutput& out) = nullptr;
  bool ids_are_rows = false;  ///< ids number the rows of a file, and mean nothing beyond it
};

/// All formats, in the order in which they are asked.
[[nodiscard]] std::span<const RecordFormat> record_formats();
/// "generic, pal, ...", for help texts.
[[nodiscard]] std::string list_record_formats();

/// Position of a column.
[[nodiscard]] std::optional<size_t> find_column(const Header& header, std::string_view name);

extern const RecordFormat kSlurm;           // formats/slurm.cpp
extern const RecordFormat kGridEngine;      // formats/grid_engine.cpp
extern const RecordFormat kKubernetes;      // formats/kubernetes.cpp
extern const RecordFormat kPhillyJson;      // formats/philly_json.cpp
extern const RecordFormat kAlibabaPai;      // formats/alibaba_pai.cpp
extern const RecordFormat kRecordsCsv;      // formats/records_csv.cpp
extern const RecordFormat kPalCsv;          // formats/pal_csv.cpp
extern const RecordFormat kSwf;             // formats/swf.cpp
extern const RecordFormat kPhillyAttempts;  // formats/philly_csv.cpp
extern const RecordFormat kPhillySia;
extern const RecordFormat kChronus;
extern const RecordFormat kLumos;  // formats/lumos_csv.cpp
extern const RecordFormat kLumosIntervals;
extern const RecordFormat kOpenb;       // formats/openb_csv.cpp
extern const RecordFormat kHelios;      // formats/helios_csv.cpp
extern const RecordFormat kGenericCsv;  // formats/generic_csv.cpp

}  // namespace goban::site::records
