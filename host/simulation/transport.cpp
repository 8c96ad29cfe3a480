#include <numeric>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

#include "core/of_first_rank.hpp"
#include "simulation/operations.hpp"

namespace gnnbench::simulation {

namespace {

/// Sizes of a group's messages, in virtual time. An operation is an item of a stream of communication.
class SimulatedTransport final : public Transport {
public:
    SimulatedTransport(ProcessGroup control, SimulatedRank& rank, StreamRole stream, Contents contents)
        : control_(std::move(control)),
          rank_(rank),
          stream_(stream),
          contents_(contents),
          place_(control_.rank()),
          operations_(shared_operations()) {}

private:
    int do_rank() const override { return place_; }
    int do_size() const override { return control_.size(); }
    std::unique_ptr<Transport> do_split(int color, int key) const override {
        return std::make_unique<SimulatedTransport>(control_.split(color, key), rank_, stream_, contents_);
    }
    std::unique_ptr<Transport> do_aside() const override {
        return std::make_unique<SimulatedTransport>(control_.split(0, place_), rank_, StreamRole::background,
                                                    contents_);
    }
    StreamRole do_stream() const override { return stream_; }

    Event do_broadcast(void* data, std::int64_t bytes, int root, Wait wait) override {
        touch(data, bytes);
        return collective(Collective::broadcast, wait, bytes, root, {.data = data, .count = bytes});
    }
    Event do_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, int root, Wait wait) override {
        touch(data, count * bytes_of(dtype));
        return collective(Collective::reduce, wait, count * bytes_of(dtype), root,
                          {.data = data, .count = count, .dtype = dtype, .op = op});
    }
    Event do_all_reduce(void* data, std::int64_t count, DType dtype, ReduceOp op, Wait wait) override {
        touch(data, count * bytes_of(dtype));
        return collective(Collective::all_reduce, wait, count * bytes_of(dtype), -1,
                          {.data = data, .count = count, .dtype = dtype, .op = op});
    }
    Event do_all_gather(void* all, std::span<const std::int64_t> byte_counts, Wait wait) override {
        const std::int64_t bytes = std::reduce(byte_counts.begin(), byte_counts.end());
        touch(all, bytes);
        return collective(Collective::all_gather, wait, bytes, -1,
                          {.data = all, .each = {byte_counts.begin(), byte_counts.end()}});
    }
    Event do_reduce_scatter(const void* all, void* mine, std::span<const std::int64_t> counts, DType dtype,
                            Wait wait) override {
        const std::int64_t bytes = std::reduce(counts.begin(), counts.end()) * bytes_of(dtype);
        touch(all, bytes);
        touch(mine, counts[usize(place_)] * bytes_of(dtype));
        return collective(Collective::reduce_scatter, wait, bytes, -1,
                          {.data = mine, .blocks = all, .each = {counts.begin(), counts.end()}, .dtype = dtype});
    }
    Event do_exchange(std::span<const Message> sends, std::span<const Message> receives) override {
        return exchange("exchange", sends, receives, memory_of(sends, receives));
    }
    std::vector<Event> do_exchange_each(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
        return exchange_each("exchange", sends, receives, memory_of(sends, receives));
    }
    Event do_all_to_all(std::span<const Message> sends, std::span<const Message> receives) override {
        return do_exchange(sends, receives);
    }
    /// Where rows lie is charged as in the exchanges that were measured.
    bool do_reads_rows() const override { return operations_->measured("read_rows") != nullptr; }
    std::vector<Event> do_read_rows(ConstMatrixView from, std::span<const RowSet> sends,
                                    std::span<const RowSet> receives) override {
        ExchangeMemory memory;
        if (contents_ == Contents::values) {
            for (const RowSet& s : sends) memory.sent.emplace_back(from, s.rows);
            for (const RowSet& s : receives) {
                require(s.to.contiguous(), "rows that are read arrive one after another");
                memory.received.push_back(s.to.data);
            }
        }
        return exchange_each("read_rows", messages(sends, from), messages(receives, from), std::move(memory));
    }
    Event do_add_rows(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) override {
        return exchange("add_rows", sends, messages(receives, to),
                        contents_ == Contents::values ? adding(to, sends, receives) : ExchangeMemory{});
    }
    void do_barrier() override {
        rank_.synchronize(StreamRole::compute);
        control_.barrier();
    }

