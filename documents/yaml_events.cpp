#include "documents/documents.hpp"
#include "documents/events.hpp"
#include "documents/scalar.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>
#include <utility>
#include <vector>

namespace paddock::documents {

namespace {

constexpr std::string_view separator = "---";

/// A stream over a text that is not copied.
class text_buffer final : public std::streambuf {
public:
  explicit text_buffer(std::string_view text) {
    auto* const begin = const_cast<char*>(text.data()); // the base class asks for it; nothing is put back
    setg(begin, begin, begin + text.size());
  }
};

std::size_t line_of(const YAML::Mark& x) {
  return static_cast<std::size_t>(x.line) + 1;
}

/// The lines of a text, asked for in their order.
class line_starts {
public:
  explicit line_starts(std::string_view text) : text_(text) {
  }
  std::string_view from(std::size_t line) {
    for (; line_ < line && at_ < text_.size(); ++line_)
      at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    return text_.substr(at_);
  }

private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

/// `rest` from behind the `---`: whether its first line holds nothing but a comment.
bool is_bare(std::string_view rest) {
  const auto first = rest.find_first_not_of(" \t\r");
  return first == std::string_view::npos || rest[first] == '\n' || rest[first] == '#';
}

bool is_of_anchor(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '-' || x == '_';
}

class teller final : public YAML::EventHandler {
public:
  teller(std::string_view text, const listener& to) : lines_(text), to_(to) {
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // To the library whatever follows a complete value begins a document, even what it never gets past.
    if (documents_++ != 0) {
      const auto rest = lines_.from(line_of(mark));
      if (mark.column != 0 || !rest.starts_with(separator))
        throw syntax_complaint{{line_of(mark), "is not YAML: this line belongs to nothing above it (a document begins with ---)"}};
      if (!is_bare(rest.substr(separator.size())))
        throw complaint{line_of(mark), "has a document on the line of its ---, which some readers pass over: begin it on the next line"};
    }
    repeatable_.clear();
    recorded_.clear();
    begun_ = false;
  }
  void OnDocumentEnd() override {
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    if (!std::ranges::all_of(name, is_of_anchor))
      throw complaint{line_of(mark), "has the anchor " + name + ", which readers take for different ones: use letters, digits, - and _"};
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    scalar({event::type::value, line_of(mark)}, anchor, "a key that is nothing");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    const auto line = line_of(mark);
    const auto plain = tag == "?";
    // Quotes are a tag of their own to the library.
    if (!plain && tag != "!" && tag != "tag:yaml.org,2002:str")
      throw complaint{line, "has the tag " + tag + ", which is not understood"};
    if (plain && text == "<<" && is_key())
      throw complaint{line, "has a merge key (<<), which not everyone reads: write its members out"};
    auto means = plain ? meaning_of(text) : meaning{text};
    if (!is_key())
      return scalar({event::type::value, line, std::move(means.value), means.in_doubt}, anchor, {});
    // A key is a text whatever it looks like; only plain decimals are written as they are meant.
    const auto as_written = means.value.is_string() || (means.value.is_number_integer() && means.value.dump() == text);
    scalar({event::type::key, line, text, means.in_doubt || !as_written}, anchor, {});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto line = line_of(mark);
    if (is_key())
      throw complaint{line, "has an alias for a key"};
    const auto found = repeatable_.find(anchor);
    if (found == repeatable_.end())
      throw complaint{line, "has an alias within what it stands for"};
    begin_document(line);
    for (auto i = found->second.first; i != found->second.second; ++i) {
      if (++repeated_ > most_repeated)
        throw complaint{line, "has aliases for more than " + std::to_string(most_repeated) + " values"};
      auto x = recorded_[i];
      x.line = line;
      repeated_text_ += x.what.is_string() ? x.what.get_ref<const std::string&>().size() : 0;
      if (repeated_text_ > largest_text)
        throw complaint{line, "has aliases for more than " + std::to_string(largest_text / 1024 / 1024) + " MiB of text"};
      tell(std::move(x));
    }
    placed();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    begin(event::type::list, mark, tag, "tag:yaml.org,2002:seq", anchor);
  }
  void OnSequenceEnd() override {
    end();
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    begin(event::type::map, mark, tag, "tag:yaml.org,2002:map", anchor);
  }
  void OnMapEnd() override {
    end();
  }

private:
  /// A map or list that is open.
  struct frame {
    bool is_map = false;
    bool wants_key = false;
    YAML::anchor_t anchor = 0;
    std::size_t recorded_from = 0;
    std::size_t line = 0;
  };

  [[nodiscard]] bool is_key() const {
    return !open_.empty() && open_.back().wants_key;
  }
  void placed() {
    if (!open_.empty() && open_.back().is_map)
      open_.back().wants_key = !open_.back().wants_key;
  }
  void begin_document(std::size_t line) {
    if (!std::exchange(begun_, true))
      tell({event::type::document, line});
  }

  void scalar(event x, YAML::anchor_t anchor, const char* not_a_key) {
    if (is_key() && x.is != event::type::key)
      throw complaint{x.line, std::string{"has "} + not_a_key};
    begin_document(x.line);
    const auto from = recorded_.size();
    recording_ += anchor != 0 ? 1 : 0;
    const auto is_value = x.is == event::type::value;
    tell(std::move(x));
    if (anchor != 0) {
      --recording_;
      if (is_value)
        repeatable_[anchor] = {from, recorded_.size()};
    }
    placed();
  }
  void begin(event::type what, const YAML::Mark& mark, const std::string& tag, std::string_view standard, YAML::anchor_t anchor) {
    const auto line = line_of(mark);
    if (is_key())
      throw complaint{line, "has a key that is no text"};
    if (!tag.empty() && tag != "?" && tag != "!" && tag != standard)
      throw complaint{line, "has the tag " + tag + ", which is not understood"};
    begin_document(line);
    open_.push_back({what == event::type::map, what == event::type::map, anchor, recorded_.size(), line});
    recording_ += anchor != 0 ? 1 : 0;
    tell({what, line});
  }
  void end() {
    const auto was = open_.back();
    open_.pop_back();
    tell({event::type::end, was.line});
    if (was.anchor != 0) {
      --recording_;
      repeatable_[was.anchor] = {was.recorded_from, recorded_.size()};
    }
    placed();
  }

  void tell(event x) {
    if (x.is == event::type::map || x.is == event::type::list)
      if (++depth_ > deepest)
        throw complaint{x.line, "is nested more than " + std::to_string(deepest) + " levels deep"};
    if (x.is == event::type::end)
      --depth_;
    if (recording_ > 0)
      recorded_.push_back(x);
    to_(std::move(x));
  }

  line_starts lines_;
  const listener& to_;
  std::vector<frame> open_;
  std::map<YAML::anchor_t, std::pair<std::size_t, std::size_t>> repeatable_; // in `recorded_`
  std::vector<event> recorded_;                                              // of values with an anchor
  std::size_t recording_ = 0;                                                // how many of them are open
  std::size_t repeated_ = 0;
  std::size_t repeated_text_ = 0;
  std::size_t documents_ = 0;
  std::size_t depth_ = 0;
  bool begun_ = false;
};

} // namespace

void read_yaml_events(std::string_view text, const listener& to) {
  auto buffer = text_buffer{text};
  auto in = std::istream{&buffer};
  auto tell = teller{text, to};
  try {
    auto parser = YAML::Parser{in};
    while (parser.HandleNextDocument(tell)) {
    }
  } catch (const YAML::Exception& x) {
    throw syntax_complaint{{line_of(x.mark), "is not YAML: " + x.msg}};
  }
}

} // namespace paddock::documents
