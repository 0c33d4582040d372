// Millions of accounting records in memory: rows of fixed size with numbers for names, and lists
// stored separately.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_table.hpp"
#include "site/records/accounting_record.hpp"
#include "site/records/interned_column.hpp"
#include "site/records/run_counter.hpp"

namespace goban::site::records {

inline constexpr uint32_t kNoName = InternedColumn::kNoName;
inline constexpr uint32_t kNoList = UINT32_MAX;

/// One job. Names are numbers in the columns of the table (kNoName = unknown), otherwise as in
/// AccountingRecord. 184 bytes.
struct RecordRow {
  TimeNs submit_ns = -1;
  TimeNs eligible_ns = -1;
  TimeNs start_ns = -1;
  TimeNs end_ns = -1;
  TimeNs run_ns = -1;  ///< end - start, or the run time given by the source; -1 = unknown
  TimeNs walltime_limit_ns = 0;
  int64_t job_number = -1;
  int64_t array_task = -1;
  int64_t mem_bytes = -1;
  uint32_t cluster = kNoName;
  uint32_t user = kNoName;
  uint32_t account = kNoName;
  uint32_t group = kNoName;
  uint32_t partition = kNoName;
  uint32_t qos = kNoName;
  uint32_t reservation = kNoName;
  uint32_t resource_type = kNoName;
  uint32_t gpu_type = kNoName;
  uint32_t nodes = kNoList;     ///< list of nodes
  uint32_t gpus = kNoList;      ///< list of GPUs
  uint32_t software = kNoList;  ///< list of software
  uint32_t usage = kNoList;     ///< high-water marks
  int32_t num_gpus = -1;        ///< of all nodes; -1 = unknown
  int32_t gpu_milli = 0;
  int32_t instances = 0;
  int32_t num_nodes = -1;
  int32_t cpu_cores = 0;
  int32_t priority = 0;
  int32_t array_tasks = 0;
  int32_t exit_code = -1;
  int32_t restarts = -1;
  int32_t het_part = -1;
  int32_t run = 0;
  uint32_t line = 0;
  int16_t signal = -1;
  int16_t failed_code = -1;
  uint16_t file = 0;  ///< index in files()
  RecordedState state = RecordedState::Unknown;
  JobKind kind = JobKind::Unknown;
  bool gpu_share = false;
};

static_assert(sizeof(RecordRow) == 184);

/// A GPU of a job: indices into node_names() and gpu_names().
struct StoredGpu {
  int64_t mem_used_bytes = -1;
  int64_t mem_total_bytes = -1;
  uint32_t node = kNoName;
  uint32_t gpu = kNoName;
  float util_pct = -1;
};

/// Stores every record in the order of the input. About 250 bytes per record of one node, including
/// its id and the key for duplicates; equal node lists and software lists are stored once.
///
/// A run is identified by cluster, id and start (submission if it did not start), over all inputs;
/// also by the input if ids are row numbers. RecordRow::run counts the runs of one id. An
/// unfinished run is replaced by a record of the same id and submission that is finished or at
/// least has a start.
class RecordTable final : public RecordSink {
 public:
  static constexpr size_t kRowsMax = UINT32_MAX - 1;

  /// Rejects a run that is already in the table, an unfinished one whose end is known, an end
  /// before its start, and numbers out of range.
  [[nodiscard]] std::string take(const AccountingRecord& record) override;
  void expect(size_t records) override;
  void begin_file(const InputFacts& facts) override;
  [[nodiscard]] bool is_full() const override { return rows_.size() >= kRowsMax; }

  [[nodiscard]] std::span<const RecordRow> rows() const { return rows_; }
  [[nodiscard]] std::string_view id(size_t row) const { return ids_[row]; }
  /// Empty unless the reader was asked to keep job names.
  [[nodiscard]] std::string_view job_name(size_t row) const {
    return row < job_names_.size() ? job_names_[row] : std::string_view();
  }

