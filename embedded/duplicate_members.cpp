#include "embedded/duplicate_members.hpp"

#include "embedded/first_bytes.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace paddock::embedded {

namespace {

using json = nlohmann::json;

constexpr std::size_t most_found = 100;
constexpr std::size_t longest_path = 256;

/// Follows the text and keeps no value.
class member_watcher final : public nlohmann::json_sax<json> {
public:
  std::vector<std::string> found;

  bool null() override {
    return passed();
  }
  bool boolean(bool) override {
    return passed();
  }
  bool number_integer(number_integer_t) override {
    return passed();
  }
  bool number_unsigned(number_unsigned_t) override {
    return passed();
  }
  bool number_float(number_float_t, const string_t&) override {
    return passed();
  }
  bool string(string_t&) override {
    return passed();
  }
  bool binary(binary_t&) override {
    return passed();
  }
  bool start_object(std::size_t) override {
    open_.push_back({});
    return true;
  }
  bool start_array(std::size_t) override {
    open_.push_back({.list = true});
    return true;
  }
  bool key(string_t& name) override {
    auto& top = open_.back();
    top.key = name;
    if (!top.keys.insert(name).second && found.size() < most_found)
      found.push_back(path());
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return passed();
  }
  bool end_array() override {
    open_.pop_back();
    return passed();
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

private:
  struct level {
    bool list = false;
    std::size_t index = 0;
    std::string key = {};
    std::set<std::string> keys = {};
  };

  /// A value has ended.
  bool passed() {
    if (!open_.empty() && open_.back().list)
      ++open_.back().index;
    return true;
  }

  [[nodiscard]] std::string path() const {
    std::string out;
    for (const auto& x : open_) {
      if (x.list)
        out += "[" + std::to_string(x.index) + "]";
      else
        out.append(out.empty() ? "" : ".").append(x.key, 0, longest_path + 1);
      if (out.size() > longest_path)
        return first_bytes(out, longest_path);
    }
    return out;
  }

  std::vector<level> open_;
};

} // namespace

std::vector<std::string> duplicate_members(std::string_view text) {
  member_watcher watcher;
  json::sax_parse(text.begin(), text.end(), &watcher);
  return std::move(watcher.found);
}

} // namespace paddock::embedded
