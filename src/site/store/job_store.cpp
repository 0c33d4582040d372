#include "site/store/job_store.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <random>

#include "base/clock.hpp"
#include "base/file_checksum.hpp"
#include "base/number.hpp"
#include "site/records/record_csv.hpp"
#include "site/records/record_output.hpp"
#include "site/records/run_counter.hpp"
#include "site/store/import_sink.hpp"
#include "site/store/stored_names.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;
using records::AccountingRecord;

int64_t now_unix_s() { return base::wall_ns() / base::kSecond; }

/// Converts rows to records.
class RowReader {
 public:
  explicit RowReader(const StoredNames& names) : names_(names), seen_(names) {}

  AccountingRecord record(const SqlRow& row) {
    row_ = &row;
    AccountingRecord r;
    r.job_number = row.whole(at(JobColumn::JobNumber));
    r.submit_ns = row.whole(at(JobColumn::Submit));
    r.id = row.text(at(JobColumn::JobId));
    r.cluster = name(JobColumn::Cluster);
    r.array_task = whole(JobColumn::ArrayTask, -1);
    r.het_part = small(JobColumn::HetPart, -1);
    r.restarts = small(JobColumn::Restarts, -1);
    r.user = name(JobColumn::User);
    r.account = name(JobColumn::Account);
    r.group = name(JobColumn::Group);
    r.partition = name(JobColumn::Partition);
    r.qos = name(JobColumn::Qos);
    r.reservation = name(JobColumn::Reservation);
    r.resource_type = name(JobColumn::ResourceType);
    r.type_may_be_left_out = true;
    r.eligible_ns = whole(JobColumn::Eligible, -1);
    r.start_ns = whole(JobColumn::Start, -1);
    r.end_ns = whole(JobColumn::End, -1);
    r.work_s = real(JobColumn::Work);
    r.walltime_limit_ns = whole(JobColumn::Walltime, 0);
    set_end(r);
    set_sizes(r);
    r.job_name = text(JobColumn::JobName);
    r.command_line = text(JobColumn::CommandLine);
    if (!row.is_null(kJobColumns.size())) seen_.add_to(r, row.text(kJobColumns.size()));
    r.run = std::max(0, runs_.add(r.cluster, r.id, std::max(r.start_ns, r.submit_ns)));
    return r;
  }

 private:
  static size_t at(JobColumn column) { return static_cast<size_t>(column); }
  [[nodiscard]] int64_t whole(JobColumn column, int64_t unknown) const {
    return row_->is_null(at(column)) ? unknown : row_->whole(at(column));
  }
  [[nodiscard]] int32_t small(JobColumn column, int32_t unknown) const {
    return static_cast<int32_t>(whole(column, unknown));
  }
  [[nodiscard]] double real(JobColumn column) const {
    return row_->is_null(at(column)) ? -1 : row_->real(at(column));
  }
  [[nodiscard]] std::string_view text(JobColumn column) const {
    return row_->is_null(at(column)) ? std::string_view() : row_->text(at(column));
  }
  [[nodiscard]] std::string_view name(JobColumn column) const { return names_[whole(column, 0)]; }

  void set_end(AccountingRecord& r) const {
    const int64_t state = whole(JobColumn::State, 0);
    const int64_t kind = whole(JobColumn::Kind, 0);
    if (state >= 0 && state < static_cast<int64_t>(records::kNumJobStates)) {
      r.state = static_cast<records::RecordedState>(state);
    }
    if (kind >= 0 && kind <= 2) r.kind = static_cast<records::JobKind>(kind);
    r.exit_code = small(JobColumn::ExitCode, -1);
    r.signal = small(JobColumn::Signal, -1);
    r.failed_code = small(JobColumn::FailedCode, -1);
  }

