#include "train/mesh/checkpoint.hpp"

#include <ATen/ops/empty.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <span>
#include <system_error>
#include <unistd.h>

#include "base/file_checksum.hpp"
#include "base/files.hpp"
#include "train/mesh/kernels.hpp"
#include "train/mesh/tensor_checksum.hpp"

namespace goban::train::mesh {
namespace {

// Format: the line kMagic with the CRC-32 of the rest of the header (version 1: kFirstMagic alone,
// without a checksum); the bookmark as key=value lines; "--"; one line per variable ("name
// dtype sizes... crc32"); "--"; the bytes of the variables in that order.
constexpr std::string_view kMagic = "goban-checkpoint 2 ", kFirstMagic = "goban-checkpoint 1";

std::string_view view_of(const at::Tensor& x) {
  return {static_cast<const char*>(x.data_ptr()), x.nbytes()};
}

std::string header_sum(std::string_view header) {
  return fmt::format("{:08x}", base::crc32_of(header));
}

/// A file that is written completely or not at all.
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {
    file_.reset(open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    note(static_cast<bool>(file_));
  }
  ~NewFile() {
    if (!kept_) unlink(partial_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void add(std::string_view bytes) {
    if (error_ == 0) note(base::write_all(file_.get(), bytes));
  }
  base::Status keep() {
    if (error_ == 0) note(fsync(file_.get()) == 0);
    if (error_ == 0) note(rename(partial_.c_str(), path_.c_str()) == 0);
    kept_ = error_ == 0;
    if (kept_) return {};
    std::error_code ignored;
    const bool kept = std::filesystem::exists(path_, ignored);
    return base::failed(fmt::format("cannot write '{}': {}", path_, std::strerror(error_)),
                        kept ? "the last complete checkpoint is intact"
                             : "nothing of this run is saved; the folder must have free space");
  }

 private:
  void note(bool good) {
    if (!good && error_ == 0) error_ = errno;
  }
  std::string path_, partial_;
  base::Descriptor file_;
  int error_ = 0;
  bool kept_ = false;
};

/// What the index says of a variable, without its checksum.
std::string description(const Variable& variable) {
  std::string line = fmt::format("{} {}", variable.name, dtype_name(variable.checkpoint_dtype()));
  for (const Dim& dim : variable.shape.dims()) line += fmt::format(" {}", dim.size);
  return line;
}

std::string index_line(const Variable& variable, uint32_t sum) {
  return fmt::format("{} {:08x}\n", description(variable), sum);
}

/// Shares rank 0's outcome with all ranks.
base::Status agree(base::Status mine, comm::Communicator& end, const std::string& path) {
  const auto bad = comm::reduced(end, mine ? 0 : 1, comm::Reduction::Max, "checkpoint written");
  if (!mine) return mine;
  if (!bad) return base::failure(bad.error());
  if (*bad != 0) return base::failed(fmt::format("rank 0 could not write '{}'", path));
  return {};
}

/// The contents of a file that matches the graph.
struct Read {
  Bookmark bookmark;
  std::vector<at::Tensor> values;
  uint32_t head_sum = 0;  ///< checksum of the header, which contains the checksums of all values
};

base::Result<std::optional<Read>> read_file(const std::string& path, const Graph& graph) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::optional<Read>{};
  if (std::filesystem::is_other(status)) {  // a pipe would be waited for
    return base::bad_data({path, 0, 0, ""}, "is not a regular file",
                          "remove it to train from the start");
  }
  std::ifstream in(path, std::ios::binary);
  if (error || !in) {
    return base::failed(fmt::format("cannot open checkpoint '{}'{}", path,
                                    error ? ": " + error.message() : std::string()),
                        "the folder and the file must be readable by this user");
  }
  const auto bad = [&](const std::string& what) {
    return base::bad_data({path, 0, 0, ""}, what,
                          "restore it from a copy, or remove it to train from the start");
  };
  const auto other_model = [&](const std::string& what) {
    return base::bad_data({path, 0, 0, ""}, what,
                          "another model, optimiser or precision (fp16 keeps its loss scale in "
                          "variables) has others: resume with the options of the run that saved "
                          "it, or remove it to train from the start");
  };
  Read out;
  std::string line, head, wanted_sum;
  const auto next = [&] {
    if (!std::getline(in, line)) return false;
    head += line + "\n";
    return true;
  };
  const bool first_version = next() && line == kFirstMagic;
  if (!first_version && !line.starts_with(kMagic)) {
    return bad("is not a checkpoint of version 1 or 2");
  }
  if (!first_version) wanted_sum = line.substr(kMagic.size());
  const size_t summed_from = head.size();
  while (next() && line != "--") {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return bad("has a bookmark entry without '='");
    out.bookmark[line.substr(0, equals)] = line.substr(equals + 1);
  }
  std::vector<std::string> found;
  while (next() && line != "--") found.push_back(line);
  if (!in) return bad("is truncated in its index");
  if (!first_version && wanted_sum != header_sum(std::string_view(head).substr(summed_from))) {
    return bad("its header, the position and settings of the run, is damaged: checksum mismatch");
  }
  if (found.size() != graph.variables().size()) {
    return other_model(fmt::format("has {} variables, but the model has {}", found.size(),
                                   graph.variables().size()));
  }
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < found.size(); ++i) known[description(graph.variables()[i])] = i;
  out.values.resize(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    // By name: other versions add variables of the optimiser in another order.
    const auto described = known.find(found[i].substr(0, found[i].rfind(' ')));
    if (described == known.end()) {
      return other_model(fmt::format("contains '{}' where the model has '{}' {}", found[i],
                                     graph.variables()[i].name, graph.variables()[i].shape.text()));
    }
    const size_t number = described->second;
    known.erase(described);  // each is there once
    const Variable& variable = graph.variables()[number];
    std::vector<int64_t> sizes;
    for (const Dim& dim : variable.shape.dims()) sizes.push_back(dim.size);
    at::Tensor value = at::empty(sizes, scalar_type(variable.checkpoint_dtype()));
    in.read(static_cast<char*>(value.data_ptr()), static_cast<std::streamsize>(value.nbytes()));
    if (!in) return bad(fmt::format("is truncated in variable '{}'", variable.name));
    if (index_line(variable, checksum_of(value)) != found[i] + "\n") {
      return bad(fmt::format("variable '{}' is damaged: checksum mismatch", variable.name));
    }
    out.values[number] = value;
  }
  if (in.peek() != std::ifstream::traits_type::eof()) return bad("has extra bytes after its end");
  out.head_sum = base::crc32_of(head);
  return std::optional(std::move(out));
}

/// This rank's outcome if it is the same on all ranks; otherwise an error on each rank.
base::Status same_on_all(const base::Result<std::optional<Read>>& mine, comm::Communicator& end,
                         const std::string& path) {
  enum Outcome : int64_t { kNone, kRead, kFailed };
  struct Told {
    int64_t outcome, sum;
  };
  Told own{kFailed, 0};
  if (mine) own = *mine ? Told{kRead, (*mine)->head_sum} : Told{kNone, 0};
  std::vector<Told> all(static_cast<size_t>(end.size()));
  const auto gathered =
      end.all_gather(comm::whole_world(end.size()), std::as_bytes(std::span(&own, 1)),
                     std::as_writable_bytes(std::span(all)), "checkpoint read");
  if (!mine) return base::failure(mine.error());
  if (!gathered) return gathered;
  const auto said = [&](size_t rank) {
    return all[rank].outcome == kNone ? fmt::format("rank {} finds no file", rank)
                                      : fmt::format("rank {} reads checksum {:08x}", rank,
                                                    static_cast<uint32_t>(all[rank].sum));
  };
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].outcome == kFailed) {
      return base::failed(fmt::format("rank {} could not read '{}'", rank, path));
    }
    if (all[rank].outcome == all[0].outcome && all[rank].sum == all[0].sum) continue;
    return base::bad_data(
        {path, 0, 0, ""},
        fmt::format("is not the same checkpoint on all ranks: {}, {}", said(0), said(rank)),
        "the ranks see different folders; use an absolute path on a file system that "
        "all of them share");
  }
  return {};
}

}  // namespace

