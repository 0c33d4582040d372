// The table of options of `goban submit` and of `#GOBAN` directives, and the setters of their
// values, which the directives of other systems share. Errors of setters: BadData without a place.
#pragma once

#include <span>
#include <string_view>

#include "live/job/output_path.hpp"
#include "live/job/request_values.hpp"
#include "live/job/submit_directives.hpp"

namespace goban::live::job {

/// Applies the value of an option; empty for flags. Errors: BadData without a place.
using Setter = base::Status (*)(SubmitDirectives& request, std::string_view value);

struct SubmitOption {
  std::string_view names{};  ///< as on the command line: "-J,--name"
  std::string_view value{};  ///< placeholder of the value in help; empty: a flag
  std::string_view group{};
  std::string_view help{};
  Setter set = nullptr;
  bool repeats = false;  ///< it may be given several times
};

[[nodiscard]] std::span<const SubmitOption> submit_options();
/// The option with this name, such as "--name" or "-J"; null if there is none.
[[nodiscard]] const SubmitOption* find_submit_option(std::string_view name);

/// "[B:]SIG[@TIME]"; a TIME without a unit is in seconds; default 60 s.
[[nodiscard]] base::Status apply_signal(SubmitDirectives& request, std::string_view text);

/// See parse_export().
[[nodiscard]] base::Status apply_export(SubmitDirectives& request, std::string_view text);

/// "gpu:a100:4": GPUs per node. Other resources are ignored and add a note.
[[nodiscard]] base::Status set_gres(SubmitDirectives& request, std::string_view value);

template <std::string JobSpec::* Field>
base::Status set_text(SubmitDirectives& request, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  request.spec.*Field = std::move(*text);
  return {};
}

template <int32_t SubmitDirectives::* Field>
base::Status set_count(SubmitDirectives& request, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  request.*Field = *count;
  return {};
}

/// The last one of --gpus and --gpus-per-node takes effect; --gpus-per-task goes with both.
template <int32_t SubmitDirectives::* Field>
base::Status set_gpus(SubmitDirectives& request, std::string_view value) {
  auto gpus = parse_gpus(value);
  if (!gpus) return base::failure(gpus.error());
  if (Field != &SubmitDirectives::gpus_per_task) request.gpus = request.gpus_per_node = -1;
  request.*Field = gpus->count;
  request.spec.gpu_model = std::move(gpus->model);
  return {};
}

template <std::vector<std::string> JobSpec::* Field>
base::Status set_node_names(SubmitDirectives& request, std::string_view value) {
  auto names = parse_nodes(value);
  if (!names) return base::failure(names.error());
  request.spec.*Field = std::move(*names);
  return {};
}

template <TimeNs JobSpec::* Field, base::Result<TimeNs> (*Parse)(std::string_view)>
base::Status set_time(SubmitDirectives& request, std::string_view value) {
  const auto time = Parse(value);
  if (!time) return base::failure(time.error());
  request.spec.*Field = *time;
  return {};
}

template <bool SubmitManner::* Field>
base::Status set_manner(SubmitDirectives& request, std::string_view) {
  request.manner.*Field = true;
  return {};
}

template <bool JobSpec::* Field, bool Value>
base::Status set_flag(SubmitDirectives& request, std::string_view) {
  request.spec.*Field = Value;
  return {};
}

template <core::model::SharingRequest Value>
base::Status set_sharing(SubmitDirectives& request, std::string_view) {
  request.spec.training.sharing = Value;
  return {};
}

template <std::string JobSpec::* Field,
          std::string (*Translate)(SubmitDirectives&, std::string_view)>
base::Status set_output(SubmitDirectives& request, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  request.spec.*Field = Translate(request, *text);
  return {};
}

/// A number without a unit is multiplied by `Unit` bytes.
template <int64_t Unit>
base::Status set_memory(SubmitDirectives& request, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  request.spec.mem_bytes = *bytes;
  request.mem_per_core_bytes = request.mem_per_gpu_bytes = -1;
  return {};
}
template <int64_t SubmitDirectives::* Field, int64_t Unit>
base::Status set_memory_per(SubmitDirectives& request, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  request.mem_per_core_bytes = request.mem_per_gpu_bytes = -1;
  request.*Field = *bytes;
  return {};
}

[[nodiscard]] base::Status add_stage_in(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status add_stage_out(SubmitDirectives& request, std::string_view value);
/// "success" or "always".
[[nodiscard]] base::Status set_stage_out_on(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_priority(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_nodes(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_array(SubmitDirectives& request, std::string_view value);
/// A time as --begin has it; the policy aims at it.
[[nodiscard]] base::Status set_deadline(SubmitDirectives& request, std::string_view value);
/// "append" or "truncate".
[[nodiscard]] base::Status set_open_mode(SubmitDirectives& request, std::string_view value);
/// sbatch --exclusive: no GPU is shared, and a note says what that does not include.
[[nodiscard]] base::Status set_whole_node(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_begin(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_dependencies(SubmitDirectives& request, std::string_view value);
/// "y", "yes" or "n", "no": whether the job may be requeued.
[[nodiscard]] base::Status set_rerunnable(SubmitDirectives& request, std::string_view value);
/// "NAME=COUNT" of a resource type.
[[nodiscard]] base::Status set_resource_type(SubmitDirectives& request, std::string_view name,
                                             std::string_view count);

}  // namespace goban::live::job
