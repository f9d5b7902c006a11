#include "embedded/store_managers.hpp"

namespace paddock::embedded {

namespace {

constexpr std::string_view managed_key = "managedFields";

/// Members by name, as `encode_json` writes them; `put` writes each value.
template <class Put>
void write_members(const json& object, std::string& out, Put put) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : object.items()) {
    out += first ? "" : ",";
    out += encode_json(json(key)) + ":";
    put(key, value);
    first = false;
  }
  out += '}';
}

/// A single entry in which nothing is said: the client wants them forgotten.
bool forgets(const json& sent) {
  return sent.is_array() && sent.size() == 1 && (sent[0].is_null() || sent[0].empty());
}

} // namespace

encoded_object encode_object(const json& value, std::string_view managed) {
  encoded_object out;
  const auto* metadata = member(value, "metadata");
  if (managed.empty() || metadata == nullptr || !metadata->is_object()) {
    out.text = encode_json(value);
    return out;
  }
  auto with = *metadata;
  with[std::string{managed_key}] = nullptr;
  write_members(value, out.text, [&](const std::string& key, const json& x) {
    if (key != "metadata") {
      out.text += encode_json(x);
      return;
    }
    write_members(with, out.text, [&](const std::string& name, const json& y) {
      if (name != managed_key) {
        out.text += encode_json(y);
        return;
      }
      out.managed_at = out.text.size();
      out.text += managed;
    });
  });
  return out;
}

object_ptr make_stored(const resource_kind& kind, std::uint64_t version, json value, std::string_view managed) {
  auto encoded = encode_object(value, managed);
  encoded.text.shrink_to_fit();
  const auto size = encoded.managed_at == 0 ? 0 : managed.size();
  return std::make_shared<const stored_object>(stored_object{&kind, version, std::move(value), std::move(encoded.text),
                                                             static_cast<std::uint32_t>(encoded.managed_at),
                                                             static_cast<std::uint32_t>(size)});
}

json take_managed(json& object) {
  auto* metadata = object.is_object() && object.contains("metadata") ? &object["metadata"] : nullptr;
  if (metadata == nullptr || !metadata->is_object())
    return nullptr;
  const auto found = metadata->find(managed_key);
  if (found == metadata->end())
    return nullptr;
  auto out = std::move(*found);
  metadata->erase(found);
  return out;
}

managed_fields managers_of(const stored_object& object) {
  return object.managed_size == 0 ? managed_fields{}
                                  : read_managed(json::parse(object.managed(), nullptr, false)).value_or(managed_fields{});
}

managed_fields managers_after(const resource_kind& kind, const stored_object* stored, const json& after, const json& sent,
                              const write_options& how) {
  auto known = stored == nullptr ? managed_fields{} : managers_of(*stored);
  auto told = read_managed(sent);
  if (how.applied)
    return told.value_or(managed_fields{});
  const bool forgotten = how.author.subresource.empty() && forgets(sent);
  if (forgotten)
    known.clear();
  else if (how.author.subresource.empty() && told && !told->empty())
    known = std::move(*told);
  // An object of which nobody knows who set what stays so until something is applied to it.
  if (known.empty() && stored != nullptr)
    return known;
  return after_update(kind, stored == nullptr ? blank_object(kind) : stored->value, after, std::move(known), how.author);
}

} // namespace paddock::embedded
