// Setters of single options of a SubmitRequest, shared by the command line and all directive
// dialects.
#pragma once

#include <string_view>

#include "live/job/request_values.hpp"

namespace goban::live::job {

/// Applies the value of an option; empty for flags. Errors: BadData without a place.
using Setter = base::Status (*)(SubmitRequest& request, std::string_view value);

template <std::string JobSpec::* Field>
base::Status set_text(SubmitRequest& request, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  request.spec.*Field = std::move(*text);
  return {};
}

template <int32_t SubmitRequest::* Field>
base::Status set_count(SubmitRequest& request, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  request.*Field = *count;
  return {};
}

/// The last one of --gpus, --gpus-per-node and --gpus-per-task takes effect.
template <int32_t SubmitRequest::* Field>
base::Status set_gpus(SubmitRequest& request, std::string_view value) {
  const auto count = parse_gpus(request, value);
  if (!count) return base::failure(count.error());
  request.gpus = request.gpus_per_node = request.gpus_per_task = -1;
  request.*Field = *count;
  return {};
}

template <TimeNs JobSpec::* Field, base::Result<TimeNs> (*Parse)(std::string_view)>
base::Status set_time(SubmitRequest& request, std::string_view value) {
  const auto time = Parse(value);
  if (!time) return base::failure(time.error());
  request.spec.*Field = *time;
  return {};
}

template <bool JobSpec::* Field, bool Value>
base::Status set_flag(SubmitRequest& request, std::string_view) {
  request.spec.*Field = Value;
  return {};
}

template <core::model::SharingRequest Value>
base::Status set_sharing(SubmitRequest& request, std::string_view) {
  request.spec.training.sharing = Value;
  return {};
}

template <std::string JobSpec::* Field, std::string (*Translate)(SubmitRequest&, std::string_view)>
base::Status set_output(SubmitRequest& request, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  request.spec.*Field = Translate(request, *text);
  return {};
}

/// A number without a unit is multiplied by `Unit` bytes.
template <int64_t Unit>
base::Status set_memory(SubmitRequest& request, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  request.spec.mem_bytes = *bytes;
  request.mem_per_core_bytes = request.mem_per_gpu_bytes = -1;
  return {};
}
template <int64_t SubmitRequest::* Field, int64_t Unit>
base::Status set_memory_per(SubmitRequest& request, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  request.mem_per_core_bytes = request.mem_per_gpu_bytes = -1;
  request.*Field = *bytes;
  return {};
}

[[nodiscard]] base::Status set_priority(SubmitRequest& request, std::string_view value);
[[nodiscard]] base::Status set_nodes(SubmitRequest& request, std::string_view value);
[[nodiscard]] base::Status set_array(SubmitRequest& request, std::string_view value);
[[nodiscard]] base::Status set_dependencies(SubmitRequest& request, std::string_view value);
/// "y", "yes" or "n", "no": whether the job may be requeued.
[[nodiscard]] base::Status set_rerunnable(SubmitRequest& request, std::string_view value);
/// "NAME=COUNT" of a resource type.
[[nodiscard]] base::Status set_resource_type(SubmitRequest& request, std::string_view name,
                                             std::string_view count);

}  // namespace goban::live::job
