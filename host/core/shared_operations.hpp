#pragma once
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include <gnnbench/event.hpp>
#include <gnnbench/process_group.hpp>
#include <gnnbench/shared_host_memory.hpp>

#include "core/bell.hpp"
#include "core/mapped_range.hpp"
#include "core/shared_channel.hpp"

namespace gnnbench {

/// One operation of the transport through shared memory, on one rank: items that it offers, and items of others that it
/// takes. It is complete when all of its own are consumed and all others taken.
struct SharedOperation {
    struct Offered {
        Channel* channel;
        std::uint64_t number;
        bool consumed() const { return channel->consumed.load(std::memory_order_acquire) >= number; }
    };
    /// What a rank reads, where this process has it mapped.
    struct Source {
        std::byte* data;
        const Published* item;
    };
    struct Taken {
        Channel* channel;
        std::uint64_t number;
        std::shared_ptr<std::uint64_t> last;  ///< number of the channel's item taken last: they are taken in order
        std::byte* base;                      ///< of the sender's memory
        std::function<void(const Source&)> take{};
        bool done = false;

        bool here() const {
            return *last + 1 == number && channel->published.load(std::memory_order_acquire) >= number;
        }
        Source source() const {
            Published& item = channel->slot(number);
            return {item.at == Published::here ? item.small : base + item.at, &item};
        }
        void consume() {
            done = true;
            *last = number;
            channel->consumed.store(number, std::memory_order_release);
            Bell::of(base).ring();
        }
    };
    /// A copy in shared memory of data that is not there.
    struct Copy {
        void *shared, *original;
        std::size_t bytes;
        bool written;  ///< others write to it: it is copied back
    };

    std::vector<Offered> offered;
    std::vector<Taken> taken;
    /// Instead of each item's `take`: called once all are here, with the sources in the order of `taken`.
    std::function<void(std::span<const Source>)> take_all{};
    std::vector<Copy> copies;
    bool all_taken = false, complete = false;

    bool all_consumed() const;
};

/// The operations of a rank that are under way, in all of its groups. A rank that waits for one works on all: others
/// may wait for what it has not taken yet.
class SharedOperations {
public:
    /// `ranges`: the others' memory by rank in the group that was connected; this rank's is empty. `progress`: a
    /// group that is asked for news while a rank waits here, since another may wait in MPI for this one.
    SharedOperations(std::shared_ptr<SharedHostMemory> memory, HostMoves moves, std::vector<MappedRange> ranges,
                     ProcessGroup progress, bool crowded);
    ~SharedOperations() = default;
    SharedOperations(const SharedOperations&) = delete;
    SharedOperations& operator=(const SharedOperations&) = delete;

    SharedHostMemory& memory() { return *memory_; }
    const HostMoves& moves() const { return moves_; }
    /// Where the memory of a rank of the connected group starts here.
    std::byte* base(int rank) const {
        std::byte* const other = ranges_[usize(rank)].base();
        return other ? other : memory_->base();
    }

    void add(std::shared_ptr<SharedOperation> operation);
    void progress();
    /// The same once, and MPI is asked too: for who comes back to ask again.
    void poll();
    /// Until done() holds, which it asks after every step.
    void wait(const std::function<bool()>& done);

private:
    void step(SharedOperation& operation);

    std::shared_ptr<SharedHostMemory> memory_;
    HostMoves moves_;
    std::vector<MappedRange> ranges_;
    ProcessGroup progress_;
    bool crowded_;  ///< more ranks than cores: who waits gives its core away at once
    std::list<std::shared_ptr<SharedOperation>> pending_;
};

/// The events of an operation: one for all of it, or one for each taken item and a last one for all that is offered.
Event event_of(std::shared_ptr<SharedOperations> all, std::shared_ptr<SharedOperation> operation);
std::vector<Event> events_of_each(std::shared_ptr<SharedOperations> all,
                                  std::shared_ptr<SharedOperation> operation);

}  // namespace gnnbench
