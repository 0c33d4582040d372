#include "cli/jobs/slurm_allocation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <utility>

#include "cli/jobs/slurm_commands.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/ssh_tunnel.hpp"

namespace goban::cli {

namespace {

/// Options of the step, which salloc has not.
constexpr std::array<std::string_view, 3> kOfStep = {"--output", "--error", "--export"};

bool is_of_step(std::string_view name) { return std::ranges::find(kOfStep, name) != kOfStep.end(); }

/// Slurm requeues no allocation; `goban run` itself asks for none.
bool is_of_batch(std::string_view name) { return name == "--no-requeue"; }

}  // namespace

base::Result<std::vector<std::string>> salloc_words(const SubmitPayload& payload,
                                                    std::vector<std::string>& ignored) {
  SubmitChoices of_allocation;
  SubmitChoices of_step;
  bool is_named = false;
  for (const auto& choice : payload.options) {
    const std::string& name = choice.first;
    if (name.starts_with("--stage-")) {
      return base::usage_error(name + ": nothing is staged for a command of goban run on Slurm",
                               "submit a script with goban submit");
    }
    is_named = is_named || name == "--name" || name == "--job-name";
    if (is_of_batch(name)) continue;
    if (name == "--requeue") {
      ignored.push_back(name);
      continue;
    }
    (is_of_step(name) ? of_step : of_allocation).push_back(choice);
  }
  const auto allocation = sbatch_options(of_allocation, ignored);
  if (!allocation) return base::failure(allocation.error());
  const auto step = sbatch_options(of_step, ignored);
  if (!step) return base::failure(step.error());
  std::vector<std::string> words = {"salloc"};
  if (!is_named) words.push_back("--job-name=" + payload.job_name);
  words.insert(words.end(), allocation->begin(), allocation->end());
  words.insert(words.end(), {"srun", "--interactive", "--preserve-env"});
  if (payload.interactive) words.emplace_back("--pty");
  words.insert(words.end(), step->begin(), step->end());
  words.insert(words.end(), payload.arguments.begin(), payload.arguments.end());
  return words;
}

base::Error run_by_salloc(const SubmitPayload& payload, const std::string& server) {
  if (serve::api::is_ssh(serve::api::server_text(server))) {
    return base::usage_error("a command of Slurm cannot have its terminal here",
                             "ssh -t HOST goban run runs it there")
        .value();
  }
  std::vector<std::string> ignored;
  auto words = salloc_words(payload, ignored);
  if (!words) return words.error();
  if (!ignored.empty()) {
    fmt::print(stderr, "goban: warning: without effect on a cluster of Slurm: {}\n",
               fmt::join(ignored, ", "));
  }
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::unsetenv("GOBAN_TOKEN");  // it belongs to the user, and is not passed to the job
  std::fflush(nullptr);
  ::execvp(pointers.front(), pointers.data());
  return base::failed(fmt::format("cannot run salloc: {}", std::strerror(errno)),
                      "install Slurm's client commands on this machine")
      .value();
}

}  // namespace goban::cli
