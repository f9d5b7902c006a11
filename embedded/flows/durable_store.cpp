#include "embedded/flows/durable_store.hpp"

#include "base/hash.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace paddock::embedded {

namespace {

constexpr int format = 2; // 1: without sums
constexpr std::uint64_t page_bytes = 4096;

/// What tells a text that was damaged on the disk from the one that was written.
sqlite3_int64 sum_of(std::string_view key, std::string_view text) {
  auto all = std::string{key};
  all += '\n';
  all += text;
  return static_cast<sqlite3_int64>(std::stoul(fnv1a_hex(all), nullptr, 16));
}

/// SQL `paddock_sum(key, text)`.
void sum_function(sqlite3_context* answer, int, sqlite3_value** given) {
  auto text = [](sqlite3_value* x) {
    const auto* from = reinterpret_cast<const char*>(sqlite3_value_text(x));
    return from == nullptr ? std::string_view{} : std::string_view{from, static_cast<std::size_t>(sqlite3_value_bytes(x))};
  };
  sqlite3_result_int64(answer, sum_of(text(given[0]), text(given[1])));
}

struct finalizer {
  void operator()(sqlite3_stmt* x) const {
    sqlite3_finalize(x);
  }
};
using statement = std::unique_ptr<sqlite3_stmt, finalizer>;

} // namespace

struct durable_store::database {
  sqlite3* handle = nullptr;
  std::string file;
  bool broken = false; // a failure left unknown what is on disk
  bool in_group = false;
  std::optional<std::string> spoiled; // why nothing of the group can be kept
  statement put;
  statement erase;
  statement mark;

  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  ~database() {
    put.reset();
    erase.reset();
    mark.reset();
    sqlite3_close_v2(handle);
  }

  [[nodiscard]] std::string failure(const std::string& doing) const {
    auto code = sqlite3_errcode(handle) & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
      return damaged(sqlite3_errmsg(handle));
    return file + ": " + doing + ": " + sqlite3_errmsg(handle);
  }

  [[nodiscard]] std::string damaged(const std::string& how) const {
    return file + " is damaged (" + how
           + "). Nothing of it was changed: put a copy of it in its place, or move it away, with the folder disks beside it, to begin anew";
  }

  int run(const std::string& sql) {
    return sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  }

  statement prepare(const char* sql) {
    sqlite3_stmt* out = nullptr;
    sqlite3_prepare_v2(handle, sql, -1, &out, nullptr);
    return statement{out};
  }

  /// Steps a statement that answers no rows.
  static int step(sqlite3_stmt* x) {
    const int code = sqlite3_step(x);
    sqlite3_reset(x);
    sqlite3_clear_bindings(x);
    return code == SQLITE_DONE ? SQLITE_OK : code;
  }

  /// Keeps it with the rest of the group, which begins with its first write.
  tl::expected<void, std::string> write_in_group(std::uint64_t version, const std::string& key, const std::optional<std::string>& text) {
    if (broken && !spoiled)
      spoiled = file + ": a write failed and may be on disk or not; nothing is written until a restart";
    if (spoiled)
      return tl::unexpected{*spoiled};
    int code = is_open() ? SQLITE_OK : run("BEGIN IMMEDIATE");
    if (code == SQLITE_OK)
      code = write(version, key, text);
    if (code == SQLITE_OK)
      return {};
    spoiled = failure("the write was refused");
    return tl::unexpected{*spoiled};
  }

  tl::expected<void, std::string> end() {
    if (!spoiled && is_open())
      if (const int code = run("COMMIT"); code != SQLITE_OK) {
        spoiled = failure("the write was refused");
        // A full disk is refused before anything counts. Another failure of the end itself tells nothing about the disk.
        broken = broken || (code & 0xff) != SQLITE_FULL;
      }
    if (is_open() && run("ROLLBACK") != SQLITE_OK)
      broken = true;
    if (auto why = std::exchange(spoiled, std::nullopt))
      return tl::unexpected{std::move(*why)};
    return {};
  }

  /// A failure may have ended it.
  [[nodiscard]] bool is_open() const {
    return sqlite3_get_autocommit(handle) == 0;
  }

