// Events of engines as fields of the journal's inputs. All fields may be missing when read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/json_fields.hpp"
#include "live/engine.hpp"

namespace goban::live::controller {

void put_parts(const char* name, const std::vector<NodePart>& parts, nlohmann::json& out);
void read_node_parts(base::FieldReader& in, const char* name, std::vector<NodePart>& parts);

void put_event(const JobSeen& event, nlohmann::json& out);
void put_event(const JobGone& event, nlohmann::json& out);
void put_event(const ClusterSeen& event, nlohmann::json& out);
void read_event(base::FieldReader& in, JobSeen& event);
void read_event(base::FieldReader& in, JobGone& event);
void read_event(base::FieldReader& in, ClusterSeen& event);

}  // namespace goban::live::controller
