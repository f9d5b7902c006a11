#include "guest/glob_paths.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace paddock::guest {

namespace {

std::vector<std::string_view> segments_of(std::string_view branch) {
  auto result = std::vector<std::string_view>{};
  for (;;) {
    auto slash = branch.find('/');
    if (slash != 0)
      result.push_back(branch.substr(0, slash));
    if (slash == std::string_view::npos)
      return result;
    branch.remove_prefix(slash + 1);
  }
}

std::optional<std::string> fault_of(std::string_view branch) {
  if (branch.empty())
    return "the pattern is empty";
  if (branch.front() == '/' || (branch.size() > 1 && branch[1] == ':' && std::isalpha(static_cast<unsigned char>(branch.front())) != 0))
    return "the pattern is not relative to the root";
  if (branch.find('\0') != std::string_view::npos)
    return "the pattern holds a NUL";
  return std::nullopt;
}

} // namespace

tl::expected<glob_paths, std::string> glob_paths::compile(const std::vector<std::string>& branches, bool include_hidden) {
  auto refused = [](std::string text) { return tl::unexpected{std::move(text)}; };
  auto result = glob_paths{};
  result.include_hidden_ = include_hidden;
  result.longest_ = 0;
  auto known = std::map<std::string_view, std::uint32_t>{};
  for (const auto& branch : branches) {
    if (auto fault = fault_of(branch))
      return refused(*fault);
    auto literals = std::vector<std::string>{};
    auto all_literal = true;
    auto start = result.places_.size();
    for (auto text : segments_of(branch)) {
      auto found = known.find(text);
      if (found == known.end()) {
        auto segment = glob_segment::compile(text);
        if (!segment)
          return refused(segment.error());
        if (segment->literal() == "..")
          return refused("the pattern holds a '..' segment");
        found = known.emplace(text, static_cast<std::uint32_t>(result.segments_.size())).first;
        result.segments_.push_back(std::move(*segment));
      }
      const auto& segment = result.segments_[found->second];
      auto is_last = text.data() + text.size() == branch.data() + branch.size();
      if (segment.literal() == "." && !is_last)
        continue;
      result.places_.push_back({found->second, is_last});
      all_literal = all_literal && segment.literal() && !is_last;
      if (all_literal)
        literals.push_back(*segment.literal());
      if (segment.crosses_directories())
        result.longest_.reset();
    }
    if (result.longest_)
      result.longest_ = std::max<std::uint64_t>(*result.longest_, result.places_.size() - start);
    if (result.starts_.empty()) {
      result.leading_ = std::move(literals);
    } else {
      auto& common = result.leading_;
      common.erase(std::mismatch(common.begin(), common.end(), literals.begin(), literals.end()).first, common.end());
    }
    result.starts_.push_back(static_cast<std::uint32_t>(start));
  }
  if (result.starts_.empty())
    return refused("the pattern has no branch");
  result.verdicts_.resize(result.segments_.size());
  return result;
}

glob_places glob_paths::start() const {
  auto result = glob_places{};
  for (auto at : starts_)
    add(result, at);
  return result;
}

void glob_paths::take(std::string_view name) {
  name_ = characters_of(name);
  hidden_ = name.starts_with('.');
  std::fill(verdicts_.begin(), verdicts_.end(), verdict::open);
}

bool glob_paths::matches(const glob_places& at) {
  return std::any_of(at.begin(), at.end(), [this](auto i) { return places_[i].last && segment_matches(places_[i].segment); });
}

glob_places glob_paths::below(const glob_places& at) {
  auto result = glob_places{};
  for (auto i : at) {
    if (segments_[places_[i].segment].crosses_directories()) {
      if (absorbed())
        add(result, i);
    } else if (!places_[i].last && segment_matches(places_[i].segment)) {
      add(result, i + 1);
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// A `**` may absorb nothing, so what follows it is next as well.
void glob_paths::add(glob_places& to, std::uint32_t at) const {
  to.push_back(at);
  while (segments_[places_[at].segment].crosses_directories() && !places_[at].last)
    to.push_back(++at);
}

bool glob_paths::segment_matches(std::uint32_t segment) {
  auto& known = verdicts_[segment];
  if (known == verdict::open) {
    const auto& x = segments_[segment];
    known = (x.crosses_directories() ? absorbed() : x.matches(name_, include_hidden_)) ? verdict::yes : verdict::no;
  }
  return known == verdict::yes;
}

} // namespace paddock::guest
