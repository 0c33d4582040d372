// Setters of single options of a JobWish, shared by the command line and all directive dialects.
#pragma once

#include <string_view>

#include "live/job/request_values.hpp"

namespace goban::live::job {

/// Applies the value of an option; empty for flags. Errors: BadData without a place.
using Setter = base::Status (*)(JobWish& wish, std::string_view value);

template <std::string JobSpec::* Field>
base::Status set_text(JobWish& wish, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  wish.spec.*Field = std::move(*text);
  return {};
}

template <int32_t JobWish::* Field>
base::Status set_count(JobWish& wish, std::string_view value) {
  const auto count = parse_count(value, 1);
  if (!count) return base::failure(count.error());
  wish.*Field = *count;
  return {};
}

/// The last one of --gpus, --gpus-per-node and --gpus-per-task takes effect.
template <int32_t JobWish::* Field>
base::Status set_gpus(JobWish& wish, std::string_view value) {
  const auto count = parse_gpus(wish, value);
  if (!count) return base::failure(count.error());
  wish.gpus = wish.gpus_per_node = wish.gpus_per_task = -1;
  wish.*Field = *count;
  return {};
}

template <TimeNs JobSpec::* Field, base::Result<TimeNs> (*Parse)(std::string_view)>
base::Status set_time(JobWish& wish, std::string_view value) {
  const auto time = Parse(value);
  if (!time) return base::failure(time.error());
  wish.spec.*Field = *time;
  return {};
}

template <bool JobSpec::* Field, bool Value>
base::Status set_flag(JobWish& wish, std::string_view) {
  wish.spec.*Field = Value;
  return {};
}

template <core::model::SharingWish Value>
base::Status set_sharing(JobWish& wish, std::string_view) {
  wish.spec.training.sharing = Value;
  return {};
}

template <std::string JobSpec::* Field, std::string (*Translate)(JobWish&, std::string_view)>
base::Status set_output(JobWish& wish, std::string_view value) {
  auto text = checked_text(value);
  if (!text) return base::failure(text.error());
  wish.spec.*Field = Translate(wish, *text);
  return {};
}

/// A number without a unit is multiplied by `Unit` bytes.
template <int64_t Unit>
base::Status set_memory(JobWish& wish, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  wish.spec.mem_bytes = *bytes;
  wish.mem_per_core_bytes = wish.mem_per_gpu_bytes = -1;
  return {};
}
template <int64_t JobWish::* Field, int64_t Unit>
base::Status set_memory_per(JobWish& wish, std::string_view value) {
  const auto bytes = parse_memory(value, Unit);
  if (!bytes) return base::failure(bytes.error());
  wish.mem_per_core_bytes = wish.mem_per_gpu_bytes = -1;
  wish.*Field = *bytes;
  return {};
}

[[nodiscard]] base::Status set_priority(JobWish& wish, std::string_view value);
[[nodiscard]] base::Status set_nodes(JobWish& wish, std::string_view value);
[[nodiscard]] base::Status set_array(JobWish& wish, std::string_view value);
[[nodiscard]] base::Status set_dependencies(JobWish& wish, std::string_view value);
/// "y", "yes" or "n", "no": whether the job may be requeued.
[[nodiscard]] base::Status set_rerunnable(JobWish& wish, std::string_view value);
/// "NAME=COUNT" of a resource type.
[[nodiscard]] base::Status set_resource_type(JobWish& wish, std::string_view name,
                                             std::string_view count);

}  // namespace goban::live::job
