// goban cluster import: what a site's own tools say of its nodes, as a cluster file.
#pragma once

#include "cli/shell/command.hpp"

namespace goban::cli {

/// Adds `import` to `goban cluster`.
void add_cluster_import(Command& cluster, Action& action);

}  // namespace goban::cli
