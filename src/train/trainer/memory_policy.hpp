// How a training process keeps its memory.
#pragma once

namespace goban::train::trainer {

/// Steps allocate the same sizes again and again: keep the memory instead of giving it back to the
/// system, whose page faults cost a fifth of a step. For the whole process, at its start.
void keep_memory();

}  // namespace goban::train::trainer
