// The book as JSON: part of snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "base/json_fields.hpp"
#include "base/result.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/observer.hpp"

namespace goban::live::controller {

[[nodiscard]] nlohmann::json to_json(const JobBook& book);
/// What is wrong is kept in `in`. Unknown members are passed over.
void read_book(base::FieldReader& in, JobBook& book);

[[nodiscard]] nlohmann::json to_json(const ProgressObserver& observer);
/// `name`: the list that to_json() made.
void read_observer(base::FieldReader& in, const char* name, ProgressObserver& observer);
[[nodiscard]] nlohmann::json paces_json(const ProgressObserver& observer);
/// `name`: the list that paces_json() made; `apps`: what their numbers are now.
void read_paces(base::FieldReader& in, const char* name, std::span<const core::model::AppId> apps,
                ProgressObserver& observer);

}  // namespace goban::live::controller
