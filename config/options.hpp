#pragma once

#include "base/secret.hpp"
#include "config/listen.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::config {

/// One thing that is wrong with a configuration, said so that it can be put right: `paddock.yaml:3: shards: expected a
/// whole number, 1 to 4096, found "0"`.
struct complaint {
  std::string file; // or where else the value came from: a flag, the environment
  std::optional<std::size_t> line;
  std::string key; // dotted path; empty: the file as a whole
  std::string expected;
  std::string found; // never the value of a secret
};
[[nodiscard]] std::string to_string(const complaint& x);

/// One option, bound to the member that holds its value. Every value is written and read as one text.
struct option {
  std::string name;
  std::string type; // as a reader is told: `duration`, `HOST:PORT`
  std::string help;
  bool secret = false;
  std::function<bool(std::string_view)> read; // false: not of the type, nothing changed
  std::function<std::string()> show;          // what `read` takes
  struct limit {
    std::string text; // "at least 1s"
    std::function<bool()> holds;
  };
  std::vector<limit> limits;

  /// The type and the limits: `duration, at least 1s`.
  [[nodiscard]] std::string expected() const;
  /// Takes the value, or leaves the member as it was and says that `text` is not what is expected.
  [[nodiscard]] bool accept(std::string_view text) const;
};

/// What a `describe` function fills: each option said once. Loading, printing and the documentation walk the list. It
/// refers to the members of the described struct, which outlives it.
class option_list {
public:
  /// Says more about the option just listed.
  template <class T>
  class listed {
  public:
    listed(option_list& all, T& value) : all_(&all), value_(&value) {
    }
    /// Lowest and highest value that is accepted.
    listed& at_least(T bound) {
      return limit("at least " + write(bound), [bound](const T& x) { return x >= bound; });
    }
    listed& at_most(T bound) {
      return limit("at most " + write(bound), [bound](const T& x) { return x <= bound; });
    }
    /// `text` says what `good` wants: "a DNS label".
    listed& matching(std::string text, std::function<bool(const T&)> good) {
      return limit(std::move(text), std::move(good));
    }
    /// Never shown.
    listed& secret() {
      all_->all_.back().secret = true;
      return *this;
    }

  private:
    listed& limit(std::string text, std::function<bool(const T&)> good) {
      all_->all_.back().limits.push_back({std::move(text), [good = std::move(good), value = value_] { return good(*value); }});
      return *this;
    }
    option_list* all_;
    T* value_;
  };

  listed<std::string> option(std::string name, std::string& value, std::string help);
  listed<std::uint64_t> option(std::string name, std::uint64_t& value, std::string help);
  listed<std::uint16_t> option(std::string name, std::uint16_t& value, std::string help);
  listed<std::chrono::milliseconds> option(std::string name, std::chrono::milliseconds& value, std::string help);
  listed<listen_address> option(std::string name, listen_address& value, std::string help);
  /// Is a secret without being told.
  listed<paddock::secret> option(std::string name, paddock::secret& value, std::string help);
  /// The name of a file or folder; a text to this library.
  listed<std::string> path(std::string name, std::string& value, std::string help);
  /// One of a few words.
  template <class Enum>
  listed<Enum> choice(std::string name, Enum& value, std::vector<std::pair<std::string, Enum>> words, std::string help) {
    auto type = std::string{};
    for (const auto& [word, meaning] : words)
      type += (type.empty() ? "" : " or ") + word;
    auto read = [&value, words](std::string_view text) {
      for (const auto& [word, meaning] : words)
        if (word == text) {
          value = meaning;
          return true;
        }
      return false;
    };
    auto show = [&value, words] {
      for (const auto& [word, meaning] : words)
        if (meaning == value)
          return word;
      return std::string{};
    };
    add(std::move(name), std::move(type), std::move(help), std::move(read), std::move(show));
    return {*this, value};
  }

  [[nodiscard]] const std::vector<config::option>& all() const noexcept {
    return all_;
  }
  [[nodiscard]] const config::option* find(std::string_view name) const;
  /// The name that `unknown` was most likely meant to be.
  [[nodiscard]] std::optional<std::string> nearest(std::string_view unknown) const;

private:
  static std::string write(std::uint64_t x);
  static std::string write(std::chrono::milliseconds x);
  void add(std::string name, std::string type, std::string help, std::function<bool(std::string_view)> read,
           std::function<std::string()> show);
  std::vector<config::option> all_;
};

/// Every option and its value as YAML, one a line, in the order of the list. A secret that is set shows as `[secret]`,
/// which no option accepts; everything else can be loaded again.
[[nodiscard]] std::string print_config(const option_list& all);

/// The options as a Markdown table. The values that `all` is bound to are shown as the defaults.
[[nodiscard]] std::string docs_table(const option_list& all);

} // namespace paddock::config
