#include "config/load.hpp"

#include "config/yaml.hpp"

#include <set>

namespace paddock::config {

namespace {

/// A value as a complaint repeats it: short, on one line, and nothing of a secret.
std::string shown(std::string_view text, bool secret) {
  if (secret)
    return "[secret]";
  auto got = std::string{"\""};
  for (const auto x : text.substr(0, 80))
    got += static_cast<unsigned char>(x) < 0x20 ? '?' : x;
  return got + (text.size() > 80 ? "...\"" : "\"");
}

std::string shown(const value& x, bool secret) {
  switch (x.is) {
    case value::kind::nothing: return "nothing";
    case value::kind::list: return "a list";
    case value::kind::mapping: return "a mapping";
    case value::kind::text: break;
  }
  return shown(x.text, secret);
}

std::string known_name(const option_list& all, std::string_view unknown) {
  const auto meant = all.nearest(unknown);
  return "the name of an option" + (meant ? " (did you mean " + *meant + "?)" : std::string{});
}

class loader {
public:
  loader(const option_list& all, std::string file) : all_(all), file_(std::move(file)) {
  }

  void take(const value::entry& x) {
    const auto* found = all_.find(x.key);
    if (found == nullptr)
      unknown(x, x.key);
    else if (!seen_.insert(x.key).second)
      complain(x.line, x.key, "each option once", "it a second time");
    else if (x.holds.is != value::kind::text || !found->accept(x.holds.text))
      complain(x.line, x.key, found->expected(), shown(x.holds, found->secret));
  }
  /// Names every leaf below an unknown mapping by its dotted path: `api.request-timeout`.
  void unknown(const value::entry& x, const std::string& path) {
    if (x.holds.is != value::kind::mapping || x.holds.entries.empty())
      return complain(x.line, path, known_name(all_, path), "an unknown one");
    for (const auto& below : x.holds.entries)
      unknown(below, path + "." + below.key);
  }
  void complain(std::size_t line, std::string key, std::string expected, std::string found) {
    wrong.push_back({file_, line == 0 ? std::nullopt : std::optional{line}, std::move(key), std::move(expected), std::move(found)});
  }

  std::vector<complaint> wrong;

private:
  const option_list& all_;
  std::string file_;
  std::set<std::string> seen_;
};

} // namespace

std::vector<complaint> load(const option_list& all, std::string_view text, const std::string& file) {
  const auto parsed = parse_yaml(text, file);
  if (!parsed)
    return {parsed.error()};
  auto got = loader{all, file};
  if (parsed->is == value::kind::mapping)
    for (const auto& x : parsed->entries)
      got.take(x);
  else if (parsed->is != value::kind::nothing)
    got.complain(parsed->line, {}, "options as `name: value`", shown(*parsed, true) == "[secret]" ? "a text" : shown(*parsed, true));
  return std::move(got.wrong);
}

std::vector<complaint> load_one(const option_list& all, std::string_view name, std::string_view text, const std::string& from) {
  const auto* found = all.find(name);
  if (found == nullptr)
    return {{from, std::nullopt, std::string{name}, known_name(all, name), "an unknown one"}};
  if (found->accept(text))
    return {};
  return {{from, std::nullopt, found->name, found->expected(), shown(text, found->secret)}};
}

} // namespace paddock::config
