#include "core/lone_transport.hpp"

#include <cstring>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench {
namespace {

/// One process, which has all that it sends: collectives are over at once, and there is nobody to exchange with.
class LoneTransport final : public Transport {
    int do_rank() const override { return 0; }
    int do_size() const override { return 1; }
    std::unique_ptr<Transport> do_split(int, int) const override { return make_lone_transport(); }
    Event do_broadcast(void*, std::int64_t, int, Wait) override { return {}; }
    Event do_reduce(void*, std::int64_t, DType, ReduceOp, int, Wait) override { return {}; }
    Event do_all_reduce(void*, std::int64_t, DType, ReduceOp, Wait) override { return {}; }
    Event do_all_gather(void*, std::span<const std::int64_t>, Wait) override { return {}; }
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait) override {
        const std::size_t bytes = usize(counts[0]) * size_of(dtype);
        if (bytes > 0) std::memmove(mine, all, bytes);
        return {};
    }
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        require(sends.empty() && receives.empty(), "one rank has nobody to exchange messages with");
        return {};
    }
    Event do_all_to_all(std::span<const Message>, std::span<const Message>) override { return {}; }
    void do_barrier() override {}
};

}  // namespace

std::unique_ptr<Transport> make_lone_transport() { return std::make_unique<LoneTransport>(); }

}  // namespace gnnbench
