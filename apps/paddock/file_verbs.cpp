#include "apps/paddock/file_verbs.hpp"

#include "apps/paddock/exit_code.hpp"
#include "apps/paddock/stream.hpp"
#include "client/files.hpp"
#include "messages/error.hpp"

#include <csignal>
#include <filesystem>
#include <iostream>
#include <unistd.h>
#include <utility>

namespace paddock::cli {

namespace {

/// The exit code of a call that carried a file, with its words printed.
int end_of_stream(const arguments& args, const stream_end& end) {
  if (end.output_closed)
    return 128 + SIGPIPE; // whoever closed it knows why
  if (const auto* why = std::get_if<problem>(&end.how)) {
    print_problem(std::cerr, args.how(), *why);
    return end.signal != 0 ? 128 + end.signal : exit_code(why->how);
  }
  return end.signal != 0 ? 128 + end.signal : 0;
}

/// What is said of a copy: on a terminal, and nowhere else, how far a tree has come; and what is not there as it was.
class tally {
public:
  explicit tally(const arguments& args) : args_(args), shown_(args.recursive && ::isatty(STDERR_FILENO) != 0) {
  }
  ~tally() {
    if (shown_)
      std::cerr << "\r\x1b[K" << std::flush;
  }
  tally(const tally&) = delete;
  tally& operator=(const tally&) = delete;

  [[nodiscard]] client::copy_watch watch(interrupts& signals) {
    return {signals.watch(), [this](std::uint64_t size) { add(size); },
            [this](const problem& why) {
              print_problem(std::cerr, args_.how(), why);
              whole_ = whole_ && why.reason != "Skipped";
            }};
  }
  /// Whether no file was left out.
  [[nodiscard]] bool whole() const noexcept {
    return whole_;
  }

private:
  void add(std::uint64_t size) {
    ++files_;
    bytes_ += size;
    if (shown_)
      std::cerr << "\r\x1b[Kcopied " << files_ << " files, " << bytes_ / (1024 * 1024) << " MiB" << std::flush;
  }

  const arguments& args_;
  bool shown_;
  bool whole_ = true;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

void print_files(std::ostream& out, format how, const std::vector<client::listed_file>& all) {
  if (how == format::json) {
    auto rows = nlohmann::json::array();
    for (const auto& x : all)
      rows.push_back({{"path", x.path}, {"size", x.size}});
    out << rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  for (const auto& x : all) {
    if (how == format::table)
      out << x.size << '\t';
    out << x.path << '\n';
  }
}

} // namespace

int cat(remote from, const arguments& args) {
  return end_of_stream(args,
                       run_interruptible(from.at, read_spec{from.path, args.offset, args.length}, {-1, STDOUT_FILENO, STDERR_FILENO}));
}

int ls_files(remote from, const arguments& args) {
  auto signals = interrupts{};
  const auto listed = client::list_files(
    from.at, walk_spec{from.path, args.pattern, args.hidden, args.depth, args.max_entries, args.max_visited}, signals.watch());
  if (!listed)
    return end_of_stream(args, {{listed.error()}, signals.seen()});
  print_files(std::cout, args.how(), *listed);
  return 0;
}

int copy_in(remote to, const arguments& args) {
  if (args.source == "-")
    return end_of_stream(args, run_interruptible(to.at, write_spec{to.path, {}}, {STDIN_FILENO, -1, -1}));
  auto none = std::error_code{};
  auto signals = interrupts{};
  auto told = tally{args};
  const auto watch = told.watch(signals);
  auto end = args.recursive && std::filesystem::is_directory(args.source, none) ? client::copy_tree_in(to.at, args.source, to.path, watch)
                                                                                : client::copy_file_in(to.at, args.source, to.path, watch);
  const auto code = end_of_stream(args, {std::move(end), signals.seen()});
  return code == 0 && !told.whole() ? 1 : code; // not all of the tree
}

int copy_out(remote from, const arguments& args) {
  if (args.destination == "-" && !args.recursive)
    return end_of_stream(args, run_interruptible(from.at, read_spec{from.path, {}, {}}, {-1, STDOUT_FILENO, STDERR_FILENO}));
  auto signals = interrupts{};
  auto told = tally{args};
  const auto watch = told.watch(signals);
  auto end = args.recursive ? client::copy_tree_out(from.at, from.path, args.destination, watch)
                            : client::copy_file_out(from.at, from.path, args.destination, watch);
  return end_of_stream(args, {std::move(end), signals.seen()});
}

} // namespace paddock::cli
