#pragma once

#include "base/flows/sleep.hpp"
#include "k8s/list_watch.hpp"
#include "k8s/object_cache.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string_view>

namespace paddock::k8s {

/// Where a list+watch gets its answers. Failures are values; a withdrawn coroutine ends with any failure.
class watch_source {
public:
  virtual ~watch_source() = default;
  virtual boost::asio::awaitable<tl::expected<nlohmann::json, read_failure>> page(call what, deadline until) = 0;
  /// Gives the bytes of a 2xx answer to `on_bytes` as they come; when that answers false, ends well.
  virtual boost::asio::awaitable<tl::expected<void, read_failure>> stream(call what, std::function<bool(std::string_view)> on_bytes,
                                                                          time_source::clock::duration silence, deadline until) = 0;
};

/// Who hears what a list+watch finds, on its lane.
class watch_listener {
public:
  virtual ~watch_listener() = default;
  /// The object as it is to be told.
  virtual kept keep(nlohmann::json object) = 0;
  /// The whole collection at `version`; `anew`: versions have begun again.
  virtual void listed(std::vector<kept> all, const std::string& version, bool anew) = 0;
  /// One event that is not a bookmark, once and in the order of its versions.
  virtual void told(watch_event::kind what, kept object) = 0;
  /// A bookmark: everything up to `version` was told.
  virtual void marked(const std::string& version) = 0;
  /// A step failed; it is taken again. Nothing was missed, but for now nothing may come.
  virtual void lost(const read_failure& why) = 0;
};

/// Lists and watches until it is cancelled, as `plan` decides. What it keeps of a list under way is bounded by the list, of a watch
/// by the decoder.
boost::asio::awaitable<void> follow(watch_source& from, watch_listener& to, list_watch plan, flow_time& time);

} // namespace paddock::k8s
