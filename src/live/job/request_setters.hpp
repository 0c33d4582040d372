// Setters of single options of a SubmitDirectives, shared by the command line and all directive
// dialects.
#pragma once

#include <string_view>

#include "live/job/request_values.hpp"

namespace goban::live::job {

/// Applies the value of an option; empty for flags. Errors: BadData without a place.
using Setter = base::Status (*)(SubmitDirectives& request, std::string_view value);

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

/// The last one of --gpus, --gpus-per-node and --gpus-per-task takes effect.
template <int32_t SubmitDirectives::* Field>
base::Status set_gpus(SubmitDirectives& request, std::string_view value) {
  const auto count = parse_gpus(request, value);
  if (!count) return base::failure(count.error());
  request.gpus = request.gpus_per_node = request.gpus_per_task = -1;
  request.*Field = *count;
  return {};
}

template <TimeNs JobSpec::* Field, base::Result<TimeNs> (*Parse)(std::string_view)>
base::Status set_time(SubmitDirectives& request, std::string_view value) {
  const auto time = Parse(value);
  if (!time) return base::failure(time.error());
  request.spec.*Field = *time;
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

[[nodiscard]] base::Status set_priority(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_nodes(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_array(SubmitDirectives& request, std::string_view value);
[[nodiscard]] base::Status set_dependencies(SubmitDirectives& request, std::string_view value);
/// "y", "yes" or "n", "no": whether the job may be requeued.
[[nodiscard]] base::Status set_rerunnable(SubmitDirectives& request, std::string_view value);
/// "NAME=COUNT" of a resource type.
[[nodiscard]] base::Status set_resource_type(SubmitDirectives& request, std::string_view name,
                                             std::string_view count);

}  // namespace goban::live::job
