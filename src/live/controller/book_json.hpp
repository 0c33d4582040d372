// The book as JSON: part of snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "base/result.hpp"
#include "live/controller/job_book.hpp"
#include "live/controller/observer.hpp"
#include "live/job/json_fields.hpp"

namespace goban::live {

[[nodiscard]] nlohmann::json to_json(const JobBook& book);
/// What is wrong is kept in `in`. Unknown members are passed over.
void read_book(FieldReader& in, JobBook& book);

[[nodiscard]] nlohmann::json to_json(const ProgressObserver& observer);
/// `name`: the list that to_json() made.
void read_observer(FieldReader& in, const char* name, ProgressObserver& observer);
[[nodiscard]] nlohmann::json paces_json(const ProgressObserver& observer);
/// `name`: the list that paces_json() made; `apps`: what their numbers are now.
void read_paces(FieldReader& in, const char* name, std::span<const model::AppId> apps,
                ProgressObserver& observer);

}  // namespace goban::live
