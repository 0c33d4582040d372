// The formats of accounting records, by name. A format is detected from the first line.
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
#include "site/records/column_reader.hpp"
#include "site/records/record_output.hpp"
#include "site/records/record_reader.hpp"

namespace goban::site::records {

/// The names of the columns, in the order of the file.
using Header = std::vector<std::string>;

/// Structure of an input.
enum class Layout : uint8_t {
  HeaderCsv,  ///< a header line, then records with the same number of fields, separated by commas
  Swf,        ///< no header; at least kSwfFields fields separated by blanks; `;` starts a comment
  Lines,      ///< lines that the format splits itself
  Json,       ///< objects: in an array, in `items` of a list, or consecutive
  Folder,     ///< several tables in a folder
};
inline constexpr size_t kSwfFields = 18;

/// What a reader reports about an input in addition to its records.
class ParserFacts {
 public:
  virtual ~ParserFacts() = default;
  /// True if the file has a field for walltime limits, where empty means the default.
  [[nodiscard]] virtual bool has_walltimes() const { return false; }
  /// Columns of the header that the format does not use.
  [[nodiscard]] virtual std::vector<std::string> ignored_columns() const { return {}; }
  /// Remarks for the user on the records read so far, such as times without a time zone.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Turns the fields of one record into an AccountingRecord; one per file.
class RecordParser : public ParserFacts {
 public:
  /// `fields` has as many fields as the header. Problems are left in `fields.problem()` or
  /// returned; empty = none.
  [[nodiscard]] virtual std::string parse(ColumnReader& fields, AccountingRecord& record) = 0;
  /// A comment line of the layout Swf, including its `;`. Returns why the file is unreadable; empty
  /// = it is readable.
  [[nodiscard]] virtual std::string take_comment(std::string_view) { return {}; }
};

/// Takes entire lines, including the first; one object per file. It may put a record later than its
/// line.
class LineParser : public ParserFacts {
 public:
  /// A line that is not blank.
  virtual void take(const base::Line& line, RecordOutput& out) = 0;
  /// End of the input: puts the records held back.
  virtual void finish(RecordOutput&) {}
};

/// Takes the text of one JSON object at a time.
class ObjectParser : public ParserFacts {
 public:
  virtual void take(std::string_view object, int64_t line, RecordOutput& out) = 0;
  virtual void finish(RecordOutput&) {}
};

/// What a format receives when a file is opened.
struct FormatInput {
  const Header& header;  ///< empty unless the layout is HeaderCsv
  base::Place place;     ///< of the first line
  const ReadOptions& options;
};

struct RecordFormat {
  std::string_view name;
  std::string_view header;  ///< form of the header line, for help texts
  /// HeaderCsv: true if a file with that header is read as this format by default.
  bool (*recognises)(const Header& header) = nullptr;
  /// HeaderCsv, Swf. Errors: BadData if a column is missing.
  base::Result<std::unique_ptr<RecordParser>> (*open)(const FormatInput& input) = nullptr;
  Layout layout = Layout::HeaderCsv;
  /// Other layouts: detected from the first line that is not blank, or (Json) the first 64 KiB.
  bool (*recognises_text)(std::string_view text) = nullptr;
  base::Result<std::unique_ptr<LineParser>> (*open_lines)(const FormatInput& input,
                                                          std::string_view first_line) = nullptr;
  base::Result<std::unique_ptr<ObjectParser>> (*open_objects)(const FormatInput& input) = nullptr;
  /// Folder: true if the tables exist.
  bool (*recognises_folder)(const std::string& path) = nullptr;
  /// Returns notes. Errors: Failed, BadData.
  base::Result<std::vector<std::string>> (*read_folder)(const std::string& path,
                                                        const ReadOptions& options,
                                                        RecordOutput& out) = nullptr;
  bool ids_are_rows = false;  ///< ids are row numbers of a file and meaningless outside it
};

/// All formats, in the order in which they are tried.
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
extern const RecordFormat kOpenb;   // formats/openb_csv.cpp
extern const RecordFormat kHelios;  // formats/helios_csv.cpp
extern const RecordFormat kAcme;    // formats/acme_csv.cpp
extern const RecordFormat kItpRaw;  // formats/elasticflow_csv.cpp
extern const RecordFormat kElasticflow;
extern const RecordFormat kAlibabaSpot;  // formats/alibaba_csv.cpp
extern const RecordFormat kAlibabaDlrm;
extern const RecordFormat kGavelTrace;  // formats/gavel_trace.cpp
extern const RecordFormat kGenericCsv;  // formats/generic_csv.cpp

}  // namespace goban::site::records
