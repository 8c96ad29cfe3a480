// The transport between ranks of one host through memory that they share. The rank that receives does the work: it reads
// what it needs where the sender has it, once. Bytes that cross, x per rank, k ranks:
//   broadcast, messages, all-gather, rows    each byte read once from its sender, written once, by the receiver
//   all-reduce, reduce, reduce-scatter       rank i sums block i of all ranks, in rank order, where they are; for an
//                                            all-reduce it writes the sum into every rank's data, for a reduce the root's
// So results do not depend on who came first.
#include <gnnbench/shared_host_memory.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnnbench/process_group.hpp>

#include "core/mapped_range.hpp"
#include "core/shared_operations.hpp"

namespace gnnbench {
namespace {

using Source = SharedOperation::Source;

/// Elements that are added before they are written: few enough to stay in the first cache.
constexpr std::int64_t sum_run = 1024;

/// sum[i] ← f(sum[i], x[i]), i < n. Of a whole run the compiler knows the number, and so uses vectors.
template <class T, class F>
void fold(T* __restrict sum, const T* __restrict x, std::int64_t n, F f) {
    if (n == sum_run) {
        for (std::int64_t i = 0; i < sum_run; ++i) sum[i] = f(sum[i], x[i]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i) sum[i] = f(sum[i], x[i]);
}

/// Elements [first, end) of all sources, added (or compared) in their order, into every target.
template <class T>
void combine(std::span<T* const> sources, std::span<T* const> targets, ReduceOp op, std::int64_t first,
             std::int64_t end) {
    alignas(64) T sum[sum_run];
    for (std::int64_t begin = first; begin < end; begin += sum_run) {
        const std::int64_t n = std::min(sum_run, end - begin);
        std::copy_n(sources[0] + begin, n, sum);
        for (const T* const x : sources.subspan(1)) {
            if (op == ReduceOp::sum)
                fold(sum, x + begin, n, [](T a, T b) { return a + b; });
            else
                fold(sum, x + begin, n, [](T a, T b) { return std::max(a, b); });
        }
        for (T* const to : targets) std::copy_n(sum, n, to + begin);
    }
}

/// Block i of `count` elements cut for `parts` ranks: whole cache lines, so that no two ranks write to one.
std::int64_t line_block_begin(std::int64_t count, std::int64_t element_bytes, int parts, int i) {
    const std::int64_t step = 64 / element_bytes, block = (count + parts * step - 1) / (parts * step) * step;
    return std::min(count, block * i);
}

/// Every rank's, in rank order. Collective.
template <class T>
std::vector<T> of_all(const T& own, const ProcessGroup& group) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(usize(group.size()));
    const auto texts = group.all_gather(std::string(reinterpret_cast<const char*>(&own), sizeof own));
    for (std::size_t rank = 0; rank < all.size(); ++rank) std::memcpy(&all[rank], texts[rank].data(), sizeof(T));
    return all;
}

class SharedTransport final : public Transport {
public:
    /// `origin`: this rank's number in the group that was connected.
    SharedTransport(std::shared_ptr<SharedOperations> operations, ProcessGroup group, int origin)
        : operations_(std::move(operations)),
          group_(std::move(group)),
          origin_(origin),
          rank_(group_.rank()),
          size_(group_.size()) {
        for (auto* numbers : {&offered_, &expected_, taken_.get()}) numbers->resize(usize(kinds * size_));
        // The channels stay where they are until the range goes: others may yet write that they consumed the last item.
        void* const channels = operations_->memory().allocate(usize(kinds * size_) * sizeof(Channel));
        if (!channels) throw OutOfMemory("the memory that the ranks of this host share has no room for a group");
        mine_ = static_cast<Channel*>(channels);
        for (int i = 0; i < kinds * size_; ++i) new (mine_ + i) Channel;
        struct Place {
            std::int64_t origin;
            std::uint64_t channels;
        };
        const Place own{origin, static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(mine_) -
                                                           operations_->memory().base())};
        for (const Place& p : of_all(own, group_)) {
            bases_.push_back(operations_->base(static_cast<int>(p.origin)));
            theirs_.push_back(reinterpret_cast<Channel*>(bases_.back() + p.channels));
        }
    }
    SharedTransport(const SharedTransport&) = delete;
    SharedTransport& operator=(const SharedTransport&) = delete;

private:
    /// Messages and collective operations are matched in order separately, since not all ranks send messages.
    enum Kind : int { collective, message, kinds };

