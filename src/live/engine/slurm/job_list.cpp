#include "live/engine/slurm/job_list.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

#include "base/number.hpp"
#include "core/model/import/slurm_nodes.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

using base::parse_int;
using base::Result;
using base::TimeNs;

constexpr char kBetween = '\x1f';
constexpr const char* kRemedy = "pass what squeue prints, unmodified";

/// "(null)" and "N/A" are Slurm's words for nothing.
std::string_view plain(std::string_view text) {
  return text == "(null)" || text == "N/A" ? std::string_view{} : text;
}

template <typename T>
bool whole(std::string_view text, T& out) {
  if (plain(text).empty()) return true;  // keeps its default
  const auto value = parse_int(text);
  // NO_VAL and INFINITE of Slurm, which squeue prints for jobs that were cancelled before their
  // start.
  if (value == 4294967294 || value == 4294967295) return true;
  if (!value || static_cast<int64_t>(static_cast<T>(*value)) != *value) return false;
  out = static_cast<T>(*value);
  return true;
}

bool word(std::string_view text, std::string& out) {
  out = plain(text);
  return true;
}

bool time(std::string_view text, TimeNs& out) {
  if (plain(text).empty() || text == "NONE" || text == "Unknown") return true;
  const auto seconds = parse_int(text);
  if (!seconds || *seconds < 0 || static_cast<double>(*seconds) > base::kMaxSeconds) return false;
  out = *seconds * base::kSecond;
  return true;
}

/// As of wait(2), or "3:9": exit code and signal.
bool exit_status(std::string_view text, int32_t& out) {
  const size_t colon = text.find(':');
  if (colon == text.npos) return whole(text, out);
  constexpr int64_t kMost = 255;
  const auto code = parse_int(text.substr(0, colon));
  const auto signal = parse_int(text.substr(colon + 1));
  if (!code || !signal || *code < 0 || *code > kMost || *signal < 0 || *signal > kMost)
    return false;
  out = static_cast<int32_t>(*code << 8 | *signal);
  return true;
}

bool flag(std::string_view text, bool& out) {
  out = text == "1";
  return text == "0" || text == "1";
}

/// 2: its launch failed once.
bool is_batch(std::string_view text, bool& out) {
  const auto number = base::parse_int(text);
  out = number.value_or(0) > 0;
  return number && *number >= 0;
}

bool limit(std::string_view text, TimeNs& out) {
  if (plain(text).empty() || text == "NOT_SET" || text == "Partition_Limit") return true;
  const auto span = job::parse_slurm_time(text);
  out = span.value_or(0);
  return span.has_value();
}

bool memory(std::string_view text, int64_t& out) {
  while (!text.empty() && (text.back() == 'c' || text.back() == 'n')) text.remove_suffix(1);
  const auto bytes = job::parse_memory(text, int64_t{1} << 20);
  out = bytes.value_or(0);
  return bytes.has_value();
}

struct Column {
  const char* name;
  bool (*read)(std::string_view text, JobRow& row);
};

