#include "simulation/contents.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <gnnbench/error.hpp>
#include <gnnbench/usize.hpp>

namespace gnnbench::simulation {
namespace {

/// from[i] is rank i's data, or null where nothing comes of it.
using Sources = std::vector<const void*>;

void combine(double& sum, double x, ReduceOp op) { sum = op == ReduceOp::sum ? sum + x : std::max(sum, x); }
void combine(float& sum, float x, ReduceOp op) { sum = op == ReduceOp::sum ? sum + x : std::max(sum, x); }

template <class T>
std::vector<std::byte> reduced_as(const Sources& from, std::int64_t count, ReduceOp op) {
    std::vector<std::byte> out(usize(count) * sizeof(T));
    if (count == 0) return out;
    T* const sums = reinterpret_cast<T*>(out.data());
    std::copy_n(static_cast<const T*>(from.front()), count, sums);
    for (std::size_t r = 1; r < from.size(); ++r) {
        const T* const more = static_cast<const T*>(from[r]);
        for (std::int64_t i = 0; i < count; ++i) combine(sums[i], more[i], op);
    }
    return out;
}
std::vector<std::byte> reduced(const Sources& from, std::int64_t count, DType dtype, ReduceOp op) {
    return dtype == DType::f32 ? reduced_as<float>(from, count, op) : reduced_as<double>(from, count, op);
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

/// Beginnings of blocks of such lengths that follow one another.
std::vector<std::int64_t> starts_of(const std::vector<std::int64_t>& lengths) {
    std::vector<std::int64_t> starts;
    std::int64_t at = 0;
    for (const std::int64_t n : lengths) {
        starts.push_back(at);
        at += n;
    }
    return starts;
}

void broadcast(int root, std::span<const CollectiveMemory> all) {
    const CollectiveMemory& from = all[usize(root)];
    for (const CollectiveMemory& to : all) copy_bytes(to.data, from.data, usize(from.count));
}

/// `root` −1: every rank gets the result.
void reduce(int root, std::span<const CollectiveMemory> all) {
    Sources from;
    for (const CollectiveMemory& m : all) from.push_back(m.data);
    const CollectiveMemory& first = all.front();
    const std::vector<std::byte> sum = reduced(from, first.count, first.dtype, first.op);
    for (std::size_t r = 0; r < all.size(); ++r)
        if (root < 0 || usize(root) == r) copy_bytes(all[r].data, sum.data(), sum.size());
}

void all_gather(std::span<const CollectiveMemory> all) {
    const std::vector<std::int64_t>& bytes = all.front().each;
    const std::vector<std::int64_t> starts = starts_of(bytes);
    for (std::size_t r = 0; r < all.size(); ++r)
        for (const CollectiveMemory& to : all)
            copy_bytes(static_cast<std::byte*>(to.data) + starts[r],
                       static_cast<std::byte*>(all[r].data) + starts[r], usize(bytes[r]));
}

/// Blocks are summed before any is written: a rank's may be among those that others read.
void reduce_scatter(std::span<const CollectiveMemory> all) {
    const CollectiveMemory& first = all.front();
    const std::vector<std::int64_t> starts = starts_of(first.each);
    std::vector<std::vector<std::byte>> sums;
    for (std::size_t block = 0; block < all.size(); ++block) {
        Sources from;
        for (const CollectiveMemory& m : all)
            from.push_back(static_cast<const std::byte*>(m.blocks) + usize(starts[block]) * size_of(m.dtype));
        sums.push_back(reduced(from, first.each[block], first.dtype, first.op));
    }
    for (std::size_t r = 0; r < all.size(); ++r) copy_bytes(all[r].data, sums[r].data(), sums[r].size());
}

template <class T>
void add_rows(MatrixView to, std::span<const std::int32_t> rows, const std::byte* arrived) {
    const T* from = reinterpret_cast<const T*>(arrived);
    for (const std::int32_t row : rows) {
        T* const sum = static_cast<T*>(to.data) + row * to.ld;
        for (std::int64_t c = 0; c < to.cols; ++c) sum[c] += *from++;
    }
}

}  // namespace

void complete_collective(Collective kind, int root, std::span<const CollectiveMemory> by_rank) {
    switch (kind) {
        case Collective::broadcast:
            return broadcast(root, by_rank);
        case Collective::reduce:
        case Collective::all_reduce:
            return reduce(root, by_rank);
        case Collective::all_gather:
            return all_gather(by_rank);
        case Collective::reduce_scatter:
            return reduce_scatter(by_rank);
        case Collective::barrier:
            return;
    }
}

Payload::Payload(const void* data, std::int64_t bytes)
    : data_(static_cast<const std::byte*>(data)), row_bytes_(bytes), rows_{0} {}

Payload::Payload(ConstMatrixView of, RowNumbers rows)
    : data_(static_cast<const std::byte*>(of.data)),
      row_bytes_(of.cols * static_cast<std::int64_t>(size_of(of.dtype))),
      stride_bytes_(of.ld * static_cast<std::int64_t>(size_of(of.dtype))),
      rows_(rows.listed().begin(), rows.listed().end()) {}

void Payload::read(std::byte* to) const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        copy_bytes(to + i * usize(row_bytes_), data_ + rows_[i] * stride_bytes_, usize(row_bytes_));
}

void Payload::take(void* to) {
    if (kept_.empty())
        read(static_cast<std::byte*>(to));
    else
        copy_bytes(to, kept_.data(), kept_.size());
    needed_ = false;
    kept_ = {};
}

void Payload::keep() {
    if (!needed_) return;
    kept_.resize(rows_.size() * usize(row_bytes_));
    read(kept_.data());
}

ExchangeMemory adding(MatrixView to, std::span<const Message> sends, std::span<const RowSet> receives) {
    struct Arrived {
        std::vector<std::int32_t> rows;
        std::vector<std::byte> values;
    };
    const auto all = std::make_shared<std::vector<Arrived>>();
    for (const RowSet& set : receives) {
        const auto rows = set.rows.listed();
        all->push_back({{rows.begin(), rows.end()}, {}});
        all->back().values.resize(rows.size() * usize(to.cols) * size_of(to.dtype));
    }
    ExchangeMemory memory;
    for (const Message& m : sends) memory.sent.emplace_back(m.data, m.bytes);
    for (Arrived& a : *all) memory.received.push_back(a.values.data());
    memory.at_end = [to, all] {
        for (const Arrived& a : *all)
            if (to.dtype == DType::f32)
                add_rows<float>(to, a.rows, a.values.data());
            else
                add_rows<double>(to, a.rows, a.values.data());
    };
    return memory;
}

}  // namespace gnnbench::simulation
