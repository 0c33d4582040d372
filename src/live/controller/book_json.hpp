// The job table and the progress observer as JSON: parts of snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "base/json_fields.hpp"
#include "base/result.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/observer.hpp"

namespace goban::live::controller {

/// A job of the table.
[[nodiscard]] nlohmann::json to_json(const LiveJob& job);
/// Errors are stored in `in`. Unknown members are ignored.
void read_job(base::FieldReader& in, LiveJob& job);

[[nodiscard]] nlohmann::json to_json(const JobBook& book);
/// Errors are stored in `in`. Unknown members are ignored.
void read_book(base::FieldReader& in, JobBook& book);

[[nodiscard]] nlohmann::json to_json(const ProgressObserver& observer);
/// `name`: the list that to_json() made.
void read_observer(base::FieldReader& in, const char* name, ProgressObserver& observer);
[[nodiscard]] nlohmann::json paces_json(const ProgressObserver& observer);
/// `name`: the list that paces_json() made. `apps`: current ids by those of the snapshot.
void read_paces(base::FieldReader& in, const char* name, std::span<const core::model::AppId> apps,
                ProgressObserver& observer);

}  // namespace goban::live::controller
