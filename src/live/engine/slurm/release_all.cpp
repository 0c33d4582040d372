#include "live/engine/slurm/release_all.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "live/engine/slurm/partitions.hpp"
#include "live/engine/slurm/version.hpp"

namespace goban::live::engine::slurm {

namespace {

constexpr size_t kReleasedAtOnce = 500;  ///< ids in one command

/// GPUs on each node that were requested by their index alone; 0: they were not.
int64_t count_by_index(const JobWords& words, std::span<const std::string> index_types) {
  const auto gpus = requested_gpus(words, {.num_nodes = 1, .tasks = 1});
  if (!gpus || gpus->type.empty() || !takes_types(words)) return 0;
  std::string_view types = gpus->type;
  while (!types.empty()) {
    const std::string_view type = types.substr(0, types.find('+'));
    if (std::ranges::find(index_types, type) == index_types.end()) return 0;
    types.remove_prefix(std::min(type.size() + 1, types.size()));
  }
  return gpus->count;
}

}  // namespace

std::vector<std::string> release_scripts(std::span<const JobRow> rows,
                                         const std::map<std::string, JobWords>& words,
                                         const std::vector<std::string>& partitions,
                                         std::span<const std::string> index_types,
                                         Released& released, std::string_view gres_prefix) {
  std::vector<std::string> scripts;
  std::vector<std::string> ids;
  for (const JobRow& row : rows) {
    if (!are_managed(row.partition, partitions) || stand_of(row) != cluster::Stand::Held) continue;
    if (is_slurms(row.mark) || is_held_by_user(row)) {
      ++released.kept_held;
      continue;
    }
    // An administrator's hold is not ours to lift; ours in place of Slurm's requeue looks the same.
    Mark mark;
    const bool placed = parse_mark(row.mark, mark);
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
      std::string script = fmt::format("update jobid={}{} AdminComment={} StartTime=now\n", id,
                                       mark.own_nodes ? "" : nodes, kReleasedMark);
      const auto word = words.find(id);
      const bool is_chosen = word != words.end() && !mark.own_indices && row.het_job == 0;
      const int64_t count = is_chosen ? count_by_index(word->second, index_types) : 0;
      if (count > 0) {
        script.insert(0, fmt::format("update jobid={0} TresPerNode=\n"
                                     "update jobid={0} TresPerNode={1}gpu:{2}\n",
                                     id, gres_prefix, count));
      }
      scripts.push_back(std::move(script));
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
  const ClientOutput release = client.run({"scontrol", "--version"});
  if (!release.problem.empty()) return base::failed(release.problem);
  const ClientOutput shown = client.run({"scontrol", "-o", "show", "node"});
  if (!shown.problem.empty()) return base::failed(shown.problem);
  const auto nodes = parse_node_list(shown.out);
  if (!nodes) return base::failure(nodes.error());
  const std::vector<std::string> index_types = index_types_of(*nodes);
  const auto ask = [&](const std::string& format) {
    return client.run({"squeue", "-h", "-a", "-r", "-t", "PENDING", "-O", format});
  };
  const std::string nonce = Client::nonce();
  const ClientOutput listed = ask(job_list_format(nonce));
  if (!listed.problem.empty()) return base::failed(listed.problem);
  auto rows = parse_job_list(listed.out, nonce);
  if (!rows) return base::failure(rows.error());
  // Without priorities of the site, Slurm ranks jobs by the order of their release.
  std::ranges::stable_sort(*rows, {}, [](const JobRow& row) {
    return std::tuple(row.array_job != 0 ? row.array_job : row.job, row.array_task);
  });
  const ClientOutput said = ask(job_words_format(nonce));
  if (!said.problem.empty()) return base::failed(said.problem);
  const auto all = parse_job_words(said.out, nonce);
  if (!all) return base::failure(all.error());
  std::map<std::string, JobWords> words;
  for (const JobWords& each : *all) words[each.id()] = each;
  Released released;
  const std::vector<std::string> scripts =
      release_scripts(*rows, words, partitions, index_types, released,
                      gres_prefix(parse_version(release.out).value_or(kTried.back())));
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
