#include "audit/objects.hpp"

#include "egress/members.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace paddock::audit {

using egress::manifest_place;
using egress::member;
using egress::text_of;
using nlohmann::json;

namespace {

std::string metadata_text(const json& object, std::string_view name) {
  const auto* metadata = member(object, "metadata");
  return std::string{(metadata == nullptr ? std::nullopt : text_of(member(*metadata, name))).value_or("")};
}

std::string api_version_of(const object_kind& x) {
  return (x.group.empty() ? "" : std::string{x.group} + "/") + std::string{x.version};
}

bool is_group_of(std::string_view api_version, std::string_view group) {
  const auto slash = api_version.find('/');
  return (slash == std::string_view::npos ? "" : api_version.substr(0, slash)) == group;
}

class finder {
public:
  using outcome = tl::expected<void, egress::manifests_refused>;

  finder(std::span<const object_kind> kinds, std::string_view name_space) : kinds_(kinds), name_space_(name_space) {
  }
  outcome take_document(const egress::manifest& x) {
    if (x.object.is_null())
      return {};
    const auto kind = text_of(member(x.object, "kind")).value_or("");
    const auto* items = member(x.object, "items");
    if (!kind.ends_with("List") || items == nullptr)
      return take(x.place, x.object, {});
    if (!items->is_array())
      return refuse(x.place, "items is not a list");
    for (auto i = std::size_t{0}; i < items->size(); ++i) {
      const auto place = manifest_place{x.place.file, x.place.line, "items[" + std::to_string(i) + "]"};
      if (auto ok = take(place, (*items)[i], kind.substr(0, kind.size() - 4)); !ok)
        return ok;
    }
    return {};
  }

  found_objects got;

private:
  static outcome refuse(const manifest_place& where, std::string problem) {
    return tl::unexpected{egress::manifests_refused{where, std::move(problem)}};
  }

  /// `list_kind`: what an item that does not say its kind is.
  outcome take(const manifest_place& where, const json& object, std::string_view list_kind) {
    if (!object.is_object())
      return refuse(where, "is not an object");
    const auto kind = text_of(member(object, "kind")).value_or(list_kind);
    const auto api_version = text_of(member(object, "apiVersion"));
    if (kind.empty() || (!api_version && list_kind.empty()))
      return refuse(where, "says no apiVersion and kind");
    if (kind == "List")
      return refuse(where, "is a List in a List");
    auto name = metadata_text(object, "name");
    const auto found = std::ranges::find_if(
      kinds_, [&](const object_kind& x) { return kind == x.kind && (!api_version || is_group_of(*api_version, x.group)); });
    if (found == kinds_.end()) {
      got.ignored.push_back({where, std::string{kind}, std::move(name), "not looked for"});
      return {};
    }
    if (api_version && *api_version != api_version_of(*found))
      return refuse(where, "apiVersion " + std::string{*api_version} + " is not understood");
    auto name_space = found->namespaced ? metadata_text(object, "namespace") : std::string{};
    if (found->namespaced && name_space.empty())
      name_space = name_space_;
    const auto [first, is_new] = seen_.try_emplace({found->kind, name_space, name}, where);
    if (!is_new && !name.empty())
      return refuse(where, std::string{kind} + " " + name + " is also in " + to_string(first->second));
    got.all.push_back({where, found->kind, std::move(name_space), std::move(name), &object});
    return {};
  }

  std::span<const object_kind> kinds_;
  std::string_view name_space_;
  std::map<std::tuple<std::string_view, std::string, std::string>, manifest_place> seen_;
};

} // namespace

tl::expected<found_objects, egress::manifests_refused> find_objects(const std::vector<egress::manifest>& in,
                                                                    std::span<const object_kind> kinds, std::string_view name_space) {
  auto search = finder{kinds, name_space};
  for (const auto& x : in)
    if (auto ok = search.take_document(x); !ok)
      return tl::unexpected{std::move(ok.error())};
  return std::move(search.got);
}

} // namespace paddock::audit
