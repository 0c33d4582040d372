// Episodes of the environment, several at once, and the arrays in which they are observed.
#pragma once

#include <nanobind/nanobind.h>

namespace goban::lab {

/// Registers the class Episodes.
void bind_episodes(nanobind::module_& module);

}  // namespace goban::lab