  void set_sizes(AccountingRecord& r) {
    if (!row_->is_null(at(JobColumn::NumGpus))) r.num_gpus = whole(JobColumn::NumGpus, 0);
    r.gpu_milli = small(JobColumn::GpuMilli, 0);
    r.gpu_share = whole(JobColumn::GpuShare, 0) != 0;
    r.gpu_type = name(JobColumn::GpuType);
    r.instances = whole(JobColumn::Instances, 0);
    r.num_nodes = whole(JobColumn::NumNodes, -1);
    r.cpu_cores = whole(JobColumn::CpuCores, 0);
    r.mem_bytes = whole(JobColumn::Mem, -1);
    r.priority = small(JobColumn::Priority, 0);
    r.node_list = name(JobColumn::NodeList);
    (void)records::parse_gpu_list(text(JobColumn::Gpus), gpus_);
    r.gpus = gpus_;
    records::parse_software(name(JobColumn::Software), software_);
    r.software = software_;
    r.usage = {.gpu_util_pct_max = static_cast<float>(real(JobColumn::UtilMax)),
               .gpu_mem_bytes_max = whole(JobColumn::GpuMemMax, -1),
               .mem_bytes_max = whole(JobColumn::MemMax, -1),
               .read_bytes = whole(JobColumn::Read, -1),
               .write_bytes = whole(JobColumn::Write, -1),
               .cpu_s = real(JobColumn::CpuSeconds),
               .energy_j = real(JobColumn::Energy)};
    r.array_tasks = small(JobColumn::ArrayTasks, 0);
    r.array_limit = small(JobColumn::ArrayLimit, 0);
    r.model = name(JobColumn::Model);
  }

  const StoredNames& names_;
  SeenJoin seen_;
  const SqlRow* row_ = nullptr;
  records::RunCounter runs_;
  std::vector<records::HeldGpu> gpus_;
  std::vector<std::string_view> software_;
};

/// Identifies an imported file by content; none for standard input and folders.
std::optional<base::FileChecksum> checksum_of_input(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const auto checksum = base::checksum_of(path);
  return checksum ? std::optional(*checksum) : std::nullopt;
}

/// The columns of a job, followed by its hook records (NULL if the store has none).
std::string list_columns(Dialect dialect, bool has_seen) {
  std::string out;
  for (const std::string_view column : kJobColumns) {
    out += column;
    out += ',';
  }
  return out + (has_seen ? seen_column(dialect) : "NULL");
}

/// A transaction for reading: all reads see one state of the store. Jobs that an import commits
/// meanwhile would lack their names.
class OneState {
 public:
  explicit OneState(SqlConnection& connection)
      : status(connection.execute(begin(connection.dialect()))), connection_(connection) {}
  ~OneState() {
    if (status) static_cast<void>(connection_.execute("COMMIT"));
  }
  OneState(const OneState&) = delete;
  OneState& operator=(const OneState&) = delete;

  base::Status status;

 private:
  static std::string begin(Dialect dialect) {
    switch (dialect) {
      case Dialect::MariaDb:
        return "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";
      case Dialect::PostgreSql:
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
      case Dialect::Sqlite:
        break;
    }
    return "BEGIN";
  }
  SqlConnection& connection_;
};

}  // namespace

Result<JobStore> JobStore::open(const std::string& location, bool create, int fiscal_month) {
  auto connection = open_connection(location, create);
  if (!connection) return base::failure(connection.error());
  if (auto status = migrate(**connection, fiscal_month); !status) {
    base::Error error = status.error();
    if (error.code == base::ErrorCode::BadData) error.place.file = location;
    return base::failure(std::move(error));
  }
  auto month = (*connection)->query_text("SELECT value FROM goban_meta WHERE name='fiscal_month'");
  if (!month) return base::failure(month.error());
  const int64_t stored =
      *month ? base::parse_int(**month).value_or(kFiscalMonthDefault) : kFiscalMonthDefault;
  return JobStore(std::move(*connection), static_cast<int>(std::clamp<int64_t>(stored, 1, 12)));
}

