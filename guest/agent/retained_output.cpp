#include "guest/agent/retained_output.hpp"

#include "guest/replies.hpp"

#include <algorithm>
#include <utility>

namespace paddock::guest {

namespace {

constexpr std::size_t largest_window = 256 * 1024; // on one channel; the rest waits in the log

} // namespace

// -- the execution -----------------------------------------------------------------------------------------------------

retained_output::retained_output(std::shared_ptr<agent_core> core, std::string id, std::shared_ptr<output_log> log) :
  core_(core), id_(std::move(id)), log_(std::move(log)) {
}

std::shared_ptr<retained_output> retained_output::begin(const std::shared_ptr<agent_core>& core, const std::string& id) {
  const auto* record = core->registry.find(id, core->time.now());
  auto made = std::make_shared<retained_output>(core, id, record->log);
  core->retained.insert_or_assign(id, made);
  return made;
}

void retained_output::join(std::shared_ptr<output_reader> reader) {
  readers_.push_back(std::move(reader));
}

void retained_output::leave(const output_reader* reader) {
  std::erase_if(readers_, [reader](const auto& x) { return x.get() == reader; });
}

void retained_output::take_output(stream which, std::string_view bytes) {
  auto offset = log_->append(which, bytes);
  auto now = readers_; // one that is dropped leaves
  for (const auto& reader : now)
    reader->more(which, bytes, offset);
}

void retained_output::input_drained() {
  if (drained_)
    drained_();
}

std::vector<std::shared_ptr<output_reader>> retained_output::close() {
  drained_ = nullptr;
  if (auto core = core_.lock())
    core->retained.erase(id_);
  return std::exchange(readers_, {});
}

void retained_output::ended(const execution_end& how) {
  auto self = shared_from_this();
  for (const auto& reader : close())
    reader->ended(how);
}

void retained_output::sever() {
  auto self = shared_from_this();
  for (const auto& reader : close())
    reader->sever();
}

namespace {

void tell_end(agent_core& core, const std::string& id) {
  auto at = core.retained.find(id);
  if (at == core.retained.end())
    return;
  const auto* record = core.registry.find(id, core.time.now());
  auto how = record->end;
  auto output = at->second;
  output->ended(how);
}

} // namespace

bool cancel_unstarted(agent_core& core, const std::string& id) {
  if (!core.registry.cancel_unstarted(id, core.time.now()))
    return false;
  tell_end(core, id);
  return true;
}

void settle_failed(agent_core& core, const std::string& id, execution_end end) {
  core.registry.settle(id, std::move(end), core.time.now());
  tell_end(core, id);
}

// -- one channel -------------------------------------------------------------------------------------------------------

log_sender::log_sender(std::shared_ptr<channel> to, std::shared_ptr<const output_log> log, std::uint64_t from, std::uint64_t budget,
                       bool as_base64) :
  to_(std::move(to)),
  log_(std::move(log)),
  at_(from),
  window_(static_cast<std::size_t>(std::min<std::uint64_t>(budget, largest_window))),
  as_base64_(as_base64) {
}

void log_sender::more(stream which, std::string_view bytes, std::uint64_t offset) {
  if (to_->gone())
    return;
  if (at_ == offset && to_->unsent() <= window_) {
    // What has just come is sent as it came, also when it is more than the log holds.
    at_ = offset + bytes.size();
    return to_->send(delta_event(which, bytes, as_base64_, offset));
  }
  if (at_ < log_->start_offset())
    return to_->destroy();
  pump();
}

void log_sender::end(std::string last) {
  last_ = std::move(last);
  pump();
}

void log_sender::pump() {
  while (!to_->gone() && to_->unsent() <= window_ && at_ < log_->end_offset()) {
    auto held = log_->read(at_, output_log::piece_size);
    if (!held || held->dropped > 0)
      return to_->destroy();
    for (const auto& piece : held->pieces) {
      to_->send(delta_event(piece.which, piece.bytes, as_base64_, piece.offset));
      at_ = piece.next_offset();
    }
  }
  if (last_ && at_ == log_->end_offset())
    to_->end_stream(*std::exchange(last_, std::nullopt));
}

} // namespace paddock::guest
