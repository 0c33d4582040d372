#include "site/store/seen.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/byte_source.hpp"
#include "base/field_splitter.hpp"
#include "base/line_reader.hpp"
#include "base/number.hpp"
#include "base/text_file.hpp"
#include "site/records/clock_reader.hpp"
#include "site/records/record_output.hpp"
#include "site/records/software_name.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;

constexpr std::array<std::string_view, 7> kSeenColumns = {
    "job_id", "cluster_id", "fiscal_year", "kind", "name_id", "seen_slot", "seen_ns"};
/// Factor that combines a kind and a name id into one number.
constexpr int64_t kKindFactor = 1'000'000'000'000;

enum Field : size_t { kTime, kJobId, kName, kKind, kCluster, kNode };
constexpr std::array<std::string_view, 6> kFields = {"time", "job_id",  "name",
                                                     "kind", "cluster", "node"};

/// Meaning of the value of the column `kind`.
struct KindWord {
  std::string_view word;
  SeenKind kind{};
  char separator = 0;  ///< between several names; 0 = a single name
};
constexpr std::array<KindWord, 6> kKinds = {{{"module", SeenKind::Module, 0},
                                             {"modules", SeenKind::Module, ':'},
                                             {"container", SeenKind::Container, 0},
                                             {"process", SeenKind::Process, 0},
                                             {"gpu", SeenKind::Gpu, 0},
                                             {"gpus", SeenKind::Gpu, ' '}}};

/// A sink that is not used: these files have no jobs.
class NoSink final : public records::RecordSink {
 public:
  std::string take(const records::AccountingRecord&) override { return {}; }
};

class SeenReader {
 public:
  SeenReader(StoredNames& names, BulkWriter& out, int fiscal_month, base::TimeZone zone)
      : names_(names), out_(out), fiscal_month_(fiscal_month), clock_(std::move(zone)) {}

  /// Errors: BadData if a column is missing.
  Status take_header(std::string_view line, const std::string& file);
  /// Returns why the line is rejected; empty = it was taken.
  [[nodiscard]] Result<std::string> take(const base::Line& line);
  [[nodiscard]] int64_t written() const { return written_; }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  [[nodiscard]] std::string_view field(Field which) const {
    const int at = at_[which];
    return at < 0 ? std::string_view() : splitter_.fields()[static_cast<size_t>(at)];
  }
  [[nodiscard]] Status write(SeenKind kind, std::string_view name, base::TimeNs seen_ns);

  StoredNames& names_;
  BulkWriter& out_;
  int fiscal_month_;
  records::ClockReader clock_;
  base::FieldSplitter splitter_;
  std::array<int, kFields.size()> at_{};
  size_t num_columns_ = 0;
  std::vector<std::string> ignored_;
  std::string valid_, name_;
  int64_t written_ = 0;
};

Status SeenReader::take_header(std::string_view line, const std::string& file) {
  at_.fill(-1);
  const bool good = splitter_.split(line);
  num_columns_ = good ? splitter_.fields().size() : 0;
  for (size_t i = 0; i < num_columns_; ++i) {
    const auto* const known = std::ranges::find(kFields, splitter_.fields()[i]);
    if (known == kFields.end()) {
      ignored_.emplace_back(splitter_.fields()[i]);
    } else {
      at_[static_cast<size_t>(known - kFields.begin())] = static_cast<int>(i);
    }
  }
  for (const Field needed : {kTime, kJobId, kName}) {
    if (at_[needed] >= 0) continue;
    return base::bad_data(
        {.file = file, .line = 1, .column = 0, .field = {}},
        fmt::format("the header has no column {}", kFields[needed]),
        "the columns must be time,job_id,name and, optionally, kind,cluster,node");
  }
  return {};
}

Status SeenReader::write(SeenKind kind, std::string_view name, base::TimeNs seen_ns) {
  if (kind == SeenKind::Process) {
    name = name.substr(0, name.find(' '));
    if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
    if (name.empty()) return {};
    name_ = fmt::format("process:{}", name);
    name = name_;
  } else if (kind != SeenKind::Gpu) {
    name = records::without_folders(name);
  }
  if (name.empty()) return {};
  if (kind == SeenKind::Gpu) {
    name_ = fmt::format("{}:{}", field(kNode), name);
    name = name_;
  }
  const NameKind name_kind = kind == SeenKind::Gpu ? NameKind::Gpu : NameKind::Software;
  out_.text(valid_text(field(kJobId), valid_));
  out_.whole(names_.number(NameKind::Cluster, field(kCluster)));
  out_.whole(fiscal_year(seen_ns, fiscal_month_));
  out_.whole(static_cast<int64_t>(kind));
  out_.whole(names_.number(name_kind, name));
  out_.whole(seen_ns / kSeenSlotNs);
  out_.whole(seen_ns);
  ++written_;
  return out_.end_row();
}

