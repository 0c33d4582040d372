#include "train/trainer/same_on_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <span>
#include <string_view>

#include "train/mesh/tensor_checksum.hpp"

namespace goban::train::trainer {
namespace {

constexpr char kEnd = '\0';  // of a name or value
constexpr size_t kMostNamed = 8;

std::string text_of(const Facts& facts) {
  std::string out;
  for (const auto& [name, value] : facts) out.append(name).append(1, kEnd).append(value) += kEnd;
  return out;
}

Facts facts_in(std::string_view text) {
  Facts out;
  const auto next = [&] {
    const size_t end = text.find(kEnd);
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    return word;
  };
  while (!text.empty()) {
    std::string name = next();
    out.emplace_back(std::move(name), next());
  }
  return out;
}

/// The text of every rank.
base::Result<std::vector<std::string>> gathered(comm::Communicator& end, const std::string& mine) {
  const comm::Group world = comm::whole_world(end.size());
  const auto ranks = static_cast<size_t>(end.size());
  const std::array<int64_t, 1> size = {static_cast<int64_t>(mine.size())};
  std::vector<int64_t> sizes(ranks);
  if (auto s = end.all_gather(world, std::as_bytes(std::span(size)),
                              std::as_writable_bytes(std::span(sizes)), "facts of the ranks");
      !s) {
    return base::failure(s.error());
  }
  const auto longest = static_cast<size_t>(*std::ranges::max_element(sizes));
  std::string padded = mine, all(ranks * longest, kEnd);
  padded.resize(longest, kEnd);
  if (auto s =
          end.all_gather(world, std::as_bytes(std::span(padded)),
                         std::as_writable_bytes(std::span(all)), "text of the facts of the ranks");
      !s) {
    return base::failure(s.error());
  }
  std::vector<std::string> out;
  for (size_t rank = 0; rank < ranks; ++rank) {
    out.push_back(all.substr(rank * longest, static_cast<size_t>(sizes[rank])));
  }
  return out;
}

std::string ranks_text(const std::vector<size_t>& ranks) {
  const auto named = std::min(ranks.size(), kMostNamed);
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s",
                     fmt::join(ranks.begin(), ranks.begin() + static_cast<int64_t>(named), ", "),
                     ranks.size() > named ? fmt::format(" and {} more", ranks.size() - named) : "");
}

std::string rules_text(const std::vector<mesh::TypeRule>& rules) {
  std::string out;
  for (const mesh::TypeRule& rule : rules) {
    out += fmt::format("{}={};", rule.pattern, mesh::dtype_name(rule.activation));
  }
  return out;
}

}  // namespace

Facts facts_of(const TrainOptions& o) {
  const TransformerShape& t = o.transformer;
  const mesh::OptimizerOptions& u = o.optimizer;
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  const auto code = [](auto value) { return std::to_string(static_cast<int>(value)); };
  Facts out = {{"release", GOBAN_VERSION},
               {"task", o.task},
               {"model", o.model},
               {"--mesh", o.mesh},
               {"--layout", o.layout},
               {"--costs", o.costs},
               {"--batch-size", text(o.batch_size)},
               {"--last-batch", o.last_batch == LastBatch::Keep ? "keep" : "drop"},
               {"--micro-batches", text(o.micro_batches)},
               {"--epochs", text(o.epochs)},
               {"number of steps", text(o.most_steps)},
               {"steps between evaluations", text(o.evaluate_every)},
               {"--precision", mesh::dtype_name(o.precision)},
               {"--precision tf32", text(o.tf32)},
               {"--precision-of", rules_text(o.layer_precision)},
               {"--loss-scale", text(o.loss_scale)},
               {"--optimizer (number)", code(u.kind)},
               {"--learning-rate", text(u.learning_rate)},
               {"--lr-factor", text(u.scale)},
               {"scale of the schedule", text(u.schedule_scale)},
               {"--warmup-steps", text(u.warmup_steps)},
               {"other options of the optimizer",
                fmt::format("{} {} {} {} {} '{}' {} {}", u.momentum, u.beta1, u.beta2, u.epsilon,
                            u.weight_decay, u.no_decay, u.clip_rms, u.factor_from)},
               {"--lr-scale (number)", code(o.lr_scale)},
               {"--seed", text(o.seed)},
               {"--train-limit", text(o.train_limit)},
               {"--test-limit", text(o.test_limit)},
               {"--overlap (number)", code(o.overlap)},
               {"--bucket-mb", text(static_cast<double>(o.bucket_bytes) / 1e6)},
               {"--bucket-compression", o.bf16_buckets ? "bf16" : "none"},
               {"--shuffle-buffer", text(o.feeding.shuffle_buffer)},
               {"--resample", text(o.feeding.resample)},
               {"--corrupt", o.feeding.skip_corrupt ? "skip-and-count" : "fail"},
               {"--token-bytes", text(o.feeding.token_bytes)},
               {"--checkpoint", o.checkpoint.empty() ? "not given" : "given"},
               {"--summaries", text(o.summaries)},
               {"--explain-layout", text(o.explain)},
               {"--memory-limit-mb", text(static_cast<double>(o.memory_limit_bytes) / 1e6)}};
  if (o.task == "lm") {
    out.insert(out.end(), {{"--length", text(t.length)},
                           {"--d-model", text(t.d_model)},
                           {"--heads", text(t.heads)},
                           {"--d-head", text(t.d_head)},
                           {"--d-ff", text(t.d_ff)},
                           {"--blocks", text(t.blocks)},
                           {"--dropout", text(t.dropout)},
                           {"--recompute", text(t.recompute)}});
  } else {
    out.emplace_back("--hidden", text(o.hidden));
  }
  return out;
}

