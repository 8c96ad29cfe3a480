#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <gnnbench/backend.hpp>
#include <gnnbench/simulation/recency.hpp>

/// What the simulated back end keeps of a sparse matrix, and verbs as they are performed later, by a back end that
/// computes: operands that lie in device memory stay where they are, others are copied.
namespace gnnbench::simulated {

/// A CSR matrix of which only the size is kept here.
class SizedMatrix final : public PreparedMatrix {
public:
    explicit SizedMatrix(std::function<void()> released) : released_(std::move(released)) {}
    ~SizedMatrix() override { released_(); }

    simulation::Recency::Operand entries;  ///< at addresses that nothing else has
    std::int64_t stored_rows = 0;
    std::shared_ptr<const PreparedMatrix> contents;  ///< of the back end that computes, or null

private:
    std::function<void()> released_;
};

template <class Verb>
auto performed_by(const std::shared_ptr<Backend>& b, const Verb& v) {
    return [b, v] { b->run(v); };
}
/// Epilogues are kernels of their own.
inline auto performed_by(const std::shared_ptr<Backend>& b, verb::Gemm v) {
    v.e = {};
    return [b, v] { b->run(v); };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, verb::SpmmUnprepared v) {
    v.e = {};
    return [b, v] { b->run(v); };
}
template <class Product>
auto performed_by_prepared(const std::shared_ptr<Backend>& b, const Product& v) {
    const auto contents = static_cast<const SizedMatrix&>(v.a).contents;
    return [b, contents, x = v.b, c = v.c, s = v.s] { b->run(Product{*contents, x, c, s, {}}); };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::Attend& v) {
    const auto contents = static_cast<const SizedMatrix&>(v.a).contents;
    return [b, contents, shape = v.shape, x = v.b, l = v.l, rows = v.rows, stage = v.stage] {
        b->run(verb::Attend{*contents, shape, x, l, rows, stage});
    };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::AttendBackward& v) {
    const auto contents = static_cast<const SizedMatrix&>(v.a).contents;
    return [b, contents, shape = v.shape, x = v.b, own = v.own, c = v.c, stage = v.stage] {
        b->run(verb::AttendBackward{*contents, shape, x, own, c, stage});
    };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::DynamicAttend& v) {
    const auto contents = static_cast<const SizedMatrix&>(v.a).contents;
    return [b, contents, shape = v.shape, vector = v.vector, x = v.b, s = v.s, rows = v.rows, stage = v.stage] {
        b->run(verb::DynamicAttend{*contents, shape, vector, x, s, rows, stage});
    };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::DynamicBackward& v) {
    const auto contents = static_cast<const SizedMatrix&>(v.a).contents;
    return [b, contents, side = v.side, shape = v.shape, vector = v.vector, x = v.b, own = v.own,
            slopes = v.slopes, sums = v.sums, stage = v.stage] {
        b->run(verb::DynamicBackward{*contents, side, shape, vector, x, own, slopes, sums, stage});
    };
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::Spmm& v) {
    return performed_by_prepared(b, v);
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::SpmmTransposed& v) {
    return performed_by_prepared(b, v);
}
inline auto performed_by(const std::shared_ptr<Backend>& b, const verb::OptimizerStep& v) {
    return [b, spec = v.spec, step = v.step, slots = std::vector(v.slots.begin(), v.slots.end())] {
        b->run(verb::OptimizerStep{spec, step, slots});
    };
}

}  // namespace gnnbench::simulated