  [[nodiscard]] const InternedColumn& clusters() const { return clusters_; }
  [[nodiscard]] const InternedColumn& users() const { return users_; }
  [[nodiscard]] const InternedColumn& accounts() const { return accounts_; }
  [[nodiscard]] const InternedColumn& groups() const { return groups_; }
  [[nodiscard]] const InternedColumn& partitions() const { return partitions_; }
  [[nodiscard]] const InternedColumn& qos() const { return qos_; }
  [[nodiscard]] const InternedColumn& reservations() const { return reservations_; }
  [[nodiscard]] const InternedColumn& resource_types() const { return resource_types_; }
  [[nodiscard]] const InternedColumn& gpu_types() const { return gpu_types_; }
  [[nodiscard]] const InternedColumn& node_names() const { return node_names_; }
  [[nodiscard]] const InternedColumn& gpu_names() const { return gpu_names_; }
  [[nodiscard]] const InternedColumn& software_names() const { return software_names_; }
  [[nodiscard]] std::span<const std::string> files() const { return files_; }

  /// Indices into node_names(); empty if the list is unknown, or no valid host list.
  [[nodiscard]] std::span<const uint32_t> nodes_of(const RecordRow& row) const;
  [[nodiscard]] std::span<const StoredGpu> gpus_of(const RecordRow& row) const;
  /// Indices into software_names(), ascending.
  [[nodiscard]] std::span<const uint32_t> software_of(const RecordRow& row) const;
  /// All -1 if nothing was measured.
  [[nodiscard]] UsageMarks usage_of(const RecordRow& row) const;

  /// Converts the row back to a record; its views are valid until the table changes, the spans as
  /// long as `buffers`.
  struct RecordBuffers {
    std::string node_list;
    std::vector<HeldGpu> gpus;
    std::vector<std::string_view> software;
  };
  [[nodiscard]] AccountingRecord record(size_t index, RecordBuffers& buffers) const;

 private:
  /// Lists of numbers, stored consecutively.
  struct Lists {
    std::vector<uint32_t> numbers;
    std::vector<size_t> ends;
    [[nodiscard]] std::span<const uint32_t> operator[](uint32_t list) const {
      const size_t begin = list == 0 ? 0 : ends[list - 1];
      return std::span(numbers).subspan(begin, ends[list] - begin);
    }
  };

  /// Where a record is to be stored.
  struct Place {
    std::string problem{};        ///< not empty = it is rejected
    std::optional<size_t> row{};  ///< the row that it replaces; none = append
    int32_t run = 0;
  };
  [[nodiscard]] Place place_of(const AccountingRecord& record);
  [[nodiscard]] Place place_of_open(const AccountingRecord& record, std::string_view key);
  [[nodiscard]] std::string_view key_of(const AccountingRecord& record);
  void set_names(const AccountingRecord& record, RecordRow& row);
  [[nodiscard]] uint32_t node_list(std::string_view text);
  [[nodiscard]] uint32_t gpu_list(std::span<const HeldGpu> gpus);
  [[nodiscard]] uint32_t software_list(std::span<const std::string_view> software);

  std::vector<RecordRow> rows_;
  base::NameList ids_;
  base::NameList job_names_;
  /// A job, by its key and submission.
  using Submission = std::pair<std::string, TimeNs>;
  struct SubmissionHash {
    size_t operator()(const Submission& submission) const {
      return std::hash<std::string>{}(submission.first) ^
             std::hash<TimeNs>{}(submission.second) * size_t{31};
    }
  };
  RunCounter runs_;                                              ///< finished ones
  RunSet submissions_;                                           ///< of the finished runs
  std::unordered_map<Submission, size_t, SubmissionHash> open_;  ///< rows of unfinished jobs
  std::string key_;
  std::optional<size_t> file_of_ids_;  ///< of the current records, if their ids are row numbers
  InternedColumn clusters_, users_, accounts_, groups_, partitions_, qos_, reservations_;
  InternedColumn resource_types_, gpu_types_, node_names_, gpu_names_, software_names_;
  InternedColumn node_texts_;           ///< by node list
  InternedColumn software_texts_;       ///< by software list
  std::vector<uint32_t> list_of_text_;  ///< by node text: node list, or kNoList if it is not one
  Lists node_lists_;
  Lists software_lists_;
  std::vector<StoredGpu> gpus_;
  std::vector<size_t> gpu_ends_;
  std::vector<UsageMarks> usage_;
  std::vector<std::string> files_;
};

}  // namespace goban::site::records
