// Names of the applications in the co-location history: those of the configured history, and those
// of jobs submitted since.
#pragma once

#include <vector>

#include "base/name_table.hpp"
#include "core/policy/knowledge.hpp"
#include "core/scheduler/core_image.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// Maps applications and GPU types to the ids that the core uses.
class Applications {
 public:
  /// Maximum number of applications: names are never removed from memory.
  static constexpr size_t kMost = 100'000;

  /// `known`: the site's knowledge; null if it has none, and then no job has an application.
  explicit Applications(const core::policy::SiteKnowledge* known);

  /// The application of a job: its model at its batch size, or without a model its recognised
  /// program. Invalid if it has neither, or if there are too many applications.
  [[nodiscard]] core::model::AppId of(const job::JobSpec& spec);

  [[nodiscard]] const base::NameTable& names() const { return names_; }
  [[nodiscard]] const base::NameTable& gpu_types() const { return gpu_types_; }

  /// Current ids by the ids of a snapshot, which may have been made with another history.
  struct Renumbering {
    std::vector<core::model::AppId> apps{};
    std::vector<core::knowledge::GpuTypeId> gpu_types{};
    [[nodiscard]] bool is_needed() const;
  };
  /// Adds names that are new. Returns the current ids.
  [[nodiscard]] Renumbering adopt(const std::vector<std::string>& apps,
                                  const std::vector<std::string>& gpu_types);

  /// The co-location history learned by the core, with names, for writing it to a file.
  [[nodiscard]] core::knowledge::ColocationHistory named(
      const core::knowledge::ColocationHistory& learned) const;

 private:
  const core::policy::SiteKnowledge* known_;
  base::NameTable names_;
  base::NameTable gpu_types_;
};

}  // namespace goban::live::controller
