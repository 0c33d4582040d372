// POST /v1/jobs. Its body: fields of JobSpec, and the payload (script, arguments, environment).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/model/cluster.hpp"
#include "live/controller/site.hpp"
#include "live/job/job_spec.hpp"
#include "serve/api/submission_checks.hpp"

namespace goban::serve::api {

struct SubmitRequest {
  std::vector<live::job::JobSpec> jobs{};  ///< one, or the tasks of an array; without owner
  std::string payload{};                   ///< {"script", "args", "env", "dialect"}
  std::string user{};                      ///< owner of the job; empty = the caller
};

/// Errors: BadData with the field: unknown, missing, too large, of the wrong type, or set by the
/// server only (owner, payload, array_first, array_task).
[[nodiscard]] base::Result<SubmitRequest> parse_submit_request(std::string_view body,
                                                               const SubmitLimits& limits = {});

/// Fills in what a job leaves unset: from its resource type, otherwise from the site's `limits`. A
/// job that requests no GPU and no type becomes a number of slots of the type `cores`, if the
/// cluster has it. Errors: BadData with the field, if the job requests more than the type, the site
/// or the machine has.
[[nodiscard]] base::Status fill_unset(live::job::JobSpec& spec, const core::model::Cluster& cluster,
                                      const live::controller::JobLimits& limits);

/// The name of the implicit resource type of a machine that has none.
inline constexpr const char* kSlots = "cores";
/// That type: one core and its share of the machine's memory; one instance per core.
[[nodiscard]] core::model::ResourceType core_slots(const core::model::HostResources& host);

}  // namespace goban::serve::api