  int write(std::uint64_t version, const std::string& key, const std::optional<std::string>& text) {
    auto* what = text ? put.get() : erase.get();
    sqlite3_bind_text(what, 1, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
    if (text) {
      sqlite3_bind_text(what, 2, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
      sqlite3_bind_int64(what, 3, sum_of(key, *text));
    }
    if (const int code = step(what); code != SQLITE_OK)
      return code;
    sqlite3_bind_int64(mark.get(), 1, static_cast<sqlite3_int64>(version));
    return step(mark.get());
  }

  /// Fails when a page does not fit the others.
  tl::expected<void, std::string> check_pages() {
    auto check = prepare("PRAGMA quick_check(1)");
    if (!check || sqlite3_step(check.get()) != SQLITE_ROW)
      return tl::unexpected{failure("cannot be read")};
    const auto* said = reinterpret_cast<const char*>(sqlite3_column_text(check.get(), 0));
    if (said == nullptr || std::string_view{said} != "ok")
      return tl::unexpected{damaged(said == nullptr ? "unreadable" : said)};
    return {};
  }

  tl::expected<void, std::string> run_all(std::initializer_list<const char*> statements) {
    for (const auto* sql : statements) {
      const int code = run(sql);
      if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return tl::unexpected{file + ": another process has it open"};
      if (code != SQLITE_OK)
        return tl::unexpected{failure("cannot be prepared")};
    }
    return {};
  }

  tl::expected<int, std::string> stored_format() {
    auto have = prepare("SELECT value FROM meta WHERE name='format'");
    if (!have || sqlite3_step(have.get()) != SQLITE_ROW)
      return tl::unexpected{failure("cannot be read")};
    return sqlite3_column_int(have.get(), 0);
  }

  /// Brings a file of an earlier format to this one, or says that it is of a later one.
  tl::expected<void, std::string> upgrade() {
    auto is = stored_format();
    if (!is)
      return tl::unexpected{is.error()};
    if (*is == 1)
      return run_all({"BEGIN IMMEDIATE", "ALTER TABLE objects ADD COLUMN sum INTEGER NOT NULL DEFAULT 0",
                      "UPDATE objects SET sum=paddock_sum(key, text)", "UPDATE meta SET value=2 WHERE name='format'", "COMMIT"});
    if (*is != format)
      return tl::unexpected{file + ": is of format " + std::to_string(*is) + "; this program knows format " + std::to_string(format)};
    return {};
  }

  tl::expected<void, std::string> prepare_all(std::uint64_t bytes) {
    // A file that is refused is left as it is: closing it must not bring its log into it.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_create_function(handle, "paddock_sum", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, sum_function, nullptr, nullptr);
    // Locked at once and until it is closed: a second process must not write between our writes. What is damaged is found
    // before anything is written.
    auto good = run_all({"PRAGMA locking_mode=EXCLUSIVE", "BEGIN IMMEDIATE", "COMMIT"});
    if (good)
      good = check_pages();
    if (good)
      good = run_all({"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "BEGIN IMMEDIATE",
                      "CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
                      "CREATE TABLE IF NOT EXISTS objects(key TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
                      "INSERT OR IGNORE INTO meta VALUES('format', 2), ('version', 0)", "COMMIT"});
    if (good)
      good = upgrade();
    if (!good)
      return good;
    if (run("PRAGMA max_page_count=" + std::to_string(std::max<std::uint64_t>(bytes / page_bytes, 1))) != SQLITE_OK)
      return tl::unexpected{failure("cannot be bounded")};
    put = prepare("INSERT INTO objects VALUES(?1, ?2, ?3) ON CONFLICT(key) DO UPDATE SET text=excluded.text, sum=excluded.sum");
    erase = prepare("DELETE FROM objects WHERE key=?1");
    mark = prepare("UPDATE meta SET value=?1 WHERE name='version'");
    if (!put || !erase || !mark)
      return tl::unexpected{failure("cannot be prepared")};
    return {};
  }
};

durable_store::durable_store(std::unique_ptr<database> from) : db_(std::move(from)) {
}

durable_store::~durable_store() = default;

tl::expected<std::unique_ptr<durable_store>, std::string> durable_store::open(const durable_options& options) {
  auto db = std::make_unique<database>();
  db->file = options.file.string();
  // Objects hold what only their owner may read; the files beside this one take its mode.
  const int made = ::open(db->file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (made < 0)
    return tl::unexpected{db->file + ": " + std::strerror(errno)};
  ::close(made);
  if (sqlite3_open_v2(db->file.c_str(), &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK)
    return tl::unexpected{db->failure("cannot be opened")};
  if (auto ready = db->prepare_all(options.bytes); !ready)
    return tl::unexpected{ready.error()};
  return std::unique_ptr<durable_store>{new durable_store{std::move(db)}};
}

tl::expected<journal_image, std::string> durable_store::load() {
  journal_image out;
  auto version = db_->prepare("SELECT value FROM meta WHERE name='version'");
  if (!version || sqlite3_step(version.get()) != SQLITE_ROW)
    return tl::unexpected{db_->failure("cannot be read")};
  out.version = static_cast<std::uint64_t>(sqlite3_column_int64(version.get(), 0));
  auto rows = db_->prepare("SELECT key, text, sum FROM objects ORDER BY key");
  if (!rows)
    return tl::unexpected{db_->failure("cannot be read")};
  const auto column = [&](int i) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), i));
    return text == nullptr ? std::string{} : std::string{text, static_cast<std::size_t>(sqlite3_column_bytes(rows.get(), i))};
  };
  int code = sqlite3_step(rows.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(rows.get())) {
    out.objects.emplace_back(column(0), column(1));
    const auto& [key, text] = out.objects.back();
    if (sum_of(key, text) != sqlite3_column_int64(rows.get(), 2))
      return tl::unexpected{db_->damaged("the object " + key + " is not as it was written")};
  }
  if (code != SQLITE_DONE)
    return tl::unexpected{db_->failure("cannot be read")};
  sqlite3_db_config(db_->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return out;
}

tl::expected<void, std::string> durable_store::commit(std::uint64_t version, const std::string& key,
                                                      const std::optional<std::string>& text) {
  if (db_->in_group)
    return db_->write_in_group(version, key, text);
  begin_group();
  if (auto written = db_->write_in_group(version, key, text); !written) {
    [[maybe_unused]] const auto ended = end_group(); // says the same
    return written;
  }
  return end_group();
}

void durable_store::begin_group() {
  db_->in_group = true;
  db_->spoiled.reset();
}

tl::expected<void, std::string> durable_store::end_group() {
  db_->in_group = false;
  return db_->end();
}

} // namespace paddock::embedded
