// The columns of a sacct dump, and how its lines are split into them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goban::site::records {

/// The columns that are used.
enum class SlurmColumn : uint8_t {
  JobId,
  JobIdRaw,
  Cluster,
  Partition,
  Qos,
  Account,
  Group,
  User,
  Submit,
  Eligible,
  Start,
  End,
  Elapsed,
  ExitCode,
  State,
  NumNodes,
  NumCpus,
  ReqMem,
  ReqTres,
  AllocTres,
  AllocGres,
  TimeLimit,
  TimeLimitRaw,
  NodeList,
  SubmitLine,
  AdminComment,
  JobName,
  Reservation,
  Priority,
  Restarts,
  Container,
  UsageInMax,
  UsageInTot,
  UsageOutTot,
  MaxRss,
  TotalCpu,
  Suspended,
};
inline constexpr size_t kNumSlurmColumns = 37;

/// The columns and the delimiter of the lines that follow, from the first line.
class SlurmHeader {
 public:
  /// Parses a header line of `sacct -P` or `-p`, with any --delimiter. None if it is not one.
  [[nodiscard]] static std::optional<SlurmHeader> parse(std::string_view line);
  /// The 26 columns of XDMoD sites, which have no header: `sacct --parsable2 --noheader --format
  /// jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,
  /// elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname`.
  [[nodiscard]] static SlurmHeader xdmod();
  /// True for a record with those 26 columns.
  [[nodiscard]] static bool is_xdmod_line(std::string_view line);

  /// Splits a line; free texts (job name, submit line, comment) may contain the delimiter. Returns
  /// what is wrong; empty = nothing. Views into `line`.
  [[nodiscard]] std::string split(std::string_view line);

  [[nodiscard]] bool has(SlurmColumn column) const { return at_[index(column)] >= 0; }
  /// The field of the last split line; empty if there is no such column.
  [[nodiscard]] std::string_view field(SlurmColumn column) const {
    const int at = at_[index(column)];
    return at < 0 ? std::string_view() : fields_[static_cast<size_t>(at)];
  }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  static size_t index(SlurmColumn column) { return static_cast<size_t>(column); }
  SlurmHeader() { at_.fill(-1); }
  void set_columns(std::span<const std::string> names);
  void cut(std::string_view line);
  [[nodiscard]] std::string join_free_texts(std::string_view line);

  std::string delimiter_ = "|";
  size_t num_columns_ = 0;
  bool ends_with_delimiter_ = false;  ///< sacct -p
  std::array<int, kNumSlurmColumns> at_{};
  size_t first_free_ = SIZE_MAX;  ///< columns of free text
  size_t last_free_ = 0;
  bool free_texts_together_ = true;
  std::vector<std::string> ignored_;
  std::vector<std::string_view> fields_;
};

}  // namespace goban::site::records
