#include "site/records/record_check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace goban::site::records {
namespace {

template <typename To>
bool fits(int64_t value) {
  return value >= std::numeric_limits<To>::min() && value <= std::numeric_limits<To>::max();
}

}  // namespace

std::string problem_of(const AccountingRecord& record) {
  if (record.id.empty()) return "job_id is empty";
  if (std::string problem = problem_of_times(record); !problem.empty()) return problem;
  if (record.num_gpus && !fits<int32_t>(*record.num_gpus)) return "num_gpus is out of range";
  if (!fits<int32_t>(record.num_nodes) || !fits<int32_t>(record.cpu_cores) ||
      !fits<int32_t>(record.instances)) {
    return "the number of nodes, cores or instances is out of range";
  }
  return {};
}

std::string problem_of_times(const AccountingRecord& record) {
  if (record.work_s > base::kMaxSeconds) return "the work exceeds 4.6e9 seconds";
  if (record.start_ns >= 0 && record.start_ns < record.submit_ns) {
    return "the job started before it was submitted";
  }
  if (record.end_ns >= 0 && record.end_ns < std::max(record.submit_ns, record.start_ns)) {
    return "the job ended before it started";
  }
  return {};
}

std::string used_before(std::string_view id) {
  return fmt::format("job_id {} was used before", id);
}

bool is_over(const AccountingRecord& record) {
  return has_ended(record.state) || record.state == RecordedState::Requeued || record.end_ns >= 0 ||
         record.work_s >= 0;
}

}  // namespace goban::site::records
