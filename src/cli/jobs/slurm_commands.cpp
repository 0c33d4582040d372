#include "cli/jobs/slurm_commands.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/number.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "live/job/request_values.hpp"
#include "live/job/stage_paths.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/ssh_tunnel.hpp"

namespace goban::cli {

namespace {

using base::Result;

/// Options that sbatch calls otherwise.
struct Renamed {
  std::string_view ours;
  std::string_view theirs;
};
constexpr std::array kRenamed = {Renamed{"--name", "--job-name"},
                                 Renamed{"--cores", "--cpus-per-task"},
                                 Renamed{"--workdir", "--chdir"}};
/// Options of ours that mean the same to sbatch.
constexpr std::array<std::string_view, 31> kSame = {
    "--gres",           "--nodes",       "--mem",
    "--account",        "--partition",   "--qos",
    "--reservation",    "--nodelist",    "--exclude",
    "--array",          "--dependency",  "--begin",
    "--output",         "--error",       "--export",
    "--chdir",          "--hold",        "--requeue",
    "--no-requeue",     "--job-name",    "--ntasks",
    "--cpus-per-task",  "--mem-per-cpu", "--mem-per-gpu",
    "--gpus-per-task",  "--nice",        "--comment",
    "--mail-type",      "--mail-user",   "--constraint",
    "--ntasks-per-node"};

std::string of_choice(const SubmitChoices& choices, std::string_view name) {
  const auto found = std::ranges::find(choices, name, &SubmitChoices::value_type::first);
  return found == choices.end() ? std::string{} : found->second;
}

/// --gpus counts all nodes, --gres one.
Result<std::string> gres_of(const std::string& gpus, const SubmitChoices& choices) {
  const size_t colon = gpus.rfind(':');
  const std::string model = colon == gpus.npos ? "" : gpus.substr(0, colon + 1);
  const auto count = live::job::parse_count(gpus.substr(model.size()));
  if (!count) return base::usage_error("--gpus: " + count.error().message);
  const std::string nodes = of_choice(choices, "--nodes");
  const auto parts = nodes.empty() ? 1 : base::parse_int(nodes).value_or(0);
  if (parts < 1 || *count % parts != 0) {
    return base::usage_error(fmt::format("--gpus {} cannot be equal on {} nodes", gpus, nodes),
                             "give --gpus-per-node");
  }
  return fmt::format("--gres=gpu:{}{}", model, *count / parts);
}

Result<std::string> time_of(const std::string& text) {
  // As sbatch has it, in minutes or with colons.
  if (!text.empty() && text.find_first_not_of("0123456789:-") == text.npos) {
    return "--time=" + text;
  }
  const auto span = live::job::parse_span(text);
  if (!span) return base::usage_error("--time: " + span.error().message, span.error().remedy);
  const int64_t seconds = (*span + base::kSecond - 1) / base::kSecond;
  return fmt::format("--time={}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/// "USR1@2m" as "USR1@120".
Result<std::string> signal_of(const std::string& text) {
  const size_t at = text.find('@');
  if (at == text.npos) return "--signal=" + text;
  if (base::parse_int(text.substr(at + 1))) return "--signal=" + text;
  const auto lead = live::job::parse_span(text.substr(at + 1));
  if (!lead) return base::usage_error("--signal: " + lead.error().message, lead.error().remedy);
  return fmt::format("--signal={}@{}", text.substr(0, at), *lead / base::kSecond);
}

/// A word of the comment that Goban reads at Slurm; empty: the option has none.
std::string comment_word(const std::string& name, const std::string& value) {
  const auto absolute = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const size_t colon = value.find(':');
  if (name == "--model") return "model=" + value;
  if (name == "--gpu-mem") return "gpu-memory=" + value;
  if (name == "--stage-in") return "stage-in=" + absolute(value);
  if (name == "--stage-out" && colon != value.npos) {
    return "stage-out=" + value.substr(0, colon + 1) + absolute(value.substr(colon + 1));
  }
  return name.starts_with("--stage-") ? name.substr(2) + "=" + value : "";
}

/// What is staged and trained, as a comment that Goban reads at Slurm; empty: nothing.
Result<std::string> comment_of(const SubmitChoices& choices) {
  std::string words;
  for (const auto& [name, value] : choices) {
    const std::string word = comment_word(name, value);
    if (word.empty()) continue;
    if (value.find(';') != value.npos) {
      return base::usage_error(name + ": a path or name with ; cannot be told to Slurm",
                               "rename it, or name the folder above it");
    }
    words += (words.empty() ? "" : ";") + word;
  }
  if (words.empty()) return words;
  live::job::JobSpec unused;
  const std::string problem = live::job::read_stage_words(words, unused);
  if (!problem.empty()) return base::usage_error("cannot be staged: " + problem);
  if (!of_choice(choices, "--comment").empty()) {
    return base::usage_error(
        "--comment excludes --stage-in, --model and --gpu-mem on a cluster of Slurm",
        "remove one of them");
  }
  return "--comment=goban:" + words;
}

/// Whether a line #SBATCH names the job.
bool has_name(std::string_view script) {
  return std::ranges::any_of(live::job::split_list(script, '\n'), [](std::string_view line) {
    return line.starts_with("#SBATCH") &&
           (line.find("--job-name") != line.npos || line.find(" -J") != line.npos);
  });
}

/// Whether a line #GOBAN requests something.
bool has_own_lines(std::string_view script) {
  return std::ranges::any_of(live::job::split_list(script, '\n'), [](std::string_view line) {
    return line.starts_with("#GOBAN ") || line.starts_with("#GOBAN\t");
  });
}

/// Ours, without the token: it belongs to the submitter and is not passed to the job.
std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("GOBAN_TOKEN=")) out.emplace_back(*each);
  }
  return out;
}

/// Starts a command of Slurm as ourselves and waits. Returns what it printed. Errors: Failed.
Result<std::string> run_command(const std::vector<std::string>& words, int in = -1) {
  const base::Descriptor out(::memfd_create("goban-out", MFD_CLOEXEC));
  if (out.get() < 0) return base::failed(fmt::format("no memory: {}", std::strerror(errno)));
  const pid_t pid = base::spawn(
      words, {.environment = own_environment(), .in = in, .out = out.get(), .err = STDERR_FILENO});
  if (pid == 0) {
    return base::failed(fmt::format("cannot run {}: {}", words.front(), std::strerror(errno)),
                        "install Slurm's client commands on this machine");
  }
  const int status = base::wait_for(pid);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return base::failed(fmt::format("{} refused it", words.front()));
  }
  std::array<char, 4096> said{};
  const ssize_t size = ::pread(out.get(), said.data(), said.size(), 0);
  return std::string(said.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

}  // namespace

bool is_for_sbatch(const base::Error& refusal) { return refusal.remedy == "use sbatch"; }

bool is_for_scancel(const std::string& id, const std::string& refusal) {
  const bool is_slurms = !id.empty() && id.find_first_not_of("0123456789_") == id.npos;
  return is_slurms && refusal == "use the commands of that queue";
}

Result<std::vector<std::string>> sbatch_options(const SubmitChoices& choices,
                                                std::vector<std::string>& ignored) {
  std::vector<std::string> words;
  for (const auto& [name, value] : choices) {
    const auto* const renamed = std::ranges::find(kRenamed, name, &Renamed::ours);
    std::string theirs(renamed == kRenamed.end() ? name : renamed->theirs);
    if (!value.empty()) theirs.append("=").append(value);
    Result<std::string> word = std::move(theirs);
    if (name == "--gpus" || name == "-G") {
      word = gres_of(value, choices);
    } else if (name == "--gpus-per-node") {
      word = "--gres=gpu:" + value;
    } else if (name == "--time") {
      word = time_of(value);
    } else if (name == "--signal") {
      word = signal_of(value);
    } else if (!comment_word(name, value).empty()) {
      continue;
    } else if (renamed == kRenamed.end() && std::ranges::find(kSame, name) == kSame.end()) {
      ignored.push_back(name);
      continue;
    }
    if (!word) return base::failure(word.error());
    words.push_back(std::move(*word));
  }
  auto comment = comment_of(choices);
  if (!comment) return base::failure(comment.error());
  if (!comment->empty()) words.push_back(std::move(*comment));
  return words;
}

Result<std::string> submit_by_sbatch(const SubmitPayload& payload, const std::string& server) {
  const std::string address = serve::api::server_text(server);
  const bool by_ssh = serve::api::is_ssh(address);
  if (by_ssh && !payload.arguments.empty()) {
    return base::usage_error("sbatch takes no arguments of a script that comes by ssh",
                             "write them into the script");
  }
  std::vector<std::string> ignored;
  const auto options = sbatch_options(payload.options, ignored);
  if (!options) return base::failure(options.error());
  if (!ignored.empty()) {
    fmt::print(stderr, "goban: warning: without effect on a cluster of Slurm: {}\n",
               fmt::join(ignored, ", "));
  }
  if (has_own_lines(payload.script)) {
    fmt::print(
        stderr,
        "goban: warning: sbatch does not read lines #GOBAN: write #SBATCH, or give options on "
        "the command line\n");
  }
  const base::Descriptor script(::memfd_create("goban-script", MFD_CLOEXEC));
  const std::string& text = payload.script;
  if (script.get() < 0 ||
      ::pwrite(script.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return base::failed(fmt::format("no memory for the script: {}", std::strerror(errno)));
  }
  std::vector<std::string> words = {"sbatch", "--parsable"};
  const bool is_named = !of_choice(payload.options, "--name").empty() ||
                        !of_choice(payload.options, "--job-name").empty() ||
                        has_name(payload.script);
  if (!is_named) words.push_back("--job-name=" + payload.job_name);
  words.insert(words.end(), options->begin(), options->end());
  if (by_ssh) {
    const auto place = serve::api::parse_ssh(address);
    if (!place) return base::failure(place.error());
    words = serve::api::ssh_command(*place, {"-T"}, words);
  } else {
    words.push_back(fmt::format("/proc/{}/fd/{}", ::getpid(), script.get()));
  }
  words.insert(words.end(), payload.arguments.begin(), payload.arguments.end());
  std::fflush(stdout);
  auto said = run_command(words, by_ssh ? script.get() : -1);
  if (!said) return said;
  // "12", or "12;cluster".
  return std::string(base::trimmed(said->substr(0, said->find(';'))));
}

base::Status cancel_by_scancel(const std::string& id, const std::string& server) {
  std::vector<std::string> words = {"scancel", id};
  if (const std::string address = serve::api::server_text(server); serve::api::is_ssh(address)) {
    const auto place = serve::api::parse_ssh(address);
    if (!place) return base::failure(place.error());
    words = serve::api::ssh_command(*place, {"-T"}, words);
  }
  const auto said = run_command(words);
  return said ? base::Status{} : base::failure(said.error());
}

}  // namespace goban::cli