    /// What crosses has been in this rank's caches.
    void touch(const void* data, std::int64_t bytes) {
        if (rank_.machine().device.stream.empty() || !data || bytes == 0) return;
        const Recency::Operand moved{data, usize(bytes), static_cast<double>(bytes)};
        rank_.recency().touch(std::span(&moved, 1));
    }

    static std::int64_t bytes_of(DType t) { return static_cast<std::int64_t>(size_of(t)); }

    Event collective(Collective kind, Wait wait, std::int64_t total_bytes, int root, CollectiveMemory memory) {
        const std::uint64_t number = calls_++;
        const auto operation = operations_->begin_or_join(operations_, number, kind, wait, total_bytes, root);
        if (contents_ == Contents::values) operation->bring(place_, std::move(memory));
        return issue(operation);
    }
    ExchangeMemory memory_of(std::span<const Message> sends, std::span<const Message> receives) const {
        ExchangeMemory memory;
        if (contents_ == Contents::none) return memory;
        for (const Message& m : sends) memory.sent.emplace_back(m.data, m.bytes);
        for (const Message& m : receives) memory.received.push_back(m.data);
        return memory;
    }
    /// As many bytes as rows of such a matrix have.
    static std::vector<Message> messages(std::span<const RowSet> sets, ConstMatrixView of) {
        std::vector<Message> out;
        for (const RowSet& s : sets)
            out.push_back({s.peer, s.to.data, s.rows.count * of.cols * bytes_of(of.dtype)});
        return out;
    }
    Event exchange(const char* measured, std::span<const Message> sends, std::span<const Message> receives,
                   ExchangeMemory memory) {
        if (sends.empty() && receives.empty()) return {};
        return begin(measured, sends, receives, {}, std::move(memory));
    }
    std::vector<Event> exchange_each(const char* measured, std::span<const Message> sends,
                                     std::span<const Message> receives, ExchangeMemory memory) {
        std::vector<std::shared_ptr<Moment>> arrivals;
        std::vector<Event> events;
        for (std::size_t i = 0; i < receives.size(); ++i) {
            arrivals.push_back(std::make_shared<Moment>());
            events.emplace_back(std::make_shared<MomentEvent>(arrivals.back()));
        }
        if (sends.empty() && receives.empty()) return {Event()};
        events.push_back(begin(measured, sends, receives, std::move(arrivals), std::move(memory)));
        return events;
    }
    Event begin(const char* measured, std::span<const Message> sends, std::span<const Message> receives,
                std::vector<std::shared_ptr<Moment>> arrivals, ExchangeMemory memory) {
        for (const auto& side : {sends, receives})
            for (const Message& m : side) touch(m.data, m.bytes);
        const auto mine = std::make_shared<Exchange>(operations_, place_, measured, sends, receives,
                                                     std::move(arrivals), std::move(memory));
        mine->post(sends, receives);
        const Program& program = rank_.machine().program;
        handle(std::ssize(sends), program.send_operators);
        Event done = issue(mine);
        if (program.blocking) rank_.synchronize(stream_);
        handle(std::ssize(receives), program.receive_operators);
        return done;
    }
    /// What a program's host does for messages, one after another.
    void handle(std::int64_t messages, int operators) {
        for (std::int64_t i = 0; i < messages * operators; ++i) rank_.launch();
        rank_.host_works(static_cast<double>(messages) * rank_.machine().program.message_s);
    }
    Event issue(std::shared_ptr<Participation> part) {
        SimulatedRank::State& s = rank_.state();
        rank_.launch();  // it is a kernel of its own, as NCCL's are
        s.stream(stream_).take_part(s.host_s, std::move(part));
        s.throttle(stream_);
        return rank_.record(stream_);
    }

    /// Made by the first rank of the group.
    std::shared_ptr<Operations> shared_operations() {
        const std::vector<std::string> members = control_.gather(std::to_string(rank_.rank()));
        std::shared_ptr<Operations> made;
        if (place_ == 0) {
            std::vector<int> ranks;
            for (const std::string& m : members) ranks.push_back(std::stoi(m));
            made = std::make_shared<Operations>(rank_.state().engine, std::move(ranks));
        }
        return of_first_rank(control_, made);
    }

    ProcessGroup control_;
    SimulatedRank& rank_;
    const StreamRole stream_;
    const Contents contents_;
    int place_;
    std::shared_ptr<Operations> operations_;
    std::uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Transport> SimulatedRank::connect(const ProcessGroup& group, Contents contents) {
    return std::make_unique<SimulatedTransport>(group.split(0, group.rank()), *this, StreamRole::communication,
                                                contents);
}

}  // namespace gnnbench::simulation
