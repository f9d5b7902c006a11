#pragma once

#include "embedded/store_journal.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace paddock::embedded {

struct durable_options {
  std::filesystem::path file;       // made if it is missing, readable by its owner only
  std::uint64_t bytes = 4ull << 30; // the file grows no larger; a write that needs more is refused
};

/// A journal in an SQLite file (WAL, synchronous). A write is on disk when `commit` says so, a group when
/// `end_group` does. One process at a time: a second one
/// is refused at opening. A damaged file is refused, too, and nothing of it is changed: pages that do not fit each other at
/// opening, an object that is not as it was written at `load`. Blocks while it waits for the disk; for one thread at a time.
class durable_store final : public journal_port {
public:
  /// The failure is a text for people that names the file.
  [[nodiscard]] static tl::expected<std::unique_ptr<durable_store>, std::string> open(const durable_options& options);
  ~durable_store() override;

  /// What the file holds now.
  [[nodiscard]] tl::expected<journal_image, std::string> load();

  tl::expected<void, std::string> commit(std::uint64_t version, const std::string& key, const std::optional<std::string>& text) override;
  void begin_group() override;
  tl::expected<void, std::string> end_group() override;

private:
  struct database;
  explicit durable_store(std::unique_ptr<database> from);
  std::unique_ptr<database> db_;
};

} // namespace paddock::embedded
