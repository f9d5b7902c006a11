#include "embedded/protobuf_json.hpp"

#include "base/base64.hpp"
#include "base/time.hpp"
#include "base/utf8.hpp"
#include "embedded/embedded_data.hpp"

#include <algorithm>
#include <map>

namespace paddock::embedded {

namespace {

constexpr std::string_view magic{"k8s\0", 4};
constexpr int deepest = 64;

/// Thrown and caught in this file.
struct complaint {
  std::string text;
};

struct field {
  std::string name;
  std::string type;
  bool list = false;
  bool map = false;
  bool pointer = false; // its zero is not the same as its absence
  bool in_line = false;
};
using fields = std::map<std::uint64_t, field>;

const fields* find_type(const std::string& name) {
  static const auto all = [] {
    std::map<std::string, fields> out;
    const auto types = json::parse(protobuf_text());
    for (const auto& [type, numbers] : types.items()) {
      auto& known = out[type];
      for (const auto& [number, words] : numbers.items()) {
        const auto has = [&, &said = words](const char* word) { return std::find(said.begin() + 2, said.end(), word) != said.end(); };
        known[std::stoul(number)] = {words[0], words[1], has("list"), has("map"), has("pointer"), has("inline")};
      }
    }
    return out;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

// -- the wire -----------------------------------------------------------------------------------------------------

/// One field as it is written: a number, or bytes.
struct wire_value {
  std::uint64_t number = 0;
  std::string_view bytes;
};

class wire_reader {
public:
  explicit wire_reader(std::string_view text) : rest_(text) {
  }
  [[nodiscard]] bool more() const {
    return !rest_.empty();
  }
  std::pair<std::uint64_t, wire_value> next() {
    const auto tag = varint();
    wire_value out;
    switch (tag & 7) {
      case 0: out.number = varint(); break;
      case 1: take(8); break;
      case 2: out.bytes = take(varint()); break;
      case 5: take(4); break;
      default: throw complaint{"proto: illegal wireType " + std::to_string(tag & 7)};
    }
    return {tag >> 3, out};
  }

private:
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return out;
    }
    throw complaint{"proto: integer overflow"};
  }
  std::string_view take(std::uint64_t n) {
    if (n > rest_.size())
      throw complaint{"unexpected EOF"};
    const auto out = rest_.substr(0, static_cast<std::size_t>(n));
    rest_.remove_prefix(out.size());
    return out;
  }
  std::string_view rest_;
};

std::string text_of(std::string_view bytes) {
  if (!is_utf8(bytes))
    throw complaint{"proto: a text is not UTF-8"};
  return std::string{bytes};
}

// -- values -------------------------------------------------------------------------------------------------------

/// Seconds and the parts below them; without any of them it is no instant.
json read_instant_message(std::string_view bytes, bool micro) {
  if (bytes.empty())
    return nullptr;
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  for (wire_reader in{bytes}; in.more();) {
    const auto [number, value] = in.next();
    (number == 1 ? seconds : nanos) = static_cast<std::int64_t>(value.number);
  }
  constexpr std::int64_t most = 253'402'300'799; // the end of the year 9999
  if (seconds < 0 || seconds > most || nanos < 0 || nanos > 999'999'999)
    throw complaint{"proto: an instant is out of range"};
  // One that the clock cannot tell is the nearest that it can, as `read_instant` has it.
  using clock = time_source::wall_clock;
  const auto at =
    std::min(std::chrono::sys_seconds{std::chrono::seconds{seconds}}, std::chrono::floor<std::chrono::seconds>(clock::time_point::max()));
  auto text = rfc3339_seconds(at);
  if (!micro)
    return text;
  auto digits = std::to_string(1'000'000 + nanos / 1000);
  digits.front() = '.';
  text.insert(text.size() - 1, digits);
  return text;
}

json read_int_or_string(std::string_view bytes) {
  std::uint64_t is_text = 0;
  std::uint64_t number = 0;
  std::string text;
  for (wire_reader in{bytes}; in.more();) {
    const auto [at, value] = in.next();
    if (at == 1)
      is_text = value.number;
    else if (at == 2)
      number = value.number;
    else if (at == 3)
      text = text_of(value.bytes);
  }
  return is_text != 0 ? json(text) : json(static_cast<std::int64_t>(number));
}

json read_quantity_message(std::string_view bytes) {
  std::string text;
  for (wire_reader in{bytes}; in.more();)
    if (const auto [at, value] = in.next(); at == 1)
      text = text_of(value.bytes);
  return text;
}

json read_message(const std::string& type, std::string_view bytes, int depth);

json read_value(const std::string& type, const wire_value& value, int depth) {
  if (type == "string")
    return text_of(value.bytes);
  if (type == "bytes")
    return to_base64(value.bytes);
  if (type == "bool")
    return value.number != 0;
  if (type == "int32" || type == "int64")
    return static_cast<std::int64_t>(value.number);
  if (type == "Time" || type == "MicroTime")
    return read_instant_message(value.bytes, type == "MicroTime");
  if (type == "Quantity")
    return read_quantity_message(value.bytes);
  if (type == "IntOrString")
    return read_int_or_string(value.bytes);
  return read_message(type, value.bytes, depth + 1);
}

/// What Go leaves out of JSON when it is no pointer.
bool is_nothing(const json& value) {
  return value.is_null() || value == "" || value == 0 || value == false;
}

void put_entry(json& map, const std::string& type, std::string_view bytes, int depth) {
  std::string key;
  auto value = type == "string" || type == "bytes" ? json("") : json::object();
  for (wire_reader in{bytes}; in.more();) {
    const auto [at, part] = in.next();
    if (at == 1)
      key = text_of(part.bytes);
    else if (at == 2)
      value = read_value(type, part, depth);
  }
  map[key] = std::move(value);
}

void put(json& object, const field& x, const wire_value& value, int depth) {
  if (x.map)
    return put_entry(object_at(object, x.name), x.type, value.bytes, depth);
  auto read = read_value(x.type, value, depth);
  if (x.in_line)
    object.update(read);
  else if (x.list)
    object[x.name].push_back(std::move(read));
  else if (x.pointer ? !read.is_null() : !is_nothing(read))
    object[x.name] = std::move(read);
}

json read_message(const std::string& type, std::string_view bytes, int depth) {
  if (depth > deepest)
    throw complaint{"proto: exceeded max depth"};
  const auto* known = find_type(type);
  if (known == nullptr)
    throw complaint{"no kind " + in_quotes(type) + " is registered"};
  auto out = json::object();
  for (wire_reader in{bytes}; in.more();) {
    const auto [number, value] = in.next();
    if (const auto found = known->find(number); found != known->end())
      put(out, found->second, value, depth);
  }
  // A list of texts that has a type of its own is a list in JSON, too.
  if (type == "ExtraValue")
    return out.value("items", json::array());
  return out;
}

/// The envelope: what the object is, and the object.
json read_envelope(std::string_view bytes) {
  std::string version;
  std::string kind;
  std::string_view raw;
  for (wire_reader in{bytes}; in.more();) {
    const auto [number, value] = in.next();
    if (number == 2)
      raw = value.bytes;
    if (number != 1)
      continue;
    for (wire_reader type{value.bytes}; type.more();) {
      const auto [at, text] = type.next();
      (at == 1 ? version : kind) = text_of(text.bytes);
    }
  }
  auto out = read_message(kind, raw, 0);
  if (!out.is_object())
    throw complaint{"no kind " + in_quotes(kind) + " is registered"};
  out["apiVersion"] = version;
  out["kind"] = kind;
  return out;
}

} // namespace

tl::expected<json, std::string> parse_protobuf(std::string_view body) {
  if (!body.starts_with(magic))
    return tl::unexpected{std::string{"provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"}};
  try {
    return read_envelope(body.substr(magic.size()));
  } catch (const complaint& x) {
    return tl::unexpected{x.text};
  } catch (const json::exception& x) {
    return tl::unexpected{std::string{"proto: "} + x.what()}; // two fields of different forms under one name
  }
}

} // namespace paddock::embedded
