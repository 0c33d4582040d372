// Names of the applications that the co-location history is about: those that it came with, and
// those that jobs brought since.
#pragma once

#include <vector>

#include "base/name_table.hpp"
#include "core/policy/knowledge.hpp"
#include "core/scheduler/core_image.hpp"
#include "live/job/job_spec.hpp"

namespace goban::live::controller {

/// Numbers of applications and GPU types as the core has them.
class Applications {
 public:
  /// More are not told apart: a name costs memory for ever.
  static constexpr size_t kMost = 100'000;

  /// `known`: null if the site has no knowledge; then jobs have no applications.
  explicit Applications(const core::policy::SiteKnowledge* known);

  /// The application of a job: its model at its batch size; without a model, what its program was
  /// recognised as. Invalid: it has neither, or there are too many.
  [[nodiscard]] core::model::AppId of(const job::JobSpec& spec);

  [[nodiscard]] const base::NameTable& names() const { return names_; }
  [[nodiscard]] const base::NameTable& gpu_types() const { return gpu_types_; }

  /// Numbers of here for those of a snapshot, whose history may have been another.
  struct Renumbering {
    std::vector<core::model::AppId> apps{};
    std::vector<core::knowledge::GpuTypeId> gpu_types{};
    [[nodiscard]] bool is_needed() const;
  };
  /// Takes names that are new here, too.
  [[nodiscard]] Renumbering adopt(const std::vector<std::string>& apps,
                                  const std::vector<std::string>& gpu_types);

  /// The history that the core has learned, with the names: ready to be written as a file.
  [[nodiscard]] core::knowledge::ColocationHistory named(
      const core::knowledge::ColocationHistory& learned) const;

 private:
  const core::policy::SiteKnowledge* known_;
  base::NameTable names_;
  base::NameTable gpu_types_;
};

}  // namespace goban::live::controller
