// `read-file-stream` ([G] 7.3). The file is read where that may block. While the socket takes one chunk the next is read,
// and it is sent when the one before it has gone: two chunks are held, however large the file is.

#include "base/base64.hpp"
#include "guest/agent/file_access.hpp"
#include "guest/agent/ops.hpp"
#include "guest/agent/process.hpp"
#include "guest/envelope.hpp"
#include "guest/file_request.hpp"
#include "guest/replies.hpp"

#include <algorithm>
#include <fcntl.h>
#include <utility>

namespace paddock::guest {

namespace {

using object = nlohmann::ordered_json;

constexpr auto not_a_regular_file = std::string_view{"read_file_stream_not_a_regular_file"};
constexpr auto largest_chunk = std::uint64_t{16 * 1024 * 1024};

// A chunk, ready for the wire.
struct chunk {
  std::string frame;
  std::uint64_t bytes = 0; // fewer than asked for: the file has ended
  int error = 0;
};

// What the reads of one stream share; one of them at a time.
struct source {
  readable_file file;
  std::string buffer;

  chunk read(std::uint64_t offset, std::size_t size) {
    auto result = chunk{};
    auto bytes = std::string_view{};
    if (file.content) {
      bytes = std::string_view{*file.content}.substr(static_cast<std::size_t>(offset), size);
    } else {
      buffer.resize(std::max(buffer.size(), size));
      auto n = read_at(file.fd.get(), buffer.data(), size, offset);
      if (!n) {
        result.error = n.error();
        return result;
      }
      bytes = std::string_view{buffer.data(), *n};
    }
    result.bytes = bytes.size();
    result.frame = begin_frame(base64_size(bytes.size()) + 32);
    result.frame += R"({"type":"data","data":")";
    auto encoder = base64_encoder{};
    encoder.add(result.frame, bytes);
    encoder.finish(result.frame);
    result.frame += R"("})";
    end_frame(result.frame);
    return result;
  }
};

using opening = tl::expected<std::shared_ptr<source>, read_failure>;

class file_stream final : public op_handler, public std::enable_shared_from_this<file_stream> {
public:
  file_stream(shared_core core, shared_channel to, std::string path, wanted_range wanted) :
    core_(std::move(core)),
    to_(std::move(to)),
    path_(std::move(path)),
    wanted_(wanted),
    chunk_bytes_(std::min(core_->config.read_file_stream_chunk_bytes, largest_chunk)) {
  }

  void open() {
    core_->elsewhere(
      [core = core_, path = path_]() -> opening {
        auto file = open_to_read(core->config, core->files, path);
        if (!file)
          return tl::unexpected{std::move(file.error())};
        ::posix_fadvise(file->fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
        return std::make_shared<source>(source{std::move(*file), {}});
      },
      [self = shared_from_this()](opening how) { self->opened(std::move(how)); });
  }

  // -- op_handler -------------

  void frame(std::string) override {
  }
  void drained() override {
    go_on();
  }
  void closed() override {
    closed_ = true;
    source_.reset(); // a read that is under way closes it when it ends
    ready_.reset();
  }
  [[nodiscard]] bool takes_frames() const override {
    return false;
  }
  [[nodiscard]] std::uint64_t frame_ceiling() const override {
    return core_->config.max_frame_bytes;
  }

private:
  void opened(opening how) {
    if (closed_)
      return;
    if (!how)
      return end(error_event(how.error().irregular ? not_a_regular_file : std::string_view{how.error().text}));
    source_ = std::move(*how);
    auto range = clamp(wanted_, source_->file.size);
    to_->send(to_text(object{{"type", "meta"}, {"sizeBytes", source_->file.size}, {"offset", range.offset}, {"length", range.length}}));
    next_ = range.offset;
    left_ = range.length;
    read_ahead();
    go_on();
  }

  void read_ahead() {
    if (reading_ || left_ == 0)
      return;
    reading_ = true;
    auto size = static_cast<std::size_t>(std::min(left_, chunk_bytes_));
    core_->elsewhere([from = source_, offset = next_, size] { return from->read(offset, size); },
                     [self = shared_from_this(), size](chunk got) { self->take(std::move(got), size); });
  }

  void take(chunk got, std::size_t size) {
    reading_ = false;
    if (closed_)
      return;
    next_ += got.bytes;
    left_ = got.bytes < size ? 0 : left_ - size; // the file has become shorter: what was sent says so
    ready_ = std::move(got);
    go_on();
  }

  // Sends the chunk at hand once the one before it has gone, and has the next one read meanwhile.
  void go_on() {
    if (closed_ || !source_ || to_->unsent() > 0)
      return;
    if (auto got = std::exchange(ready_, std::nullopt)) {
      if (got->error != 0)
        return end(error_event(system_message(got->error, "read", path_)));
      read_ahead();
      sent_ += got->bytes;
      if (got->bytes > 0)
        to_->send_frame(std::move(got->frame));
    }
    if (!closed_ && !reading_ && !ready_ && left_ == 0)
      end(to_text(object{{"type", "end"}, {"bytesSent", sent_}}));
  }

  void end(std::string event) {
    auto to = to_;
    closed();
    to->end_stream(std::move(event));
  }

  shared_core core_;
  shared_channel to_;
  std::string path_;
  wanted_range wanted_;
  std::uint64_t chunk_bytes_;
  std::shared_ptr<source> source_; // once it is open, until the stream ends
  std::uint64_t next_ = 0;         // where the next read begins
  std::uint64_t left_ = 0;         // to be read from there
  std::uint64_t sent_ = 0;
  bool reading_ = false;
  std::optional<chunk> ready_;
  bool closed_ = false;
};

} // namespace

shared_handler start_read_file_stream(shared_core core, shared_channel to, const nlohmann::json& body) {
  auto refused = [&to](std::string_view text) {
    to->end_stream(error_event(text));
    return nullptr;
  };
  auto path = text_member(body, "path");
  if (path.empty())
    return refused("missing_path");
  auto wanted = read_range(body);
  if (!wanted)
    return refused(wanted.error());
  auto made = std::make_shared<file_stream>(std::move(core), std::move(to), std::move(path), *wanted);
  made->open();
  return made;
}

} // namespace paddock::guest