constexpr std::array kColumns = {
    Column{"JobID", [](auto text, auto& row) { return whole(text, row.job) && row.job > 0; }},
    Column{"ArrayJobID", [](auto text, auto& row) { return whole(text, row.array_job); }},
    Column{"ArrayTaskID", [](auto text, auto& row) { return whole(text, row.array_task); }},
    Column{"HetJobID", [](auto text, auto& row) { return whole(text, row.het_job); }},
    Column{"State", [](auto text, auto& row) { return word(text, row.state) && !text.empty(); }},
    Column{"Reason", [](auto text, auto& row) { return word(text, row.reason); }},
    Column{"PriorityLong", [](auto text, auto& row) { return whole(text, row.priority); }},
    Column{"Partition", [](auto text, auto& row) { return word(text, row.partition); }},
    Column{"NumNodes",
           [](auto text, auto& row) {
             // A range of nodes counts by its least.
             return whole(text.substr(0, text.find('-')), row.num_nodes);
           }},
    Column{"NumCPUs", [](auto text, auto& row) { return whole(text, row.cpus); }},
    Column{"NumTasks", [](auto text, auto& row) { return whole(text, row.tasks); }},
    Column{"MinMemory", [](auto text, auto& row) { return memory(text, row.mem_bytes); }},
    Column{"NodeList", [](auto text, auto& row) { return word(text, row.nodes); }},
    Column{"SubmitTime", [](auto text, auto& row) { return time(text, row.submit_ns); }},
    Column{"EligibleTime", [](auto text, auto& row) { return time(text, row.eligible_ns); }},
    Column{"StartTime", [](auto text, auto& row) { return time(text, row.start_ns); }},
    Column{"EndTime", [](auto text, auto& row) { return time(text, row.end_ns); }},
    Column{"TimeLimit", [](auto text, auto& row) { return limit(text, row.limit_ns); }},
    Column{"UserID", [](auto text, auto& row) { return whole(text, row.uid); }},
    Column{"GroupID", [](auto text, auto& row) { return whole(text, row.gid); }},
    Column{"QOS", [](auto text, auto& row) { return word(text, row.qos); }},
    Column{"Dependency", [](auto text, auto& row) { return word(text, row.dependency); }},
    Column{"exit_code", [](auto text, auto& row) { return exit_status(text, row.exit_status); }},
    Column{"restartcnt", [](auto text, auto& row) { return whole(text, row.restarts); }},
    Column{"BatchFlag", [](auto text, auto& row) { return is_batch(text, row.batch); }},
    Column{"Requeue", [](auto text, auto& row) { return flag(text, row.requeue); }},
    Column{"Nice", [](auto text, auto& row) { return whole(text, row.nice); }},
    Column{"admin_comment", [](auto text, auto& row) { return word(text, row.mark); }},
};

std::string id_of(int64_t job, int64_t array_job, int32_t array_task) {
  return array_task < 0 ? std::to_string(job) : fmt::format("{}_{}", array_job, array_task);
}

constexpr std::array kWords = {"JobID",         "ArrayJobID",   "ArrayTaskID",   "UserName",
                               "Name",          "tres-per-job", "tres-per-node", "tres-per-socket",
                               "tres-per-task", "ReqNodes",     "Feature"};

/// The text up to the next `separator`, which is removed with it.
std::optional<std::string_view> take(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  if (end == text.npos) return std::nullopt;
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end + separator.size());
  return field;
}

}  // namespace

std::string JobRow::id() const { return id_of(job, array_job, array_task); }
std::string JobWords::id() const { return id_of(job, array_job, array_task); }

std::string job_list_format(std::string_view nonce) {
  std::string format;
  for (const Column& column : kColumns) format += fmt::format("{}:{},", column.name, kBetween);
  return format + fmt::format("Account:{0},Comment:{0}", nonce);
}

Result<std::vector<JobRow>> parse_job_list(std::string_view text, std::string_view nonce) {
  std::vector<JobRow> rows;
  const std::string end = std::string(nonce) + '\n';
  for (int record = 1; !text.empty(); ++record) {
    JobRow& row = rows.emplace_back();
    for (const Column& column : kColumns) {
      const auto field = take(text, std::string_view(&kBetween, 1));
      if (!field || !column.read(*field, row)) {
        return base::bad_data(
            {"squeue", record, 0, column.name},
            field ? fmt::format("\"{}\" is not valid", field->substr(0, 80)) : "is missing",
            kRemedy);
      }
    }
    // Without accounting, a user may call his account anything.
    const auto account = take(text, nonce);
    const auto comment = account ? take(text, end) : std::nullopt;
    if (!comment) {
      return base::bad_data({"squeue", record, 0, "Comment"}, "the record does not end", kRemedy);
    }
    word(*account, row.account);
    if (comment->starts_with("goban:")) row.comment = *comment;
    if (row.array_task < 0) row.array_job = 0;  // Slurm repeats the job's own number
  }
  return rows;
}

std::string job_words_format(std::string_view nonce) {
  std::string format;
  for (const char* name : kWords) {
    format += fmt::format("{}{}:{}", format.empty() ? "" : ",", name, nonce);
  }
  return format;
}

