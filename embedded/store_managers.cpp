#include "embedded/store_managers.hpp"

namespace paddock::embedded {

namespace {

constexpr std::string_view managed_key = "managedFields";

object_ptr keep(const resource_kind& kind, std::uint64_t version, std::string text, std::size_t managed_at, std::size_t managed_size) {
  text.shrink_to_fit();
  return std::make_shared<const stored_object>(
    stored_object{&kind, version, std::move(text), static_cast<std::uint32_t>(managed_at), static_cast<std::uint32_t>(managed_size)});
}

/// A single entry in which nothing is said: the client wants them forgotten.
bool forgets(const json& sent) {
  return sent.is_array() && sent.size() == 1 && (sent[0].is_null() || sent[0].empty());
}

} // namespace

encoded_object encode_object(json value, std::string_view managed) {
  encoded_object out;
  auto* metadata = managed.empty() || !value.is_object() || !value.contains("metadata") ? nullptr : &value["metadata"];
  if (metadata == nullptr || !metadata->is_object()) {
    out.text = encode_json(value);
    return out;
  }
  (*metadata)[std::string{managed_key}] = nullptr;
  out.text = encode_json(value);
  const auto place = written_at(out.text, {"metadata", managed_key});
  out.managed_at = static_cast<std::size_t>(place.data() - out.text.data());
  out.text.replace(out.managed_at, place.size(), managed);
  return out;
}

object_ptr make_stored(const resource_kind& kind, std::uint64_t version, json value, std::string_view managed) {
  auto encoded = encode_object(std::move(value), managed);
  return keep(kind, version, std::move(encoded.text), encoded.managed_at, encoded.managed_at == 0 ? 0 : managed.size());
}

object_ptr make_stored(const resource_kind& kind, std::uint64_t version, std::string text) {
  const auto managed = written_at(text, {"metadata", managed_key});
  const auto at = managed.empty() ? 0 : static_cast<std::size_t>(managed.data() - text.data());
  const auto size = managed.size();
  return keep(kind, version, std::move(text), at, size);
}

json stored_object::value() const {
  if (managed_size == 0)
    return json::parse(text);
  auto bare = text.substr(0, managed_at);
  bare += "null";
  bare.append(text, managed_at + managed_size);
  auto out = json::parse(bare);
  out["metadata"].erase(std::string{managed_key});
  return out;
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

managed_fields managers_after(const resource_kind& kind, const stored_object* stored, const json& before, const json& after,
                              const json& sent, const write_options& how) {
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
  return after_update(kind, before, after, std::move(known), how.author);
}

} // namespace paddock::embedded
