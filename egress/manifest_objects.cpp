#include "egress/manifest_objects.hpp"

#include "egress/members.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace paddock::egress {

using nlohmann::json;

namespace {

std::string metadata_text(const json& object, std::string_view name) {
  const auto* metadata = member(object, "metadata");
  return std::string{(metadata == nullptr ? std::nullopt : text_of(member(*metadata, name))).value_or("")};
}

std::string api_version_of(const object_kind& x) {
  return (x.group.empty() ? "" : std::string{x.group} + "/") + std::string{x.version};
}

/// Also of a group without its version, which is refused rather than overlooked.
bool is_of_group(std::string_view api_version, std::string_view group) {
  const auto slash = api_version.find('/');
  return api_version.substr(0, slash) == group || (slash == std::string_view::npos && group.empty());
}

/// What an object says that it is; empty where it does not.
struct type {
  std::string_view api_version;
  std::string_view kind;
};

type type_of(const json& x) {
  return {text_of(member(x, "apiVersion")).value_or(""), text_of(member(x, "kind")).value_or("")};
}

bool is_list(const type& said, const json& x) {
  return said.kind == "List" || (said.kind.ends_with("List") && member(x, "items") != nullptr);
}

class finder {
public:
  using outcome = tl::expected<void, manifests_refused>;

  finder(std::span<const object_kind> kinds, std::string_view name_space, std::string_view why_not) :
    kinds_(kinds), name_space_(name_space), why_not_(why_not) {
  }
  outcome take_document(const manifest& x) {
    if (x.object.is_null())
      return {};
    const auto said = type_of(x.object);
    return is_list(said, x.object) ? take_list(x, said) : take(x.place, x.object, said);
  }

  found_objects got;

private:
  static outcome refuse(const manifest_place& where, std::string problem) {
    return tl::unexpected{manifests_refused{where, std::move(problem)}};
  }

  outcome take_list(const manifest& list, const type& said) {
    const auto* items = member(list.object, "items");
    if (items == nullptr)
      return {};
    if (!items->is_array())
      return refuse(list.place, "items is not a list");
    for (auto i = std::size_t{0}; i < items->size(); ++i) {
      const auto place = manifest_place{list.place.file, list.place.line, "items[" + std::to_string(i) + "]"};
      auto item = type_of((*items)[i]);
      // Those of a list of one kind, as a server answers it, need not say it again.
      if (said.kind != "List" && item.kind.empty() && item.api_version.empty())
        item = {said.api_version, said.kind.substr(0, said.kind.size() - 4)};
      if (is_list(item, (*items)[i]))
        return refuse(place, "is a list in a list");
      if (auto ok = take(place, (*items)[i], item); !ok)
        return ok;
    }
    return {};
  }

  outcome take(const manifest_place& where, const json& object, const type& said) {
    if (!object.is_object())
      return refuse(where, "is not an object");
    if (said.kind.empty() || said.api_version.empty())
      return refuse(where, "says no apiVersion and kind");
    auto name = metadata_text(object, "name");
    const auto found =
      std::ranges::find_if(kinds_, [&](const object_kind& x) { return said.kind == x.kind && is_of_group(said.api_version, x.group); });
    if (found == kinds_.end()) {
      got.ignored.push_back({where, std::string{said.kind}, std::move(name), std::string{why_not_}});
      return {};
    }
    if (said.api_version != api_version_of(*found))
      return refuse(where, "apiVersion " + std::string{said.api_version} + " is not understood");
    auto name_space = found->namespaced ? metadata_text(object, "namespace") : std::string{};
    if (found->namespaced && name_space.empty())
      name_space = name_space_;
    const auto [first, is_new] = seen_.try_emplace({found->kind, name_space, name}, where);
    if (!is_new && !name.empty())
      return refuse(where, std::string{said.kind} + " " + name + " is also in " + to_string(first->second));
    got.all.push_back({where, found->kind, std::move(name_space), std::move(name), &object});
    return {};
  }

  std::span<const object_kind> kinds_;
  std::string_view name_space_;
  std::string_view why_not_;
  std::map<std::tuple<std::string_view, std::string, std::string>, manifest_place> seen_;
};

} // namespace

std::string to_string(const manifest_place& x) {
  auto got = x.file + ":" + std::to_string(x.line);
  return x.item.empty() ? got : got + " " + x.item;
}

tl::expected<found_objects, manifests_refused> find_objects(const std::vector<manifest>& in, std::span<const object_kind> kinds,
                                                            std::string_view name_space, std::string_view why_not) {
  auto search = finder{kinds, name_space, why_not};
  for (const auto& x : in)
    if (auto ok = search.take_document(x); !ok)
      return tl::unexpected{std::move(ok.error())};
  return std::move(search.got);
}

} // namespace paddock::egress
