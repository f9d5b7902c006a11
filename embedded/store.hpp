#pragma once

#include "base/time.hpp"
#include "embedded/managed_fields.hpp"
#include "embedded/object.hpp"
#include "embedded/object_text.hpp"
#include "embedded/resource.hpp"
#include "embedded/selector.hpp"
#include "embedded/status.hpp"
#include "embedded/store_journal.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace paddock::embedded {

/// One version of an object. Never changes. It is kept as text alone: values of it would take several times as much.
struct stored_object {
  const resource_kind* kind = nullptr;
  std::uint64_t version = 0;
  std::string text; // as it is sent
  std::uint32_t managed_at = 0;
  std::uint32_t managed_size = 0;

  /// What the text has as `metadata.managedFields`; empty: nothing.
  [[nodiscard]] std::string_view managed() const {
    return std::string_view{text}.substr(managed_at, managed_size);
  }
  /// The object without `metadata.managedFields`, parsed anew.
  [[nodiscard]] json value() const;
  /// The text at `path`, or an empty one when there is none; and whether anything is there. Nothing is parsed.
  [[nodiscard]] std::string text_at(std::initializer_list<std::string_view> path) const {
    return text_in(text, path);
  }
  [[nodiscard]] bool has(std::initializer_list<std::string_view> path) const {
    return !written_at(text, path).empty();
  }
};
using object_ptr = std::shared_ptr<const stored_object>;

/// The object with these managers, as JSON. `value` itself has none.
[[nodiscard]] object_ptr make_stored(const resource_kind& kind, std::uint64_t version, json value, std::string_view managed);
/// The object that is written so, which `encode_json` has done.
[[nodiscard]] object_ptr make_stored(const resource_kind& kind, std::uint64_t version, std::string text);

/// Where an object stands among those of its kind: lists are in this order.
struct list_key {
  std::string name_space;
  std::string name;
  friend auto operator<=>(const list_key&, const list_key&) = default;
};

/// One write. `now` of a deletion is the last state under the version of the deletion.
struct store_event {
  std::uint64_t version = 0;
  list_key at;
  object_ptr before; // null: created
  object_ptr now;
  bool deleted = false;
};

struct store_bounds {
  std::size_t events = 8192;                   // kept for watches
  std::size_t event_bytes = 32u * 1024 * 1024; // of the objects in them
  std::size_t bytes = std::size_t{1} << 30;    // of all objects together
};

/// Where the names and uids of new objects come from.
struct store_names {
  std::function<std::string()> uid;               // a new UUID
  std::function<std::string(std::size_t)> suffix; // random lower-case letters and digits
};

/// Asked before a write is kept: the object as it would be (null: gone) and as it is (null: absent).
using admission_hook = std::function<api_result<void>(const json* object, const json* old)>;

struct write_options {
  bool dry_run = false;                // answer as if it were done; nothing is kept
  bool strict = false;                 // refuse unknown fields where they would be taken out
  std::vector<std::string> twice = {}; // what a strict decoder says of the text that was sent, besides
  field_author author = {};
  bool applied = false;      // the managers of what is written are already those after the write
  admission_hook admit = {}; // empty: everything is admitted
};

struct written {
  object_ptr object;
  std::vector<std::string> unknown_fields; // that were taken out
};

/// What becomes of the objects that an object owns.
enum class propagation { background, foreground, orphan };

struct delete_request {
  std::optional<std::string> uid = {}; // preconditions, looked at in this order
  std::optional<std::string> version = {};
  std::optional<std::int64_t> grace_seconds = {}; // absent: what the object says
  std::optional<propagation> children = {};       // absent: what an earlier request said, else the background
  bool dry_run = false;
  admission_hook admit = {}; // empty: everything is admitted
};

struct deleted {
  object_ptr object;
  bool gone = false; // false: it is terminating and stays readable
};

/// What a list is about.
struct list_query {
  std::string name_space = {}; // empty: all
  selection what = {};
  std::optional<std::uint64_t> version = {}; // absent: as it is now; else not before the store's floor
  std::optional<list_key> after = {};        // what stands up to here is left out
  std::size_t limit = 0;                     // 0: none
};

struct listed {
  std::vector<object_ptr> items;
  bool more = false;
  std::optional<std::size_t> remaining; // how many more; absent when only a search would tell
};

