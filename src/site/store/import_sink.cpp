#include "site/store/import_sink.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "site/records/record_check.hpp"
#include "site/records/record_csv.hpp"
#include "site/records/slurm_fields.hpp"
#include "site/store/retention.hpp"

namespace goban::site::store {
namespace {

using base::Result;
using base::Status;
using records::AccountingRecord;

/// Writes NULL for unknown values.
class RowWriter {
 public:
  explicit RowWriter(BulkWriter& out) : out_(out) {}
  void whole(int64_t value, int64_t unknown) {
    if (value == unknown) return out_.null();
    out_.whole(value);
  }
  void real(double value) {
    if (value < 0) return out_.null();
    out_.real(value);
  }
  void text(std::string_view value) {
    if (value.empty()) return out_.null();
    out_.text(valid_text(value, valid_));
  }

 private:
  BulkWriter& out_;
  std::string valid_;
};

}  // namespace

Status ImportSink::begin() {
  auto status =
      connection_.query("SELECT job_id,job_number FROM goban_open", [this](const SqlRow& row) {
        const std::string_view id = row.text(0);
        open_.emplace(id);
        if (records::is_array_rest(id)) open_arrays_.insert(row.whole(1));
        return true;
      });
  if (!status) return status;
  auto reduced = reduced_years(connection_);
  if (!reduced) return base::failure(reduced.error());
  reduced_ = std::move(*reduced);
  return connection_.execute("BEGIN");
}

int ImportSink::year_of(const AccountingRecord& record) {
  const base::TimeNs moment_ns = record.submit_ns >= 0  ? record.submit_ns
                                 : record.start_ns >= 0 ? record.start_ns
                                                        : std::max<int64_t>(record.end_ns, 0);
  if (moment_ns < year_begin_ns_ || moment_ns >= year_end_ns_) {
    year_ = fiscal_year(moment_ns, fiscal_month_);
    year_begin_ns_ = fiscal_year_begin(year_, fiscal_month_);
    year_end_ns_ = fiscal_year_begin(year_ + 1, fiscal_month_);
  }
  return year_;
}

/// MariaDB commits at each schema change and starts no new transaction: the rows so far are
/// committed first, with the names that they use, and a new transaction is started for the next
/// ones.
Status ImportSink::add_partition(int year) {
  if (auto status = commit(); !status) return status;
  if (auto status = queue_.wait(); !status) return status;
  if (auto status = create_partition(connection_, year); !status) return status;
  return connection_.execute("BEGIN");
}

Result<QueuedWriter*> ImportSink::writer_of(int year) {
  if (year == last_year_) return last_writer_;
  auto found = writers_.find(year);
  if (found == writers_.end()) {
    if (auto status = add_partition(year); !status) return base::failure(status.error());
    auto made = connection_.bulk(
        {.name = partition_name(year), .columns = kJobColumns, .num_keys = kNumKeyColumns});
    if (!made) return base::failure(made.error());
    auto writer = std::make_unique<QueuedWriter>(queue_, std::move(*made));
    found = writers_.emplace(year, std::move(writer)).first;
  }
  last_year_ = year;
  return last_writer_ = found->second.get();
}

std::string ImportSink::take(const AccountingRecord& record) {
  if (!status_) return status_.error().text();
  if (std::string problem = records::problem_of(record); !problem.empty()) return problem;
  if (record.id.size() > kJobIdBytesMax) {
    return fmt::format("job_id is longer than {} bytes", kJobIdBytesMax);
  }
  if (const int year = year_of(record); std::ranges::find(reduced_, year) != reduced_.end()) {
    return fmt::format("the store keeps only sums of fiscal year {}", year);
  }
  if (!records::is_over(record)) return unfinished_.take(record);
  if (seen_.add(record.cluster, record.id, std::max(record.start_ns, record.submit_ns)) ==
      records::RunCounter::kSeenBefore) {
    return fmt::format("job_id {} with this start was used before", record.id);
  }
  status_ = write(record, true);
  if (status_ && !open_.empty()) status_ = close_open(record);
  if (status_ && !open_arrays_.empty()) status_ = close_rests(record);
  if (status_ && uncommitted_ >= rows_per_commit_) {
    status_ = commit();
    if (status_) status_ = execute_later([](SqlConnection&) { return "BEGIN"; });
  }
  return {};
}

Status ImportSink::write(const AccountingRecord& r, bool ended) {
  const auto writer = writer_of(year_of(r));
  if (!writer) return base::failure(writer.error());
  BulkWriter& out = **writer;
  RowWriter row(out);
  const auto name = [&](NameKind kind, std::string_view text) {
    row.whole(names_.number(kind, text), 0);
  };
  out.whole(r.job_number);
  out.whole(r.submit_ns);
  out.whole(ended ? r.start_ns : -1);
  out.text(valid_text(r.id, valid_));
  out.whole(names_.number(NameKind::Cluster, r.cluster));
  row.whole(r.array_task, -1);
  row.whole(r.het_part, -1);
  row.whole(r.restarts, -1);
  name(NameKind::User, r.user);
  name(NameKind::Account, r.account);
  name(NameKind::Group, r.group);
  name(NameKind::Partition, r.partition);
  name(NameKind::Qos, r.qos);
  name(NameKind::Reservation, r.reservation);
  name(NameKind::ResourceType, r.resource_type);
  row.whole(r.eligible_ns, -1);
  row.whole(r.start_ns, -1);
  row.whole(r.end_ns, -1);
  row.real(r.work_s);
  row.whole(r.walltime_limit_ns, 0);
  out.whole(static_cast<int64_t>(r.state));
  out.whole(static_cast<int64_t>(r.kind));
  row.whole(r.exit_code, -1);
  row.whole(r.signal, -1);
  row.whole(r.failed_code, -1);
  row.whole(r.num_gpus.value_or(-1), -1);
  row.whole(r.gpu_milli, 0);
  row.whole(r.gpu_share ? 1 : 0, 0);
  name(NameKind::GpuType, r.gpu_type);
  row.whole(r.instances, 0);
  row.whole(r.num_nodes, -1);
  row.whole(r.cpu_cores, 0);
  row.whole(r.mem_bytes, -1);
  row.whole(r.priority, 0);
  name(NameKind::NodeList, r.node_list);
  row.text(records::gpu_list_text(r.gpus));
  name(NameKind::Software, records::software_text(r.software));
  row.real(double{r.usage.gpu_util_pct_max});
  row.whole(r.usage.gpu_mem_bytes_max, -1);
  row.whole(r.usage.mem_bytes_max, -1);
  row.whole(r.usage.read_bytes, -1);
  row.whole(r.usage.write_bytes, -1);
  row.real(r.usage.cpu_s);
  row.whole(r.array_tasks, 0);
  row.whole(r.array_limit, 0);
  name(NameKind::Model, r.model);
  row.text(r.job_name);
  row.text(r.command_line);
  out.whole(import_id_);
  row.real(r.usage.energy_j);
  row.text(r.details);
  ++written_;
  ++uncommitted_;
  return out.end_row();
}

/// The SQL is built on the queue's thread, as quoting needs the connection.
Status ImportSink::execute_later(std::function<std::string(SqlConnection&)> make_sql) {
  return queue_.push([this, make_sql = std::move(make_sql)] {
    return connection_.execute(make_sql(connection_));
  });
}

/// If the job was open, deletes its unfinished row.
Status ImportSink::close_open(const AccountingRecord& record) {
  if (!open_.contains(std::string(valid_text(record.id, valid_)))) return {};
  const JobKey key = key_of(record);
  if (record.start_ns >= 0) {
    auto status = execute_later([key, year = year_of(record)](SqlConnection& connection) {
      return fmt::format("DELETE FROM {} WHERE {} AND start_key_ns=-1", partition_name(year),
                         key.condition(connection));
    });
    if (!status) return status;
  }
  return execute_later([key](SqlConnection& connection) {
    return "DELETE FROM goban_open WHERE " + key.condition(connection);
  });
}

/// Pending tasks share one record, `5_[2-3]`: those of older dumps are deleted when a newer dump
/// has a record of the array. Those still pending are written at the end of the import.
Status ImportSink::close_rests(const AccountingRecord& record) {
  const bool is_rest = records::is_array_rest(record.id);
  if (!open_arrays_.contains(record.job_number) || (record.array_task < 0 && !is_rest)) return {};
  const JobKey key = key_of(record);
  const std::string array =
      fmt::format("job_number={} AND submit_ns={} AND cluster_id={} AND job_id LIKE '%[%'",
                  key.number, key.submit_ns, key.cluster);
  if (!is_rest && !rests_gone_.insert(array).second) return {};
  // The record itself may be such a record, of cancelled tasks: it is kept.
  const auto others = [array, id = key.id](SqlConnection& connection) {
    return fmt::format("{} AND job_id<>{}", array, connection.quoted(id));
  };
  auto status = execute_later([array, others, year = year_of(record)](SqlConnection& connection) {
    return fmt::format(
        "DELETE FROM {} WHERE {} AND start_key_ns=-1 AND job_id IN (SELECT job_id FROM goban_open "
        "WHERE {})",
        partition_name(year), others(connection), array);
  });
  if (!status) return status;
  return execute_later([others](SqlConnection& connection) {
    return "DELETE FROM goban_open WHERE " + others(connection);
  });
}

/// True if one of the record's pending tasks has a record of its own: the dump is older.
Result<bool> ImportSink::tasks_are_known(const AccountingRecord& record) {
  const JobKey key = key_of(record);
  bool known = false;
  auto status = connection_.query(
      fmt::format("SELECT array_task FROM {} WHERE job_number={} AND submit_ns={} AND "
                  "cluster_id={} AND array_task IS NOT NULL",
                  partition_name(year_of(record)), key.number, key.submit_ns, key.cluster),
      [&](const SqlRow& row) {
        known = records::is_task_of_rest(row.whole(0), record.id);
        return !known;
      });
  if (!status) return base::failure(status.error());
  return known;
}

Result<bool> ImportSink::end_is_known(const AccountingRecord& record) {
  if (records::is_array_rest(record.id)) {
    const auto known = tasks_are_known(record);
    if (!known || *known) return known;
  }
  constexpr std::string_view kOpenStates = "(1,2,3)";  // Pending, Running, Suspended
  auto found = connection_.query_whole(fmt::format(
      "SELECT 1 FROM {} WHERE {} AND (start_key_ns<>-1 OR end_ns IS NOT NULL OR work_s IS NOT NULL "
      "OR (state<>0 AND state NOT IN {}))",
      partition_name(year_of(record)), key_of(record).condition(connection_), kOpenStates));
  if (!found) return base::failure(found.error());
  return found->has_value();
}

Status ImportSink::write_open(const AccountingRecord& record) {
  const JobKey key = key_of(record);
  auto status = write(record, false);
  if (!status) return status;
  status = execute_later([key](SqlConnection& connection) {
    return "DELETE FROM goban_open WHERE " + key.condition(connection);
  });
  if (!status) return status;
  return execute_later([key](SqlConnection& connection) {
    return fmt::format(
        "INSERT INTO goban_open(job_number,submit_ns,job_id,cluster_id) VALUES({},{},{},{})",
        key.number, key.submit_ns, connection.quoted(key.id), key.cluster);
  });
}

ImportSink::JobKey ImportSink::key_of(const AccountingRecord& record) {
  return {.number = record.job_number,
          .submit_ns = record.submit_ns,
          .id = std::string(valid_text(record.id, valid_)),
          .cluster = names_.number(NameKind::Cluster, record.cluster)};
}

std::string ImportSink::JobKey::condition(SqlConnection& connection) const {
  return fmt::format("job_number={} AND submit_ns={} AND job_id={} AND cluster_id={}", number,
                     submit_ns, connection.quoted(id), cluster);
}

Status ImportSink::status() { return status_ ? queue_.wait() : status_; }

Status ImportSink::commit() {
  uncommitted_ = 0;
  for (const auto& [year, writer] : writers_) {
    if (auto status = writer->flush(); !status) return status;
  }
  return queue_.push([this, names = names_.take_new()] {
    auto status = StoredNames::write(connection_, names);
    return status ? connection_.execute("COMMIT") : status;
  });
}

Status ImportSink::write_unfinished(ImportSummary& summary) {
  records::RecordTable::RecordBuffers buffers;
  std::vector<size_t> wanted;
  for (size_t i = 0; i < unfinished_.rows().size(); ++i) {
    const AccountingRecord record = unfinished_.record(i, buffers);
    if (const auto writer = writer_of(year_of(record)); !writer) {
      return base::failure(writer.error());
    }
    if (auto status = queue_.wait(); !status) return status;
    const auto known = end_is_known(record);
    if (!known) return base::failure(known.error());
    if (*known) {
      ++summary.outdated;
      continue;
    }
    wanted.push_back(i);
    if (auto status = close_rests(record); !status) return status;
  }
  for (const size_t i : wanted) {
    if (auto status = write_open(unfinished_.record(i, buffers)); !status) return status;
    ++summary.unfinished;
  }
  return {};
}

Status ImportSink::finish(ImportSummary& summary) {
  if (!status_) return status_;
  // Ends from this import must be in the tables before they are queried.
  for (const auto& [year, writer] : writers_) {
    if (auto status = writer->flush(); !status) return status;
  }
  if (auto status = write_unfinished(summary); !status) return status;
  summary.written = written_;
  if (auto status = commit(); !status) return status;
  if (auto status = queue_.wait(); !status) return status;
  return create_indexes(connection_);
}

}  // namespace goban::site::store
