// What scontrol reads on its standard input: one process carries out many orders. Between two
// orders it reads a word that is no command and repeats it among its messages, so that every
// message is known to belong to one order (parse_order_replies).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "live/engine.hpp"
#include "live/engine/cluster/mark.hpp"

namespace goban::live::engine::slurm {

/// How GPUs are chosen.
enum class Indices : uint8_t {
  Nodes,  ///< we name nodes, Slurm takes any of their free GPUs: no change of the cluster
  Types,  ///< a GRES type per index: exactly the GPUs that we name
};

// Marks are written as AdminComment, which users cannot change.
using cluster::Mark;
using cluster::mark_text;
using cluster::parse_mark;
/// AdminComment of a job that its user holds (job_submit.lua).
inline constexpr std::string_view kHeldMark = "goban:held";
/// AdminComment of a job that release_all() took from the nodes that Goban had chosen.
inline constexpr std::string_view kReleasedMark = "goban:none";
/// Slurm decides when the job starts; its owner may hold and release it. A reason may follow
/// ("goban:slurm:several-gpu-types").
inline constexpr std::string_view kSlurmMark = "goban:slurm";
[[nodiscard]] inline bool is_slurms(std::string_view mark) {
  return mark.starts_with(kSlurmMark) &&
         (mark.size() == kSlurmMark.size() || mark[kSlurmMark.size()] == ':');
}

struct ShardUse {
  int32_t count = 0;  ///< 0 = whole GPUs
  /// An earlier run of the job had shards that were named. Slurm 22.05 gives it others if they are
  /// set, and none any more if they are cleared first.
  bool named = false;
};

/// Lines that let a node sleep when its jobs have ended, or wake it. Errors: Failed if it is not a
/// name of a node.
[[nodiscard]] base::Result<std::string> power_lines(std::string_view node, bool down);

/// Lines that place a held job; it stays held, as scontrol goes on after an error: release_lines()
/// follow when these were carried out. Errors: Failed in words for users, if Slurm cannot place it
/// so: other indices on another node, or a name or index that is not one. `gres_prefix`:
/// version.hpp. `partitions`: partitions_for(). `shards`: so many of the one GPU, in place of all
/// of it. `ran`: the job was requeued a moment ago. A node refuses a job that starts again in the
/// second in which it ended there ("credential revoked"), and the job fails: it starts two seconds
/// later.
[[nodiscard]] base::Result<std::string> place_lines(
    std::string_view id, std::span<const NodePart> parts, const Mark& mark, Indices indices,
    std::span<const std::string> index_types,
    std::string_view gres_prefix = "gres:", std::string_view partitions = {}, ShardUse shards = {},
    bool ran = false);
/// Gives a held job its request back (`gres`, as squeue printed it), after lines that cleared it
/// were refused: without GPUs it would not be ours any more. Empty if there is none.
[[nodiscard]] std::string restore_lines(std::string_view id, std::string_view gres);
/// Stores the run with a job that runs.
[[nodiscard]] std::string mark_lines(std::string_view id, const Mark& mark);
/// Takes a job back that waits: it does not start any more.
[[nodiscard]] std::string hold_lines(std::string_view id);
/// Ends what runs of a job, or is suspended; it waits again, held.
[[nodiscard]] std::string requeue_lines(std::string_view id, bool suspended = false);
/// Slurm may start it.
[[nodiscard]] std::string release_lines(std::string_view id);
/// Leaves a held job to Slurm. `why`: a word for its mark.
[[nodiscard]] std::string leave_lines(std::string_view id, std::string_view why);

/// True for "12" and "8_3".
[[nodiscard]] bool is_job_id(std::string_view id);

/// The whole input: the lines of each order; `nonce` is a random word of letters and digits.
[[nodiscard]] std::string order_script(std::span<const std::string> orders, std::string_view nonce);
/// What scontrol said to each of `count` orders on its standard error, in their order; empty: it
/// was carried out. Orders after the last that it read are "no reply".
[[nodiscard]] std::vector<std::string> parse_order_replies(std::string_view errors, size_t count,
                                                           std::string_view nonce);

/// As order_script, but for questions: `show job ID` each; what was printed between two nonces.
[[nodiscard]] std::string show_script(std::span<const std::string> ids, std::string_view nonce);
[[nodiscard]] std::vector<std::string> parse_shown(std::string_view out, size_t count,
                                                   std::string_view nonce);

}  // namespace goban::live::engine::slurm
