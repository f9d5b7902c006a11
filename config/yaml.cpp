#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <utility>

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

struct second_document {
  std::size_t line = 0;
};

/// Ends the reading where a second document begins. The library finds ever more of them in a text such as `,`.
class one_document final : public YAML::EventHandler {
public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(begun_, true))
      throw second_document{line_of(mark)};
  }
  void OnDocumentEnd() override {
  }
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnSequenceEnd() override {
  }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {
  }
  [[nodiscard]] bool begun() const noexcept {
    return begun_;
  }

private:
  bool begun_ = false;
};

} // namespace

tl::expected<value, complaint> parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > largest_text)
    return tl::unexpected{complaint{file, std::nullopt, {}, "at most 1 MiB", std::to_string(text.size()) + " bytes"}};
  try {
    auto in = std::istringstream{std::string{text}};
    auto parser = YAML::Parser{in};
    auto only = one_document{};
    while (parser.HandleNextDocument(only)) {
    }
    if (!only.begun())
      return value{};
    return copier{file}.copy(YAML::Load(std::string{text}), 1);
  } catch (const second_document& at) {
    return tl::unexpected{complaint{file, at.line, {}, "one document", "a second one"}};
  } catch (const YAML::Exception& problem) {
    const auto line = line_of(problem.mark);
    return tl::unexpected{complaint{file, line == 0 ? std::nullopt : std::optional{line}, {}, "YAML or JSON", problem.msg}};
  }
}

} // namespace paddock::config
