// Memory policy of a training process.
#pragma once

namespace goban::train::trainer {

/// Keeps freed memory instead of returning it to the system: steps allocate the same sizes
/// repeatedly, and page faults cost a fifth of a step. For the whole process; call it at the start.
void keep_memory();

}  // namespace goban::train::trainer
