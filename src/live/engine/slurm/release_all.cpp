#include "live/engine/slurm/release_all.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "live/engine/slurm/partitions.hpp"

namespace goban::live::engine::slurm {

namespace {

constexpr size_t kReleasedAtOnce = 500;  ///< ids in one command

}  // namespace

std::vector<std::string> release_scripts(std::span<const JobRow> rows,
                                         const std::vector<std::string>& partitions,
                                         Released& released) {
  std::vector<std::string> scripts;
  std::vector<std::string> ids;
  for (const JobRow& row : rows) {
    Mark mark;
    const bool placed = parse_mark(row.mark, mark);
    const cluster::Stand stand = stand_of(row);
    // What was placed and released, and has not started, must not wait for our nodes.
    const bool is_ours =
        stand == cluster::Stand::Held || (stand == cluster::Stand::Released && placed);
    if (!is_ours || !are_managed(row.partition, partitions)) continue;
    if (is_slurms(row.mark) || is_held_by_user(row)) {
      ++released.kept_held;
      continue;
    }
    // An administrator's hold is not ours to lift; ours in place of Slurm's requeue looks the same.
    if (row.reason == "JobHeldAdmin" && !placed) {
      ++released.kept_held;
      continue;
    }
    const std::string id = row.id();
    if (placed) {
      // It was due when it was placed: without a time, Slurm lets what was requeued wait two
      // minutes.
      // Slurm refuses a list of nodes for the leader of a heterogeneous job (het_jobs.hpp).
      const bool leads = row.het_job == row.job;
      const std::string_view nodes = leads ? " ExcNodeList=" : " ReqNodeList=";
      scripts.push_back(fmt::format("update jobid={}{} AdminComment={} StartTime=now\n", id,
                                    mark.own_nodes ? "" : nodes, kReleasedMark));
    }
    ids.push_back(id);
  }
  released.jobs = ids.size();
  for (size_t i = 0; i < ids.size(); i += kReleasedAtOnce) {
    std::string list;
    for (size_t j = i; j < std::min(i + kReleasedAtOnce, ids.size()); ++j) {
      list += (list.empty() ? "" : ",") + ids[j];
    }
    scripts.push_back(release_lines(list));
  }
  return scripts;
}

base::Result<Released> release_all(const Client& client,
                                   const std::vector<std::string>& partitions) {
  const std::string nonce = Client::nonce();
  const ClientOutput listed =
      client.run({"squeue", "-h", "-a", "-r", "-t", "PENDING", "-O", job_list_format(nonce)});
  if (!listed.problem.empty()) return base::failed(listed.problem);
  auto rows = parse_job_list(listed.out, nonce);
  if (!rows) return base::failure(rows.error());
  // Without priorities of the site, Slurm ranks jobs by the order of their release.
  std::ranges::stable_sort(*rows, {}, [](const JobRow& row) {
    return std::tuple(row.array_job != 0 ? row.array_job : row.job, row.array_task);
  });
  Released released;
  const std::vector<std::string> scripts = release_scripts(*rows, partitions, released);
  // Slurm needs seconds for some hundred jobs, so no call has all of them.
  for (size_t from = 0; from < scripts.size();) {
    size_t to = from + 1;
    while (to < scripts.size() && to < from + kReleasedAtOnce &&
           !scripts[to].starts_with("release"))
      ++to;
    const std::span<const std::string> some(scripts.data() + from, to - from);
    const ClientOutput out = client.run({"scontrol"}, order_script(some, nonce));
    if (!out.ended) return base::failed(out.problem);
    for (const std::string& reply : parse_order_replies(out.errors, some.size(), nonce)) {
      if (!reply.empty()) released.problems.push_back(reply);
    }
    from = to;
  }
  return released;
}

}  // namespace goban::live::engine::slurm
