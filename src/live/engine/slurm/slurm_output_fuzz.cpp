// As the output of squeue or scontrol, any bytes are refused, or give jobs and nodes that can be
// named in an order of one line.
#include <cstdint>

#include "base/check.hpp"
#include "live/engine/slurm/job_list.hpp"
#include "live/engine/slurm/job_parts.hpp"
#include "live/engine/slurm/limits.hpp"
#include "live/engine/slurm/node_list.hpp"
#include "live/engine/slurm/orders.hpp"
#include "live/engine/slurm/priority.hpp"
#include "live/engine/slurm/version.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace slurm = goban::live::engine::slurm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto rows = slurm::parse_job_list(text, "~0f3a")) {
    for (const slurm::JobRow& row : *rows) GOBAN_CHECK(row.job > 0 && !row.state.empty());
  }
  if (const auto all = slurm::parse_job_words(text, "~0f3a")) {
    for (const slurm::JobWords& words : *all) {
      GOBAN_CHECK(slurm::is_job_id(words.id()));
      const auto gpus = slurm::requested_gpus(words, slurm::JobRow{.num_nodes = 2, .tasks = 3});
      GOBAN_CHECK(!gpus || gpus->count >= 0);
    }
  }
  for (const std::string_view name : {"job.sh", "x"}) {
    const auto parts = slurm::parse_job_parts(text, name);
    if (!parts) continue;
    for (const goban::live::NodePart& part : *parts) {
      GOBAN_CHECK(!part.node.empty());
      for (const int32_t gpu : part.gpus) GOBAN_CHECK(gpu >= 0);
    }
    const auto lines = slurm::place_lines("1", *parts, {}, slurm::Indices::Nodes, {});
    if (lines) GOBAN_CHECK(std::count(lines->begin(), lines->end(), '\n') == 1);
  }
  if (const auto nodes = slurm::parse_node_list(text)) {
    for (const slurm::NodeRow& row : *nodes) {
      GOBAN_CHECK(!row.node.name.empty());
      GOBAN_CHECK(row.index_types.empty() ||
                  row.index_types.size() == static_cast<size_t>(row.node.num_gpus));
    }
  }
  (void)slurm::array_limit_of(text);
  (void)slurm::enforces_limits(text);
  const slurm::JobRow row{.job = 1, .partition = "gpu,short", .num_nodes = 2, .cpus = 4};
  const slurm::Limits limits = slurm::parse_limits(text, text);
  const slurm::LimitedJob waits{.row = &row, .gpus = 2};
  GOBAN_CHECK(slurm::limits_reached(limits, {waits}).size() < 2);
  const std::string config = "PriorityType=priority/multifactor\n" + std::string(text);
  const auto priorities = slurm::parse_priority(config, text, text, text, {});
  GOBAN_CHECK(priorities.multifactor);
  (void)slurm::priority_of(priorities, row, {.job = 1}, goban::base::from_seconds(1.8e9));
  if (const auto version = slurm::parse_version(text)) GOBAN_CHECK(version->year >= 0);
  slurm::Mark mark;
  if (slurm::parse_mark(text, mark)) {
    slurm::Mark again;
    GOBAN_CHECK(slurm::parse_mark(slurm::mark_text(mark), again) && again == mark);
  }
  GOBAN_CHECK(slurm::parse_order_replies(text, 3, "n").size() == 3);
  GOBAN_CHECK(slurm::parse_shown(text, 3, "n").size() == 3);
  return 0;
}
