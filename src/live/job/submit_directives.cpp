#include "live/job/submit_directives.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "live/job/directive_dialect.hpp"
#include "live/job/submit_options.hpp"

namespace goban::live::job {
namespace {

using base::Result;
using base::Status;

constexpr std::string_view kBlanks = " \t\r\f\v";

/// Words of a directive: quotes preserve blanks, a backslash preserves the next character, `#` ends
/// the line. Nothing is expanded. Errors: BadData if a quote is not closed.
Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (kBlanks.find(c) != std::string_view::npos) {
      if (open) words.push_back(std::exchange(word, {}));
      open = false;
    } else if (c == '#' && !open) {
      break;
    } else {
      open = true;
      if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '\\' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    }
  }
  if (quote != 0) return base::bad_data({}, "a quote is not closed", fmt::format("add {}", quote));
  if (open) words.push_back(std::move(word));
  return words;
}

/// Reads the options of one line, one after the other.
class OptionLine {
 public:
  OptionLine(const Dialect* dialect, int line, SubmitDirectives& out)
      : dialect_(dialect), line_(line), out_(&out) {}

  Status read(std::string_view text) {
    auto words = split_words(text);
    if (!words) return base::failure(words.error());
    words_ = std::move(*words);
    while (at_ < words_.size()) {
      const Status status = dialect_ == nullptr ? read_own() : read_foreign();
      if (!status) return status;
      for (std::string& note : out_->notes) {
        unread(option_, std::move(note));
        out_->unread.back().in_part = true;
      }
      out_->notes.clear();
    }
    return {};
  }

 private:
  void unread(std::string text, std::string why) {
    out_->unread.push_back({.line = line_, .text = std::move(text), .why = std::move(why)});
  }

  /// The words up to the next option, for messages.
  std::string take_rest(std::string text) {
    while (at_ < words_.size() && !words_[at_].starts_with('-')) text += " " + words_[at_++];
    return text;
  }

  static base::Error with_option(base::Error error, std::string_view option) {
    error.place.field = option;
    return error;
  }

  Status apply(Setter set, std::string_view value) {
    auto status = set(*out_, value);
    if (!status) return base::failure(with_option(std::move(status.error()), option_));
    return status;
  }

  [[nodiscard]] tl::unexpected<base::Error> missing() const {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = option_},
                          "the option has no value", "add one after it");
  }

  Status read_own() {
    const std::string word = words_[at_++];
    size_t sign = word.find('=');
    if (!word.starts_with("--")) sign = std::string::npos;
    option_ = word.substr(0, sign);
    const SubmitOption* option = find_submit_option(option_);
    if (option == nullptr) return unknown_own(word);
    if (option->value.empty()) {
      if (sign == std::string::npos) return apply(option->set, {});
      return base::bad_data({.file = {}, .line = 0, .column = 0, .field = option_},
                            "the option takes no value", "remove the value");
    }
    if (sign != std::string::npos) return apply(option->set, word.substr(sign + 1));
    if (at_ == words_.size()) return missing();
    const std::string value = words_[at_++];
    return apply(option->set, value);
  }

  [[nodiscard]] Status unknown_own(const std::string& word) const {
    std::vector<std::string_view> known;
    for (const SubmitOption& each : submit_options()) {
      for (const std::string_view name : split_list(each.names)) known.push_back(name);
    }
    const std::string_view near = base::nearest_name(option_, known);
    return base::bad_data({}, fmt::format("unknown option '{}'", word),
                          near.empty() ? std::string("see goban submit --help")
                                       : fmt::format("did you mean {}?", near));
  }

  /// The name of a foreign option, and its value if it is in the same word.
  struct Split {
    std::string_view name;
    std::string_view value;
    bool has_value = false;
  };
  [[nodiscard]] Split split(std::string_view word) const {
    if (dialect_->words) return {word.substr(1), {}, false};
    if (!word.starts_with("--")) {
      return {word.substr(1, 1), word.substr(std::min<size_t>(2, word.size())), word.size() > 2};
    }
    const size_t sign = std::min(word.find('='), word.size());
    return {word.substr(2, sign - 2), word.substr(std::min(sign + 1, word.size())),
            sign < word.size()};
  }

  Status read_foreign() {
    const std::string word = words_[at_++];
    if (word.size() < 2 || word[0] != '-') {
      unread(word, "it is not an option");
      return {};
    }
    const Split parts = split(word);
    const DirectiveOption* option = find_option(*dialect_, parts.name);
    option_ = parts.has_value && option != nullptr
                  ? word.substr(0, word.size() - parts.value.size() - (word[1] == '-' ? 1 : 0))
                  : word;
    if (option == nullptr) {
      unread(take_rest(word), "unknown option");
      return {};
    }
    std::string value(parts.value);
    if (option->values == 0 && parts.has_value) {
      unread(word, "unknown option");
      return {};
    }
    for (int i = parts.has_value ? 1 : 0; i < option->values; ++i) {
      if (at_ == words_.size()) return missing();
      value += (i > 0 ? " " : "") + words_[at_++];
    }
    if (option->set == nullptr) {
      unread(value.empty() || parts.has_value ? word : word + " " + value,
             std::string(option->why));
      return {};
    }
    return apply(option->set, value);
  }

  const Dialect* dialect_;  ///< null: #GOBAN
  int line_;
  SubmitDirectives* out_;
  std::vector<std::string> words_;
  size_t at_ = 0;
  std::string option_;
};

