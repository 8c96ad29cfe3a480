#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <gnnbench/transport.hpp>

/// Ranks that take their turn. One rank of many runs by itself: what the others would send it was recorded before, each of them
/// by itself too, and is read from files, as if it came from a network as fast as the page cache.
namespace gnnbench::bench {

/// Only what SharedReader uses: all-to-alls, with a barrier before those that belong together.
class TurnTransport : public Transport {
public:
    TurnTransport(int rank, int size) : rank_(rank), size_(size) {}

private:
    int do_rank() const override { return rank_; }
    int do_size() const override { return size_; }
    [[noreturn]] static void not_here();
    std::unique_ptr<Transport> do_split(int, int) const override { not_here(); }
    Event do_broadcast(void*, std::int64_t, int, Wait) override { not_here(); }
    Event do_reduce(void*, std::int64_t, DType, ReduceOp, int, Wait) override { not_here(); }
    Event do_all_reduce(void*, std::int64_t, DType, ReduceOp, Wait) override { not_here(); }
    Event do_all_gather(void*, std::span<const std::int64_t>, Wait) override { not_here(); }
    Event do_reduce_scatter(const void*, void*, std::span<const std::int64_t>, DType, Wait) override {
        not_here();
    }
    Event do_exchange(std::span<const Message>, std::span<const Message>) override { not_here(); }

    int rank_, size_;
};

/// Writes what this rank sends to rank `to`; nobody sends it anything.
class RecordingTransport final : public TurnTransport {
public:
    RecordingTransport(int rank, int size, int to, const std::filesystem::path& file);

private:
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override;
    void do_barrier() override;

    int to_;
    std::ofstream out_;
};

/// Receives what every other rank recorded for this one, from files[their rank]; what it sends is dropped.
class ReplayingTransport final : public TurnTransport {
public:
    ReplayingTransport(int rank, const std::vector<std::filesystem::path>& files);

private:
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override;
    void do_barrier() override;

    struct Sender {
        std::ifstream in;
        std::int64_t next = 0;  ///< bytes of its next message; `ended`: none before the next barrier
    };
    std::vector<Sender> senders_;  ///< by rank; this one's is not read
};

}  // namespace gnnbench::bench