    int do_rank() const override { return rank_; }
    int do_size() const override { return size_; }

    std::unique_ptr<Transport> do_split(int color, int key) const override {
        return std::make_unique<SharedTransport>(operations_, group_.split(color, key), origin_);
    }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        const auto o = std::make_shared<SharedOperation>();
        if (rank_ == root) {
            const std::byte* const shared = readable(*o, data, bytes);
            for (int peer = 0; peer < size_; ++peer)
                if (peer != root) send(*o, collective, peer, shared, bytes);
        } else {
            take(*o, collective, root, copied_to(data, bytes));
        }
        return started(o, wait);
    }

    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        return reduce_blocks(data, count, dtype, op, root, wait);
    }
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        return reduce_blocks(data, count, dtype, op, all_ranks, wait);
    }

    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        const auto o = std::make_shared<SharedOperation>();
        std::vector<std::int64_t> first(byte_counts.size());
        std::exclusive_scan(byte_counts.begin(), byte_counts.end(), first.begin(), std::int64_t{0});
        auto* const to = static_cast<std::byte*>(all);
        const std::int64_t bytes = byte_counts[usize(rank_)];
        const std::byte* const shared = readable(*o, to + first[usize(rank_)], bytes);
        for (int peer = 0; peer < size_; ++peer)
            if (peer != rank_) send(*o, collective, peer, shared, bytes);
        for (int peer = 0; peer < size_; ++peer)
            if (peer != rank_)
                take(*o, collective, peer, copied_to(to + first[usize(peer)], byte_counts[usize(peer)]));
        return started(o, wait);
    }

    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        const auto o = std::make_shared<SharedOperation>();
        const auto element = static_cast<std::int64_t>(size_of(dtype));
        const std::int64_t first = std::reduce(counts.begin(), counts.begin() + rank_),
                           count = counts[usize(rank_)];
        const std::int64_t bytes = std::reduce(counts.begin(), counts.end()) * element;
        std::byte* const shared = in_shared(*o, const_cast<void*>(all), bytes, false);
        offer_to_all(*o, shared, bytes);
        o->take_all = [=, rank = rank_](std::span<const Source> sources) {
            with_type(dtype, [&]<class T>(T*) {
                std::vector<T*> from = in_rank_order<T>(sources, rank, shared, bytes);
                for (T*& p : from) p += first;
                T* const to[] = {static_cast<T*>(mine)};
                combine<T>(from, to, ReduceOp::sum, 0, count);
            });
        };
        return started(o, wait);
    }

    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        const auto o = messages(sends, receives);
        operations_->add(o);
        return event_of(operations_, o);
    }
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        const auto o = messages(sends, receives);
        require(o->taken.size() == receives.size(), "exchange_each: an empty receive would have no event");
        operations_->add(o);
        return events_of_each(operations_, o);
    }
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return do_exchange(sends, receives);
    }

    bool do_reads_rows() const override { return true; }

    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override {
        const auto o = std::make_shared<SharedOperation>();
        const auto element = static_cast<std::int64_t>(size_of(from.dtype));
        const std::int64_t bytes = from.rows == 0 ? 0 : ((from.rows - 1) * from.ld + from.cols) * element;
        const std::byte* const shared =
            sends.empty() ? nullptr : in_shared(*o, const_cast<void*>(from.data), bytes, false);
        for (const RowSet& s : sends)
            offer(*o, message, s.peer, shared, s.rows.count * from.cols * element, from.ld);
        for (const RowSet& r : receives)
            take(*o, message, r.peer, [r, element, &moves = operations_->moves()](const Source& s) {
                check_size(s, r.to.rows * r.to.cols * element);
                moves.gather({s.data, r.to.rows, r.to.cols, s.item->ld, r.to.dtype}, r.rows.at, r.to);
            });
        operations_->add(o);
        return events_of_each(operations_, o);
    }

    Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) override {
        const auto o = messages(sends, {});
        for (const RowSet& r : receives) take(*o, message, r.peer, {});
        // In the order of `receives`, so that the sums do not depend on who came first.
        o->take_all = [to, sets = std::vector<RowSet>(receives.begin(), receives.end()),
                       &moves = operations_->moves()](std::span<const Source> sources) {
            for (std::size_t i = 0; i < sets.size(); ++i) {
                const std::int64_t rows = sets[i].rows.count;
                check_size(sources[i], rows * to.cols * static_cast<std::int64_t>(size_of(to.dtype)));
                moves.add({sources[i].data, rows, to.cols, to.cols, to.dtype}, sets[i].rows.at, to);
            }
        };
        return started(o, Wait::later);
    }

    /// By dissemination: after the round with distance d, a rank knows that the 2d ranks up to it have come.
    void do_barrier() override {
        for (int distance = 1; distance < size_; distance *= 2) {
            const auto o = std::make_shared<SharedOperation>();
            send(*o, collective, (rank_ + distance) % size_, nullptr, 0);
            take(*o, collective, (rank_ + size_ - distance) % size_, {});
            operations_->add(o);
            operations_->wait([&] { return o->all_taken; });
        }
    }

    static constexpr int all_ranks = -1;  ///< as the root: every rank has the result

    /// This rank reduces block `rank` of all ranks' data and writes the result where it is wanted.
    Event reduce_blocks(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) {
        const auto o = std::make_shared<SharedOperation>();
        const auto element = static_cast<std::int64_t>(size_of(dtype));
        const std::int64_t bytes = count * element;
        const std::int64_t first = line_block_begin(count, element, size_, rank_),
                           end = line_block_begin(count, element, size_, rank_ + 1);
        std::byte* const shared = in_shared(*o, data, bytes, root == all_ranks || root == rank_);
        offer_to_all(*o, shared, bytes);
        o->take_all = [=, rank = rank_](std::span<const Source> sources) {
            with_type(dtype, [&]<class T>(T*) {
                const std::vector<T*> from = in_rank_order<T>(sources, rank, shared, bytes);
                const std::span<T* const> all = from;
                combine<T>(all, root == all_ranks ? all : all.subspan(usize(root), 1), op, first, end);
            });
        };
        return started(o, wait);
    }

    std::shared_ptr<SharedOperation> messages(std::span<const Message> sends, std::span<const Message> receives) {
        auto o = std::make_shared<SharedOperation>();
        for (const Message& m : sends)
            if (m.bytes > 0) send(*o, message, m.peer, readable(*o, m.data, m.bytes), m.bytes);
        for (const Message& m : receives)
            if (m.bytes > 0) take(*o, message, m.peer, copied_to(m.data, m.bytes));
        return o;
    }

    /// Where the others find `data`: there, or in a copy if it is not in shared memory.
    std::byte* in_shared(SharedOperation& o, void* data, std::int64_t bytes, bool written) {
        if (bytes == 0) return operations_->memory().base();
        if (operations_->memory().holds(data)) return static_cast<std::byte*>(data);
        void* const shared = operations_->memory().allocate(usize(bytes));
        if (!shared)
            throw OutOfMemory(
                fmt::format("the memory that the ranks of this host share has no room for {} bytes", bytes));
        std::memcpy(shared, data, usize(bytes));
        o.copies.push_back({shared, data, usize(bytes), written});
        return static_cast<std::byte*>(shared);
    }

    /// As in_shared, for what is sent and only read.
    const std::byte* readable(SharedOperation& o, void* data, std::int64_t bytes) {
        return usize(bytes) <= Published::small_bytes ? static_cast<const std::byte*>(data)
                                                      : in_shared(o, data, bytes, false);
    }

    /// What is small goes by itself; the rest is offered.
    void send(SharedOperation& o, Kind kind, int peer, const std::byte* data, std::int64_t bytes) {
        if (usize(bytes) > Published::small_bytes) return offer(o, kind, peer, data, bytes);
        Channel& c = mine_[kind * size_ + peer];
        const std::uint64_t number = next(kind, peer);
        Published& slot = c.slot(number);
        slot.at = Published::here;
        slot.bytes = usize(bytes);
        if (bytes > 0) std::memcpy(slot.small, data, usize(bytes));
        publish(c, number, peer);
    }
    void offer(SharedOperation& o, Kind kind, int peer, const std::byte* data, std::int64_t bytes,
               std::int64_t ld = 0) {
        Channel& c = mine_[kind * size_ + peer];
        const std::uint64_t number = next(kind, peer);
        Published& slot = c.slot(number);
        slot.at = static_cast<std::uint64_t>(data - operations_->memory().base());
        slot.bytes = usize(bytes);
        slot.ld = ld;
        order_streaming_stores();
        publish(c, number, peer);
        o.offered.push_back({&c, number});
    }
    void publish(Channel& channel, std::uint64_t number, int peer) {
        channel.published.store(number, std::memory_order_release);
        Bell::of(bases_[usize(peer)]).ring();
    }
    /// The number of the next item for a peer, once its slot is free.
    std::uint64_t next(Kind kind, int peer) {
        const Channel& c = mine_[kind * size_ + peer];
        const std::uint64_t number = ++offered_[usize(kind * size_ + peer)];
        const auto is_free = [&] { return c.consumed.load(std::memory_order_acquire) + Channel::depth >= number; };
        if (!is_free()) operations_->wait(is_free);
        return number;
    }
    void take(SharedOperation& o, Kind kind, int peer, std::function<void(const Source&)> how) {
        const auto i = usize(kind * size_ + peer);
        o.taken.push_back({&theirs_[usize(peer)][kind * size_ + rank_],
                           ++expected_[i],
                           {taken_, &(*taken_)[i]},
                           bases_[usize(peer)],
                           std::move(how)});
    }
    void offer_to_all(SharedOperation& o, const std::byte* data, std::int64_t bytes) {
        for (int peer = 0; peer < size_; ++peer)
            if (peer != rank_) offer(o, collective, peer, data, bytes);
        for (int peer = 0; peer < size_; ++peer)
            if (peer != rank_) take(o, collective, peer, {});
    }

    /// Taken from all others (offer_to_all), with this rank's own among them.
    template <class T>
    static std::vector<T*> in_rank_order(std::span<const Source> sources, int rank, std::byte* own,
                                         std::int64_t bytes) {
        std::vector<T*> all;
        for (const Source& s : sources) {
            check_size(s, bytes);
            all.push_back(reinterpret_cast<T*>(s.data));
        }
        all.insert(all.begin() + rank, reinterpret_cast<T*>(own));
        return all;
    }

    static void with_type(DType dtype, auto&& f) {
        if (dtype == DType::f32)
            f(static_cast<float*>(nullptr));
        else
            f(static_cast<double*>(nullptr));
    }
    static void check_size(const Source& s, std::int64_t bytes) {
        if (s.item->bytes != static_cast<std::uint64_t>(bytes))
            throw CommunicationError(
                fmt::format("a rank sends {} bytes where {} are received", s.item->bytes, bytes));
    }
    std::function<void(const Source&)> copied_to(void* data, std::int64_t bytes) const {
        return [data, bytes, &moves = operations_->moves()](const Source& s) {
            check_size(s, bytes);
            moves.copy(s.data, data, usize(bytes));
        };
    }

    Event started(const std::shared_ptr<SharedOperation>& o, Wait wait) {
        operations_->add(o);
        if (wait == Wait::later) return event_of(operations_, o);
        operations_->wait([&] { return o->complete; });
        return {};
    }

    std::shared_ptr<SharedOperations> operations_;
    ProcessGroup group_;
    int origin_, rank_, size_;
    Channel* mine_ = nullptr;                        ///< [kind · size + receiver]
    std::vector<Channel*> theirs_;                   ///< by sender: its channels
    std::vector<std::byte*> bases_;                  ///< by rank
    std::vector<std::uint64_t> offered_, expected_;  ///< [kind · size + peer]: items so far
    /// The same of items taken, which operations under way share.
    std::shared_ptr<std::vector<std::uint64_t>> taken_ = std::make_shared<std::vector<std::uint64_t>>();
};

