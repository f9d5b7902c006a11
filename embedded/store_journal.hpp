#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock::embedded {

/// Everything that a journal holds: the version of the last write, and each object's key and text.
struct journal_image {
  std::uint64_t version = 0;
  std::vector<std::pair<std::string, std::string>> objects;
};

/// Keeps what the store writes, so that another process finds it again. One call a write, alone or in a group.
class journal_port {
public:
  virtual ~journal_port() = default;
  /// Keeps one write: the object's new text, or nothing when it is gone. On success it is where a crash cannot take it
  /// away. The failure is a text for people; the store then behaves as if the write had never been asked for, so after
  /// a failure that may have left something behind the journal accepts no further write.
  virtual tl::expected<void, std::string> commit(std::uint64_t version, const std::string& key, const std::optional<std::string>& text) = 0;

  /// The writes from here to `end_group` are kept together: what `commit` says holds only once `end_group` says so, too. When
  /// one of them or the end fails, none of them is kept, as if none had been asked for.
  virtual void begin_group() = 0;
  virtual tl::expected<void, std::string> end_group() = 0;
};

} // namespace paddock::embedded
