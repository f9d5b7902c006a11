#include "embedded/pod_log_request.hpp"

#include "embedded/request_options.hpp"

#include <algorithm>

namespace paddock::embedded {

namespace {

std::vector<std::string> containers_of(const json& pod) {
  std::vector<std::string> out;
  for (const auto* list : {"initContainers", "containers", "ephemeralContainers"})
    if (const auto* all = find(pod, {"spec", list}); all != nullptr && all->is_array())
      for (const auto& x : *all)
        out.push_back(text_at(x, {"name"}));
  return out;
}

/// The container that is meant.
api_result<std::string> choose(const json& pod, const std::string& wanted) {
  const auto name = text_at(pod, {"metadata", "name"});
  const auto all = containers_of(pod);
  if (wanted.empty() && all.size() == 1)
    return all.front();
  if (wanted.empty()) {
    std::string names;
    for (const auto& x : all)
      names += (names.empty() ? "" : " ") + x;
    return tl::unexpected{bad_request("a container name must be specified for pod " + name + ", choose one of: [" + names + "]")};
  }
  if (std::find(all.begin(), all.end(), wanted) == all.end())
    return tl::unexpected{bad_request("container " + wanted + " is not valid for pod " + name)};
  return wanted;
}

/// A number of the query that is at least `least`.
api_result<std::optional<std::size_t>> read_count(const std::string& pod, const request_target& target, const std::string& key,
                                                  std::size_t least) {
  const auto text = target.query_text(key);
  if (text.empty())
    return std::optional<std::size_t>{};
  const bool negative = text.front() == '-';
  const auto number = read_number(negative ? std::string_view{text}.substr(1) : std::string_view{text});
  if (!number)
    return tl::unexpected{bad_request("strconv.ParseInt: parsing " + in_quotes(text) + ": invalid syntax")};
  if (negative || *number < least)
    return tl::unexpected{invalid(
      "", "PodLogOptions", pod, {field_invalid(key, text, least == 0 ? "must be greater than or equal to 0" : "must be greater than 0")})};
  return std::optional{static_cast<std::size_t>(*number)};
}

} // namespace

api_result<log_request> read_log_request(const json& pod, const request_target& target, time_source::wall_clock::time_point now) {
  log_request out;
  out.name_space = text_at(pod, {"metadata", "namespace"});
  out.pod = text_at(pod, {"metadata", "name"});
  out.uid = text_at(pod, {"metadata", "uid"});
  out.follow = target.query_flag("follow");
  out.previous = target.query_flag("previous");
  out.timestamps = target.query_flag("timestamps");
  auto tail = read_count(out.pod, target, "tailLines", 0);
  auto bytes = read_count(out.pod, target, "limitBytes", 1);
  auto seconds = read_count(out.pod, target, "sinceSeconds", 1);
  for (const auto* x : {&tail, &bytes, &seconds})
    if (!*x)
      return tl::unexpected{x->error()};
  out.tail = *tail;
  out.bytes = *bytes;
  if (*seconds)
    out.since = now - std::chrono::seconds{std::min<std::size_t>(**seconds, 1'000'000'000)};
  if (const auto since = target.query_text("sinceTime"); !since.empty()) {
    const auto at = read_instant(since);
    if (!at || *seconds)
      return tl::unexpected{invalid("", "PodLogOptions", out.pod,
                                    {at ? field_forbidden("sinceSeconds", "at most one of `sinceTime` or `sinceSeconds` may be specified")
                                        : field_invalid("sinceTime", in_quotes(since), "must be an RFC 3339 instant")})};
    out.since = at;
  }
  auto container = choose(pod, target.query_text("container"));
  if (!container)
    return tl::unexpected{container.error()};
  out.container = std::move(*container);
  return out;
}

bool may_write(const json& pod, const log_request& what) {
  if (text_at(pod, {"metadata", "uid"}) != what.uid || what.previous)
    return false;
  const auto phase = text_at(pod, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed")
    return false;
  for (const auto* list : {"initContainerStatuses", "containerStatuses"})
    if (const auto* all = find(pod, {"status", list}); all != nullptr && all->is_array())
      for (const auto& x : *all)
        if (text_at(x, {"name"}) == what.container && find(x, {"state", "terminated"}) != nullptr)
          return false;
  return true;
}

} // namespace paddock::embedded
