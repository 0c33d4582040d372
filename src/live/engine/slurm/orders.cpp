#include "live/engine/slurm/orders.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

bool is_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    const char low = base::lowered(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

/// "gres:gpu:g1:1,gres:gpu:g3:1".
base::Result<std::string> gres_of(const NodePart& part, std::span<const std::string> index_types,
                                  std::string_view prefix, int32_t shards) {
  std::string gres;
  for (const int32_t gpu : part.gpus) {
    if (gpu < 0 || static_cast<size_t>(gpu) >= index_types.size() ||
        !is_name(index_types[static_cast<size_t>(gpu)])) {
      return base::failed(fmt::format("{} has no GRES type for GPU {}", part.node, gpu),
                          "run goban engine slurm setup --check");
    }
    gres +=
        fmt::format("{}{}{}:{}:{}", gres.empty() ? "" : ",", prefix, shards > 0 ? "shard" : "gpu",
                    index_types[static_cast<size_t>(gpu)], std::max(shards, 1));
  }
  return gres;
}

/// The nonce of the order with this number.
std::string nth(std::string_view nonce, size_t number) {
  return fmt::format("{}x{}x", nonce, number);
}

}  // namespace

bool is_job_id(std::string_view id) {
  const size_t task = id.find('_');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.size() < 19 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  return digits(id.substr(0, task)) && (task == id.npos || digits(id.substr(task + 1)));
}

base::Result<std::string> power_lines(std::string_view node, bool down) {
  if (!is_name(node)) {
    return base::failed(fmt::format("\"{}\" is not the name of a node", node));
  }
  return fmt::format("update nodename={} state=power_{}\n", node, down ? "down" : "up");
}

base::Result<std::string> place_lines(std::string_view id, std::span<const NodePart> parts,
                                      const Mark& mark, Indices indices,
                                      std::span<const std::string> index_types,
                                      std::string_view gres_prefix, std::string_view partitions,
                                      ShardUse shards, bool ran) {
  std::string nodes;
  for (const NodePart& part : parts) {
    if (!is_name(part.node)) {
      return base::failed(fmt::format("\"{}\" is not the name of a node", part.node));
    }
    nodes += fmt::format("{}{}", nodes.empty() ? "" : ",", part.node);
  }
  std::string lines;
  std::string gres;
  if (indices == Indices::Types && !parts.empty() && !parts.front().gpus.empty()) {
    auto first = gres_of(parts.front(), index_types, gres_prefix, shards.count);
    if (!first) return first;
    for (const NodePart& part : parts) {
      if (part.gpus != parts.front().gpus) {
        return base::failed("Slurm gives a job the same GPU indices on all of its nodes");
      }
    }
    // Cleared first: a request with types does not replace one without.
    if (!shards.named) lines = fmt::format("update jobid={} TresPerNode=\n", id);
    gres = fmt::format(" TresPerNode={}", *first);
  }
  const bool are_names = std::ranges::all_of(job::split_list(partitions, ','), is_name);
  const std::string where =
      partitions.empty() || !are_names ? "" : fmt::format(" Partition={}", partitions);
  return lines + fmt::format("update jobid={}{}{} ReqNodeList={} AdminComment={} StartTime={}\n",
                             id, gres, where, nodes, mark_text(mark), ran ? "now+2" : "now");
}

std::string restore_lines(std::string_view id, std::string_view gres) {
  const bool is_plain = std::ranges::all_of(gres, [](char c) {
    return is_name({&c, 1}) || c == ':' || c == '=' || c == ',' || c == '/';
  });
  return gres.empty() || !is_plain
             ? std::string{}
             : fmt::format("update jobid={0} TresPerNode=\nupdate jobid={0} TresPerNode={1}\n", id,
                           gres);
}

std::string mark_lines(std::string_view id, const Mark& mark) {
  return fmt::format("update jobid={} AdminComment={}\n", id, mark_text(mark));
}

std::string hold_lines(std::string_view id) { return fmt::format("hold {}\n", id); }
std::string requeue_lines(std::string_view id, bool suspended) {
  return fmt::format("{}requeuehold Incomplete {}\n",
                     suspended ? fmt::format("resume {}\n", id) : "", id);
}
std::string release_lines(std::string_view id) { return fmt::format("release {}\n", id); }
std::string leave_lines(std::string_view id, std::string_view why) {
  // The mark comes last: a held job that has it is held by its owner.
  return fmt::format("{}update jobid={} AdminComment={}:{}\n", release_lines(id), id, kSlurmMark,
                     why);
}

std::string order_script(std::span<const std::string> orders, std::string_view nonce) {
  std::string script;
  for (size_t i = 0; i < orders.size(); ++i) script += orders[i] + nth(nonce, i) + '\n';
  return script;
}

std::vector<std::string> parse_order_replies(std::string_view errors, size_t count,
                                             std::string_view nonce) {
  std::vector<std::string> replies(count, "no reply");
  for (size_t i = 0; i < count; ++i) {
    const size_t end = errors.find(nth(nonce, i));
    if (end == errors.npos) break;
    std::string_view said = errors.substr(0, end);
    // The line of the nonce begins with scontrol's complaint about it.
    const size_t line = said.rfind('\n');
    said = line == said.npos ? std::string_view{} : said.substr(0, line);
    replies[i] = base::trimmed(said);
    const size_t next = errors.find('\n', end);
    errors.remove_prefix(next == errors.npos ? errors.size() : next + 1);
  }
  return replies;
}

std::string show_script(std::span<const std::string> ids, std::string_view nonce) {
  std::string script;
  for (size_t i = 0; i < ids.size(); ++i) {
    script += fmt::format("show job {}\nshow hostnames {}\n", ids[i], nth(nonce, i));
  }
  return script;
}

std::vector<std::string> parse_shown(std::string_view out, size_t count, std::string_view nonce) {
  std::vector<std::string> shown(count);
  for (size_t i = 0; i < count; ++i) {
    // The commands are echoed, the nonce therefore comes twice: "scontrol: show hostnames N", "N".
    const std::string mark = nth(nonce, i);
    const size_t echo = out.find(fmt::format("show hostnames {}\n", mark));
    if (echo == out.npos) break;
    std::string_view said = out.substr(0, echo);
    const size_t begin = said.find("JobId=");
    const size_t prompt = said.rfind('\n');
    if (begin != said.npos && prompt != said.npos && prompt > begin) {
      shown[i] = said.substr(begin, prompt - begin);
    }
    out.remove_prefix(echo + mark.size());
  }
  return shown;
}

}  // namespace goban::live::engine::slurm