struct Found {
  bool directive = false;
  const Dialect* dialect = nullptr;
  std::string_view text{};
};

Found directive_in(std::string_view line) {
  constexpr std::string_view kOwn = "#GOBAN";
  const auto behind = [&](std::string_view prefix, bool dash) -> bool {
    if (!line.starts_with(prefix)) return false;
    if (line.size() == prefix.size()) return true;
    const char next = line[prefix.size()];
    return kBlanks.find(next) != std::string_view::npos || (dash && next == '-');
  };
  if (behind(kOwn, false)) return {true, nullptr, line.substr(kOwn.size())};
  for (const Dialect* dialect : {&slurm_dialect(), &grid_engine_dialect(), &pbs_dialect()}) {
    if (behind(dialect->prefix, dialect->words)) {
      return {true, dialect, line.substr(dialect->prefix.size())};
    }
  }
  return {};
}

/// Conventions follow the first directive of another system.
void take_conventions(const Dialect* dialect, SubmitDirectives& request) {
  if (dialect == nullptr || !request.dialect.empty()) return;
  request.dialect = dialect->name;
  request.separate_errors = dialect != &slurm_dialect();
}

constexpr int64_t kCountMax = 1'000'000;
constexpr int64_t kBytesMax = int64_t{1} << 50;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

Result<int32_t> count_of(const char* what, int64_t count) {
  if (count >= 0 && count <= kCountMax) return static_cast<int32_t>(count);
  return base::usage_error(fmt::format("the job requests {} {}", count, what),
                           fmt::format("at most {} can be requested", kCountMax));
}

Status put_gpus(const SubmitDirectives& request, int64_t nodes, int64_t tasks, JobSpec& spec) {
  int64_t gpus = spec.num_gpus;
  if (request.gpus >= 0) gpus = request.gpus;
  if (request.gpus_per_node >= 0) gpus = request.gpus_per_node * nodes;
  const bool in_all = request.gpus >= 0 || request.gpus_per_node >= 0;
  if (request.gpus_per_task >= 0) {
    const int64_t of_tasks = request.gpus_per_task * tasks;
    if (in_all && of_tasks != gpus) {
      return base::usage_error(fmt::format("{} GPUs do not suit {} tasks with {} GPUs each", gpus,
                                           tasks, request.gpus_per_task),
                               "leave out one of the three numbers");
    }
    gpus = of_tasks;
  } else if (request.tasks_per_gpu > 0 && !in_all) {
    gpus = nodes * ceil_div(ceil_div(tasks, nodes), request.tasks_per_gpu);
  }
  const auto count = count_of("GPUs", gpus);
  if (!count) return base::failure(count.error());
  spec.num_gpus = *count;
  return {};
}

Status put_cores(const SubmitDirectives& request, int64_t nodes, int64_t tasks, JobSpec& spec) {
  int64_t cores = spec.cores;
  if (request.slots >= 0) cores = ceil_div(request.slots, nodes);
  const int64_t node_gpus = ceil_div(spec.num_gpus, nodes);
  const bool tasks_said = request.tasks >= 0 || request.tasks_per_node >= 0;
  if (request.cores_per_task >= 0 || tasks_said) {
    cores = ceil_div(tasks, nodes) * std::max(request.cores_per_task, 1);
  }
  if (request.cores_per_gpu >= 0 && request.cores_per_task < 0) {
    cores = std::max(tasks_said ? cores : 0, node_gpus * request.cores_per_gpu);
  }
  const auto count = count_of("cores per node", cores);
  if (!count) return base::failure(count.error());
  spec.cores = *count;
  return {};
}