/// Whether a path in /proc leads to a range of SharedHostMemory. In another PID namespace (a container) the same numbers
/// name another process or another file, which must not even be opened.
bool leads_to_range(const std::string& path, std::uint64_t bytes) {
    constexpr std::string_view name = "/memfd:gnnbench";
    char target[64] = {};
    if (readlink(path.c_str(), target, sizeof target) < std::ssize(name) ||
        !std::string_view(target).starts_with(name))
        return false;
    struct stat info{};
    return stat(path.c_str(), &info) == 0 && static_cast<std::uint64_t>(info.st_size) == bytes;
}

/// The memory of a rank of this host, mapped into this process; nothing if that is not possible.
MappedRange map_range_of(const SharedHostMemory::Address& a) {
    const std::string path = fmt::format("/proc/{}/fd/{}", a.process, a.descriptor);
    if (!leads_to_range(path, a.bytes)) return {};
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return {};
    MappedRange range(file, a.bytes);
    close(file);
    std::uint64_t token = 0;
    if (range.base()) std::memcpy(&token, range.base(), sizeof token);
    return token == a.token ? std::move(range) : MappedRange();
}

bool on_all(bool here, const ProcessGroup& group) { return group.sum({here ? 0.0 : 1.0}).front() == 0; }

}  // namespace

