#include "audit/sources.hpp"

#include "documents/documents.hpp"
#include "egress/members.hpp"

#include <algorithm>
#include <charconv>

namespace paddock::audit {

using egress::manifest_finding;
using egress::manifest_place;
using nlohmann::json;

namespace {

std::string_view kind_of(const json& object) {
  return egress::text_of(egress::member(object, "kind")).value_or("");
}

/// Of the object that has the value at `path`: an item of a List is one of its own.
std::string_view kind_at(const json& document, std::string_view path) {
  const auto kind = kind_of(document);
  constexpr std::string_view items = "items[";
  if (!kind.ends_with("List") || !path.starts_with(items))
    return kind;
  const auto* all = egress::member(document, "items");
  auto index = std::size_t{0};
  std::from_chars(path.data() + items.size(), path.data() + path.size(), index);
  if (all == nullptr || !all->is_array() || index >= all->size())
    return kind; // a member with a name like that
  const auto said = kind_of((*all)[index]);
  return said.empty() ? kind.substr(0, kind.size() - 4) : said;
}

} // namespace

tl::expected<std::vector<egress::manifest>, egress::manifests_refused> read_manifests(const std::vector<source>& all,
                                                                                      std::span<const std::string_view> judged_kinds) {
  auto got = std::vector<egress::manifest>{};
  for (const auto& from : all) {
    auto documents = documents::read_documents(from.text);
    if (!documents)
      return tl::unexpected{egress::manifests_refused{{from.name, documents.error().line}, documents.error().problem}};
    for (auto& x : *documents) {
      for (const auto& y : x.doubts)
        if (std::ranges::find(judged_kinds, kind_at(x.value, y.path)) != judged_kinds.end())
          return tl::unexpected{egress::manifests_refused{{from.name, y.line}, to_string(y)}};
      got.push_back({{from.name, x.line}, std::move(x.value)});
    }
  }
  return got;
}

void point_at_lines(std::vector<manifest_finding>& findings, const std::vector<source>& all) {
  for (const auto& from : all) {
    auto moved = std::vector<manifest_place*>{};
    auto places = std::vector<documents::place>{};
    for (auto& x : findings) {
      if (x.place.file != from.name)
        continue;
      moved.push_back(&x.place);
      const auto dot = x.place.item.empty() || x.what.path.empty() ? "" : ".";
      places.push_back({x.place.line, x.place.item + dot + x.what.path});
    }
    if (places.empty())
      continue;
    const auto lines = documents::lines_of(from.text, places);
    for (auto i = std::size_t{0}; i < moved.size(); ++i)
      moved[i]->line = lines[i];
  }
}

std::string to_string(const egress::manifests_refused& x) {
  return egress::to_string(x.place) + ": " + x.problem;
}

} // namespace paddock::audit