Facts facts_of(const Batches& batches) {
  const auto text = [](int64_t samples, uint32_t sum) {
    return fmt::format("{} samples with checksum {:08x}", samples, sum);
  };
  return {{"training data", text(batches.train_size(), batches.train_checksum())},
          {"test data", text(batches.test_size(), batches.test_checksum())}};
}

base::Status same_on_ranks(comm::Communicator& end, const Facts& facts, const std::string& what,
                           const std::string& remedy) {
  if (end.size() == 1) return {};
  const auto texts = gathered(end, text_of(facts));
  if (!texts) return base::failure(texts.error());
  // Per fact, the ranks that have each value; a fact that a rank does not have is a value, too.
  std::vector<std::string> names;
  std::vector<Facts> all;
  for (const std::string& text : *texts) {
    all.push_back(facts_in(text));
    for (const auto& [name, value] : all.back()) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  std::vector<std::string> named;
  for (const std::string& name : names) {
    std::map<std::string, std::vector<size_t>> values;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      const auto found = std::ranges::find(all[rank], name, &Facts::value_type::first);
      values[found == all[rank].end() ? "absent" : "'" + found->second + "'"].push_back(rank);
    }
    if (values.size() == 1) continue;
    std::vector<std::string> parts;
    for (const auto& [value, ranks] : values) {
      parts.push_back(fmt::format("{} on {}", value, ranks_text(ranks)));
      if (parts.size() == kMostNamed) break;
    }
    named.push_back(fmt::format("{} is {}", name, fmt::join(parts, ", ")));
  }
  if (named.empty()) return {};
  if (named.size() > kMostNamed) {
    const size_t more = named.size() - kMostNamed;
    named.resize(kMostNamed);
    named.push_back(fmt::format("and {} more", more));
  }
  return base::usage_error(fmt::format("{}: {}", what, fmt::join(named, "; ")), remedy);
}

base::Status same_options(comm::Communicator& end, const Facts& facts) {
  return same_on_ranks(end, facts, "the ranks were started with different options",
                       "start all ranks with the same command line");
}

base::Status check_fed_alike(comm::Communicator& end, const Batches& batches,
                             const mesh::Plan& plan, const mesh::Feeds& feeds) {
  if (end.size() == 1) return {};
  uint32_t sum = 0;
  for (const auto& [name, tensor] : feeds) sum ^= mesh::checksum_of(tensor.contiguous());
  const std::array<int64_t, 2> mine = {batches.parts() > 1 ? fed_part(plan).part : 0, sum};
  std::vector<int64_t> all(2 * static_cast<size_t>(end.size()));
  if (auto s = end.all_gather(comm::whole_world(end.size()), std::as_bytes(std::span(mine)),
                              std::as_writable_bytes(std::span(all)), "checksums of the feeds");
      !s) {
    return s;
  }
  for (size_t i = 0; i < all.size(); i += 2) {
    if (all[i] != mine[0] || all[i + 1] == mine[1]) continue;
    return base::failed(fmt::format("rank {} and rank {} feed part {} of the batch with different "
                                    "samples",
                                    end.rank(), i / 2, mine[0]),
                        "give all ranks the same shards and the same index");
  }
  return {};
}

base::Status check_copies(mesh::Variables& variables, int64_t step) {
  const auto unequal = variables.unequal_copies();
  if (!unequal) return base::failure(unequal.error());
  if (!*unequal) return {};
  return base::failed(
      fmt::format("rank {} and rank {} have different copies of '{}' after step {}",
                  (*unequal)->rank, (*unequal)->other, (*unequal)->name, step),
      "nothing was saved; one of them computes wrongly: check processor, memory and libraries of "
      "its machine");
}

}  // namespace goban::train::trainer
