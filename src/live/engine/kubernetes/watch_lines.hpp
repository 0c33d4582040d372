// The stream of a watch: one JSON object a line. Pure.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace goban::live::engine::kubernetes {

struct WatchEvent {
  enum class Kind : uint8_t { Set, Deleted, Bookmark, Expired, Broken };
  Kind kind = Kind::Broken;
  std::shared_ptr<const nlohmann::json> object{};  ///< not null, unless it is broken
  std::string version{};                           ///< of the object
};

/// Cuts a stream into events. After Expired or Broken the objects have to be listed anew.
class WatchLines {
 public:
  static constexpr size_t kLineMost = size_t{16} << 20;
  /// Adds bytes that arrived.
  void add(std::string_view bytes) { rest_ += bytes; }
  /// The next whole event; nullopt: none yet.
  [[nodiscard]] std::optional<WatchEvent> next();

 private:
  std::string rest_;
  size_t begin_ = 0;
  size_t searched_ = 0;
};

/// The text of JSON with empty lists in place of `managedFields`. These are half of an object, and
/// say who wrote which field. Text that is no JSON may become other such text.
[[nodiscard]] std::string without_managed_fields(std::string_view text);

/// One line of the stream.
[[nodiscard]] WatchEvent parse_watch_line(std::string_view line);

/// What a list of objects says of itself.
struct ListPage {
  std::shared_ptr<const nlohmann::json> items{};  ///< an array
  std::string version{};
  std::string next{};  ///< of the next page; empty: it is the last
};
/// nullopt: it is no list.
[[nodiscard]] std::optional<ListPage> parse_list_page(std::string_view text);

}  // namespace goban::live::engine::kubernetes