std::unique_ptr<Transport> make_shared_transport(const ProcessGroup& group,
                                                 std::shared_ptr<SharedHostMemory> memory, HostMoves moves,
                                                 std::string& made) {
    const auto by_mpi = [&](const char* why) {
        made = fmt::format("transport: mpi ({})", why);
        return make_mpi_transport(group);
    };
    const ProcessGroup host = group.split_by_host();
    if (!on_all(host.size() == group.size(), group)) return by_mpi("not all ranks on one host");
    if (!on_all(memory != nullptr, group)) return by_mpi("no shared memory");

    const std::vector<SharedHostMemory::Address> addresses = of_all(memory->address(), group);
    std::vector<MappedRange> ranges;
    bool mapped = true;
    for (int rank = 0; rank < group.size(); ++rank) {
        ranges.push_back(rank == group.rank() ? MappedRange() : map_range_of(addresses[usize(rank)]));
        mapped = mapped && (rank == group.rank() || ranges.back().base());
    }
    if (!on_all(mapped, group)) return by_mpi("ranks may not map each other's memory");

    // Of their own, so that the messages of the group are never found there.
    ProcessGroup progress = group.split(0, group.rank()), own = group.split(0, group.rank());
    const bool crowded = group.size() > sysconf(_SC_NPROCESSORS_ONLN);
    made = "transport: shared memory";
    return std::make_unique<SharedTransport>(
        std::make_shared<SharedOperations>(std::move(memory), std::move(moves), std::move(ranges),
                                           std::move(progress), crowded),
        std::move(own), group.rank());
}

}  // namespace gnnbench
