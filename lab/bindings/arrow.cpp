#include "arrow.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <vector>

// The structures of the specification, which fixes names and layout.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace goban::lab {
namespace {

using Bytes = std::vector<std::byte>;

/// A column with its values, or the table: a structure of columns.
struct Column {
  std::string name;
  std::string format;  ///< in the notation of the specification: "g" float64, "+s" structure
  int64_t length = 0;
  std::vector<Bytes> buffers{};  ///< without the validity bitmap: no value is missing
  std::vector<Column> children{};
};

template <typename T>
Bytes bytes_of(const T* values, size_t count) {
  Bytes out(count * sizeof(T));
  if (count > 0) std::memcpy(out.data(), values, out.size());
  return out;
}

template <typename T>
using Numbers = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
bool read_numbers(nb::handle value, const char* format, Column& out) {
  Numbers<T> array;
  if (!nb::try_cast(value, array, false)) return false;
  out.format = format;
  out.length = static_cast<int64_t>(array.size());
  out.buffers.push_back(bytes_of(array.data(), array.size()));
  return true;
}

template <typename Offset>
Bytes offsets_of(const std::vector<size_t>& ends) {
  std::vector<Offset> out{0};
  for (const size_t end : ends) out.push_back(static_cast<Offset>(end));
  return bytes_of(out.data(), out.size());
}

void read_texts(const nb::list& texts, Column& out) {
  std::string all;
  std::vector<size_t> ends;
  for (const nb::handle text : texts) {
    all += nb::cast<std::string>(text);
    ends.push_back(all.size());
  }
  const bool large = all.size() > static_cast<size_t>(INT32_MAX);
  out.format = large ? "U" : "u";
  out.length = static_cast<int64_t>(ends.size());
  out.buffers.push_back(large ? offsets_of<int64_t>(ends) : offsets_of<int32_t>(ends));
  out.buffers.push_back(bytes_of(all.data(), all.size()));
}

bool read_lists(const nb::tuple& pair, Column& out) {
  Numbers<int32_t> offsets;
  Column item{.name = "item", .format = ""};
  if (pair.size() != 2 || !nb::try_cast(pair[0], offsets, false) || offsets.size() == 0 ||
      !read_numbers<int32_t>(pair[1], "i", item)) {
    return false;
  }
  if (offsets.data()[offsets.size() - 1] != item.length) return false;
  out.format = "+l";
  out.length = static_cast<int64_t>(offsets.size()) - 1;
  out.buffers.push_back(bytes_of(offsets.data(), offsets.size()));
  out.children.push_back(std::move(item));
  return true;
}

Column column_of(std::string name, nb::handle value) {
  Column out{.name = std::move(name), .format = ""};
  if (nb::isinstance<nb::list>(value)) {
    read_texts(nb::borrow<nb::list>(value), out);
    return out;
  }
  if (nb::isinstance<nb::tuple>(value) && read_lists(nb::borrow<nb::tuple>(value), out)) return out;
  if (read_numbers<double>(value, "g", out) || read_numbers<int32_t>(value, "i", out) ||
      read_numbers<int64_t>(value, "l", out) || read_numbers<uint8_t>(value, "C", out)) {
    return out;
  }
  throw nb::type_error(("column " + out.name + " has no type of Arrow's").c_str());
}

/// What an exported schema refers to.
struct OwnedSchema {
  std::string name;
  std::string format;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

/// What an exported array refers to.
struct OwnedArray {
  std::vector<Bytes> buffers;
  std::vector<const void*> buffer_pointers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

/// Releases the children that nobody has taken, then what is owned.
template <typename Exported, typename Owned>
void release(Exported* exported) {
  auto* owned = static_cast<Owned*>(exported->private_data);
  for (Exported& child : owned->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete owned;
  exported->release = nullptr;
}

void export_schema(const Column& column, ArrowSchema& out) {
  auto owned = std::make_unique<OwnedSchema>();
  owned->name = column.name;
  owned->format = column.format;
  owned->children.resize(column.children.size());
  for (size_t i = 0; i < column.children.size(); ++i) {
    export_schema(column.children[i], owned->children[i]);
    owned->pointers.push_back(&owned->children[i]);
  }
  out = {.format = owned->format.c_str(),
         .name = owned->name.c_str(),
         .metadata = nullptr,
         .flags = 0,
         .n_children = static_cast<int64_t>(owned->children.size()),
         .children = owned->pointers.data(),
         .dictionary = nullptr,
         .release = release<ArrowSchema, OwnedSchema>,
         .private_data = nullptr};
  out.private_data = owned.release();
}

void export_array(Column column, ArrowArray& out) {
  auto owned = std::make_unique<OwnedArray>();
  owned->buffers = std::move(column.buffers);
  owned->buffer_pointers.push_back(nullptr);
  for (const Bytes& buffer : owned->buffers) owned->buffer_pointers.push_back(buffer.data());
  owned->children.resize(column.children.size());
  for (size_t i = 0; i < column.children.size(); ++i) {
    export_array(std::move(column.children[i]), owned->children[i]);
    owned->pointers.push_back(&owned->children[i]);
  }
  out = {.length = column.length,
         .null_count = 0,
         .offset = 0,
         .n_buffers = static_cast<int64_t>(owned->buffer_pointers.size()),
         .n_children = static_cast<int64_t>(owned->children.size()),
         .buffers = owned->buffer_pointers.data(),
         .children = owned->pointers.data(),
         .dictionary = nullptr,
         .release = release<ArrowArray, OwnedArray>,
         .private_data = nullptr};
  out.private_data = owned.release();
}

/// Names and types alone.
Column shape_of(const Column& column) {
  Column out{.name = column.name, .format = column.format};
  for (const Column& child : column.children) out.children.push_back(shape_of(child));
  return out;
}

struct Source {
  Column shape;
  std::optional<Column> table;  ///< none: it was handed out
};

Source& source_of(const ArrowArrayStream* stream) {
  return *static_cast<Source*>(stream->private_data);
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept {
  try {
    export_schema(source_of(stream).shape, *out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) noexcept {
  Source& source = source_of(stream);
  *out = {};  // no release: the end of the stream
  if (!source.table) return 0;
  try {
    export_array(std::move(*source.table), *out);
    source.table.reset();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

const char* get_last_error(ArrowArrayStream* /*stream*/) noexcept { return "out of memory"; }

void release_stream(ArrowArrayStream* stream) noexcept {
  delete static_cast<Source*>(stream->private_data);
  stream->release = nullptr;
}

void destroy_capsule(PyObject* capsule) noexcept {
  auto* stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

nb::object arrow_stream(const nb::dict& columns) {
  Column table{.name = "", .format = "+s"};
  for (const auto& [name, value] : columns) {
    table.children.push_back(column_of(nb::cast<std::string>(name), value));
    const int64_t length = table.children.back().length;
    if (table.children.size() == 1) table.length = length;
    if (table.length != length) {
      throw nb::value_error(("column " + table.children.back().name + " has " +
                             std::to_string(length) + " rows, the first one " +
                             std::to_string(table.length))
                                .c_str());
    }
  }
  auto source = std::make_unique<Source>();
  source->shape = shape_of(table);
  source->table = std::move(table);
  auto stream =
      std::make_unique<ArrowArrayStream>(ArrowArrayStream{.get_schema = get_schema,
                                                          .get_next = get_next,
                                                          .get_last_error = get_last_error,
                                                          .release = release_stream,
                                                          .private_data = nullptr});
  PyObject* capsule = PyCapsule_New(stream.get(), "arrow_array_stream", destroy_capsule);
  if (capsule == nullptr) throw nb::python_error();
  stream->private_data = source.release();
  [[maybe_unused]] const ArrowArrayStream* held = stream.release();  // by the capsule
  return nb::steal(capsule);
}

}  // namespace goban::lab
