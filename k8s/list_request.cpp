#include "k8s/list_request.hpp"

#include "k8s/objects.hpp"

#include <charconv>

namespace paddock::k8s {

using nlohmann::json;

namespace {

/// A path with its query, parameter by parameter.
class target {
public:
  explicit target(const selection& what) : text_(what.collection) {
    add("labelSelector", what.label_selector);
    add("fieldSelector", what.field_selector);
  }
  /// An empty value is not sent.
  void add(std::string_view name, std::string_view value) {
    if (value.empty())
      return;
    text_ += first_ ? '?' : '&';
    text_.append(name).append("=").append(encode_component(value));
    first_ = false;
  }
  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }

private:
  std::string text_;
  bool first_ = true;
};

} // namespace

call to_call(const list_request& x) {
  auto to = target{x.what};
  if (x.limit != 0)
    to.add("limit", std::to_string(x.limit));
  if (!x.more.empty()) {
    to.add("continue", x.more);
  } else if (!x.version.empty()) {
    to.add("resourceVersion", x.version);
    if (x.how != list_request::match::unset)
      to.add("resourceVersionMatch", x.how == list_request::match::exact ? "Exact" : "NotOlderThan");
  }
  return get(to.text());
}

call to_call(const watch_request& x) {
  auto to = target{x.what};
  to.add("watch", "true");
  to.add("resourceVersion", x.version);
  if (x.bookmarks)
    to.add("allowWatchBookmarks", "true");
  if (x.timeout.count() != 0)
    to.add("timeoutSeconds", std::to_string(x.timeout.count()));
  return get(to.text());
}

tl::expected<list_page, std::string> read_page(json answer) {
  const auto items = answer.is_object() ? answer.find("items") : answer.end();
  if (items == answer.end() || !(items->is_array() || items->is_null()))
    return tl::unexpected{std::string{"the list has no items"}};
  const auto version = text_at(answer, "/metadata/resourceVersion");
  if (!version)
    return tl::unexpected{std::string{"the list has no resourceVersion"}};
  auto kind = text_at(answer, "/kind").value_or("");
  if (kind.ends_with("List"))
    kind.resize(kind.size() - 4);
  const auto api_version = text_at(answer, "/apiVersion").value_or("");
  auto page = list_page{{}, *version, text_at(answer, "/metadata/continue").value_or("")};
  for (auto& x : *items) {
    if (!text_at(x, "/metadata/name") || !text_at(x, "/metadata/uid") || !text_at(x, "/metadata/resourceVersion"))
      return tl::unexpected{std::string{"an item of the list has no version, name or uid"}};
    x.emplace("apiVersion", api_version);
    x.emplace("kind", kind);
    page.items.push_back(std::move(x));
  }
  return page;
}

std::optional<std::uint64_t> version_number(std::string_view text) {
  auto number = std::uint64_t{0};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  return ec == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

bool older_version(std::string_view a, std::string_view b) {
  const auto first = version_number(a);
  const auto second = version_number(b);
  return first && second && *first < *second;
}

} // namespace paddock::k8s
