// The earliest start of a job, as `sbatch --begin` reads it (Slurm 22.05).
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace goban::live::job {

/// "16:00[:30]" (the next such time), "2026-12-01[T08:00[:00]]" (with a zone at its end, or local
/// time), "now", "now+2hours" (seconds without a unit), "today", "tomorrow", "midnight", "noon",
/// "elevenses", "fika", "teatime". Returns whole seconds since 1970, in ns; 0 for "now". Local
/// times are those of this process (`TZ`). Errors: BadData without a place.
[[nodiscard]] base::Result<base::TimeNs> parse_begin(std::string_view text, base::TimeNs now_ns);

}  // namespace goban::live::job
