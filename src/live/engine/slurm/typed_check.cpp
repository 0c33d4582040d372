#include "live/engine/slurm/typed_check.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.hpp"
#include "live/job/request_values.hpp"

namespace goban::live::engine::slurm {

namespace {

/// The type in "gpu:a100:2", "gres/gpu:a100=4" behind the prefix; empty: none, or one of an index.
std::string type_of(std::string_view entry, std::string_view prefix,
                    std::span<const std::string> index_types) {
  if (!entry.starts_with(prefix)) return {};
  const std::string_view rest = entry.substr(prefix.size());
  std::string type(rest.substr(0, rest.find_first_of(":=(")));
  const bool is_count = type.find_first_not_of("0123456789") == type.npos;
  return is_count || std::ranges::find(index_types, type) != index_types.end() ? "" : type;
}

/// True for "gres/gpu:a100=4(0)", not for "gres/gpu:a100=N(0)".
bool is_set(std::string_view entry) {
  const size_t equals = entry.find('=');
  return equals != entry.npos && equals + 1 < entry.size() && entry[equals + 1] != 'N';
}

}  // namespace

std::vector<std::string> broken_by_types(std::span<const JobWords> waiting,
                                         std::string_view assoc_mgr,
                                         std::span<const std::string> index_types) {
  std::vector<std::string> lines;
  for (const JobWords& words : waiting) {
    for (const std::string* request : {&words.tres_per_job, &words.tres_per_node,
                                       &words.tres_per_socket, &words.tres_per_task}) {
      for (std::string_view entry : job::split_list(*request, ',')) {
        entry = without_prefix(entry);
        const std::string type = type_of(entry, "gpu:", index_types);
        if (type.empty()) continue;
        lines.push_back(fmt::format("job {} of {} requests GPUs of type {}", words.id(), words.user,
                                    base::quoted(type)));
      }
    }
  }
  for (const std::string_view line : job::split_list(assoc_mgr, '\n')) {
    if (!line.starts_with("QOS=") && !line.starts_with("ClusterName=")) continue;
    std::vector<std::string> named;
    for (std::string_view word : job::split_list(line, ' ')) {
      word.remove_prefix(word.find('{') + 1);  // "lab1={MaxTRESPA=...", or nothing
      const size_t equals = word.find('=');
      if (equals == word.npos) continue;
      for (const std::string_view entry : job::split_list(word.substr(equals + 1), ',')) {
        const std::string type = type_of(entry, "gres/gpu:", index_types);
        if (type.empty() || !is_set(entry)) continue;
        std::string limit = fmt::format("{} gres/gpu:{}", word.substr(0, equals), type);
        if (std::ranges::find(named, limit) == named.end()) named.push_back(std::move(limit));
      }
    }
    // "QOS=small(2)", or "ClusterName=lab Account=lab1 UserName=ann(7)".
    std::string_view whose = line.substr(0, line.find(" Partition="));
    if (line.starts_with("QOS=")) whose = line.substr(0, line.find(' '));
    if (whose.starts_with("ClusterName="))
      whose = whose.substr(std::min(whose.find(' '), whose.size() - 1) + 1);
    for (const std::string& limit : named) {
      lines.push_back(fmt::format("limit {} of {}", limit, whose.substr(0, 200)));
    }
  }
  return lines;
}

}  // namespace goban::live::engine::slurm