Result<std::string> SeenReader::take(const base::Line& line) {
  if (line.too_long) return "the line is too long";
  if (!splitter_.split(line.text)) return "a quoted field does not end at a comma";
  if (splitter_.fields().size() != num_columns_) {
    return fmt::format("{} fields instead of {}", splitter_.fields().size(), num_columns_);
  }
  const std::string_view id = field(kJobId);
  if (id.empty()) return "job_id is empty";
  if (id.size() > kJobIdBytesMax) {
    return fmt::format("job_id is longer than {} bytes", kJobIdBytesMax);
  }
  const records::Moment moment = clock_.read(field(kTime));
  if (moment.kind != records::MomentKind::Given) {
    return fmt::format("time \"{}\" is not a valid date and time", field(kTime).substr(0, 40));
  }
  const std::string_view word = field(kKind).empty() ? kKinds[0].word : field(kKind);
  const auto* const kind = std::ranges::find(kKinds, word, &KindWord::word);
  if (kind == kKinds.end()) {
    return fmt::format("kind \"{}\" is not one of module, modules, container, process, gpu, gpus",
                       word.substr(0, 40));
  }
  std::string_view rest = field(kName);
  if (rest.empty() && kind->separator == 0) return "name is empty";
  while (!rest.empty()) {
    const size_t end = kind->separator == 0 ? rest.size() : rest.find(kind->separator);
    if (auto status = write(kind->kind, rest.substr(0, end), moment.ns); !status) {
      return base::failure(status.error());
    }
    rest.remove_prefix(std::min(end == rest.npos ? rest.size() : end + 1, rest.size()));
  }
  return std::string();
}

}  // namespace

Result<SeenSummary> import_seen(SqlConnection& connection, StoredNames& names, int fiscal_month,
                                const std::string& path, const records::ReadOptions& options) {
  auto zone = base::TimeZone::load(options.site.zone);
  if (!zone) return base::failure(zone.error());
  auto source = base::open_bytes(path);
  if (!source) return base::failure(source.error());
  auto writer = connection.bulk({.name = "goban_seen", .columns = kSeenColumns, .num_keys = 6});
  if (!writer) return base::failure(writer.error());
  SeenSummary summary;
  summary.read.format = kSeenFormat;
  NoSink sink;
  records::RecordOutput out(sink, summary.read);
  if (!options.rejects_path.empty()) {
    if (auto status = out.write_rejects(options.rejects_path); !status) {
      return base::failure(status.error());
    }
  }
  const std::string file = base::input_name(path);
  SeenReader reader(names, **writer, fiscal_month, std::move(*zone));
  base::LineReader lines(**source);
  base::Line line;
  bool has_header = false;
  while (lines.next(line)) {
    if (line.text.empty()) continue;
    if (!has_header) {
      if (auto status = reader.take_header(line.text, file); !status) {
        return base::failure(status.error());
      }
      has_header = true;
      continue;
    }
    out.count_record();
    auto problem = reader.take(line);
    if (!problem) return base::failure(problem.error());
    if (!problem->empty()) out.reject(line.number, *problem, line.text);
  }
  if (!lines.status()) return base::failure(lines.status().error());
  if (!has_header) {
    return base::bad_data({.file = file, .line = 0, .column = 0, .field = {}}, "the file is empty",
                          "it must begin with time,job_id,name");
  }
  if (auto status = (*writer)->flush(); !status) return base::failure(status.error());
  if (auto status = StoredNames::write(connection, names.take_new()); !status) {
    return base::failure(status.error());
  }
  if (auto status = out.commit(); !status) return base::failure(status.error());
  summary.read.ignored_columns = reader.ignored();
  summary.written = reader.written();
  return summary;
}

std::string seen_column(Dialect dialect) {
  const std::string number = fmt::format("s.kind*{}+s.name_id", kKindFactor);
  const std::string list = dialect == Dialect::PostgreSql
                               ? fmt::format("string_agg(DISTINCT ({})::text,',')", number)
                               : fmt::format("GROUP_CONCAT(DISTINCT {})", number);
  // Job ids may repeat when counters restart; the time selects the job.
  return fmt::format(
      "(SELECT {0} FROM goban_seen s WHERE s.job_id=j.job_id AND s.cluster_id IN(0,j.cluster_id) "
      "AND s.seen_ns>=COALESCE(j.start_ns,j.submit_ns)-{1} AND "
      "(j.end_ns IS NULL OR s.seen_ns<=j.end_ns+{1}))",
      list, kSeenSlackNs);
}

void SeenJoin::add_to(records::AccountingRecord& record, std::string_view text) {
  seen_.clear();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const int64_t number = base::parse_int(text.substr(0, comma)).value_or(-1);
    if (number >= 0) seen_.emplace_back(number / kKindFactor, number % kKindFactor);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (seen_.empty()) return;
  std::ranges::sort(seen_);  // the databases return them unordered
  software_.assign(record.software.begin(), record.software.end());
  gpus_.clear();
  for (const auto& [kind, number] : seen_) {
    const std::string_view name = names_[number];
    if (kind == static_cast<int64_t>(SeenKind::Gpu)) {
      const size_t colon = name.find(':');
      gpus_.push_back({.node = name.substr(0, colon), .gpu = name.substr(colon + 1)});
    } else if (std::ranges::find(software_, name) == software_.end()) {
      software_.push_back(name);
    }
  }
  record.software = software_;
  if (record.gpus.empty()) record.gpus = gpus_;
}

}  // namespace goban::site::store