base::Status save_checkpoint(const std::string& path, Variables& variables,
                             const Bookmark& bookmark) {
  const Graph& graph = variables.graph();
  const bool writer = variables.end().rank() == 0;
  std::vector<at::Tensor> kept;
  std::string head;
  for (const auto& [key, value] : bookmark) head += fmt::format("{}={}\n", key, value);
  head += "--\n";
  for (size_t i = 0; i < variables.size(); ++i) {
    auto whole = variables.whole(static_cast<VariableId>(i));
    if (!whole) return base::failure(whole.error());
    if (!writer) continue;
    kept.push_back(
        whole->to(at::kCPU, scalar_type(graph.variables()[i].checkpoint_dtype())).contiguous());
    head += index_line(graph.variables()[i], checksum_of(kept.back()));
  }
  head += "--\n";
  base::Status written;
  if (writer) {
    NewFile file(path);
    file.add(fmt::format("{}{}\n", kMagic, header_sum(head)));
    file.add(head);
    for (const at::Tensor& each : kept) file.add(view_of(each));
    written = file.keep();
  }
  return agree(written, variables.end(), path);
}

base::Result<std::optional<Bookmark>> resume_checkpoint(const std::string& path,
                                                        Variables& variables) {
  auto mine = read_file(path, variables.graph());
  if (auto same = same_on_all(mine, variables.end(), path); !same) {
    return base::failure(same.error());
  }
  if (!*mine) return std::optional<Bookmark>{};
  Read& read = **mine;
  for (size_t i = 0; i < read.values.size(); ++i) {
    variables.set_whole(static_cast<VariableId>(i), read.values[i]);
  }
  return std::optional(std::move(read.bookmark));
}

}  // namespace goban::train::mesh