Result<std::optional<int64_t>> JobStore::begin_import(const std::string& path, bool again,
                                                      ImportSummary& summary) {
  if (auto status = connection_->lock_for_writing(); !status) return base::failure(status.error());
  const auto checksum = checksum_of_input(path);
  if (checksum && !again) {
    auto same = connection_->query_text(
        fmt::format("SELECT format FROM goban_imports WHERE bytes={} AND crc32={} AND done_unix_s "
                    "IS NOT NULL",
                    checksum->bytes, checksum->crc32));
    if (!same) return base::failure(same.error());
    if (*same) {
      summary.was_imported = true;
      summary.read.format = **same;
      return std::nullopt;
    }
  }
  const auto last = connection_->query_whole("SELECT MAX(id) FROM goban_imports");
  if (!last) return base::failure(last.error());
  const int64_t id = last->value_or(0) + 1;
  std::string valid;
  auto status = connection_->execute(fmt::format(
      "INSERT INTO goban_imports(id,source,bytes,crc32,begun_unix_s) VALUES({},{},{},{},{})", id,
      connection_->quoted(valid_text(path, valid)), checksum ? checksum->bytes : 0,
      checksum ? checksum->crc32 : 0, now_unix_s()));
  if (!status) return base::failure(status.error());
  return id;
}

Status JobStore::end_import(int64_t id, const records::ReadSummary& read) {
  return connection_->execute(fmt::format(
      "UPDATE goban_imports SET format={},records={},rejected={},done_unix_s={} WHERE id={}",
      connection_->quoted(read.format), read.records, read.rejected, now_unix_s(), id));
}

Result<ImportSummary> JobStore::import_file(const std::string& path,
                                            const JobImportOptions& options) {
  ImportSummary summary;
  const auto id = begin_import(path, options.again, summary);
  if (!id) return base::failure(id.error());
  if (!*id) return summary;
  StoredNames names;
  if (auto status = names.load(*connection_); !status) return base::failure(status.error());
  const auto years = partitions(*connection_);
  if (!years) return base::failure(years.error());
  ImportSink sink(*connection_, names, fiscal_month_, **id, options.rows_per_commit);
  auto status = connection_->begin_bulk(years->empty());
  if (status) status = sink.begin();
  if (!status) return base::failure(status.error());
  auto read = records::read_records(path, options.reading, sink);
  if (status = sink.status(); !status) return base::failure(status.error());
  // Rows read before a failure are kept: they are valid, and the import can be repeated.
  status = sink.finish(summary);
  if (status) status = connection_->end_bulk();
  if (!read) return base::failure(read.error());
  if (!status) return base::failure(status.error());
  summary.read = std::move(*read);
  if (status = end_import(**id, summary.read); !status) return base::failure(status.error());
  return summary;
}

Result<ImportSummary> JobStore::import_seen_file(const std::string& path,
                                                 const JobImportOptions& options) {
  ImportSummary summary;
  const auto id = begin_import(path, options.again, summary);
  if (!id) return base::failure(id.error());
  if (!*id) return summary;
  StoredNames names;
  auto status = names.load(*connection_);
  if (status) status = connection_->execute("BEGIN");
  if (!status) return base::failure(status.error());
  auto seen = import_seen(*connection_, names, fiscal_month_, path, options.reading);
  status = connection_->execute(seen ? "COMMIT" : "ROLLBACK");
  if (!seen) return base::failure(seen.error());
  if (!status) return base::failure(status.error());
  summary.read = std::move(seen->read);
  summary.written = seen->written;
  if (status = end_import(**id, summary.read); !status) return base::failure(status.error());
  return summary;
}