/// The objects of the built-in cluster, in memory, with the semantics of the API server: uids, one rising
/// resourceVersion, generation, defaults, graceful deletion, and the latest writes for watches. With a journal, a write is
/// answered after the journal has it, and a write that the journal refuses changes nothing.
///
/// Not done: what controllers do, as the finalizer that protects claims in use, and emptying a namespace.
class store {
public:
  using instant = time_source::wall_clock::time_point;
  /// From the stored object, without its managers, to the wanted one; managers that this one names are taken for its managers.
  using edit = std::function<api_result<json>(const json&)>;
  enum class part { main, status, finalizers }; // the last: `spec.finalizers` of a namespace
  enum class form { put, patch };

  /// `journal` may be null and otherwise outlives the store.
  explicit store(journal_port* journal = nullptr, store_bounds bounds = {}, store_names names = {});

  /// Takes over what a journal held. Only on a store without objects. The failure names the first object that cannot be
  /// read; nothing is taken then. Watches can begin at the image's version and not before.
  tl::expected<void, std::string> restore(journal_image image);

  /// Makes each of these namespaces unless it exists.
  api_result<void> bootstrap(const std::vector<std::string>& namespaces, instant now);
  /// Ends what nobody else would end: an object that is being deleted with a finalizer of the garbage collector, which does not look after
  /// its kind.
  api_result<void> finish_deletions(instant now);

  /// Takes an object that is made anew at each start: it is no write, stands in no journal, and no watch hears of it. It says its own
  /// name, uid and version.
  void hold(const resource_kind& kind, json object);
  /// Serves Cilium's policies, too.
  void serve_cilium() noexcept {
    cilium_ = true;
  }
  [[nodiscard]] bool serves(const resource_kind& kind) const noexcept {
    return !kind.optional || cilium_;
  }

  // -- reading ----------------------------------------------------------------------------------------------------

  [[nodiscard]] api_result<object_ptr> get(const resource_kind& kind, const std::string& name_space, const std::string& name) const;
  /// In the order of namespace and name; an empty namespace means all.
  [[nodiscard]] std::vector<object_ptr> list(const resource_kind& kind, const std::string& name_space, const selection& what) const;
  /// A page of a list, as it is now or was at a version that is still known.
  [[nodiscard]] listed page(const resource_kind& kind, const list_query& query) const;
  /// Of the last write.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return version_;
  }
  /// Writes up to and with this version are no longer known one by one.
  [[nodiscard]] std::uint64_t floor() const noexcept {
    return floor_;
  }
  /// The first write after `version`, or nullptr when there is none yet. @pre `version >= floor()`. Valid until the next
  /// write.
  [[nodiscard]] const store_event* event_after(std::uint64_t version) const;

  // -- writing ----------------------------------------------------------------------------------------------------

  api_result<written> create(const resource_kind& kind, const std::string& name_space, json object, instant now, write_options how = {});
  /// A result that equals the stored object is answered and not written. An edit that empties the finalizers of a
  /// terminating object ends it.
  api_result<written> update(const resource_kind& kind, const std::string& name_space, const std::string& name, part which, form how_sent,
                             const edit& change, write_options how = {});
  api_result<deleted> remove(const resource_kind& kind, const std::string& name_space, const std::string& name, const delete_request& how,
                             instant now);
  /// Gives a pod without a node to the one that `binding` names.
  api_result<void> bind(const std::string& name_space, const std::string& name, const json& binding, instant now, bool dry_run = false);

  /// The journal keeps the writes from here to `end_group` together, so that many cost little more than one. Nobody may hear of one
  /// before the end says that they are kept. On failure none of them has happened, and versions go on where they were.
  void begin_group();
  tl::expected<void, std::string> end_group();

private:
  struct key {
    const resource_kind* kind = nullptr;
    std::string name_space;
    std::string name;
    friend auto operator<=>(const key&, const key&) = default;
  };

  [[nodiscard]] static std::string journal_key(const key& at);
  [[nodiscard]] std::optional<api_status> unfit_namespace(const resource_kind& kind, const std::string& name_space,
                                                          const std::string& name) const;
  api_result<object_ptr> commit(const key& at, json value, std::string_view managed, bool removed, bool dry_run);
  void remember(store_event event);

  /// What a group began with.
  struct group {
    std::uint64_t version = 0;
    std::size_t bytes = 0;
    std::vector<std::pair<key, object_ptr>> before; // of each write, in order; null: absent
  };

  journal_port* journal_;
  store_bounds bounds_;
  store_names names_;
  bool cilium_ = false;
  std::map<key, object_ptr> objects_;
  std::size_t bytes_ = 0;
  std::uint64_t version_ = 1;
  std::uint64_t floor_ = 1;
  std::deque<store_event> events_;
  std::size_t event_bytes_ = 0;
  std::optional<group> group_;
};

} // namespace paddock::embedded
