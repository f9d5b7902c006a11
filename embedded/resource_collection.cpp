#include "embedded/resource_answer.hpp"
#include "embedded/resource_servant.hpp"

namespace paddock::embedded {

std::optional<api_status> servant::behind(std::optional<std::uint64_t> at_least) const {
  if (at_least && *at_least > of_.objects.version())
    return version_too_new(*at_least, of_.objects.version());
  return std::nullopt;
}

api_result<list_query> servant::asked_page() const {
  auto how = read_list_parameters(kind_, of_.where.name_space, of_.target);
  if (!how)
    return tl::unexpected{how.error()};
  list_query query{.name_space = of_.where.name_space, .what = std::move(how->what), .version = how->exactly, .limit = how->limit};
  if (how->from) {
    query.after = how->from->after;
    if (how->from->version != 0)
      query.version = how->from->version;
  }
  if (auto why = behind(query.version ? query.version : how->at_least))
    return tl::unexpected{*why};
  if (query.version && *query.version < of_.objects.floor())
    return tl::unexpected{how->from ? expired_token(to_token({0, how->from->after}, query.name_space))
                                    : expired("The resourceVersion for the provided list is too old.")};
  return query;
}

list_position servant::position_of(const listed& page, const list_query& query) const {
  list_position at;
  at.version = query.version.value_or(of_.objects.version());
  if (page.more) {
    const auto& last = *page.items.back();
    at.next = to_token({at.version, {last.text_at({"metadata", "namespace"}), last.text_at({"metadata", "name"})}}, query.name_space);
    at.remaining = page.remaining;
  }
  return at;
}

outcome servant::list() {
  const auto query = asked_page();
  if (!query)
    return to_answer(query.error());
  const auto page = of_.objects.page(kept_, *query);
  return make_answer(200, shown_.list(page.items, position_of(page, *query)), shown_.content_type());
}

outcome servant::watch() {
  auto how = read_watch_parameters(kind_, of_.target);
  if (!how)
    return to_answer(how.error());
  if (auto why = behind(how->at_least))
    return to_answer(*why);
  watch_start out;
  out.request.kind = &kept_;
  out.request.name_space = of_.where.name_space;
  out.request.what = std::move(how->what);
  out.request.from = how->from;
  if (!how->from && !how->initial)
    out.request.from = of_.objects.version();
  out.request.end_of_initial = how->end_of_initial;
  out.request.bookmarks = how->bookmarks;
  out.timeout = how->timeout;
  if (of_.shape.what != representation::form::object || kind_.view)
    out.request.form = watch_form_of(kind_, of_.shape);
  return out;
}

outcome servant::remove_all() {
  auto how = read_delete_options(of_.target, of_.call.content_type, of_.call.body);
  if (!how)
    return to_answer(how.error());
  // In the query it is the version of the list.
  if (of_.call.body.empty())
    how->version.reset();
  const auto query = asked_page();
  if (!query)
    return to_answer(query.error());
  const auto page = of_.objects.page(kept_, *query);
  const auto at = position_of(page, *query);
  for (const auto& x : page.items) {
    const auto name = x->text_at({"metadata", "name"});
    how->admit = admission("DELETE", how->dry_run, name);
    const auto done = of_.objects.remove(kept_, of_.where.name_space, name, *how, of_.now);
    if (!done && done.error().code != 404)
      return to_answer(done.error());
  }
  auto out = make_answer(200, shown_.list(page.items, at), shown_.content_type());
  add_warnings(out, warnings_);
  return out;
}

} // namespace paddock::embedded