Result<std::vector<JobWords>> parse_job_words(std::string_view text, std::string_view nonce) {
  std::vector<JobWords> all;
  while (!text.empty()) {
    std::array<std::string_view, kWords.size()> fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto field = take(text, nonce);
      if (!field) {
        return base::bad_data({"squeue", 0, 0, kWords[i]}, "is missing", kRemedy);
      }
      fields[i] = *field;
    }
    if (!text.starts_with('\n'))
      return base::bad_data({"squeue", 0, 0, ""}, "a record does not end", kRemedy);
    text.remove_prefix(1);
    JobWords& words = all.emplace_back();
    if (!whole(fields[0], words.job) || words.job <= 0 || !whole(fields[1], words.array_job) ||
        !whole(fields[2], words.array_task)) {
      return base::bad_data({"squeue", 0, 0, "JobID"}, "is not valid", kRemedy);
    }
    if (words.array_task < 0) words.array_job = 0;
    words.user = fields[3];
    words.name = fields[4];
    words.tres_per_job = plain(fields[5]);
    words.tres_per_node = plain(fields[6]);
    words.tres_per_socket = plain(fields[7]);
    words.tres_per_task = plain(fields[8]);
    words.nodes = plain(fields[9]);
    words.features = plain(fields[10]);
  }
  return all;
}

int32_t array_limit_of(std::string_view record) {
  constexpr std::string_view kThrottle = " ArrayTaskThrottle=";
  record = record.substr(0, record.find(" JobName="));  // user text from here on
  const size_t at = record.find(kThrottle);
  if (at == record.npos) return 0;
  record.remove_prefix(at + kThrottle.size());
  int32_t limit = 0;
  return whole(record.substr(0, record.find(' ')), limit) && limit > 0 ? limit : 0;
}

std::string_view without_prefix(std::string_view entry) {
  for (const std::string_view prefix : {"gres:", "gres/"}) {
    if (entry.starts_with(prefix)) return entry.substr(prefix.size());
  }
  return entry;
}

namespace {

/// "gpu:a100" is one GPU of that type, as "gpu:a100:1" is.
bool lacks_count(std::string_view entry) {
  const size_t colon = entry.find_last_of(":=");
  return entry.starts_with("gpu") && colon != entry.npos && !parse_int(entry.substr(colon + 1));
}

/// 2 of "gres:shard:2" and "gres:shard:g3:2"; 0 if it is not one entry of shards.
int32_t shards_of(std::string_view text) {
  const std::string_view entry = without_prefix(text);
  if (entry.find(',') != entry.npos || !entry.starts_with("shard")) return 0;
  const std::string_view rest = entry.substr(std::string_view("shard").size());
  if (rest.empty()) return 1;
  if (rest.front() != ':' && rest.front() != '=') return 0;
  const auto count = parse_int(rest.substr(rest.find_last_of(":=") + 1));
  constexpr int64_t kMost = 1'000'000;
  return count && *count > 0 && *count <= kMost ? static_cast<int32_t>(*count) : 0;
}

}  // namespace

Result<GpuRequest> requested_gpus(const JobWords& words, const JobRow& row) {
  const std::array<std::pair<const std::string*, int64_t>, 4> all = {
      std::pair{&words.tres_per_job, std::max(int64_t{row.components}, int64_t{1})},
      {&words.tres_per_node, row.num_nodes},
      {&words.tres_per_socket, row.num_nodes},
      {&words.tres_per_task, row.tasks}};
  for (const auto& [text, times] : all) {
    // "gres:gpu:2,gres:gpu:a100:1", "cpu=2,gres/gpu=1": as in a configuration, except for the
    // prefix and the sign.
    std::string gres;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      std::string_view entry = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      gres += gres.empty() ? "" : ",";
      entry = without_prefix(entry);
      gres += entry;
      if (lacks_count(entry)) gres += ":1";
    }
    std::ranges::replace(gres, '=', ':');
    auto gpus = core::model::parse_slurm_gres(gres);
    if (!gpus) return base::failure(gpus.error());
    if (gpus->count > 0) return GpuRequest{gpus->count * times, std::move(gpus->type)};
  }
  if (const int32_t shards = shards_of(words.tres_per_node); shards > 0) {
    return GpuRequest{.count = std::max(row.num_nodes, 1), .shards = shards};
  }
  return GpuRequest{};
}

}  // namespace goban::live::engine::slurm
