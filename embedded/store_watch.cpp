#include "embedded/store_watch.hpp"

namespace paddock::embedded {

namespace {

void add_line(std::string_view type, std::string_view object, std::string& out) {
  out += R"({"type":")";
  out += type;
  out += R"(","object":)";
  out += object;
  out += "}\n";
}

/// As it was, under the version of the write that made it another.
std::string under_version(const stored_object& object, std::uint64_t version) {
  auto out = object.text;
  const auto place = written_at(out, {"metadata", "resourceVersion"});
  out.replace(static_cast<std::size_t>(place.data() - out.data()), place.size(), in_quotes(std::to_string(version)));
  return out;
}

} // namespace

store_watch::store_watch(const store& objects, watch_request request, shown_objects* forms) :
  objects_(objects), forms_(forms), request_(std::move(request)) {
  if (request_.from) {
    at_ = *request_.from;
  } else {
    initial_ = objects_.list(*request_.kind, request_.name_space, request_.what);
    initial_end_ = request_.end_of_initial;
    at_ = objects_.version();
  }
}

void store_watch::expire(std::string& out) {
  ended_ = true;
  const auto why = expired("too old resource version: " + std::to_string(at_) + " (" + std::to_string(objects_.floor()) + ")");
  add_line("ERROR", encode_json(to_json(why)), out);
}

bool store_watch::about(const list_key& at, const object_ptr& object) const {
  return object && object->kind == request_.kind && (request_.name_space.empty() || at.name_space == request_.name_space)
         && request_.what.matches_text(object->text);
}

void store_watch::tell(std::string_view type, const std::string& text, store::instant now, std::string& out) {
  const bool first = std::exchange(first_, false);
  if (!request_.form)
    add_line(type, text, out);
  else if (forms_ == nullptr)
    add_line(type, request_.form->write(text, first, now), out);
  else
    add_line(type, forms_->show(*request_.form, text, first, now), out);
}

void store_watch::tell(const store_event& event, store::instant now, std::string& out) {
  const bool was = about(event.at, event.before);
  const bool is = !event.deleted && about(event.at, event.now);
  if (is)
    tell(was ? "MODIFIED" : "ADDED", event.now->text, now, out);
  else if (was && event.deleted)
    tell("DELETED", event.now->text, now, out);
  else if (was) // it no longer matches
    tell("DELETED", under_version(*event.before, event.version), now, out);
}

std::string store_watch::next(std::size_t bytes, store::instant now) {
  std::string out;
  while (told_ < initial_.size() && out.size() < bytes)
    tell("ADDED", initial_[told_++]->text, now, out);
  if (told_ < initial_.size())
    return out;
  initial_.clear();
  told_ = 0;
  if (initial_end_) {
    initial_end_ = false;
    const json mark{{"apiVersion", request_.kind->api_version()},
                    {"kind", request_.kind->kind},
                    {"metadata", {{"annotations", {{"k8s.io/initial-events-end", "true"}}}, {"resourceVersion", std::to_string(at_)}}}};
    tell("BOOKMARK", encode_json(mark), now, out);
  }
  while (!ended_ && out.size() < bytes) {
    if (at_ < objects_.floor() || at_ > objects_.version()) {
      expire(out);
      break;
    }
    const auto* event = objects_.event_after(at_);
    if (event == nullptr)
      break;
    at_ = event->version;
    tell(*event, now, out);
  }
  return out;
}

std::string store_watch::bookmark(store::instant now) {
  const json mark{{"apiVersion", request_.kind->api_version()},
                  {"kind", request_.kind->kind},
                  {"metadata", {{"creationTimestamp", nullptr}, {"resourceVersion", std::to_string(at_)}}}};
  std::string out;
  tell("BOOKMARK", encode_json(mark), now, out);
  return out;
}

} // namespace paddock::embedded
