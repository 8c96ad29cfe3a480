#include "together.hpp"

#include <cstring>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::bench {
namespace {

/// In place of a message's length: a barrier.
constexpr std::int64_t ended = -1;

std::int64_t read_length(std::ifstream& in) {
    std::int64_t length = ended;
    in.read(reinterpret_cast<char*>(&length), sizeof length);
    return in ? length : ended;
}

}  // namespace

void TurnTransport::not_here() { throw LogicError("ranks that take their turn exchange all-to-all alone"); }

RecordingTransport::RecordingTransport(int rank, int size, int to, const std::filesystem::path& file)
    : TurnTransport(rank, size), to_(to), out_(file, std::ios::binary) {}

Event RecordingTransport::do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) {
    for (const Message& m : receives)
        if (m.bytes > 0) std::memset(m.data, 0, usize(m.bytes));
    const Message& m = sends[usize(to_)];
    out_.write(reinterpret_cast<const char*>(&m.bytes), sizeof m.bytes);
    out_.write(static_cast<const char*>(m.data), m.bytes);
    if (!out_) throw EnvironmentError("what a rank sends could not be recorded");
    return {};
}

void RecordingTransport::do_barrier() { out_.write(reinterpret_cast<const char*>(&ended), sizeof ended); }

ReplayingTransport::ReplayingTransport(int rank, const std::vector<std::filesystem::path>& files)
    : TurnTransport(rank, static_cast<int>(files.size())), senders_(files.size()) {
    for (std::size_t j = 0; j < files.size(); ++j) {
        if (static_cast<int>(j) == rank) continue;
        senders_[j].in.open(files[j], std::ios::binary);
        senders_[j].next = read_length(senders_[j].in);
    }
}

/// A rank that has nothing more to send says so: its messages are empty and its words 0.
Event ReplayingTransport::do_all_to_all(std::span<const Message>, std::span<const Message> receives) {
    for (const Message& m : receives) {
        if (m.peer == rank()) continue;
        Sender& from = senders_[usize(m.peer)];
        if (from.next == ended) {
            if (m.bytes > 0) std::memset(m.data, 0, usize(m.bytes));
            continue;
        }
        if (from.next != m.bytes) throw LogicError("a recorded message is not as long as the one that is awaited");
        from.in.read(static_cast<char*>(m.data), m.bytes);
        from.next = read_length(from.in);
    }
    return {};
}

void ReplayingTransport::do_barrier() {
    for (std::size_t j = 0; j < senders_.size(); ++j) {
        if (static_cast<int>(j) == rank()) continue;
        if (senders_[j].next != ended) throw LogicError("a rank recorded more than is awaited before a barrier");
        senders_[j].next = read_length(senders_[j].in);
    }
}

}  // namespace gnnbench::bench
