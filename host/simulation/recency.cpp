#include <gnnbench/simulation/recency.hpp>

#include <iterator>
#include <limits>

namespace gnnbench::simulation {
namespace {

std::uintptr_t begin_of(const Recency::Operand& o) { return reinterpret_cast<std::uintptr_t>(o.data); }

}  // namespace

void Recency::cut(std::uintptr_t at) {
    auto run = runs_.upper_bound(at);
    if (run == runs_.begin()) return;
    --run;
    if (run->first == at || run->second.end <= at) return;
    const Run rest = run->second;
    run->second.end = at;
    runs_.emplace(at, rest);
}

void Recency::forget(const void* data, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    cut(begin);
    cut(begin + bytes);
    runs_.erase(runs_.lower_bound(begin), runs_.lower_bound(begin + bytes));
}

std::vector<Moved> Recency::touch(std::span<const Operand> operands) {
    for (const Operand& o : operands) {
        cut(begin_of(o));
        cut(begin_of(o) + o.extent);
    }
    std::map<std::uint64_t, double> touched;  // by kernel: bytes that nothing later touched
    for (const auto& [begin, run] : runs_) touched[run.kernel] += static_cast<double>(run.end - begin);
    const auto since = [&](std::uint64_t kernel, double own) {
        double bytes = (touched.at(kernel) + own) / 2;
        for (auto later = touched.upper_bound(kernel); later != touched.end(); ++later) bytes += later->second;
        return bytes;
    };
    double own = 0;
    for (const Operand& o : operands) own += static_cast<double>(o.extent);
    std::vector<Moved> moved;
    for (const Operand& o : operands) {
        const std::uintptr_t end = begin_of(o) + o.extent;
        const auto extent = static_cast<double>(o.extent);
        double unknown = extent;
        for (auto run = runs_.lower_bound(begin_of(o)); run != runs_.end() && run->first < end; ++run) {
            const auto bytes = static_cast<double>(run->second.end - run->first);
            moved.push_back({o.moved * bytes / extent, since(run->second.kernel, own)});
            unknown -= bytes;
        }
        if (unknown > 0) moved.push_back({o.moved * unknown / extent, std::numeric_limits<double>::infinity()});
    }
    ++kernels_;
    for (const Operand& o : operands) {
        if (o.extent == 0) continue;
        forget(o.data, o.extent);
        runs_[begin_of(o)] = {begin_of(o) + o.extent, kernels_};
    }
    return moved;
}

}  // namespace gnnbench::simulation
