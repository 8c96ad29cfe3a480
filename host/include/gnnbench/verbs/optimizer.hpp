#pragma once
#include <cstdint>
#include <span>

#include <gnnbench/model.hpp>
#include <gnnbench/verbs/operands.hpp>

namespace gnnbench {

/// One trainable array with its gradient and the optimizer's moments; all of `count` elements on the device.
struct ParameterSlot {
    void* weight = nullptr;
    const void* gradient = nullptr;
    void* first_moment = nullptr;   ///< Adam, AdamW
    void* second_moment = nullptr;  ///< Adam, AdamW
    std::int64_t count = 0;
    double weight_decay = 0;
};

namespace verb {

struct OptimizerStep {
    const TrainSpec& spec;
    std::int64_t step;
    std::span<const ParameterSlot> slots;

    static constexpr Phase phase = Phase::optimizer;
    const char* operation() const { return "optimizer"; }
    void check() const {}
    bool empty() const { return false; }
    std::array<Operand, 0> operands() const { return {}; }
};

}  // namespace verb

#define GNNBENCH_OPTIMIZER_VERBS(X) X(OptimizerStep)

template <class B>
class OptimizerVerbs {
    friend B;
    OptimizerVerbs() = default;

public:
    /// One step of every slot; `step` counts from 1. Phase `optimizer`.
    void optimizer_step(const TrainSpec& spec, std::int64_t step, std::span<const ParameterSlot> slots) {
        static_cast<B&>(*this).run(verb::OptimizerStep{spec, step, slots});
    }
};

}  // namespace gnnbench
