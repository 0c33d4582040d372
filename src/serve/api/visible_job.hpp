// The job that a request names, if its caller may see it.
#pragma once

#include <functional>
#include <optional>
#include <tl/expected.hpp>

#include "serve/api/api.hpp"

namespace goban::serve::api {

/// What is needed to open the files of a job.
struct VisibleJob {
  core::model::JobId job{};
  live::job::JobSpec spec{};
  bool has_started = true;
  bool is_of_cluster = false;  ///< of the cluster's own queue, which writes its output
};

/// A job of the scheduler, or of the history. The refusal if there is none, if it belongs to
/// another user, or if the history cannot be read now.
[[nodiscard]] tl::expected<VisibleJob, base::http::Response> visible_job(const Call& call,
                                                                         const ApiContext& context);

/// Calls `use` under the scheduler's lock if the scheduler has the job; jobs of the history are
/// not looked for. The refusal if it was not called.
[[nodiscard]] std::optional<base::http::Response> with_visible_job(
    const Call& call, const ApiContext& context,
    const std::function<void(const live::loop::SchedulerSnapshot&,
                             const live::controller::LiveJob&)>& use);

}  // namespace goban::serve::api
