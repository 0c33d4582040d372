#include "site/records/json_objects.hpp"

namespace goban::site::records {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kKeyBytesMax = 16;  ///< of `items`, the only key that matters
constexpr int kDepthMax = 1000;

}  // namespace

JsonObjects::JsonObjects(base::ByteSource& source, std::string_view first, int64_t line)
    : source_(source), block_(first), line_(line) {}

bool JsonObjects::fail(std::string message, std::string remedy) {
  status_ =
      base::bad_data({{}, static_cast<int>(line_), 0, {}}, std::move(message), std::move(remedy));
  return false;
}

bool JsonObjects::fill() {
  block_.resize(kBlockBytes);
  at_ = 0;
  const auto got = source_.read(block_.data(), block_.size());
  if (!got) {
    status_ = base::failure(got.error());
    return false;
  }
  block_.resize(*got);
  if (*got > 0) return true;
  if (depth_ > 0)
    return fail("the JSON text ends within an object or array", "check that the file is complete");
  return false;
}

bool JsonObjects::next() {
  text_.clear();
  while (status_) {
    if (at_ == block_.size() && !fill()) return false;
    while (at_ < block_.size()) {
      const char c = block_[at_++];
      if (take(c)) return true;
      if (!status_) return false;
    }
    if (text_.size() > kObjectBytesMax) return fail("an object is larger than 64 MiB", "split it");
  }
  return false;
}

bool JsonObjects::take_in_string(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    return false;
  }
  if (depth_ == 1 && last_string_.size() < kKeyBytesMax) last_string_ += c;
  return false;
}

bool JsonObjects::take(char c) {
  if (c == '\n') ++line_;
  if (capturing_) text_ += c;
  if (in_string_) return take_in_string(c);
  switch (c) {
    case '"':
      in_string_ = true;
      if (depth_ == 1) last_string_.clear();
      break;
    case ':':
      if (depth_ == 1) key_ = last_string_;
      break;
    case '{':
    case '[':
      open(c);
      break;
    case '}':
    case ']':
      return close();
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
      return false;
    default:
      break;
  }
  if (depth_ > 0 || c == '{' || c == '[') return false;
  return fail("not a JSON object or array",
              "the input must be an array, a list object or consecutive objects");
}

void JsonObjects::open(char c) {
  if (depth_ >= kDepthMax) {
    fail("brackets are nested deeper than 1,000", "check that the file is a job history");
    return;
  }
  if (c == '{' && depth_ == record_depth_ && !capturing_) {
    capturing_ = true;
    object_line_ = line_;
    text_.push_back(c);
    key_.clear();
  } else if (c == '[' && depth_ == 0) {
    record_depth_ = 1;
  } else if (c == '[' && depth_ == 1 && record_depth_ == 0 && key_ == "items") {
    capturing_ = false;  // the object is a list; its items are the records
    text_.clear();
    record_depth_ = 2;
  }
  ++depth_;
}

bool JsonObjects::close() {
  if (depth_ == 0)
    return fail("a closing bracket does not match an opening one",
                "check that the file is complete");
  --depth_;
  const bool ends_record = capturing_ && depth_ == record_depth_;
  if (ends_record) capturing_ = false;
  if (depth_ == 0) record_depth_ = 0;
  return ends_record;
}

}  // namespace goban::site::records
