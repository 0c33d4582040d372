#include "cli/jobs/field_words.hpp"

#include <algorithm>
#include <array>

namespace goban::cli {
namespace {

struct FieldWord {
  std::string_view field;
  std::string_view option;
};

constexpr auto kWords = std::to_array<FieldWord>({
    // A job.
    {"account", "--account"},
    {"app_class", "--class"},
    {"args", "arguments of the script"},
    {"array", "--array"},
    {"array_limit", "--array"},
    {"array_tasks", "--array"},
    {"begin_s", "--begin"},
    {"cores", "--cores"},
    {"dependencies", "--dependency"},
    {"env", "environment"},
    {"exclude_nodes", "--exclude"},
    {"gpu_model", "--gpus MODEL:N"},
    {"held", "--hold"},
    {"instances", "--type TYPE=N"},
    {"mem_bytes", "--mem"},
    {"model", "--model"},
    {"name", "--name"},
    {"node_list", "--nodelist"},
    {"num_gpus", "--gpus"},
    {"partition", "--partition"},
    {"priority", "--priority"},
    {"qos", "--qos"},
    {"requeue", "--requeue"},
    {"reservation", "--reservation"},
    {"resource_type", "--type"},
    {"stage_in", "--stage-in"},
    {"stage_out", "--stage-out"},
    {"stage_out_always", "--stage-out-on"},
    {"stderr_path", "--error"},
    {"stdout_path", "--output"},
    {"stop.grace_s", "--grace"},
    {"stop.lead_s", "--signal SIG@TIME"},
    {"stop.signal", "--signal"},
    {"training.batch_size", "--batch-size"},
    {"training.deadline_s", "--deadline"},
    {"training.epochs", "--epochs"},
    {"training.gpu_mem_bytes", "--gpu-mem"},
    {"training.gpu_util_pct", "--gpu-util"},
    {"training.gpus_max", "--elastic"},
    {"training.gpus_min", "--elastic"},
    {"training.max_slowdown", "--max-slowdown"},
    {"training.max_wait_s", "--max-wait"},
    {"training.resize_cost_s", "--resize-cost"},
    {"training.share", "--share"},
    {"training.steps", "--steps"},
    {"walltime_s", "--time"},
    {"work_folder", "--chdir"},
    // A reservation, a node.
    {"accounts", "--accounts"},
    {"end_s", "--for"},
    {"kind", "--kind"},
    {"nodes", "NODE"},
    {"num_nodes", "--nodes"},
    {"reason", "--reason"},
    {"start_s", "--from"},
    {"user", "--user"},
    {"users", "--users"},
});

/// The name without its position in a list: "stage_out[2].to" is "stage_out".
std::string_view whole_field(std::string_view field) { return field.substr(0, field.find('[')); }

}  // namespace

std::string option_of_field(std::string_view field) {
  const auto found = std::ranges::find(kWords, whole_field(field), &FieldWord::field);
  return std::string(found == kWords.end() ? field : found->option);
}

std::string in_words_of_options(std::string_view text) {
  const size_t end = text.find(": ");
  if (end == std::string_view::npos) return std::string(text);
  return option_of_field(text.substr(0, end)) + std::string(text.substr(end));
}

}  // namespace goban::cli