Result<records::ReadSummary> JobStore::read(const Selection& selection, records::RecordSink& sink,
                                            const std::string& rejects_path) {
  // Years added later are not read; MariaDB would fail on tables created after the snapshot.
  auto years = partitions(*connection_);
  if (!years) return base::failure(years.error());
  const OneState one_state(*connection_);
  if (!one_state.status) return base::failure(one_state.status.error());
  StoredNames names;
  if (auto status = names.load(*connection_); !status) return base::failure(status.error());
  std::string where = " WHERE 1=1";
  if (selection.from_ns) where += fmt::format(" AND submit_ns>={}", *selection.from_ns);
  if (selection.to_ns) where += fmt::format(" AND submit_ns<{}", *selection.to_ns);
  if (!selection.user.empty()) {
    where += fmt::format(" AND user_id={}", names.find(NameKind::User, selection.user));
  }
  records::ReadSummary summary;
  summary.format = "store";
  records::RecordOutput out(sink, summary);
  if (!rejects_path.empty()) {
    if (auto status = out.write_rejects(rejects_path); !status) {
      return base::failure(status.error());
    }
  }
  sink.begin_file({.name = "store", .format = "store", .has_walltimes = true});
  const auto has_seen = connection_->query_whole("SELECT 1 FROM goban_seen LIMIT 1");
  if (!has_seen) return base::failure(has_seen.error());
  const std::string columns = list_columns(connection_->dialect(), has_seen->has_value());
  RowReader reader(names);
  for (const int year : *years) {
    const std::string sql = fmt::format(
        "SELECT {} FROM {} j{} ORDER BY job_number,submit_ns,start_key_ns,job_id,cluster_id",
        columns, partition_name(year), where);
    auto status = connection_->query(sql, [&](const SqlRow& row) {
      if (sink.is_full()) return false;
      AccountingRecord record = reader.record(row);
      out.count_record();
      record.line = out.records();
      out.put(record, record.id);
      return true;
    });
    if (!status) return base::failure(status.error());
  }
  if (auto status = out.commit(); !status) return base::failure(status.error());
  return summary;
}

Result<std::vector<PartitionFacts>> JobStore::partition_facts() {
  auto years = partitions(*connection_);
  if (!years) return base::failure(years.error());
  std::vector<PartitionFacts> out;
  for (const int year : *years) {
    const auto jobs = connection_->query_whole("SELECT COUNT(*) FROM " + partition_name(year));
    if (!jobs) return base::failure(jobs.error());
    out.push_back({.fiscal_year = year, .jobs = jobs->value_or(0)});
  }
  return out;
}

Result<int64_t> JobStore::lone_sightings() {
  const auto years = partitions(*connection_);
  if (!years) return base::failure(years.error());
  const auto lone = connection_->query_whole(
      std::string("SELECT COUNT(*) FROM goban_seen") +
      (years->empty() ? "" : " WHERE job_id NOT IN (SELECT job_id FROM goban_jobs)"));
  if (!lone) return base::failure(lone.error());
  return lone->value_or(0);
}

Result<std::vector<int>> JobStore::drop_before(int year) {
  if (auto status = connection_->lock_for_writing(); !status) return base::failure(status.error());
  return drop_years_before(*connection_, year, fiscal_month_);
}

Result<std::vector<int>> JobStore::reduce_before(int year) {
  if (auto status = connection_->lock_for_writing(); !status) return base::failure(status.error());
  auto years = partitions(*connection_);
  if (!years) return years;
  std::erase_if(*years, [year](int each) { return each >= year; });
  for (const int each : *years) {
    if (auto status = reduce_year(*connection_, each); !status) {
      return base::failure(status.error());
    }
  }
  // Ends of these jobs will be rejected.
  if (auto status = connection_->execute(fmt::format("DELETE FROM goban_open WHERE submit_ns<{}",
                                                     fiscal_year_begin(year, fiscal_month_)));
      !status) {
    return base::failure(status.error());
  }
  return years;
}

Result<Forgotten> JobStore::forget(const std::string& user) {
  if (auto status = connection_->lock_for_writing(); !status) return base::failure(status.error());
  return forget_user(*connection_, user);
}

Status JobStore::daily_sums(const std::function<void(const DailySum&)>& take) {
  StoredNames names;
  if (auto status = names.load(*connection_); !status) return status;
  return read_daily_sums(*connection_, names, take);
}

Result<std::string> JobStore::salt() {
  auto found = connection_->query_text("SELECT value FROM goban_meta WHERE name='salt'");
  if (!found) return base::failure(found.error());
  if (*found) return **found;
  std::random_device device;  // seeded by the operating system; the only use of randomness here
  std::string salt;
  for (int i = 0; i < 8; ++i) salt += fmt::format("{:08x}", device());
  auto status =
      connection_->execute("INSERT INTO goban_meta(name,value) VALUES('salt','" + salt + "')");
  if (!status) return base::failure(status.error());
  return salt;
}

}  // namespace goban::site::store