Status put_memory(const SubmitDirectives& request, int64_t nodes, JobSpec& spec) {
  int64_t units = 1;
  int64_t each = spec.mem_bytes;
  if (request.mem_per_core_bytes >= 0) {
    units = std::max(spec.cores, 1);
    each = request.mem_per_core_bytes;
  } else if (request.mem_per_gpu_bytes >= 0) {
    units = std::max<int64_t>(ceil_div(spec.num_gpus, nodes), 1);
    each = request.mem_per_gpu_bytes;
  }
  if (each > kBytesMax / units) {
    return base::usage_error("the job requests more memory than any node has",
                             "at most 1 PiB can be requested");
  }
  spec.mem_bytes = each * units;
  return {};
}

/// The number of tasks if only GPUs tell it; -1 otherwise.
int64_t tasks_of_gpus(const SubmitDirectives& request, int64_t nodes) {
  if (request.tasks >= 0 || request.tasks_per_node >= 0) return -1;
  int64_t gpus = request.gpus;
  if (request.gpus_per_node >= 0) gpus = request.gpus_per_node * nodes;
  if (gpus < 0) return -1;
  if (request.gpus_per_task > 0) return std::max<int64_t>(gpus / request.gpus_per_task, 1);
  if (request.tasks_per_gpu > 0) return std::max<int64_t>(gpus * request.tasks_per_gpu, 1);
  return -1;
}

void name_outputs(const SubmitDirectives& request, JobSpec& spec) {
  const bool array = !request.array_tasks.empty();
  if (request.dialect == "sge" || request.dialect == "pbs") {
    const std::string tail = array ? "%A.%a" : "%j";
    if (spec.stdout_path.empty()) spec.stdout_path = "%x.o" + tail;
    if (spec.stderr_path.empty() && request.separate_errors) spec.stderr_path = "%x.e" + tail;
  } else if (spec.stdout_path.empty()) {
    spec.stdout_path = "%x-%j.out";
  }
}

}  // namespace

const DirectiveOption* find_option(const Dialect& dialect, std::string_view name) {
  for (const DirectiveOption& each : dialect.options) {
    const auto names = split_list(each.names, ' ');
    if (std::find(names.begin(), names.end(), name) != names.end()) return &each;
  }
  return nullptr;
}

Result<SubmitDirectives> read_directives(std::string_view script, const std::string& name) {
  SubmitDirectives out;
  int number = 0;
  bool head = true;
  while (!script.empty()) {
    ++number;
    const size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (number == 1 && line.starts_with("#!") && line.ends_with('\r')) {
      return base::bad_data({.file = name, .line = 1, .column = 0, .field = {}},
                            "the script has Windows line endings; no shell can run it",
                            "convert it with dos2unix");
    }
    const Found found = directive_in(line);
    if (found.directive && head) {
      take_conventions(found.dialect, out);
      OptionLine options(found.dialect, number, out);
      if (auto status = options.read(found.text); !status) {
        status.error().place.file = name;
        status.error().place.line = number;
        return base::failure(status.error());
      }
    } else if (found.directive) {
      out.unread.push_back({number, std::string(line), "it follows the first command"});
    }
    const size_t first = line.find_first_not_of(kBlanks);
    if (first != std::string_view::npos && line[first] != '#') head = false;
  }
  return out;
}

Result<SubmitDirectives> finish(SubmitDirectives request) {
  JobSpec& spec = request.spec;
  int64_t nodes = request.nodes;
  if (nodes < 0 && !spec.resource_type.empty()) nodes = spec.instances;
  if (nodes < 0 && request.tasks > 0 && request.tasks_per_node > 0) {
    nodes = ceil_div(request.tasks, request.tasks_per_node);
  }
  nodes = std::max<int64_t>(nodes, 1);
  const auto instances = count_of("nodes", nodes);
  if (!instances) return base::failure(instances.error());
  spec.instances = *instances;
  if (const int64_t told = tasks_of_gpus(request, nodes); told >= 0) {
    const auto count = count_of("tasks", told);
    if (!count) return base::failure(count.error());
    request.tasks = *count;
  }
  const int64_t tasks =
      request.tasks > 0 ? int64_t{request.tasks} : nodes * std::max(request.tasks_per_node, 1);
  if (const auto gpus = put_gpus(request, nodes, tasks, spec); !gpus) {
    return base::failure(gpus.error());
  }
  if (const auto cores = put_cores(request, nodes, tasks, spec); !cores) {
    return base::failure(cores.error());
  }
  if (const auto memory = put_memory(request, nodes, spec); !memory) {
    return base::failure(memory.error());
  }
  name_outputs(request, spec);
  return request;
}

void forget_gpus(SubmitDirectives& request) {
  request.gpus = request.gpus_per_node = request.gpus_per_task = request.tasks_per_gpu = -1;
  request.spec.gpu_model.clear();
}

}  // namespace goban::live::job
