// The process that copies: `goban stage-worker` reads one order as a line of JSON (staging_json),
// becomes the owner of the data, and writes reports as lines of JSON. It ends when its input does,
// so that nothing copies for a daemon that is gone.
#pragma once

namespace goban::live::staging {

/// Returns the exit code: 0 if a report says how it went, otherwise 1.
[[nodiscard]] int run_stage_worker(int in, int out);

}  // namespace goban::live::staging
