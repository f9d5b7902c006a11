#include "documents/documents.hpp"

#include "base/utf8.hpp"
#include "documents/events.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace paddock::documents {

namespace {

using nlohmann::json;

constexpr std::size_t most_doubts = 1'000;

/// Where in a document the events are.
class position {
public:
  /// Before what `x` brings is looked at.
  void enter(const event& x) {
    switch (x.is) {
      case event::type::document: open_.clear(); return;
      case event::type::key: open_.back().key = x.what.get_ref<const std::string&>(); return;
      case event::type::map:
      case event::type::list:
      case event::type::value:
        if (!open_.empty())
          ++open_.back().index;
        return;
      case event::type::end: open_.pop_back(); return;
    }
  }
  /// After that.
  void leave(const event& x) {
    if (x.is == event::type::map || x.is == event::type::list)
      open_.push_back({x.is == event::type::map, {}, 0});
  }
  [[nodiscard]] bool is_in_map() const {
    return !open_.empty() && open_.back().is_map;
  }
  [[nodiscard]] std::string path() const {
    auto got = std::string{};
    for (const auto& x : open_)
      if (x.is_map)
        got += (got.empty() ? "" : ".") + x.key;
      else
        got += "[" + std::to_string(x.index - 1) + "]";
    return got;
  }

private:
  struct level {
    bool is_map = false;
    std::string key;
    std::size_t index = 0; // how many values there were
  };
  std::vector<level> open_;
};

std::string in_quotes(const std::string& x) {
  return json(x).dump(-1, ' ', false, json::error_handler_t::replace);
}

class builder {
public:
  void take(event x) {
    at_.enter(x);
    if (x.in_doubt)
      note(x);
    switch (x.is) {
      case event::type::document: got.push_back({x.line, nullptr, {}}); break;
      case event::type::key: take_key(x); break;
      case event::type::end: open_.pop_back(); break;
      case event::type::map: open_.push_back(&put(json::object())); break;
      case event::type::list: open_.push_back(&put(json::array())); break;
      case event::type::value: put(std::move(x.what)); break;
    }
    at_.leave(x);
  }

  std::vector<document> got;

private:
  void note(const event& x) {
    auto& all = got.back().doubts;
    if (all.size() == most_doubts)
      throw complaint{x.line, "has more than " + std::to_string(most_doubts) + " values that YAML 1.1 and 1.2 read differently"};
    all.push_back({x.line, at_.path(), x.what.get<std::string>()});
  }
  void take_key(const event& x) {
    key_ = x.what.get<std::string>();
    if (!open_.back()->emplace(key_, nullptr).second)
      throw complaint{x.line, "has the key " + in_quotes(key_) + " twice"};
  }
  json& put(json x) {
    if (open_.empty())
      return got.back().value = std::move(x);
    auto& in = *open_.back();
    if (in.is_object())
      return in[key_] = std::move(x);
    in.push_back(std::move(x));
    return in.back();
  }

  position at_;
  std::vector<json*> open_;
  std::string key_; // whose value comes next
};

class finder {
public:
  explicit finder(const std::vector<place>& wanted) : wanted_(wanted) {
    for (const auto& x : wanted) {
      in_order_.push_back(in_order_.size());
      lines.push_back(x.document);
    }
    std::ranges::sort(in_order_, {}, [&](std::size_t i) { return key_of(wanted_[i]); });
  }
  void take(const event& x) {
    at_.enter(x);
    if (x.is == event::type::document)
      document_ = x.line;
    else if (x.is == event::type::key || (x.is != event::type::end && !at_.is_in_map()))
      look(x.line); // of a member where its name is
    at_.leave(x);
  }

  std::vector<std::size_t> lines;

private:
  static std::pair<std::size_t, std::string_view> key_of(const place& x) {
    return {x.document, x.path};
  }
  /// Takes the line for what is here or further in.
  void look(std::size_t line) {
    const auto path = at_.path();
    auto next = std::ranges::lower_bound(in_order_, std::pair{document_, std::string_view{path}}, {},
                                         [&](std::size_t i) { return key_of(wanted_[i]); });
    for (; next != in_order_.end() && wanted_[*next].document == document_ && wanted_[*next].path.starts_with(path); ++next)
      if (is_around(path, wanted_[*next].path))
        lines[*next] = line;
  }
  /// @pre `inner` begins with `path`
  static bool is_around(std::string_view path, std::string_view inner) {
    return path.size() == inner.size() || path.empty() || inner[path.size()] == '.' || inner[path.size()] == '[';
  }

  const std::vector<place>& wanted_;
  std::vector<std::size_t> in_order_;
  position at_;
  std::size_t document_ = 0;
};

/// Where a character stands that neither YAML nor JSON has outside of an escape, or that readers do not take alike: to some it ends a line
/// (and a comment), to some it is nothing.
std::optional<std::size_t> odd_character_in(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  constexpr std::string_view line_separator = "\xE2\x80\xA8";
  constexpr std::string_view paragraph_separator = "\xE2\x80\xA9";
  for (auto i = std::size_t{0}; i < text.size(); ++i) {
    const auto x = static_cast<unsigned char>(text[i]);
    const auto rest = text.substr(i);
    const auto is_control = x < ' ' ? x != '\t' && x != '\n' && !rest.starts_with("\r\n") : x == 0x7f;
    const auto is_upper_control = x == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0; // next line among them
    const auto is_mark = i != 0 && rest.starts_with(byte_order_mark);
    if (is_control || is_upper_control || is_mark || rest.starts_with(line_separator) || rest.starts_with(paragraph_separator))
      return i;
  }
  return std::nullopt;
}

bool looks_like_json(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

/// What `made()` has heard of the text; a new one where the text turns out to be in the other notation.
template <class Make>
auto hear(std::string_view text, Make made) {
  const auto read = [&](auto& events) {
    auto heard = made();
    events(text, [&](event x) { heard.take(std::move(x)); });
    return heard;
  };
  if (!looks_like_json(text))
    return read(read_yaml_events);
  try {
    return read(read_json_events);
  } catch (const syntax_complaint& no_json) {
    if (no_json.cut_short)
      throw;
    try {
      return read(read_yaml_events);
    } catch (const syntax_complaint&) {
      throw no_json;
    }
  }
}

} // namespace

std::string to_string(const doubt& x) {
  return x.path + ": " + x.text
         + " is one thing in YAML 1.1 and another in 1.2, or no number of JSON: put it in quotes, or write it plainly";
}

tl::expected<std::vector<document>, refusal> read_documents(std::string_view text) {
  if (text.size() > largest_text)
    return tl::unexpected{refusal{1, "is larger than " + std::to_string(largest_text / 1024 / 1024) + " MiB"}};
  if (!is_utf8(text))
    return tl::unexpected{refusal{1, "is not UTF-8"}};
  if (const auto at = odd_character_in(text))
    return tl::unexpected{refusal{1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, *at), '\n')),
                                  "has a control character, or one that only some readers take for the end of a line"}};
  try {
    return hear(text, [] { return builder{}; }).got;
  } catch (const complaint& x) {
    return tl::unexpected{refusal{x.line, x.problem}};
  }
}

std::vector<std::size_t> lines_of(std::string_view text, const std::vector<place>& wanted) {
  try {
    return hear(text, [&] { return finder{wanted}; }).lines;
  } catch (const complaint&) {
    return finder{wanted}.lines;
  }
}

} // namespace paddock::documents
