#include "config/options.hpp"

#include "config/duration.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace paddock::config {

namespace {

/// How many letters must be put in, left out or changed to make `a` of `b`.
std::size_t distance(std::string_view a, std::string_view b) {
  auto row = std::vector<std::size_t>(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto changed = diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

/// A text as a YAML scalar; quoted as JSON does it, which is YAML too.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool plain(std::string_view text) {
  return !text.empty() && text != "null" && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos
         && text.front() != '-';
}

/// Safe inside a cell of a table.
std::string cell(std::string_view text) {
  auto got = std::string{};
  for (const auto x : text) {
    if (x == '|')
      got += '\\';
    got += x == '\n' ? ' ' : x;
  }
  return got;
}

} // namespace

std::string to_string(const complaint& x) {
  auto got = x.file;
  if (x.line)
    got += ":" + std::to_string(*x.line);
  got += ": ";
  if (!x.key.empty())
    got += x.key + ": ";
  return got + "expected " + x.expected + ", found " + x.found;
}

std::string option::expected() const {
  auto got = type;
  for (const auto& x : limits)
    got += ", " + x.text;
  return got;
}

bool option::accept(std::string_view text) const {
  const auto before = show();
  if (!read(text))
    return false;
  if (std::ranges::all_of(limits, [](const limit& x) { return x.holds(); }))
    return true;
  read(before);
  return false;
}

// -- the types ------------------------------------------------------------------

auto option_list::option(std::string name, std::string& value, std::string help) -> listed<std::string> {
  add(
    std::move(name), "text", std::move(help),
    [&value](std::string_view text) {
      value = text;
      return true;
    },
    [&value] { return value; });
  return {*this, value};
}

auto option_list::path(std::string name, std::string& value, std::string help) -> listed<std::string> {
  auto got = option(std::move(name), value, std::move(help));
  all_.back().type = "path";
  return got;
}

auto option_list::option(std::string name, std::uint64_t& value, std::string help) -> listed<std::uint64_t> {
  add(
    std::move(name), "whole number", std::move(help),
    [&value](std::string_view text) {
      const auto got = parse_whole(text);
      value = got.value_or(value);
      return got.has_value();
    },
    [&value] { return std::to_string(value); });
  return {*this, value};
}

auto option_list::option(std::string name, std::uint16_t& value, std::string help) -> listed<std::uint16_t> {
  add(
    std::move(name), "port number", std::move(help),
    [&value](std::string_view text) {
      const auto got = parse_whole(text);
      if (!got || *got > 65535)
        return false;
      value = static_cast<std::uint16_t>(*got);
      return true;
    },
    [&value] { return std::to_string(value); });
  return {*this, value};
}

auto option_list::option(std::string name, std::chrono::milliseconds& value, std::string help) -> listed<std::chrono::milliseconds> {
  add(
    std::move(name), "duration", std::move(help),
    [&value](std::string_view text) {
      const auto got = parse_duration(text);
      value = got.value_or(value);
      return got.has_value();
    },
    [&value] { return write_duration(value); });
  return {*this, value};
}

auto option_list::option(std::string name, listen_address& value, std::string help) -> listed<listen_address> {
  add(
    std::move(name), "HOST:PORT", std::move(help),
    [&value](std::string_view text) {
      auto got = parse_listen(text);
      if (got)
        value = std::move(*got);
      return got.has_value();
    },
    [&value] { return write_listen(value); });
  return {*this, value};
}

auto option_list::option(std::string name, paddock::secret& value, std::string help) -> listed<paddock::secret> {
  add(
    std::move(name), "secret text", std::move(help),
    [&value](std::string_view text) {
      value = paddock::secret{std::string{text}};
      return true;
    },
    [&value] { return value.reveal(); });
  all_.back().secret = true;
  return {*this, value};
}

// -- the list -------------------------------------------------------------------

void option_list::add(std::string name, std::string type, std::string help, std::function<bool(std::string_view)> read,
                      std::function<std::string()> show) {
  all_.push_back({std::move(name), std::move(type), std::move(help), false, std::move(read), std::move(show), {}});
}

const option* option_list::find(std::string_view name) const {
  const auto it = std::ranges::find(all_, name, &config::option::name);
  return it == all_.end() ? nullptr : &*it;
}

std::optional<std::string> option_list::nearest(std::string_view unknown) const {
  auto wanted = std::string{unknown};
  std::ranges::replace_if(
    wanted, [](char c) { return c == '_' || c == '.' || c == ' '; }, '-');
  auto best = std::optional<std::string>{};
  auto least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const auto& x : all_)
    if (const auto d = distance(wanted, x.name); d < least) {
      least = d;
      best = x.name;
    }
  return best;
}

std::string option_list::write(std::uint64_t x) {
  return std::to_string(x);
}

std::string option_list::write(std::chrono::milliseconds x) {
  return write_duration(x);
}

// -- what walks the list ----------------------------------------------------------

std::string print_config(const option_list& all) {
  auto got = std::string{};
  for (const auto& x : all.all()) {
    const auto text = x.show();
    got += x.name + ": ";
    if (x.secret && !text.empty())
      got += "[secret]";
    else
      got += plain(text) ? text : quoted(text);
    got += "\n";
  }
  return got;
}

std::string docs_table(const option_list& all) {
  auto got = std::string{"| Option | Type | Default | Meaning |\n|---|---|---|---|\n"};
  for (const auto& x : all.all()) {
    const auto text = x.show();
    auto shown = std::string{};
    if (x.secret)
      shown = text.empty() ? "" : "`[secret]`";
    else if (!text.empty())
      shown = "`" + cell(text) + "`";
    got += "| `" + x.name + "` | " + cell(x.expected()) + " | " + shown + " | " + cell(x.help) + (x.secret ? " Never shown." : "") + " |\n";
  }
  return got;
}

} // namespace paddock::config
