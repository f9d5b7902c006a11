#include "config/yaml.hpp"

#include <yaml-cpp/yaml.h>

namespace paddock::config {

namespace {

constexpr std::size_t largest_text = 1024 * 1024;
constexpr std::size_t most_values = 10'000;
constexpr std::size_t deepest = 16;

std::size_t line_of(const YAML::Mark& at) {
  return at.is_null() ? 0 : static_cast<std::size_t>(at.line) + 1;
}

/// Copies the tree out of the library. Aliases are followed, so the number of values is counted here and not taken from
/// the size of the text.
class copier {
public:
  explicit copier(std::string file) : file_(std::move(file)) {
  }

  tl::expected<value, complaint> copy(const YAML::Node& from, std::size_t depth) {
    const auto line = line_of(from.Mark());
    if (++count_ > most_values || depth > deepest)
      return refuse(line, "at most 10000 values on 16 levels", "more");
    auto got = value{value::kind::nothing, line, {}, {}};
    switch (from.Type()) {
      case YAML::NodeType::Scalar:
        got.is = value::kind::text;
        got.text = from.Scalar();
        break;
      case YAML::NodeType::Sequence:
        got.is = value::kind::list;
        for (const auto& x : from) {
          auto holds = copy(x, depth + 1);
          if (!holds)
            return holds;
          const auto at = holds->line;
          got.entries.push_back({{}, at, std::move(*holds)});
        }
        break;
      case YAML::NodeType::Map:
        got.is = value::kind::mapping;
        for (const auto& x : from) {
          const auto at = line_of(x.first.Mark());
          if (!x.first.IsScalar())
            return refuse(at, "the name of an option", "a key that is not a text");
          auto holds = copy(x.second, depth + 1);
          if (!holds)
            return holds;
          got.entries.push_back({x.first.Scalar(), at, std::move(*holds)});
        }
        break;
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined: break;
    }
    return got;
  }

private:
  tl::unexpected<complaint> refuse(std::size_t line, std::string expected, std::string found) const {
    return tl::unexpected{complaint{file_, line == 0 ? std::nullopt : std::optional{line}, {}, std::move(expected), std::move(found)}};
  }
  std::string file_;
  std::size_t count_ = 0;
};

} // namespace

tl::expected<value, complaint> parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > largest_text)
    return tl::unexpected{complaint{file, std::nullopt, {}, "at most 1 MiB", std::to_string(text.size()) + " bytes"}};
  try {
    const auto documents = YAML::LoadAll(std::string{text});
    if (documents.empty())
      return value{};
    if (documents.size() > 1)
      return tl::unexpected{complaint{file, std::nullopt, {}, "one document", std::to_string(documents.size())}};
    return copier{file}.copy(documents.front(), 1);
  } catch (const YAML::Exception& problem) {
    const auto line = line_of(problem.mark);
    return tl::unexpected{complaint{file, line == 0 ? std::nullopt : std::optional{line}, {}, "YAML or JSON", problem.msg}};
  }
}

} // namespace paddock::config
