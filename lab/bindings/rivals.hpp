// Published schedulers, replayed decision by decision.
#pragma once

#include <nanobind/nanobind.h>

namespace goban::lab {

/// Registers the functions of rivals.
void bind_rivals(nanobind::module_& module);

}  // namespace goban::lab
