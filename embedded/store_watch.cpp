#include "embedded/store_watch.hpp"

#include "embedded/store_managers.hpp"

namespace paddock::embedded {

namespace {

std::string line(std::string_view type, std::string_view object) {
  std::string out;
  out.reserve(type.size() + object.size() + 32);
  out += "{\"type\":\"";
  out += type;
  out += "\",\"object\":";
  out += object;
  out += "}\n";
  return out;
}

} // namespace

store_watch::store_watch(const store& objects, watch_request request) : objects_(objects), request_(std::move(request)) {
  if (request_.from) {
    at_ = *request_.from;
  } else {
    initial_ = objects_.list(*request_.kind, request_.name_space, request_.what);
    initial_end_ = request_.end_of_initial;
    at_ = objects_.version();
  }
}

std::string store_watch::expire(std::uint64_t oldest) {
  ended_ = true;
  return line("ERROR",
              encode_json(to_json(expired("too old resource version: " + std::to_string(at_) + " (" + std::to_string(oldest) + ")"))));
}

bool store_watch::about(const object_ptr& object) const {
  return object && object->kind == request_.kind
         && (request_.name_space.empty() || text_at(object->value, {"metadata", "namespace"}) == request_.name_space)
         && request_.what.matches(object->value);
}

std::string store_watch::line_of(std::string_view type, const json& value, const std::string& text, store::instant now) {
  const bool first = std::exchange(first_, false);
  return line(type, request_.show ? request_.show(value, text, first, now) : text);
}

std::string store_watch::next(std::size_t bytes, store::instant now) {
  std::string out;
  while (told_ < initial_.size() && out.size() < bytes) {
    const auto& x = *initial_[told_++];
    out += line_of("ADDED", x.value, x.text, now);
  }
  if (told_ < initial_.size())
    return out;
  initial_.clear();
  told_ = 0;
  if (initial_end_) {
    initial_end_ = false;
    const json mark{{"apiVersion", request_.kind->api_version()},
                    {"kind", request_.kind->kind},
                    {"metadata", {{"annotations", {{"k8s.io/initial-events-end", "true"}}}, {"resourceVersion", std::to_string(at_)}}}};
    out += line_of("BOOKMARK", mark, encode_json(mark), now);
  }
  while (!ended_ && out.size() < bytes) {
    if (at_ < objects_.floor() || at_ > objects_.version())
      return out + expire(objects_.floor());
    const auto* event = objects_.event_after(at_);
    if (event == nullptr)
      break;
    at_ = event->version;
    const bool was = about(event->before);
    const bool is = !event->deleted && about(event->now);
    if (is) {
      out += line_of(was ? "MODIFIED" : "ADDED", event->now->value, event->now->text, now);
    } else if (was && event->deleted) {
      out += line_of("DELETED", event->now->value, event->now->text, now);
    } else if (was) {
      // It no longer matches: the watcher hears of it as it was, under the version of the write.
      auto gone = event->before->value;
      gone["metadata"]["resourceVersion"] = std::to_string(event->version);
      out += line_of("DELETED", gone, encode_object(gone, event->before->managed()).text, now);
    }
  }
  return out;
}

std::string store_watch::bookmark(store::instant now) {
  const json mark{{"apiVersion", request_.kind->api_version()},
                  {"kind", request_.kind->kind},
                  {"metadata", {{"creationTimestamp", nullptr}, {"resourceVersion", std::to_string(at_)}}}};
  return line_of("BOOKMARK", mark, encode_json(mark), now);
}

} // namespace paddock::embedded
